/* Numbers of several dimensions that the model computes of constants, as PyTorch's exporter does the indices of windows that
 * slide over a sequence. */
#include "import/tflite/tflite_import.h"

/* One element of the result: its index in each dimension, from the last one on. */
static int64_t index_at(const struct tflite_tensor *result, int from_end, int64_t element)
{
    for (int i = result->rank - 1; i > result->rank - 1 - from_end; i--)
        element /= result->dimensions[i];
    return element % result->dimensions[result->rank - 1 - from_end];
}

/* Where a tensor has what belongs to an element of the result, less so many elements in front of each dimension; below 0:
 * nowhere. A dimension of one index is repeated where the result has more. */
static int64_t position_at(const struct tflite_tensor *tensor, const struct tflite_tensor *result, const int64_t *before,
                           bool repeats, int64_t element)
{
    int64_t position = 0, step = 1;
    for (int i = 0; i < tensor->rank; i++) {
        const int64_t size = tensor->dimensions[tensor->rank - 1 - i];
        int64_t index = index_at(result, i, element) - (before ? before[tensor->rank - 1 - i] : 0);
        index = repeats && size == 1 ? 0 : index;
        if (index < 0 || index >= size)
            return -1;
        position += index * step;
        step *= size;
    }
    return position;
}

static const struct tflite_tensor *input_of(const struct tflite_importer *importer, const struct tflite_operator *operation,
                                            int index)
{
    return &importer->model->tensors[operation->inputs[index]];
}

static const struct tflite_tensor *output_of(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    return &importer->model->tensors[operation->outputs[0]];
}

/* Of the output's elements, and no dimension that an input has and it has not. */
static struct tflite_numbers *make(struct tflite_importer *importer, const struct tflite_operator *operation, int inputs)
{
    const struct tflite_tensor *to = output_of(importer, operation);
    int64_t count = 1;
    for (int i = 0; i < to->rank; i++) {
        if (to->dimensions[i] < 1 || to->is_unknown[i] || (count *= to->dimensions[i]) > MAXIMUM_ELEMENTS)
            return NULL;
    }
    for (int i = 0; i < inputs; i++)
        if (input_of(importer, operation, i)->rank > to->rank)
            return NULL;
    return tflite_make_numbers(importer, count);
}

/* What belongs to an element of the result in each of the inputs, which are repeated; false where they do not fit. */
static bool operands_at(const struct tflite_importer *importer, const struct tflite_operator *operation,
                        const struct tflite_numbers *const *inputs, int count, int64_t element, int64_t *operands)
{
    for (int i = 0; i < count; i++) {
        int64_t at = position_at(input_of(importer, operation, i), output_of(importer, operation), NULL, true, element);
        if (at < 0 || at >= inputs[i]->count)
            return false;
        operands[i] = inputs[i]->list[at];
    }
    return true;
}

/* Of one input, which is repeated; of two; or of three, where the first chooses one of the others. */
static const struct tflite_numbers *calculate(struct tflite_importer *importer, const struct tflite_operator *operation,
                                              const struct tflite_numbers *const *inputs, int count)
{
    struct tflite_numbers *result = make(importer, operation, count);
    int64_t operands[3];
    for (int i = 0; result && i < result->count; i++) {
        if (!operands_at(importer, operation, inputs, count, i, operands))
            return NULL;
        if (count == 2 && !tflite_calculate(operation->code, operands[0], operands[1], &result->list[i]))
            return NULL;
        if (count != 2)
            result->list[i] = count == 1 ? operands[0] : operands[operands[0] ? 1 : 2];
    }
    return result;
}

/* A border of zeros. */
static const struct tflite_numbers *pad(struct tflite_importer *importer, const struct tflite_operator *operation,
                                        const struct tflite_numbers *const *inputs)
{
    const struct tflite_tensor *from = input_of(importer, operation, 0), *to = output_of(importer, operation);
    int64_t before[TFLITE_MAXIMUM_RANK];
    struct tflite_numbers *result = make(importer, operation, 1);
    if (!result || from->rank != to->rank || inputs[1]->count != 2 * from->rank)
        return NULL;
    for (int i = 0; i < from->rank; i++) {
        before[i] = inputs[1]->list[2 * i];
        if (before[i] < 0 || before[i] > to->dimensions[i])
            return NULL;
    }
    for (int i = 0; i < result->count; i++) {
        int64_t at = position_at(from, to, before, false, i);
        if (at >= inputs[0]->count)
            return NULL;
        result->list[i] = at < 0 ? 0 : inputs[0]->list[at];
    }
    return result;
}

/* The numbers of one part, where they are in the result. */
static bool join_part(const struct tflite_tensor *from, const struct tflite_tensor *to, const struct tflite_numbers *part,
                      int axis, int64_t first, struct tflite_numbers *result)
{
    int64_t before[TFLITE_MAXIMUM_RANK] = {0};
    if (from->rank != to->rank)
        return false;
    before[axis] = -first;
    for (int i = 0; i < part->count; i++) {
        int64_t at = position_at(to, from, before, false, i);
        if (at < 0 || at >= result->count)
            return false;
        result->list[at] = part->list[i];
    }
    return true;
}

static const struct tflite_numbers *join(struct tflite_importer *importer, const struct tflite_operator *operation,
                                         const struct tflite_numbers *const *inputs, int count)
{
    const struct tflite_tensor *to = output_of(importer, operation);
    const int axis = operation->options.axis < 0 ? operation->options.axis + to->rank : operation->options.axis;
    struct tflite_numbers *result = make(importer, operation, count);
    int64_t first = 0;
    if (!result || axis < 0 || axis >= to->rank)
        return NULL;
    for (int i = 0; i < count; i++) {
        const struct tflite_tensor *from = input_of(importer, operation, i);
        if (!join_part(from, to, inputs[i], axis, first, result))
            return NULL;
        first += from->dimensions[axis];
    }
    return first == to->dimensions[axis] ? result : NULL;
}

const struct tflite_numbers *tflite_compute_number_array(struct tflite_importer *importer,
                                                         const struct tflite_operator *operation,
                                                         const struct tflite_numbers *const *inputs, int count)
{
    switch (operation->code) {
    case TFLITE_CAST:
    case TFLITE_RESHAPE:
    case TFLITE_SQUEEZE:
    case TFLITE_EXPAND_DIMS: return count >= 1 ? inputs[0] : NULL;
    case TFLITE_BROADCAST_TO: return count == 2 ? calculate(importer, operation, inputs, 1) : NULL;
    case TFLITE_PAD: return count == 2 ? pad(importer, operation, inputs) : NULL;
    case TFLITE_CONCATENATION: return count >= 1 ? join(importer, operation, inputs, count) : NULL;
    case TFLITE_SELECT:
    case TFLITE_SELECT_V2: return count == 3 ? calculate(importer, operation, inputs, 3) : NULL;
    default: return count == 2 ? calculate(importer, operation, inputs, 2) : NULL;
    }
}
