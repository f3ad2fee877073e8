/* Weights of convolutions and fully connected layers. */
#ifndef DORYGEN_TFLITE_WEIGHTS_H
#define DORYGEN_TFLITE_WEIGHTS_H

#include "import/tflite/tflite_import.h"

struct filter {
    const struct tflite_tensor *tensor;
    int outputs, height, width, inputs; /* inputs: of a group */
};

/* A weight minus its zero point, by its place in the model. */
int tflite_weight(const struct filter *filter, size_t index);

/* In the network's order, [output][input][place of the kernel]. */
struct filter_weights {
    const int16_t *weights;
    int outputs, inputs;
    size_t area;
};

/* As layers have them. Where some need more than 8 bits, *input becomes a copy that has channels twice, and each of the
 * groups as many more. Null after a report. */
const int8_t *tflite_narrow_weights(struct tflite_importer *importer, const struct filter *filter,
                                    const struct filter_weights *from, int groups, int *input);

#endif
