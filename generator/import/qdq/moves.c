/* Nodes that move elements: Concat, Pad, Slice, Split, Resize. */
#include "import/qdq/qdq.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

/* ---- copies by lists of indices ---- */

/* For each of an image's dimensions (channels, height, width) the indices of the input that the output has there; -1: none,
 * but `fill`. */
struct indices {
    int count[3];
    int32_t *from[3];
};

static const int image_dimension_of_rank[3][3] = {{1, -1, -1}, {1, -1, 2}, {1, 2, 3}}; /* rank 2, 3, 4 */

static struct indices make_indices(struct qdq *qdq, const struct tensor *tensor)
{
    struct indices indices = {.count = {tensor->channels, tensor->height, tensor->width}};
    for (int i = 0; i < 3; i++) {
        indices.from[i] = arena_array(qdq->arena, int32_t, (size_t)indices.count[i]);
        for (int k = 0; k < indices.count[i]; k++)
            indices.from[i][k] = k;
    }
    return indices;
}

static int32_t *new_list(struct qdq *qdq, struct indices *indices, int dimension, int64_t count)
{
    indices->count[dimension] = (int)count;
    return indices->from[dimension] = arena_array(qdq->arena, int32_t, (size_t)count);
}

static int lay_copy(struct qdq *qdq, const char *name, int input, const struct indices *indices, int fill)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    const int32_t steps[3] = {1, from.width * from.channels, from.channels};
    int output = qdq_tensor_like(qdq, name, input, indices->count[1], indices->count[2], indices->count[0]);
    int32_t *positions[3];
    for (int i = 0; i < 3; i++) {
        positions[i] = arena_array(qdq->arena, int32_t, (size_t)indices->count[i]);
        for (int k = 0; k < indices->count[i]; k++)
            positions[i][k] = indices->from[i][k] < 0 ? -1 : indices->from[i][k] * steps[i];
    }
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_COPY, name, input, output);
    layer->padding_value = fill;
    layer->map = (struct layer_map){.rows = positions[1], .columns = positions[2], .channels = positions[0]};
    return output;
}

int qdq_lay_border(struct qdq *qdq, const char *name, int input, const int64_t before[2], const int64_t after[2], int fill)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    struct indices indices = make_indices(qdq, &from);
    for (int i = 0; i < 2; i++) {
        int size = i ? from.width : from.height;
        int32_t *list = new_list(qdq, &indices, 1 + i, before[i] + size + after[i]);
        for (int k = 0; k < indices.count[1 + i]; k++)
            list[k] = k >= before[i] && k < before[i] + size ? (int32_t)(k - before[i]) : -1;
    }
    return lay_copy(qdq, name, input, &indices, fill);
}

/* The image's dimension (channels, height, width) that a dimension of the model's tensor is, or -1. */
static int image_dimension(const struct view *view, int dimension)
{
    for (int i = 0; i < 3; i++)
        if (image_dimension_of_rank[view->rank - 2][i] == dimension)
            return i;
    return -1;
}

static enum qdq_outcome take_image(struct qdq *qdq, const struct node *node, const struct qdq_value *from,
                                   struct qdq_value *value)
{
    *value = *from;
    if (value->kind != QDQ_ELEMENTS && value->kind != QDQ_REALS)
        return QDQ_FLOAT;
    return qdq_make_image(qdq, node, value);
}

static void set_image(struct qdq *qdq, const struct qdq_value *from, int tensor, struct qdq_value *result)
{
    *result = *from;
    result->tensor = tensor;
    result->view = view_of_image(qdq_tensor(qdq, tensor), from->view.rank);
}

/* ---- Concat ---- */

int qdq_concatenate(struct qdq *qdq, const char *name, const struct qdq_value *parts, int count, enum image_axis axis)
{
    int *tensors = arena_array(qdq->arena, int, (size_t)count);
    for (int i = 0; i < count; i++)
        tensors[i] = parts[i].tensor;
    return quantised_concatenate(&qdq->builder, name, tensors, count, axis);
}

static bool same_quantisation(struct qdq *qdq, const struct qdq_value *a, const struct qdq_value *b)
{
    const struct tensor *first = qdq_tensor(qdq, a->tensor), *second = qdq_tensor(qdq, b->tensor);
    return first->scale == second->scale && first->zero_point == second->zero_point &&
           first->model_offset == second->model_offset;
}

static const enum image_axis image_axes[3] = {AXIS_CHANNELS, AXIS_HEIGHT, AXIS_WIDTH};

