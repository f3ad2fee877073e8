/* Nodes that move elements: Pad, Slice, Split, Tile, Expand, DepthToSpace. */
#include "import/qdq/combinations.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

/* ---- values in memory ---- */

struct middle_value qdq_placed(const struct qdq_value *value) { return (struct middle_value){value->tensor, value->view}; }

/* Images stay images; what else there is keeps the order that its elements have in memory. */
static struct layout layout_of(const struct qdq *qdq, const struct qdq_value *value)
{
    return view_is_image(&value->view, qdq_tensor(qdq, value->tensor)) ? layout_of_image(value->view.rank)
                                                                       : layout_of_memory(&value->view);
}

bool qdq_has_elements(const struct qdq_value *value) { return value->kind == QDQ_ELEMENTS || value->kind == QDQ_REALS; }

bool qdq_can_move(const struct qdq_value *value)
{
    return qdq_has_elements(value) || value->kind == QDQ_OUTSIDE || value->kind == QDQ_INDICES;
}

enum qdq_outcome qdq_lay(struct qdq *qdq, const struct node *node, const struct middle_move *move,
                         const struct layout *layout, int border, struct qdq_value *value)
{
    struct middle_value placed = qdq_placed(value), laid;
    if (!middle_lay(&qdq->builder, node->name, &placed, move, layout, border, &laid))
        return qdq_fault(qdq, node, NULL, "of a tensor of shape %s is too large to be copied",
                         view_text(&value->view, qdq->arena));
    value->tensor = laid.tensor;
    value->view = laid.view;
    return QDQ_DONE;
}

/* The value with its elements moved. */
enum qdq_outcome qdq_apply_move(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                const struct middle_move *move, int border, struct qdq_value *result)
{
    struct middle_value placed = qdq_placed(value), moved;
    struct layout layout = layout_of(qdq, value);
    if (!middle_move_apply(&qdq->builder, node->name, &placed, move, &layout, border, &moved))
        return qdq_fault(qdq, node, NULL, "makes more elements of a tensor of shape %s than the firmware can have",
                         view_text(&value->view, qdq->arena));
    *result = *value;
    result->tensor = moved.tensor;
    result->view = moved.view;
    return QDQ_DONE;
}

int qdq_lay_border(struct qdq *qdq, const char *name, int input, const int64_t before[2], const int64_t after[2], int fill)
{
    struct middle_value image = {input, view_of_image(qdq_tensor(qdq, input), 4)}, laid;
    struct middle_move move = middle_move_none(&image.view);
    struct layout layout = layout_of_image(4);
    for (int i = 0; i < 2; i++)
        if (!middle_move_pad(&qdq->builder, &move, 2 + i, BORDER_CONSTANT, before[i], after[i]))
            return -1;
    return middle_move_apply(&qdq->builder, name, &image, &move, &layout, fill, &laid) ? laid.tensor : -1;
}

/* ---- Pad ---- */

/* -1: another one. */
static int border_of(const struct node *node)
{
    static const struct {
        const char *name;
        enum middle_border border;
    } borders[] = {{"constant", BORDER_CONSTANT}, {"edge", BORDER_EDGE}, {"reflect", BORDER_REFLECT}, {"wrap", BORDER_WRAP}};
    const struct attribute *mode = node_attribute(node, "mode");
    for (size_t i = 0; mode && mode->kind == ATTRIBUTE_TEXT && i < sizeof borders / sizeof *borders; i++)
        if (!strcmp(borders[i].name, mode->text))
            return (int)borders[i].border;
    return mode ? -1 : (int)BORDER_CONSTANT;
}

