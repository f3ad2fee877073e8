/* Nodes that move no byte, constants that are computed from shapes, and floating-point heads. */
#include "import/import.h"

#include <inttypes.h>
#include <string.h>

#define MAXIMUM_FOLDED 64 /* numbers of a constant that is computed here: only shapes are */

static struct flow constant_flow(const struct constant *constant)
{
    return (struct flow){.kind = FLOW_CONSTANT, .constant = constant};
}

bool import_constant(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct attribute *attribute = node_attribute(node, "value");
    const struct attribute *integer = node_attribute(node, "value_int"), *integers = node_attribute(node, "value_ints");
    if (attribute && attribute->kind == ATTRIBUTE_CONSTANT)
        *result = constant_flow(attribute->constant);
    else if (integer && integer->kind == ATTRIBUTE_INTEGER)
        *result = constant_flow(constant_make(importer->arena, node->name, &integer->integer, 1, 0));
    else if (integers && integers->kind == ATTRIBUTE_INTEGERS)
        *result = constant_flow(constant_make(importer->arena, node->name, integers->integers, integers->count, 1));
    else
        return import_fault(importer, node, NULL,
                            "Constant without a numeric tensor; supported: attribute value, value_int or value_ints");
    return true;
}

bool import_identity(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    if (!import_needs(importer, node, 0, &input))
        return false;
    *result = *input;
    return true;
}

/* ---- shapes of tensors ---- */

/* Gives a tensor another shape. HWC memory holds only that of its layer, or its elements in a row for Gemm and MatMul. */
static bool reshape(struct importer *importer, const struct node *node, const struct shape *shape, struct flow *result)
{
    const struct tensor *tensor = flow_tensor_view(importer, result);
    const int64_t *d = shape->dimensions;
    bool in_a_row = shape->rank == 2;
    bool as_image = shape->rank == 4 && d[1] == tensor->channels && d[2] == tensor->height && d[3] == tensor->width;
    bool as_signal = shape->rank == 3 && d[1] == tensor->channels && tensor->height == 1 && d[2] == tensor->width;
    if (shape_elements(shape) != (int64_t)tensor_elements(tensor) || (shape->rank && d[0] != 1))
        return import_fault(importer, node, NULL, "a tensor of shape %s cannot become %s (batch 1)",
                            shape_text(importer, &result->shape), shape_text(importer, shape));
    if (!in_a_row && !as_image && !as_signal)
        return import_fault(
            importer, node, NULL,
            "the new shape %s would move elements of %s in memory; supported: 1x%zu, in front of Gemm or MatMul",
            shape_text(importer, shape), shape_text(importer, &result->shape), tensor_elements(tensor));
    result->shape = *shape;
    return true;
}

