/* Numbers that operators read beside their tensors: constants of the file, and what the model computes of shapes, as Keras
 * does where the batch is not fixed. */
#include <string.h>

#include "base/arithmetic.h"
#include "import/tflite/tflite_import.h"

#define MAXIMUM_NUMBERS ((int64_t)1 << 20) /* of a list */

struct tflite_numbers *tflite_make_numbers(struct tflite_importer *importer, int64_t count)
{
    if (count > MAXIMUM_NUMBERS || count > importer->number_room)
        return NULL;
    struct tflite_numbers *numbers = arena_allocate(importer->arena, sizeof *numbers);
    importer->number_room -= count;
    numbers->count = (int)count;
    numbers->list = arena_array(importer->arena, int64_t, (size_t)count + 1);
    return numbers;
}

/* ---- constants ---- */

static int64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return count == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

static size_t bytes_of(int type)
{
    return type == TFLITE_INT64 ? 8 : type == TFLITE_INT32 ? 4 : type == TFLITE_BOOL ? 1 : 0;
}

/* Of a constant; null where it is none of INT32, INT64 or BOOL, or too long. */
static const struct tflite_numbers *read_constant(struct tflite_importer *importer, const struct tflite_tensor *tensor)
{
    size_t count = tflite_elements(tensor), bytes = bytes_of(tensor->type);
    if (!tensor->data || tensor->is_sparse || bytes == 0 || tensor->data_bytes < count * bytes)
        return NULL;
    struct tflite_numbers *numbers = tflite_make_numbers(importer, (int64_t)count);
    for (size_t i = 0; numbers && i < count; i++)
        numbers->list[i] = little_endian(tensor->data + i * bytes, bytes);
    return numbers;
}

const struct tflite_numbers *tflite_known_numbers(struct tflite_importer *importer, int tensor)
{
    if (tensor == NO_TENSOR)
        return NULL;
    if (!importer->numbers[tensor])
        importer->numbers[tensor] = read_constant(importer, &importer->model->tensors[tensor]);
    return importer->numbers[tensor];
}

const struct tflite_numbers *tflite_numbers(struct tflite_importer *importer, int index, int count)
{
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    const struct tflite_numbers *numbers =
        tensor ? tflite_known_numbers(importer, (int)(tensor - importer->model->tensors)) : NULL;
    if (tensor && !numbers)
        tflite_fault(importer, "its input %d, '%s', is %s; supported: integers that are constants or follow from shapes",
                     index, tensor->name, tensor->data ? "a constant of another kind" : "computed by the network");
    else if (numbers && count >= 0 && numbers->count != count) {
        tflite_fault(importer, "'%s' has %d numbers; expected: %d", tensor->name, numbers->count, count);
        return NULL;
    }
    return numbers;
}

/* ---- operators on them: lists of one dimension, or single numbers ---- */

static const struct tflite_numbers *shape_of(struct tflite_importer *importer, const struct tflite_tensor *tensor)
{
    struct tflite_numbers *result = tflite_make_numbers(importer, tensor->rank);
    for (int i = 0; result && i < tensor->rank; i++)
        result->list[i] = tensor->dimensions[i];
    return result;
}

static const struct tflite_numbers *gather(struct tflite_importer *importer, const struct tflite_numbers *from,
                                           const struct tflite_numbers *indices)
{
    struct tflite_numbers *result = tflite_make_numbers(importer, indices->count);
    for (int i = 0; result && i < indices->count; i++) {
        if (indices->list[i] < 0 || indices->list[i] >= from->count)
            return NULL;
        result->list[i] = from->list[indices->list[i]];
    }
    return result;
}

static const struct tflite_numbers *slice(struct tflite_importer *importer, const struct tflite_operator *operation,
                                          const struct tflite_numbers *const *inputs)
{
    const struct tflite_options *options = &operation->options;
    int64_t size = inputs[0]->count, step = inputs[3]->count == 1 ? inputs[3]->list[0] : 0;
    if (step < 1 || inputs[1]->count != 1 || inputs[2]->count != 1)
        return NULL;
    int64_t first = options->begin_mask ? 0 : inputs[1]->list[0], end = options->end_mask ? size : inputs[2]->list[0];
    first = clamp(first < 0 ? first + size : first, 0, size);
    end = options->shrink_axis_mask ? first + 1 : clamp(end < 0 ? end + size : end, 0, size);
    if (end > size)
        return NULL;
    struct tflite_numbers *result = tflite_make_numbers(importer, end > first ? (end - first + step - 1) / step : 0);
    for (int i = 0; result && i < result->count; i++)
        result->list[i] = inputs[0]->list[first + i * step];
    return result;
}

static const struct tflite_numbers *join(struct tflite_importer *importer, const struct tflite_numbers *const *inputs,
                                         int count)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += inputs[i]->count;
    struct tflite_numbers *result = tflite_make_numbers(importer, total);
    int64_t *to = result ? result->list : NULL;
    if (!result)
        return NULL;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < inputs[i]->count; k++)
            *to++ = inputs[i]->list[k];
    return result;
}

