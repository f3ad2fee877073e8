/* Truths that constants alone decide, as the causal mask that Keras makes of an open batch: they become constants, too. */
#include <string.h>

#include "import/tflite/tflite_import.h"

/* Null: the operator's input is no constant of truths. */
static const struct tflite_tensor *truths(struct tflite_importer *importer, const struct tflite_operator *operation,
                                          int index)
{
    int tensor = index < operation->input_count ? operation->inputs[index] : NO_TENSOR;
    const struct tflite_tensor *found = tensor == NO_TENSOR ? NULL : &importer->tensors[tensor];
    return found && found->type == TFLITE_BOOL && found->data && !found->is_sparse ? found : NULL;
}

/* Room for as many truths as the dimensions make; null: there are none, or more than a constant of the firmware's has. */
static unsigned char *make(struct tflite_importer *importer, int rank, const int64_t *dimensions, struct tflite_tensor *to)
{
    int64_t elements = 1;
    if (rank > TFLITE_MAXIMUM_RANK)
        return NULL;
    for (int i = 0; i < rank; i++)
        if (dimensions[i] < 1 || dimensions[i] > MAXIMUM_DIMENSION || (elements *= dimensions[i]) > MAXIMUM_DIMENSION)
            return NULL;
    to->rank = rank;
    for (int i = 0; i < rank; i++)
        to->dimensions[i] = (int)dimensions[i];
    to->data_bytes = (size_t)elements;
    return arena_array(importer->arena, unsigned char, (size_t)elements);
}

static void fill(struct tflite_importer *importer, const struct tflite_operator *operation, struct tflite_tensor *to)
{
    const struct tflite_numbers *shape = tflite_known_numbers(importer, operation->inputs[0]);
    const struct tflite_tensor *truth = truths(importer, operation, 1);
    unsigned char *made =
        shape && truth && tflite_elements(truth) == 1 ? make(importer, shape->count, shape->list, to) : NULL;
    if (!made)
        return;
    memset(made, truth->data[0] != 0, tflite_elements(to));
    to->data = made;
}

static int64_t dimension_from_end(const struct tflite_tensor *tensor, int from_end)
{
    return from_end < tensor->rank ? tensor->dimensions[tensor->rank - 1 - from_end] : 1;
}

static bool broadcast_shape(const struct tflite_tensor *a, const struct tflite_tensor *b, int rank, int64_t *dimensions)
{
    for (int i = 0; i < rank; i++) {
        int64_t of_a = dimension_from_end(a, i), of_b = dimension_from_end(b, i);
        if (of_a != of_b && of_a != 1 && of_b != 1)
            return false;
        dimensions[rank - 1 - i] = of_a == 1 ? of_b : of_a;
    }
    return true;
}

/* The truth that is broadcast to an element of the result. */
static bool truth_at(const struct tflite_tensor *tensor, const struct tflite_tensor *result, size_t element)
{
    size_t position = 0, step = 1;
    for (int i = 0; i < result->rank; i++) {
        size_t size = (size_t)dimension_from_end(result, i), own = (size_t)dimension_from_end(tensor, i);
        position += own == 1 ? 0 : element % size * step;
        step *= own;
        element /= size;
    }
    return tensor->data[position] != 0;
}

static void combine(struct tflite_importer *importer, const struct tflite_operator *operation, struct tflite_tensor *to)
{
    bool is_not = operation->code == TFLITE_LOGICAL_NOT;
    const struct tflite_tensor *a = truths(importer, operation, 0), *b = is_not ? a : truths(importer, operation, 1);
    int rank = !a || !b ? 0 : a->rank > b->rank ? a->rank : b->rank;
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    if (!a || !b || rank > TFLITE_MAXIMUM_RANK || !broadcast_shape(a, b, rank, dimensions))
        return;
    unsigned char *made = make(importer, rank, dimensions, to);
    for (size_t i = 0; made && i < tflite_elements(to); i++) {
        bool first = truth_at(a, to, i), second = truth_at(b, to, i);
        made[i] = is_not ? !first : operation->code == TFLITE_LOGICAL_OR ? first || second : first && second;
    }
    to->data = made;
}

void tflite_compute_truths(struct tflite_importer *importer, const struct tflite_operator *operation)
{
    struct tflite_tensor *to = &importer->tensors[operation->outputs[0]];
    if (to->type != TFLITE_BOOL || to->data)
        return;
    if (operation->code == TFLITE_FILL && operation->input_count == 2)
        fill(importer, operation, to);
    else if (operation->code == TFLITE_LOGICAL_AND || operation->code == TFLITE_LOGICAL_OR ||
             operation->code == TFLITE_LOGICAL_NOT)
        combine(importer, operation, to);
}