bool import_flatten(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!import_identity(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return result->kind == FLOW_HEAD || import_fault(importer, node, NULL, "Flatten of a constant is not supported");
    int64_t axis = import_integer(importer, node, "axis", 1);
    if (axis < 0)
        axis += result->shape.rank;
    if (axis != 1)
        return import_fault(importer, node, "axis", "is %" PRId64 "; supported: 1, which keeps the batch", axis);
    struct shape flat = {.rank = 2, .dimensions = {1, shape_elements(&result->shape)}};
    return reshape(importer, node, &flat, result);
}

/* Resolves 0 (as before) and -1 (the rest) of a Reshape. */
static bool target_shape(struct importer *importer, const struct node *node, const struct flow *input,
                         const struct constant *constant, struct shape *shape)
{
    int64_t known = 1, total = shape_elements(&input->shape);
    int rest = -1;
    if (constant->count > 4 || constant->count < 1)
        return import_fault(importer, node, "shape", "has %zu dimensions; supported: 2 to 4", constant->count);
    const int64_t *numbers = import_whole_numbers(importer, node, "shape", constant, 1);
    shape->rank = (int)constant->count;
    for (int i = 0; i < shape->rank; i++) {
        int64_t dimension = numbers[i] == 0 && i < input->shape.rank ? input->shape.dimensions[i] : numbers[i];
        if (dimension == -1 && rest < 0) {
            rest = i;
            dimension = 1;
        }
        if (dimension < 1 || dimension > total)
            return import_fault(importer, node, "shape", "has %" PRId64 " as dimension %d, of a tensor of shape %s",
                                numbers[i], i, shape_text(importer, &input->shape));
        shape->dimensions[i] = dimension;
        known *= dimension;
        if (known > total)
            break;
    }
    if (rest >= 0 && known <= total)
        shape->dimensions[rest] = total / known;
    return true;
}

bool import_reshape(struct importer *importer, const struct node *node, struct flow *result)
{
    struct shape shape = {0};
    if (!import_identity(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return true;                                                   /* of a constant or head: of no consequence */
    const struct attribute *attribute = node_attribute(node, "shape"); /* opset 1 */
    const struct constant *constant = import_constant_input(importer, node, 1);
    if (!constant && attribute && attribute->kind == ATTRIBUTE_INTEGERS)
        constant = constant_make(importer->arena, "shape", attribute->integers, attribute->count, 1);
    if (!constant)
        return import_fault(importer, node, "shape", "is not known before the network runs; supported: a constant shape");
    return target_shape(importer, node, result, constant, &shape) && reshape(importer, node, &shape, result);
}

/* Axes: attribute up to opset 12, later an input. -1: there are none. */
static int read_axes(struct importer *importer, const struct node *node, int64_t *axes)
{
    const struct attribute *attribute = node_attribute(node, "axes");
    const struct constant *constant = import_constant_input(importer, node, 1);
    if (!constant && attribute && attribute->kind == ATTRIBUTE_INTEGERS)
        constant = constant_make(importer->arena, "axes", attribute->integers, attribute->count, 1);
    if (!constant || constant->count > GRAPH_MAXIMUM_RANK)
        return -1;
    const int64_t *numbers = import_whole_numbers(importer, node, "axes", constant, 0);
    memcpy(axes, numbers, constant->count * sizeof *axes);
    return (int)constant->count;
}

static bool is_axis(const int64_t *axes, int count, int axis, int rank)
{
    for (int i = 0; i < count; i++)
        if (axes[i] == axis || axes[i] == axis - rank)
            return true;
    return false;
}

bool import_squeeze(struct importer *importer, const struct node *node, struct flow *result)
{
    int64_t axes[GRAPH_MAXIMUM_RANK];
    struct shape shape = {0};
    if (!import_identity(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return true;
    int count = read_axes(importer, node, axes), rank = result->shape.rank;
    for (int i = 0; i < rank; i++) {
        bool drop = count < 0 ? i > 1 && result->shape.dimensions[i] == 1 : is_axis(axes, count, i, rank);
        if (drop && result->shape.dimensions[i] != 1)
            return import_fault(importer, node, "axes", "drops axis %d of shape %s, which is not 1", i,
                                shape_text(importer, &result->shape));
        if (!drop)
            shape.dimensions[shape.rank++] = result->shape.dimensions[i];
    }
    return reshape(importer, node, &shape, result);
}

bool import_unsqueeze(struct importer *importer, const struct node *node, struct flow *result)
{
    int64_t axes[GRAPH_MAXIMUM_RANK];
    struct shape shape = {0};
    if (!import_identity(importer, node, result))
        return false;
    if (result->kind == FLOW_CONSTANT && result->constant->count <= MAXIMUM_FOLDED) {
        int64_t *numbers = import_whole_numbers(importer, node, "input", result->constant, 0);
        *result = constant_flow(constant_make(importer->arena, node->name, numbers, result->constant->count, 1));
        return true;
    }
    if (!flow_is_data(result))
        return true;
    int count = read_axes(importer, node, axes), rank = result->shape.rank + count;
    if (count < 0 || rank > 4)
        return import_fault(importer, node, "axes", "missing, or more than 4 dimensions");
    for (int i = 0, from = 0; i < rank; i++) {
        bool is_new = is_axis(axes, count, i, rank) || from == result->shape.rank;
        shape.dimensions[shape.rank++] = is_new ? 1 : result->shape.dimensions[from++];
    }
    return reshape(importer, node, &shape, result);
}

/* Where all dimensions but those of size 1 keep their order, it is a Reshape. */
static bool keeps_order(const struct shape *shape, const int64_t *permutation)
{
    int64_t last = -1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dimensions[permutation[i]] == 1)
            continue;
        if (permutation[i] < last)
            return false;
        last = permutation[i];
    }
    return true;
}

static bool read_permutation(struct importer *importer, const struct node *node, int rank, int64_t *permutation)
{
    bool seen[GRAPH_MAXIMUM_RANK] = {false};
    if (!import_integers(importer, node, "perm", rank, 0, permutation))
        return false;
    for (int i = 0; i < rank; i++) {
        if (!node_attribute(node, "perm"))
            permutation[i] = rank - 1 - i;
        if (permutation[i] < 0 || permutation[i] >= rank || seen[permutation[i]])
            return import_fault(importer, node, "perm", "is no permutation of %d dimensions", rank);
        seen[permutation[i]] = true;
    }
    return true;
}

bool import_transpose(struct importer *importer, const struct node *node, struct flow *result)
{
    int64_t permutation[GRAPH_MAXIMUM_RANK];
    struct shape shape = {0};
    if (!import_identity(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return result->kind == FLOW_HEAD || import_fault(importer, node, NULL, "Transpose of a constant is not supported");
    if (!read_permutation(importer, node, result->shape.rank, permutation))
        return false;
    if (!keeps_order(&result->shape, permutation))
        return import_fault(importer, node, "perm",
                            "moves elements of a tensor of shape %s; supported: to move dimensions of size 1",
                            shape_text(importer, &result->shape));
    shape.rank = result->shape.rank;
    for (int i = 0; i < shape.rank; i++)
        shape.dimensions[i] = result->shape.dimensions[permutation[i]];
    return reshape(importer, node, &shape, result);
}

/* ---- constants from shapes ---- */

bool import_shape(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    if (!import_needs(importer, node, 0, &input))
        return false;
    if (!flow_is_data(input))
        return import_fault(importer, node, NULL, "Shape of a constant is not supported");
    *result =
        constant_flow(constant_make(importer->arena, node->name, input->shape.dimensions, (size_t)input->shape.rank, 1));
    return true;
}

static bool gather_constant(struct importer *importer, const struct node *node, const struct constant *from,
                            struct flow *result)
{
    const struct constant *index = import_constant_input(importer, node, 1);
    int64_t chosen[MAXIMUM_FOLDED];
    if (!index || index->count > MAXIMUM_FOLDED || from->count > MAXIMUM_FOLDED || from->rank != 1)
        return import_fault(importer, node, NULL, "Gather from a constant is supported for shapes only");
    const int64_t *numbers = import_whole_numbers(importer, node, "data", from, 0);
    const int64_t *indices = import_whole_numbers(importer, node, "indices", index, 0);
    for (size_t i = 0; i < index->count; i++) {
        int64_t position = indices[i] < 0 ? indices[i] + (int64_t)from->count : indices[i];
        if (position < 0 || position >= (int64_t)from->count)
            return import_fault(importer, node, "indices", "holds %" PRId64 ", of %zu elements", indices[i], from->count);
        chosen[i] = numbers[position];
    }
    *result = constant_flow(constant_make(importer->arena, node->name, chosen, index->count, index->rank ? 1 : 0));
    return true;
}

bool import_gather(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    if (!import_needs(importer, node, 0, &input))
        return false;
    if (input->kind == FLOW_CONSTANT)
        return gather_constant(importer, node, input->constant, result);
    return import_head(importer, node, result); /* picks elements of the output */
}

static bool concatenate_constants(struct importer *importer, const struct node *node, struct flow *result)
{
    int64_t joined[MAXIMUM_FOLDED];
    size_t count = 0;
    for (int i = 0; i < node->input_count; i++) {
        const struct constant *part = import_constant_input(importer, node, i);
        if (!part || count + part->count > MAXIMUM_FOLDED)
            return import_fault(importer, node, NULL, "Concat of constants is supported for shapes only");
        const int64_t *numbers = import_whole_numbers(importer, node, "input", part, 0);
        for (size_t k = 0; k < part->count; k++)
            joined[count++] = numbers[k];
    }
    *result = constant_flow(constant_make(importer->arena, node->name, joined, count, 1));
    return true;
}

bool import_concat(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    bool all_constant = true, one_head = true;
    for (int i = 0; i < node->input_count; i++) {
        if (!import_needs(importer, node, i, &input))
            return false;
        if (i == 0)
            *result = *input;
        all_constant &= input->kind == FLOW_CONSTANT;
        one_head &= input->kind == FLOW_HEAD && input->index == result->index;
    }
    if (all_constant)
        return concatenate_constants(importer, node, result);
    return one_head || import_concatenation(importer, node, result);
}

/* ---- heads ---- */

/* The network ends before its floating-point head; the application does that, or needs no more than the largest logit. */
bool import_head(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    if (!import_needs(importer, node, 0, &input))
        return false;
    if (input->kind == FLOW_CONSTANT)
        return import_fault(importer, node, NULL, "%s of a constant is not supported", node->type);
    *result = *input;
    if (!flow_is_data(input))
        return true;
    flow_finish(importer, node, result);
    result->kind = FLOW_HEAD;
    if (result->index != importer->head_noted_for)
        diagnose(importer->diagnostics, SEVERITY_NOTE, node->name, NULL,
                 "%s is left to the application: the network's output is the integers in front of it", node->type);
    importer->head_noted_for = result->index;
    return true;
}