static const struct tflite_numbers *product(struct tflite_importer *importer, const struct tflite_numbers *from)
{
    struct tflite_numbers *result = tflite_make_numbers(importer, 1);
    if (!result)
        return NULL;
    result->list[0] = 1;
    for (int i = 0; i < from->count; i++)
        if (__builtin_mul_overflow(result->list[0], from->list[i], &result->list[0]))
            return NULL;
    return result;
}

bool tflite_calculate(int code, int64_t x, int64_t y, int64_t *result)
{
    bool divides = code == TFLITE_FLOOR_DIV || code == TFLITE_FLOOR_MOD;
    if (divides && y < 1)
        return false;
    switch (code) {
    case TFLITE_ADD: return !__builtin_add_overflow(x, y, result);
    case TFLITE_SUB: return !__builtin_sub_overflow(x, y, result);
    case TFLITE_MUL: return !__builtin_mul_overflow(x, y, result);
    case TFLITE_FLOOR_DIV: *result = floor_divide(x, y); return true;
    case TFLITE_FLOOR_MOD: *result = x - floor_divide(x, y) * y; return true;
    case TFLITE_MINIMUM: *result = x < y ? x : y; return true;
    case TFLITE_MAXIMUM: *result = x > y ? x : y; return true;
    case TFLITE_LESS: *result = x < y; return true;
    case TFLITE_LESS_EQUAL: *result = x <= y; return true;
    case TFLITE_GREATER: *result = x > y; return true;
    case TFLITE_GREATER_EQUAL: *result = x >= y; return true;
    case TFLITE_EQUAL: *result = x == y; return true;
    case TFLITE_NOT_EQUAL: *result = x != y; return true;
    default: return false;
    }
}

/* The shape that both shapes are broadcast to. */
static const struct tflite_numbers *common_shape(struct tflite_importer *importer, const struct tflite_numbers *a,
                                                 const struct tflite_numbers *b)
{
    int count = a->count > b->count ? a->count : b->count;
    struct tflite_numbers *result = tflite_make_numbers(importer, count);
    for (int i = 1; result && i <= count; i++) {
        int64_t x = i <= a->count ? a->list[a->count - i] : 1, y = i <= b->count ? b->list[b->count - i] : 1;
        if (x != y && x != 1 && y != 1)
            return NULL;
        result->list[count - i] = x == 1 ? y : x;
    }
    return result;
}

static const struct tflite_numbers *magnitudes(struct tflite_importer *importer, const struct tflite_numbers *from)
{
    struct tflite_numbers *result = tflite_make_numbers(importer, from->count);
    for (int i = 0; result && i < from->count; i++)
        if (__builtin_sub_overflow(0, from->list[i], &result->list[i]))
            return NULL;
        else if (result->list[i] < 0)
            result->list[i] = from->list[i];
    return result;
}

/* Operators on lists; all others are as on numbers of several dimensions. */
static const struct tflite_numbers *compute_lists(struct tflite_importer *importer, const struct tflite_operator *operation,
                                                  const struct tflite_numbers *const *inputs, int count)
{
    switch (operation->code) {
    case TFLITE_GATHER: return count == 2 ? gather(importer, inputs[0], inputs[1]) : NULL;
    case TFLITE_STRIDED_SLICE: return count == 4 ? slice(importer, operation, inputs) : NULL;
    case TFLITE_PACK:
    case TFLITE_CONCATENATION: return join(importer, inputs, count);
    case TFLITE_BROADCAST_ARGS: return count == 2 ? common_shape(importer, inputs[0], inputs[1]) : NULL;
    case TFLITE_REDUCE_PROD: return count == 2 ? product(importer, inputs[0]) : NULL;
    case TFLITE_ABS: return count == 1 ? magnitudes(importer, inputs[0]) : NULL;
    default: return tflite_compute_number_array(importer, operation, inputs, count);
    }
}

void tflite_compute_numbers(struct tflite_importer *importer, const struct tflite_operator *operation)
{
    int output = operation->outputs[0], count = operation->input_count;
    if (operation->code == TFLITE_SHAPE && count == 1 && operation->inputs[0] != NO_TENSOR) {
        importer->numbers[output] = shape_of(importer, &importer->model->tensors[operation->inputs[0]]);
        return;
    }
    const struct tflite_numbers **inputs = arena_array(importer->arena, const struct tflite_numbers *, (size_t)count + 1);
    bool is_list = true;
    for (int i = 0; i < count; i++) {
        if (!(inputs[i] = tflite_known_numbers(importer, operation->inputs[i])))
            return;
        is_list = is_list && importer->model->tensors[operation->inputs[i]].rank <= 1;
    }
    const struct tflite_numbers *result = is_list ? compute_lists(importer, operation, inputs, count)
                                                  : tflite_compute_number_array(importer, operation, inputs, count);
    if (result && (size_t)result->count == tflite_elements(&importer->model->tensors[output])) /* readers go by its shape */
        importer->numbers[output] = result;
}
