/* Nodes that are computed here, because all that they read is constant: shapes, and what stands between weights and layers.
 */
#include "import/qdq/qdq.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- results ---- */

static enum qdq_outcome give(struct qdq_value *result, const struct qdq_array *array)
{
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = array};
    return QDQ_DONE;
}

static struct qdq_array *make_list(struct qdq *qdq, const struct node *node, const int64_t *numbers, int count, int rank)
{
    int64_t dimensions[1] = {count};
    const struct qdq_array like = {.name = node->name, .type = ELEMENT_INT64, .type_name = "INT64"};
    struct qdq_array *array = qdq_array_make(qdq, &like, rank, dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    for (int i = 0; to && i < count; i++)
        to[i] = (double)numbers[i];
    return array;
}

/* ---- Constant and Shape ---- */

static enum qdq_outcome fold_constant(struct qdq *qdq, const struct node *node, struct qdq_value *result)
{
    const struct attribute *tensor = node_attribute(node, "value"), *integer = node_attribute(node, "value_int");
    const struct attribute *integers = node_attribute(node, "value_ints"), *number = node_attribute(node, "value_float");
    if (tensor && tensor->kind == ATTRIBUTE_CONSTANT)
        return give(result, qdq_array_of(qdq, tensor->constant));
    if (integer && integer->kind == ATTRIBUTE_INTEGER)
        return give(result, make_list(qdq, node, &integer->integer, 1, 0));
    if (integers && integers->kind == ATTRIBUTE_INTEGERS && integers->count <= 1000)
        return give(result, make_list(qdq, node, integers->integers, (int)integers->count, 1));
    if (!number || number->kind != ATTRIBUTE_FLOAT)
        return qdq_fault(qdq, node, NULL,
                         "Constant without a number; supported: attribute value, value_int, value_ints or value_float");
    int64_t zero = 0;
    struct qdq_array *array = make_list(qdq, node, &zero, 1, 0);
    array->type = ELEMENT_FLOAT;
    if (array->numbers)
        *(double *)(uintptr_t)array->numbers = number->number;
    return give(result, array);
}

static enum qdq_outcome fold_shape(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                   struct qdq_value *result)
{
    int rank = input->kind == QDQ_CONSTANT ? input->array->rank : input->view.rank;
    const int64_t *dimensions = input->kind == QDQ_CONSTANT ? input->array->dimensions : input->view.dimensions;
    int64_t start = qdq_integer(qdq, node, "start", 0), end = qdq_integer(qdq, node, "end", rank);
    start += start < 0 ? rank : 0;
    end += end < 0 ? rank : 0;
    if (input->kind == QDQ_HEAD)
        return QDQ_FLOAT;
    if (start < 0 || end > rank || start > end)
        return qdq_fault(qdq, node, "start", "is %" PRId64 ", end %" PRId64 " of %d dimensions", start, end, rank);
    return give(result, make_list(qdq, node, dimensions + start, (int)(end - start), 1));
}

/* ---- what changes the shape of a constant ---- */

static bool by_view(const struct node *node)
{
    static const char *const types[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i], node->type))
            return true;
    return false;
}

static size_t elements_before(const struct qdq_array *array, int axis)
{
    size_t count = 1;
    for (int i = 0; i < axis; i++)
        count *= (size_t)array->dimensions[i];
    return count;
}

/* The dimension of an array's scales, which was `from`'s in another shape; the rank: it is none any more. */
static int find_axis(const struct qdq_array *from, const struct qdq_array *array)
{
    int axis = 0;
    while (axis < array->rank && (elements_before(array, axis) != elements_before(from, from->axis) ||
                                  array->dimensions[axis] != from->dimensions[from->axis]))
        axis++;
    return axis;
}

/* The handlers for tensors find the new shape; a constant in the model's order then has it without a change. */
static enum qdq_outcome fold_view(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  struct qdq_value *result)
{
    const struct qdq_array *from = inputs[0].array;
    struct qdq_value *values = arena_array(qdq->arena, struct qdq_value, (size_t)count + 8), made;
    if (from->count == 0)
        return qdq_fault(qdq, node, NULL, "constant '%s' is empty", from->name);
    memcpy(values, inputs, (size_t)count * sizeof *values);
    values[0] = (struct qdq_value){.kind = QDQ_OUTSIDE, .view = view_of_memory(from->rank, from->dimensions)};
    enum qdq_outcome outcome = qdq_operator_find(node)->handle(qdq, node, values, count, &made);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_array *array = arena_copy(qdq->arena, from, 1);
    array->rank = made.view.rank;
    memcpy(array->dimensions, made.view.dimensions, sizeof array->dimensions);
    if (array->scale_count > 1)
        array->axis = find_axis(from, array);
    if (array->scale_count > 1 && array->axis == array->rank)
        return qdq_fault(qdq, node, NULL, "joins or splits the dimension of the scales of '%s'", from->name);
    return give(result, array);
}