static enum qdq_outcome take_parts(struct qdq *qdq, const struct node *node, struct qdq_value *parts, int count, int axis)
{
    int64_t size = 0;
    for (int i = 0; i < count; i++) {
        enum qdq_outcome outcome = take_image(qdq, node, &parts[i], &parts[i]);
        if (outcome != QDQ_DONE)
            return outcome;
        bool fits = parts[i].kind == parts[0].kind && parts[i].view.rank == parts[0].view.rank;
        for (int k = 0; fits && k < parts[0].view.rank; k++)
            fits = k == axis || parts[i].view.dimensions[k] == parts[0].view.dimensions[k];
        size += fits ? parts[i].view.dimensions[axis] : 0;
        int64_t channels = axis == 1 ? size : size * qdq_tensor(qdq, parts[0].tensor)->channels;
        if (!fits || channels > QDQ_MAXIMUM_DIMENSION)
            return qdq_fault(qdq, node, NULL,
                             "of shapes %s and %s, supported: equal shapes but along the axis, and up to %d elements there, "
                             "channels included",
                             view_text(&parts[0].view, qdq->arena), view_text(&parts[i].view, qdq->arena),
                             QDQ_MAXIMUM_DIMENSION);
    }
    return QDQ_DONE;
}

static bool is_one_quantisation(struct qdq *qdq, const struct qdq_value *parts, int count)
{
    for (int i = 0; i < count; i++)
        if (!same_quantisation(qdq, &parts[0], &parts[i]) ||
            (parts[i].kind != QDQ_ELEMENTS && !qdq_is_plain(qdq, &parts[i])))
            return false;
    return true;
}

/* Parts that are still to be quantised as the whole is. */
static void join_pending(struct qdq *qdq, const struct node *node, const struct qdq_value *parts, int count,
                         enum image_axis axis, struct qdq_value *result)
{
    int sizes[3] = {0};
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = qdq_tensor(qdq, parts[i].tensor);
        const int own[3] = {tensor->height, tensor->width, tensor->channels};
        for (int k = 0; k < 3; k++)
            sizes[k] = i == 0 || k != (int)axis ? own[k] : sizes[k] + own[k];
    }
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONCATENATION, node, parts[0].tensor, 1);
    pending->height = sizes[AXIS_HEIGHT];
    pending->width = sizes[AXIS_WIDTH];
    pending->channels = sizes[AXIS_CHANNELS];
    pending->axis = axis;
    pending->parts = parts;
    pending->part_count = count;
    qdq_pending_value(pending, parts[0].view.rank, result);
}

enum qdq_outcome qdq_concatenation(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)count + 1);
    int64_t axis = qdq_integer(qdq, node, "axis", 1), rank = inputs[0].view.rank;
    memcpy(parts, inputs, (size_t)count * sizeof *parts);
    axis += axis < 0 ? rank : 0;
    if (rank < 2 || rank > 4 || axis < 1 || axis >= rank)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", of a tensor of shape %s; supported: channels, height, width",
                         axis, view_text(&inputs[0].view, qdq->arena));
    enum qdq_outcome outcome = take_parts(qdq, node, parts, count, (int)axis);
    if (outcome != QDQ_DONE)
        return outcome;
    enum image_axis image_axis = image_axes[image_dimension(&parts[0].view, (int)axis)];
    if (is_one_quantisation(qdq, parts, count)) {
        set_image(qdq, &parts[0], qdq_concatenate(qdq, node->name, parts, count, image_axis), result);
        return QDQ_DONE;
    }
    if (parts[0].kind == QDQ_ELEMENTS)
        return qdq_fault(qdq, node, NULL, "its inputs are integers of different scales or zero points");
    join_pending(qdq, node, parts, count, image_axis, result);
    return QDQ_DONE;
}

/* ---- Pad ---- */

enum border { CONSTANT, EDGE, REFLECT, WRAP, OTHER };

static enum border border_of(const struct node *node)
{
    static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
    const struct attribute *mode = node_attribute(node, "mode");
    for (int i = 0; mode && mode->kind == ATTRIBUTE_TEXT && i < OTHER; i++)
        if (!strcmp(names[i], mode->text))
            return (enum border)i;
    return mode ? OTHER : CONSTANT;
}

/* Where an index of the padded dimension comes from. */
static int32_t padded_index(enum border border, int64_t at, int64_t size)
{
    if (at >= 0 && at < size)
        return (int32_t)at;
    switch (border) {
    case EDGE: return (int32_t)(at < 0 ? 0 : size - 1);
    case WRAP: return (int32_t)((at % size + size) % size);
    case REFLECT:
        at = size == 1 ? 0 : (at % (2 * (size - 1)) + 2 * (size - 1)) % (2 * (size - 1));
        return (int32_t)(size == 1 || at < size ? at : 2 * (size - 1) - at);
    default: return -1;
    }
}

