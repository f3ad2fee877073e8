/* Weights of sums of products: INT8, or UINT8 with a zero point, as TensorFlow 1 made them. */
#include "import/tflite/tflite_weights.h"

int tflite_weight(const struct filter *filter, size_t index)
{
    const struct tflite_tensor *tensor = filter->tensor;
    if (tensor->type == TFLITE_INT8)
        return (int8_t)tensor->data[index];
    return tensor->data[index] - (int)tensor->zero_points[0];
}

bool tflite_narrow_weights(struct tflite_importer *importer, const struct wide_weights *wide, int input,
                           struct narrow_weights *result)
{
    if (quantised_narrow_weights(&importer->builder, tflite_output(importer)->name, wide, input, result))
        return true;
    return tflite_fault(importer,
                        "weights minus their zero point are no INT8, so that the input's %d channels would be there more "
                        "than once: too many",
                        tflite_network_tensor(importer, input)->channels);
}
