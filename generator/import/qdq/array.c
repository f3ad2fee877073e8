/* Constants as numbers. */
#include "import/qdq/qdq.h"

#include <string.h>

/* Of all constants that are read or computed: many times what a network for GAP8 has. */
#define MAXIMUM_WORK ((size_t)1 << 26)

struct qdq_array *qdq_array_make(struct qdq *qdq, const struct qdq_array *like, int rank, const int64_t *dimensions)
{
    struct qdq_array *array = arena_allocate(qdq->arena, sizeof *array);
    if (like)
        *array = *like;
    array->rank = rank;
    array->count = 1;
    array->numbers = NULL;
    for (int i = 0; i < rank; i++) {
        array->dimensions[i] = dimensions[i];
        array->count *= (size_t)dimensions[i];
    }
    qdq->work += array->count;
    if (qdq->work <= MAXIMUM_WORK)
        array->numbers = arena_array(qdq->arena, double, array->count);
    return array;
}

const struct qdq_array *qdq_array_of(struct qdq *qdq, const struct constant *constant)
{
    struct qdq_array *array = arena_allocate(qdq->arena, sizeof *array);
    *array = (struct qdq_array){.name = constant->name,
                                .type = constant->type,
                                .type_name = constant->type_name,
                                .narrow_bits = constant->narrow_bits,
                                .rank = constant->rank,
                                .count = constant->count};
    memcpy(array->dimensions, constant->dimensions, sizeof array->dimensions);
    qdq->work += constant->count;
    if (constant->type == ELEMENT_UNSUPPORTED || qdq->work > MAXIMUM_WORK)
        return array;
    double *numbers = arena_array(qdq->arena, double, constant->count);
    for (size_t i = 0; i < constant->count; i++)
        numbers[i] = constant_number(constant, i);
    array->numbers = numbers;
    return array;
}

size_t qdq_array_channel(const struct qdq_array *array, size_t index)
{
    if (array->scale_count <= 1)
        return 0;
    size_t step = 1;
    for (int i = array->rank - 1; i > array->axis; i--)
        step *= (size_t)array->dimensions[i];
    return index / step % (size_t)array->dimensions[array->axis];
}

double qdq_array_real(const struct qdq_array *array, size_t index)
{
    if (array->scale_count == 0)
        return array->numbers[index];
    size_t channel = qdq_array_channel(array, index);
    return (array->numbers[index] - (double)array->zero_points[channel]) * array->scales[channel];
}

bool qdq_array_scalar(const struct qdq_array *array, double *number)
{
    if (array->count == 0 || !array->numbers)
        return false;
    *number = qdq_array_real(array, 0);
    for (size_t i = 1; i < array->count; i++)
        if (qdq_array_real(array, i) != *number)
            return false;
    return true;
}

const struct qdq_array *qdq_array_permute(struct qdq *qdq, const struct qdq_array *array, const int *order)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK], steps[GRAPH_MAXIMUM_RANK], step = 1;
    for (int i = array->rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= array->dimensions[i];
    }
    for (int i = 0; i < array->rank; i++)
        dimensions[i] = array->dimensions[order[i]];
    struct qdq_array *result = qdq_array_make(qdq, array, array->rank, dimensions);
    double *numbers = (double *)(uintptr_t)result->numbers;
    for (size_t i = 0; numbers && array->numbers && i < result->count; i++) {
        size_t rest = i, from = 0;
        for (int k = array->rank - 1; k >= 0; k--) {
            from += rest % (size_t)dimensions[k] * (size_t)steps[order[k]];
            rest /= (size_t)dimensions[k];
        }
        numbers[i] = array->numbers[from];
    }
    if (!array->numbers)
        result->numbers = NULL;
    for (int i = 0; i < array->rank; i++)
        if (order[i] == array->axis) {
            result->axis = i;
            break;
        }
    return result;
}