/* The element that the border has. */
static enum qdq_outcome border_element(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                       const struct qdq_value *constant, int *element)
{
    const struct tensor *tensor = qdq_tensor(qdq, value->tensor);
    double number = qdq_number(qdq, node, "value", 0);
    if (constant->kind != QDQ_NONE && (constant->kind != QDQ_CONSTANT || !qdq_array_scalar(constant->array, &number)))
        return qdq_fault(qdq, node, "constant_value", "is no constant number; supported: that");
    for (int i = 0; i < 256; i++) {
        bool is_it = value->kind == QDQ_REALS ? value->reals[i] == (float)number : i + tensor->model_offset == number;
        if (!is_it)
            continue;
        *element = i;
        return QDQ_DONE;
    }
    return qdq_fault(qdq, node, "constant_value", "is %g, which no element of the tensor stands for exactly (scale %.9g)",
                     number, tensor->scale);
}

static enum qdq_outcome read_pads(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  int rank, int64_t pads[2][GRAPH_MAXIMUM_RANK])
{
    int64_t numbers[16], axes[16];
    int listed = qdq_list(qdq, node, "pads", count > 1 ? &inputs[1] : NULL, numbers);
    int axis_count = qdq_list(qdq, node, "axes", count > 3 ? &inputs[3] : NULL, axes);
    if (listed == -2 || axis_count == -2)
        return QDQ_FAULT;
    memset(pads, 0, 2 * sizeof pads[0]);
    for (int i = 0; axis_count == -1 && i < rank; i++)
        axes[i] = i;
    axis_count = axis_count == -1 ? rank : axis_count;
    if (listed != 2 * axis_count)
        return qdq_fault(qdq, node, "pads", "are %d numbers for %d dimensions", listed, axis_count);
    for (int i = 0; i < axis_count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank)
            return qdq_fault(qdq, node, "axes", "has %" PRId64 " of %d dimensions", axes[i], rank);
        pads[0][axis] = numbers[i];
        pads[1][axis] = numbers[axis_count + i];
    }
    return QDQ_DONE;
}

enum qdq_outcome qdq_pad(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                         struct qdq_value *result)
{
    static const struct qdq_value none;
    struct qdq_value value;
    int64_t pads[2][GRAPH_MAXIMUM_RANK];
    enum border border = border_of(node);
    int fill = 0;
    enum qdq_outcome outcome = take_image(qdq, node, &inputs[0], &value);
    if (outcome != QDQ_DONE || (outcome = read_pads(qdq, node, inputs, count, value.view.rank, pads)) != QDQ_DONE)
        return outcome;
    if (border == OTHER)
        return qdq_fault(qdq, node, "mode", "is not supported; supported: constant, edge, reflect, wrap");
    if (border == CONSTANT &&
        (outcome = border_element(qdq, node, &value, count > 2 ? &inputs[2] : &none, &fill)) != QDQ_DONE)
        return outcome;
    struct indices indices = make_indices(qdq, qdq_tensor(qdq, value.tensor));
    for (int i = 0; i < value.view.rank; i++) {
        int64_t before = pads[0][i], after = pads[1][i], size = value.view.dimensions[i];
        int dimension = image_dimension(&value.view, i);
        if (before == 0 && after == 0)
            continue;
        if (dimension < 0 || before < -size || after < -size || before > QDQ_MAXIMUM_DIMENSION ||
            after > QDQ_MAXIMUM_DIMENSION || size + before + after < 1 || size + before + after > QDQ_MAXIMUM_DIMENSION)
            return qdq_fault(qdq, node, "pads", "are %" PRId64 " and %" PRId64 " in dimension %d of %s", before, after, i,
                             view_text(&value.view, qdq->arena));
        int32_t *list = new_list(qdq, &indices, dimension, size + before + after);
        for (int64_t k = 0; k < size + before + after; k++)
            list[k] = padded_index(border, k - before, size);
    }
    set_image(qdq, &value, lay_copy(qdq, node->name, value.tensor, &indices, fill), result);
    return QDQ_DONE;
}

/* ---- Slice and Split ---- */

struct cut {
    int64_t axis, start, end, step;
};