static enum qdq_outcome fold_transpose(struct qdq *qdq, const struct node *node, const struct qdq_array *from,
                                       struct qdq_value *result)
{
    int64_t listed[16];
    int order[GRAPH_MAXIMUM_RANK], seen = 0, count = qdq_list(qdq, node, "perm", NULL, listed);
    for (int i = 0; i < from->rank; i++) {
        int64_t place = count == from->rank ? listed[i] : from->rank - 1 - i;
        order[i] = place >= 0 && place < from->rank ? (int)place : 0;
        seen |= 1 << order[i];
    }
    if (seen != (1 << from->rank) - 1 || (count >= 0 && count != from->rank) || count == -2)
        return qdq_fault(qdq, node, "perm", "is no order of %d dimensions", from->rank);
    return give(result, qdq_array_permute(qdq, from, order));
}

/* ---- lists: one dimension or a single number ---- */

static enum qdq_outcome fold_gather(struct qdq *qdq, const struct node *node, const struct qdq_array *from,
                                    const struct qdq_array *indices, struct qdq_value *result)
{
    if (from->rank != 1 || indices->rank > 1 || !indices->numbers || indices->count > 1000)
        return qdq_fault(qdq, node, NULL, "Gather of a constant of %d dimensions is not supported", from->rank);
    int64_t dimensions[1] = {(int64_t)indices->count};
    struct qdq_array *array = qdq_array_make(qdq, from, indices->rank, dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    for (size_t i = 0; to && i < indices->count; i++) {
        double index = indices->numbers[i] < 0 ? indices->numbers[i] + (double)from->count : indices->numbers[i];
        if (!(index >= 0 && index < (double)from->count))
            return qdq_fault(qdq, node, NULL, "index %g of %zu numbers", indices->numbers[i], from->count);
        to[i] = from->numbers[(size_t)index];
    }
    return give(result, array);
}

static enum qdq_outcome fold_concat(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    int64_t total[1] = {0};
    for (int i = 0; i < count; i++) {
        if (inputs[i].kind != QDQ_CONSTANT || inputs[i].array->rank != 1 || !inputs[i].array->numbers)
            return qdq_fault(qdq, node, NULL, "Concat of constants that are no lists is not supported");
        total[0] += (int64_t)inputs[i].array->count;
    }
    struct qdq_array *array = qdq_array_make(qdq, inputs[0].array, 1, total);
    double *to = (double *)(uintptr_t)array->numbers;
    for (int i = 0; to && i < count; i++)
        for (size_t k = 0; k < inputs[i].array->count; k++)
            *to++ = inputs[i].array->numbers[k];
    return give(result, array);
}

/* As a Slice of a tensor has its bounds: `start`, below which `count` steps lead. */
struct cut {
    int64_t start, step, count;
};

static bool read_cut(int64_t start, int64_t end, int64_t step, int64_t size, struct cut *cut)
{
    if (step == 0 || step < -size - 1 || size < 0)
        return false;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    start = start < -size - 1 ? low : start < 0 ? start + size : start;
    end = end < -size - 1 ? low : end < 0 ? end + size : end;
    start = start < low ? low : start > high ? high : start;
    end = end < low ? low : end > high ? high : end;
    int64_t length = step < 0 ? start - end : end - start, stride = step < 0 ? -step : step;
    *cut = (struct cut){start, step, length <= 0 ? 0 : (length - 1) / stride + 1};
    return true;
}

/* Whole cuts of all dimensions, but for those that the node lists. */
static bool read_cuts(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                      const struct qdq_array *from, struct cut *cuts)
{
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    int64_t numbers[4][16];
    int listed[4];
    for (int i = 0; i < 4; i++)
        listed[i] = qdq_list(qdq, node, names[i], count > i + 1 ? &inputs[i + 1] : NULL, numbers[i]);
    for (int k = 0; k < from->rank; k++)
        cuts[k] = (struct cut){0, 1, from->dimensions[k]};
    for (int i = 0; i < listed[0]; i++) {
        int64_t axis = listed[2] > i ? numbers[2][i] : i;
        axis += axis < 0 ? from->rank : 0;
        if (listed[1] != listed[0] || axis < 0 || axis >= from->rank ||
            !read_cut(numbers[0][i], numbers[1][i], listed[3] > i ? numbers[3][i] : 1, from->dimensions[axis], &cuts[axis]))
            return false;
    }
    return listed[0] >= 0 && from->scale_count <= 1;
}

static enum qdq_outcome fold_slice(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    const struct qdq_array *from = inputs[0].array;
    struct cut cuts[GRAPH_MAXIMUM_RANK];
    int64_t left[GRAPH_MAXIMUM_RANK];
    if (!read_cuts(qdq, node, inputs, count, from, cuts))
        return qdq_fault(qdq, node, NULL, "Slice of a constant; supported: constant starts, ends, axes and steps");
    for (int k = 0; k < from->rank; k++)
        left[k] = cuts[k].count;
    struct qdq_array *array = qdq_array_make(qdq, from, from->rank, left);
    double *to = (double *)(uintptr_t)array->numbers;
    for (size_t i = 0; to && i < array->count; i++) {
        size_t rest = i, step = 1, index = 0;
        for (int k = from->rank - 1; k >= 0; k--) {
            index += (size_t)(cuts[k].start + cuts[k].step * (int64_t)(rest % (size_t)left[k])) * step;
            rest /= (size_t)left[k];
            step *= (size_t)from->dimensions[k];
        }
        to[i] = from->numbers[index];
    }
    return give(result, array);
}

/* ---- types and bounds ---- */

static enum qdq_outcome fold_clip(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                  struct qdq_value *result)
{
    const struct qdq_array *from = inputs[0].array;
    double bounds[2] = {-INFINITY, INFINITY};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "max" : "min";
        if (inputs[1 + i].kind == QDQ_NONE)
            bounds[i] = qdq_number(qdq, node, name, bounds[i]);
        else if (inputs[1 + i].kind != QDQ_CONSTANT || !qdq_array_scalar(inputs[1 + i].array, &bounds[i]))
            return qdq_fault(qdq, node, name, "is no constant of one number");
    }
    struct qdq_array *array = qdq_array_make(qdq, from, from->rank, from->dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    if (from->scale_count)
        return qdq_fault(qdq, node, NULL, "Clip of constant '%s' behind its DequantizeLinear is not supported", from->name);
    for (size_t i = 0; to && i < from->count; i++)
        to[i] = fmin(fmax(from->numbers[i], bounds[0]), bounds[1]);
    return give(result, array);
}

static enum qdq_outcome fold_cast(struct qdq *qdq, const struct node *node, const struct qdq_array *from,
                                  struct qdq_value *result)
{
    struct qdq_array *array = qdq_array_make(qdq, from, from->rank, from->dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    int64_t type = qdq_integer(qdq, node, "to", 1);
    bool is_integer = type == 6 || type == 7; /* INT32, INT64 */
    if (!is_integer && type != 1)
        return qdq_fault(qdq, node, "to", "is type %" PRId64 " for a constant; supported: FLOAT, INT32, INT64", type);
    array->type = is_integer ? ELEMENT_INT64 : ELEMENT_FLOAT;
    array->type_name = is_integer ? "INT64" : "FLOAT";
    array->scale_count = 0;
    for (size_t i = 0; to && i < array->count; i++)
        to[i] = is_integer ? trunc(qdq_array_real(from, i)) : qdq_array_real(from, i);
    return give(result, array);
}

/* ---- which nodes ---- */

static bool all_constant(const struct qdq_value *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i].kind != QDQ_CONSTANT && inputs[i].kind != QDQ_NONE)
            return false;
    return count > 0 && inputs[0].kind == QDQ_CONSTANT;
}

