/* Constants of more than one element as operands: tensors that the network computes, of weights that are zero. */
#include "import/tflite/tflite_import.h"

/* Where the constant's element for each element of the output is, as shapes broadcast: aligned at their ends. Null after a
 * report. */
static const int8_t *broadcast(struct tflite_importer *importer, const struct tflite_tensor *constant)
{
    const struct tflite_tensor *output = tflite_output(importer);
    size_t count = tflite_elements(output);
    int8_t *elements = arena_array(importer->arena, int8_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, at = 0, step = 1;
        for (int from_end = 1; from_end <= output->rank; from_end++) {
            size_t size = (size_t)output->dimensions[output->rank - from_end], position = rest % size;
            int own = from_end <= constant->rank ? constant->dimensions[constant->rank - from_end] : 1;
            at += own == 1 ? 0 : position * step;
            step *= (size_t)own;
            rest /= size;
        }
        elements[i] = (int8_t)constant->data[at];
    }
    return elements;
}

/* Each of its dimensions is 1 or the output's, and the other operand has the output's elements. */
static bool check_shape(struct tflite_importer *importer, const struct tflite_tensor *constant, int like)
{
    const struct tflite_tensor *output = tflite_output(importer);
    bool fits = tflite_elements(output) == tensor_elements(tflite_network_tensor(importer, like));
    for (int i = 1; i <= constant->rank; i++) {
        int own = constant->dimensions[constant->rank - i],
            of = i <= output->rank ? output->dimensions[output->rank - i] : 1;
        fits = fits && (own == 1 || own == of);
    }
    return fits || tflite_fault(importer,
                                "the constant '%s' of %s does not fit the output's %s; supported: constants that are "
                                "repeated along dimensions of the other operand",
                                constant->name, tflite_shape_text(importer, constant), tflite_shape_text(importer, output));
}

bool tflite_is_channelwise(const struct tflite_tensor *constant, int channels)
{
    size_t count = tflite_elements(constant);
    return count == (size_t)channels && constant->rank > 0 && constant->dimensions[constant->rank - 1] == channels;
}

/* A depth-wise convolution of zeros, whose biases are the elements: one a channel of `like`. */
static int lay_channels(struct tflite_importer *importer, const struct tflite_tensor *constant, const int8_t *elements,
                        const struct quantisation *quantisation, int like)
{
    const struct tensor from = *tflite_network_tensor(importer, like);
    int output = quantised_tensor(&importer->builder, constant->name, from.height, from.width, from.channels, quantisation);
    struct layer *layer = quantised_layer(&importer->builder, LAYER_CONVOLUTION, constant->name, like, output);
    int32_t *biases = arena_array(importer->arena, int32_t, (size_t)from.channels);
    double scale = quantisation->scale / from.scale;
    for (int i = 0; i < from.channels; i++)
        biases[i] = elements[i] - (int32_t)quantisation->zero_point;
    layer->groups = from.channels;
    quantised_finish_convolution(
        &importer->builder, layer,
        &(struct quantised_weights){.weights = arena_array(importer->arena, int8_t, (size_t)from.channels),
                                    .scales = &scale,
                                    .scale_count = 1,
                                    .biases = biases});
    return output;
}

/* One pixel of all elements, so that each has a channel. -1 after a report. */
static int flatten(struct tflite_importer *importer, int input)
{
    size_t count = tensor_elements(tflite_network_tensor(importer, input));
    struct value value = tflite_value_of(input);
    if (count > MAXIMUM_DIMENSION) {
        tflite_fault(importer, "a constant for each of %zu elements; supported: one, one a channel, or up to %d", count,
                     MAXIMUM_DIMENSION);
        return -1;
    }
    return tflite_lay_view(importer, &value, &(struct image_shape){1, 1, (int)count});
}

bool tflite_reads_with_constant(struct tflite_importer *importer, int constant_index, int *inputs)
{
    const struct tflite_tensor *constant = tflite_constant(importer, constant_index, TFLITE_INT8, 0);
    struct quantisation quantisation;
    int other = constant ? tflite_reads(importer, 1 - constant_index, NULL) : -1;
    if (other < 0 || !tflite_quantisation(importer, constant, &quantisation) || !check_shape(importer, constant, other))
        return false;
    const struct tensor *tensor = tflite_network_tensor(importer, other);
    bool is_flat = !tflite_is_channelwise(constant, tensor->channels);
    if (is_flat && (tensor->height != 1 || tensor->width != 1))
        other = flatten(importer, other);
    if (other < 0)
        return false;
    const int8_t *elements = is_flat ? broadcast(importer, constant) : (const int8_t *)constant->data;
    inputs[1 - constant_index] = other;
    inputs[constant_index] = lay_channels(importer, constant, elements, &quantisation, other);
    return true;
}