static enum qdq_outcome read_cuts(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  const struct view *view, struct cut *cuts, int *cut_count)
{
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    int64_t numbers[4][16];
    int listed[4];
    for (int i = 0; i < 4; i++)
        if ((listed[i] = qdq_list(qdq, node, names[i], count > i + 1 ? &inputs[i + 1] : NULL, numbers[i])) == -2)
            return QDQ_FAULT;
    *cut_count = listed[0];
    for (int i = 0; i < listed[0]; i++) {
        struct cut cut = {listed[2] < 0 ? i : numbers[2][i], numbers[0][i], 0, listed[3] < 0 ? 1 : numbers[3][i]};
        cut.axis += cut.axis < 0 ? view->rank : 0;
        if (listed[1] != listed[0] || (listed[2] >= 0 && listed[2] != listed[0]) ||
            (listed[3] >= 0 && listed[3] != listed[0]) || cut.axis < 0 || cut.axis >= view->rank || cut.step == 0)
            return qdq_fault(qdq, node, "axes", "starts, ends and steps do not go together, for a tensor of shape %s",
                             view_text(view, qdq->arena));
        int64_t size = view->dimensions[cut.axis], low = cut.step < 0 ? -1 : 0, high = cut.step < 0 ? size - 1 : size;
        cut.step = clamp(cut.step, -QDQ_MAXIMUM_DIMENSION - 1, QDQ_MAXIMUM_DIMENSION + 1);
        cut.end = numbers[1][i];
        cut.start = clamp(cut.start < 0 ? clamp(cut.start, -size - 1, 0) + size : cut.start, 0, high);
        cut.end = clamp(cut.end < 0 ? clamp(cut.end, -size - 1, 0) + size : cut.end, low, high);
        cuts[i] = cut;
    }
    return QDQ_DONE;
}

static int64_t cut_size(const struct cut *cut)
{
    int64_t span = cut->step > 0 ? cut->end - cut->start : cut->start - cut->end,
            step = cut->step > 0 ? cut->step : -cut->step;
    return span <= 0 ? 0 : (span + step - 1) / step;
}

static enum qdq_outcome apply_cuts(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                   const struct cut *cuts, int count, struct qdq_value *result)
{
    struct indices indices = make_indices(qdq, qdq_tensor(qdq, value->tensor));
    for (int i = 0; i < count; i++) {
        const struct cut *cut = &cuts[i];
        int dimension = image_dimension(&value->view, (int)cut->axis);
        int64_t size = cut_size(cut);
        if (size == 0 || (dimension < 0 && size != value->view.dimensions[cut->axis]))
            return qdq_fault(qdq, node, "axes", "leave nothing of dimension %" PRId64 " of a tensor of shape %s", cut->axis,
                             view_text(&value->view, qdq->arena));
        if (dimension < 0)
            continue;
        int32_t *list = new_list(qdq, &indices, dimension, size);
        for (int64_t k = 0; k < size; k++)
            list[k] = (int32_t)(cut->start + k * cut->step);
    }
    set_image(qdq, value, lay_copy(qdq, node->name, value->tensor, &indices, 0), result);
    return QDQ_DONE;
}

enum qdq_outcome qdq_slice(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *result)
{
    struct qdq_value value;
    struct cut cuts[16];
    int cut_count = 0;
    enum qdq_outcome outcome = take_image(qdq, node, &inputs[0], &value);
    if (outcome != QDQ_DONE || (outcome = read_cuts(qdq, node, inputs, count, &value.view, cuts, &cut_count)) != QDQ_DONE)
        return outcome;
    return apply_cuts(qdq, node, &value, cuts, cut_count, result);
}

enum qdq_outcome qdq_split(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *results)
{
    struct qdq_value value;
    int64_t sizes[16], axis = qdq_integer(qdq, node, "axis", 0), start = 0;
    enum qdq_outcome outcome = take_image(qdq, node, &inputs[0], &value);
    int listed = qdq_list(qdq, node, "split", count > 1 ? &inputs[1] : NULL, sizes), parts = node->output_count;
    if (outcome != QDQ_DONE || listed == -2)
        return outcome == QDQ_DONE ? QDQ_FAULT : outcome;
    axis += axis < 0 ? value.view.rank : 0;
    if (axis < 0 || axis >= value.view.rank || parts > 16 || parts < 1 || (listed >= 0 && listed != parts))
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", with %d outputs, for a tensor of shape %s; supported: up to 16",
                         axis, parts, view_text(&value.view, qdq->arena));
    int64_t size = value.view.dimensions[axis], each = (size + parts - 1) / parts;
    for (int i = 0; i < parts; i++) {
        int64_t end = clamp(listed < 0 ? start + each : start + clamp(sizes[i], 0, size), 0, size);
        struct cut cut = {axis, start, end, 1};
        if ((outcome = apply_cuts(qdq, node, &value, &cut, 1, &results[i])) != QDQ_DONE)
            return outcome;
        start = end;
    }
    return start == size ? QDQ_DONE : qdq_fault(qdq, node, "split", "sizes do not add up to %" PRId64, size);
}
