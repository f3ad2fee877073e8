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

bool tflite_places_constant(struct tflite_importer *importer, int constant_index, struct value *value,
                            struct middle_constant *placed)
{
    const struct tflite_tensor *constant = tflite_constant(importer, constant_index, TFLITE_INT8, 0);
    int other = constant ? tflite_reads_elements(importer, 1 - constant_index, value) : -1;
    if (other < 0 || !check_shape(importer, constant, other))
        return false;
    const struct tensor *tensor = tflite_network_tensor(importer, other);
    const int64_t dimensions[3] = {tensor->height, tensor->width, tensor->channels};
    struct middle_value as_it_lies = {other, value->is_moved ? value->view : view_of_memory(3, dimensions)};
    *placed = middle_place_constant(&importer->builder, &as_it_lies, broadcast(importer, constant));
    return true;
}

bool tflite_is_as_large(struct tflite_importer *importer, int index)
{
    const struct tflite_tensor *input = tflite_input(importer, index);
    return !input || tflite_elements(input) == tflite_elements(tflite_output(importer));
}

bool tflite_reads_with_constant(struct tflite_importer *importer, int constant_index, int *inputs, struct value *value)
{
    const struct tflite_tensor *constant = tflite_input(importer, constant_index);
    struct middle_constant placed;
    struct quantisation quantisation;
    if (!tflite_is_as_large(importer, 1 - constant_index))
        return tflite_reads_pair(importer, inputs, value);
    if (!tflite_places_constant(importer, constant_index, value, &placed) ||
        !tflite_quantisation(importer, constant, &quantisation))
        return false;
    inputs[1 - constant_index] = value->tensor;
    if (middle_lay_constant(&importer->builder, constant->name, &placed, &quantisation, value->tensor,
                            &inputs[constant_index]))
        return true;
    if (tflite_elements(constant) <= MAXIMUM_DIMENSION) /* repeated, it has more: a copy does that */
        return tflite_reads_pair(importer, inputs, value);
    return tflite_fault(importer, "a constant '%s' of %s; supported: one a channel, or up to %d elements", constant->name,
                        tflite_shape_text(importer, constant), MAXIMUM_DIMENSION);
}