/* Where a QuantizeLinear reads the padded tensor: an element that it rounds to what it rounds the number to; else -1. */
static int rounded_element(struct qdq *qdq, const struct node *node, const struct qdq_value *value, double number)
{
    struct quantisation reader;
    if (value->kind != QDQ_REALS || !qdq_reader_quantisation(qdq, node, &reader))
        return -1;
    int zero_point = (int)reader.zero_point + (reader.is_signed ? 128 : 0);
    int wanted = qdq_round(number, reader.scale, zero_point, 0, 255);
    for (int i = 0; i < 256; i++)
        if (qdq_round((double)value->reals[i], reader.scale, zero_point, 0, 255) == wanted)
            return i;
    return -1;
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
    *element = rounded_element(qdq, node, value, number);
    if (*element >= 0)
        return QDQ_DONE;
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
    const struct qdq_value *value = &inputs[0];
    int64_t pads[2][GRAPH_MAXIMUM_RANK];
    int border = border_of(node), fill = 0;
    if (!qdq_has_elements(value))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = read_pads(qdq, node, inputs, count, value->view.rank, pads);
    if (outcome == QDQ_DONE && border < 0)
        return qdq_fault(qdq, node, "mode", "is not supported; supported: constant, edge, reflect, wrap");
    if (outcome == QDQ_DONE && border == BORDER_CONSTANT)
        outcome = border_element(qdq, node, value, count > 2 ? &inputs[2] : &none, &fill);
    if (outcome != QDQ_DONE)
        return outcome;
    struct middle_move move = middle_move_none(&value->view);
    for (int i = 0; i < value->view.rank; i++)
        if (!middle_move_pad(&qdq->builder, &move, i, (enum middle_border)border, pads[0][i], pads[1][i]))
            return qdq_fault(qdq, node, "pads", "are %" PRId64 " and %" PRId64 " in dimension %d of %s", pads[0][i],
                             pads[1][i], i, view_text(&value->view, qdq->arena));
    return qdq_apply_move(qdq, node, value, &move, fill, result);
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
        cut.step = clamp(cut.step, -MAXIMUM_DIMENSION - 1, MAXIMUM_DIMENSION + 1);
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
                                   const struct cut *cuts, int count, struct qdq_value *result);

/* The cuts of a part, which is the elements from `first` on of its dimension; false where they leave nothing of it. */
static bool cuts_of_part(const struct cut *cuts, int count, int dimension, int64_t first, int64_t size, struct cut *own)
{
    bool leaves = true;
    memcpy(own, cuts, (size_t)count * sizeof *own);
    for (int i = 0; i < count; i++)
        if (cuts[i].axis == dimension) {
            own[i].start = clamp(cuts[i].start - first, 0, size);
            own[i].end = clamp(cuts[i].end - first, 0, size);
            leaves = leaves && own[i].start < own[i].end;
        }
    return leaves;
}

/* Of tensors that are joined: each is cut. */
static enum qdq_outcome cut_parts(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                  const struct cut *cuts, int count, struct qdq_value *result)
{
    const struct qdq_pending *whole = value->pending;
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)whole->part_count);
    struct cut own[16];
    int64_t first = 0;
    int part_count = 0;
    for (int i = 0; i < count; i++)
        if (cuts[i].axis == whole->dimension && cuts[i].step != 1)
            return QDQ_FLOAT;
    for (int i = 0; i < whole->part_count; i++) {
        const int64_t size = whole->parts[i].view.dimensions[whole->dimension];
        const bool is_left = cuts_of_part(cuts, count, whole->dimension, first, size, own);
        first += size;
        if (!is_left)
            continue;
        struct qdq_value part = whole->parts[i];
        qdq_bound(qdq, &part, whole->minimum, whole->maximum);
        if (!qdq_can_move(&part))
            return QDQ_FLOAT;
        enum qdq_outcome outcome = apply_cuts(qdq, node, &part, own, count, &parts[part_count++]);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    if (part_count == 0)
        return QDQ_FLOAT;
    *result = parts[0];
    if (part_count > 1)
        qdq_join(qdq, node, parts, part_count, whole->dimension, result);
    return QDQ_DONE;
}

static enum qdq_outcome apply_cuts(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                   const struct cut *cuts, int count, struct qdq_value *result)
{
    if (qdq_is_joined(value))
        return cut_parts(qdq, node, value, cuts, count, result);
    struct middle_move move = middle_move_none(&value->view);
    for (int i = 0; i < count; i++)
        if (!middle_move_slice(&qdq->builder, &move, (int)cuts[i].axis, cuts[i].start, cuts[i].step, cut_size(&cuts[i])))
            return qdq_fault(qdq, node, "axes", "leave nothing of dimension %" PRId64 " of a tensor of shape %s",
                             cuts[i].axis, view_text(&value->view, qdq->arena));
    return qdq_apply_move(qdq, node, value, &move, 0, result);
}

enum qdq_outcome qdq_slice(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *result)
{
    struct cut cuts[16];
    int cut_count = 0;
    if (!qdq_can_move(&inputs[0]) && !qdq_is_joined(&inputs[0]))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = read_cuts(qdq, node, inputs, count, &inputs[0].view, cuts, &cut_count);
    return outcome == QDQ_DONE ? apply_cuts(qdq, node, &inputs[0], cuts, cut_count, result) : outcome;
}

