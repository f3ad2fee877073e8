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

/* The handlers for tensors find the new shape; a constant in the model's order then has it without a change. */
static enum qdq_outcome fold_view(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  struct qdq_value *result)
{
    const struct qdq_array *from = inputs[0].array;
    struct qdq_value *values = arena_array(qdq->arena, struct qdq_value, (size_t)count + 8), made;
    memcpy(values, inputs, (size_t)count * sizeof *values);
    int64_t step = (int64_t)from->count;
    struct view view = {.rank = from->rank};
    int factors = 0;
    for (int i = 0; i < from->rank; i++) {
        view.dimensions[i] = from->dimensions[i];
        if (from->dimensions[i] <= 1)
            continue;
        step /= from->dimensions[i];
        view.factor_counts[i] = 1;
        view.factors[factors++] = (struct view_factor){from->dimensions[i], step};
    }
    values[0] = (struct qdq_value){.kind = QDQ_OUTSIDE, .view = view};
    if (from->count == 0)
        return qdq_fault(qdq, node, NULL, "constant '%s' is empty", from->name);
    enum qdq_outcome outcome = qdq_operator_find(node)->handle(qdq, node, values, count, &made);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_array *array = arena_allocate(qdq->arena, sizeof *array);
    *array = *from;
    array->rank = made.view.rank;
    memcpy(array->dimensions, made.view.dimensions, sizeof array->dimensions);
    if (array->scale_count > 1) { /* the dimension of the scales must be found again */
        for (array->axis = 0; array->axis < array->rank; array->axis++) {
            size_t before = 1, old = 1;
            for (int i = 0; i < array->axis; i++)
                before *= (size_t)array->dimensions[i];
            for (int i = 0; i < from->axis; i++)
                old *= (size_t)from->dimensions[i];
            if (before == old && array->dimensions[array->axis] == from->dimensions[from->axis])
                return give(result, array);
        }
        return qdq_fault(qdq, node, NULL, "joins or splits the dimension of the scales of '%s'", from->name);
    }
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

static enum qdq_outcome fold_slice(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    int64_t start[16], end[16], step[16] = {1};
    const struct qdq_array *from = inputs[0].array;
    int64_t size = (int64_t)from->count;
    if (from->rank != 1 || qdq_list(qdq, node, "starts", count > 1 ? &inputs[1] : NULL, start) != 1 ||
        qdq_list(qdq, node, "ends", count > 2 ? &inputs[2] : NULL, end) != 1 ||
        qdq_list(qdq, node, "steps", count > 4 ? &inputs[4] : NULL, step) == -2 || step[0] != 1)
        return qdq_fault(qdq, node, NULL, "Slice of a constant; supported: of a list, in steps of 1");
    start[0] = start[0] < -size ? 0 : start[0] < 0 ? start[0] + size : start[0] > size ? size : start[0];
    end[0] = end[0] < -size ? 0 : end[0] < 0 ? end[0] + size : end[0] > size ? size : end[0];
    int64_t left[1] = {end[0] > start[0] ? end[0] - start[0] : 0};
    struct qdq_array *array = qdq_array_make(qdq, from, 1, left);
    if (array->numbers && left[0])
        memcpy((double *)(uintptr_t)array->numbers, from->numbers + start[0], (size_t)left[0] * sizeof(double));
    return give(result, array);
}

/* ---- arithmetic ---- */

static double calculate(char operation, double a, double b, bool is_integer)
{
    switch (operation) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    default: return is_integer ? (b == 0 ? 0 : trunc(a / b)) : a / b;
    }
}

static char operation_of(const struct node *node)
{
    static const char *const types[] = {"Add", "Sub", "Mul", "Div"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(types[i], node->type))
            return "+-*/"[i];
    return 0;
}

static enum qdq_outcome fold_arithmetic(struct qdq *qdq, const struct node *node, const struct qdq_array *a,
                                        const struct qdq_array *b, struct qdq_value *result)
{
    const struct qdq_array *larger = b->count > a->count || (b->count == a->count && b->rank > a->rank) ? b : a;
    if ((a->count != larger->count && a->count != 1) || (b->count != larger->count && b->count != 1) || !a->numbers ||
        !b->numbers)
        return qdq_fault(qdq, node, NULL, "%s of constants with %zu and %zu numbers is not supported", node->type, a->count,
                         b->count);
    struct qdq_array *array = qdq_array_make(qdq, larger, larger->rank, larger->dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    array->scale_count = 0;
    bool is_integer = element_type_is_integer(a->type) && !a->scale_count;
    array->type = is_integer ? a->type : ELEMENT_FLOAT;
    for (size_t i = 0; to && i < array->count; i++) {
        double number = calculate(operation_of(node), qdq_array_real(a, a->count == 1 ? 0 : i),
                                  qdq_array_real(b, b->count == 1 ? 0 : i), is_integer);
        to[i] = is_integer ? number : (double)(float)number;
    }
    return give(result, array);
}

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
    else if (operation_of(node) && count == 2 && inputs[1].kind == QDQ_CONSTANT)
        *outcome = fold_arithmetic(qdq, node, first, inputs[1].array, result);
    else if (!strcmp(node->type, "Clip"))
        *outcome = fold_clip(qdq, node, inputs, result);
    else if (!strcmp(node->type, "Cast"))
        *outcome = fold_cast(qdq, node, first, result);
    else
        return false;
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