static bool fold_numbers(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                         struct qdq_value *result, enum qdq_outcome *outcome)
{
    const struct qdq_array *first = inputs[0].array;
    if (by_view(node))
        *outcome = fold_view(qdq, node, inputs, count, result);
    else if (!strcmp(node->type, "Identity") || !strcmp(node->type, "Dropout"))
        *outcome = give(result, first);
    else if (!strcmp(node->type, "Transpose"))
        *outcome = fold_transpose(qdq, node, first, result);
    else if (!strcmp(node->type, "Concat"))
        *outcome = fold_concat(qdq, node, inputs, count, result);
    else if (!strcmp(node->type, "Slice"))
        *outcome = fold_slice(qdq, node, inputs, count, result);
    else if (!strcmp(node->type, "Gather") && count == 2)
        *outcome = fold_gather(qdq, node, first, inputs[1].array, result);
    else if (!strcmp(node->type, "Clip"))
        *outcome = fold_clip(qdq, node, inputs, result);
    else if (!strcmp(node->type, "Cast"))
        *outcome = fold_cast(qdq, node, first, result);
    else
        return qdq_compute(qdq, node, inputs, count, result, outcome);
    return true;
}

bool qdq_fold(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count, struct qdq_value *result,
              enum qdq_outcome *outcome)
{
    if (*node->domain)
        return false;
    if (!strcmp(node->type, "Constant")) {
        *outcome = fold_constant(qdq, node, result);
        return true;
    }
    if (!strcmp(node->type, "Shape") && count == 1 && inputs[0].kind != QDQ_NONE) {
        *outcome = fold_shape(qdq, node, &inputs[0], result);
        return true;
    }
    if (!all_constant(inputs, count) || !strcmp(node->type, "QuantizeLinear") || !strcmp(node->type, "DequantizeLinear"))
        return false;
    if (!inputs[0].array->numbers) {
        *outcome = qdq_fault(qdq, node, NULL, "constant '%s' is %s; supported: float, double and integers of 8 to 64 bits",
                             inputs[0].array->name, inputs[0].array->type_name);
        return true;
    }
    if (fold_numbers(qdq, node, inputs, count, result, outcome))
        return true;
    *outcome = qdq_fault(qdq, node, NULL,
                         "operator %s of constants is not computed by dory; fold constants at the export "
                         "(do_constant_folding, or onnxsim)",
                         node->type);
    return true;
}