enum qdq_outcome qdq_split(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *results)
{
    const struct qdq_value *value = &inputs[0];
    int64_t sizes[16], axis = qdq_integer(qdq, node, "axis", 0), start = 0;
    if (!qdq_can_move(value) && !qdq_is_joined(value))
        return QDQ_FLOAT;
    int listed = qdq_list(qdq, node, "split", count > 1 ? &inputs[1] : NULL, sizes), parts = node->output_count;
    if (listed == -2)
        return QDQ_FAULT;
    axis += axis < 0 ? value->view.rank : 0;
    if (axis < 0 || axis >= value->view.rank || parts > 16 || parts < 1 || (listed >= 0 && listed != parts))
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", with %d outputs, for a tensor of shape %s; supported: up to 16",
                         axis, parts, view_text(&value->view, qdq->arena));
    int64_t size = value->view.dimensions[axis], each = (size + parts - 1) / parts, end = 0;
    for (int i = 0; i < parts; i++) {
        end = listed < 0 ? clamp(start + each, 0, size) : start + clamp(sizes[i], 0, size);
        if (end > size)
            break;
        struct cut cut = {axis, start, end, 1};
        enum qdq_outcome outcome = apply_cuts(qdq, node, value, &cut, 1, &results[i]);
        if (outcome != QDQ_DONE)
            return outcome;
        start = end;
    }
    return end == size ? QDQ_DONE : qdq_fault(qdq, node, "split", "sizes do not add up to %" PRId64, size);
}

/* ---- Tile and Expand: views of the same elements again ---- */

enum qdq_outcome qdq_tile(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          struct qdq_value *result)
{
    int64_t times[16];
    int listed = qdq_list(qdq, node, "repeats", count > 1 ? &inputs[1] : NULL, times);
    if (!qdq_can_move(&inputs[0]))
        return QDQ_FLOAT;
    *result = inputs[0];
    for (int i = 0; i < result->view.rank && listed == result->view.rank; i++)
        if (!middle_repeat(&result->view, i, times[i], &result->view))
            listed = -1;
    if (listed == result->view.rank)
        return QDQ_DONE;
    return listed == -2 ? QDQ_FAULT
                        : qdq_fault(qdq, node, "repeats", "do not fit a tensor of shape %s, or make too much of it",
                                    view_text(&inputs[0].view, qdq->arena));
}

enum qdq_outcome qdq_expand(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    int64_t wanted[16], dimensions[GRAPH_MAXIMUM_RANK];
    int listed = qdq_list(qdq, node, "shape", count > 1 ? &inputs[1] : NULL, wanted), own = inputs[0].view.rank;
    int rank = listed > own ? listed : own;
    if (!qdq_can_move(&inputs[0]) || listed == -2)
        return listed == -2 ? QDQ_FAULT : QDQ_FLOAT;
    bool fits = listed >= 0 && rank <= GRAPH_MAXIMUM_RANK;
    int64_t all = 1;
    for (int i = 0; i < rank && fits; i++) {
        int64_t a = i < rank - own ? 1 : inputs[0].view.dimensions[i - (rank - own)];
        int64_t b = i < rank - listed ? 1 : wanted[i - (rank - listed)];
        dimensions[i] = b == 1 ? a : b;
        fits = b >= 1 && dimensions[i] <= MAXIMUM_DIMENSION && (all *= dimensions[i]) <= MAXIMUM_ELEMENTS;
    }
    *result = inputs[0];
    if (fits && view_broadcast(&inputs[0].view, rank, dimensions, &result->view))
        return QDQ_DONE;
    return qdq_fault(qdq, node, "shape", "does not fit a tensor of shape %s", view_text(&inputs[0].view, qdq->arena));
}

/* ---- DepthToSpace and SpaceToDepth ---- */

enum qdq_outcome qdq_blocks(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    const struct middle_image image = {2, 3, 1};
    const struct attribute *mode = node_attribute(node, "mode");
    int64_t block = qdq_integer(qdq, node, "blocksize", 0);
    bool is_inner = mode && mode->kind == ATTRIBUTE_TEXT && !strcmp(mode->text, "CRD");
    (void)count;
    *result = inputs[0];
    if (!qdq_can_move(&inputs[0]))
        return QDQ_FLOAT;
    for (int attempt = 0; attempt < 2 && result->view.rank == 4; attempt++) {
        if (!strcmp(node->type, "DepthToSpace") ? middle_depth_to_space(&result->view, image, block, is_inner, &result->view)
                                                : middle_space_to_depth(&result->view, image, block, &result->view))
            return QDQ_DONE;
        enum qdq_outcome outcome = attempt ? QDQ_DONE : qdq_make_image(qdq, node, result);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    return qdq_fault(qdq, node, "blocksize", "is %" PRId64 ", which does not divide a tensor of shape %s", block,
                     view_text(&inputs[0].view, qdq->arena));
}
