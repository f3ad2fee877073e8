/* Concat: of tensors of one scale, and of others, which are joined once a QuantizeLinear has rounded each. */
#include "import/qdq/combinations.h"

#include <inttypes.h>
#include <string.h>

#include "middle/join.h"

bool qdq_is_joined(const struct qdq_value *value)
{
    return value->kind == QDQ_PENDING && value->pending->part_count && value->pending->whole == QDQ_JOINED &&
           view_equal(&value->view, &value->pending->view);
}

static enum qdq_outcome take_image(struct qdq *qdq, const struct node *node, const struct qdq_value *from,
                                   struct qdq_value *value)
{
    *value = *from;
    return qdq_has_elements(value) ? qdq_make_image(qdq, node, value) : QDQ_FLOAT;
}

static bool same_quantisation(struct qdq *qdq, const struct qdq_value *a, const struct qdq_value *b)
{
    const struct tensor *first = qdq_tensor(qdq, a->tensor), *second = qdq_tensor(qdq, b->tensor);
    return first->scale == second->scale && first->zero_point == second->zero_point &&
           first->model_offset == second->model_offset;
}

/* Images one behind the other stay images; what else there is, and the batch, is joined as it lies in memory. */
static bool is_of_images(const struct qdq *qdq, const struct qdq_value *parts, int count, int axis)
{
    const struct view *view = &parts[0].view;
    bool has_image = false;
    for (int i = 0; i < count; i++)
        has_image =
            has_image || (parts[i].kind != QDQ_CONSTANT && view_is_image(&parts[i].view, qdq_tensor(qdq, parts[i].tensor)));
    return has_image && view->rank >= 2 && view->rank <= 4 && view->dimensions[0] == 1 && axis != 0;
}

static enum qdq_outcome take_parts(struct qdq *qdq, const struct node *node, struct qdq_value *parts, int count, int axis)
{
    int64_t size = 0;
    int first = 0; /* that is no constant */
    for (int i = 0; i < count; i++)
        if (!qdq_has_elements(&parts[i]) && parts[i].kind != QDQ_CONSTANT)
            return QDQ_FLOAT;
    while (first < count - 1 && parts[first].kind == QDQ_CONSTANT)
        first++;
    bool is_image = is_of_images(qdq, parts, count, axis);
    for (int i = 0; i < count; i++) {
        const bool is_constant = parts[i].kind == QDQ_CONSTANT;
        enum qdq_outcome outcome = is_image && !is_constant ? take_image(qdq, node, &parts[i], &parts[i]) : QDQ_DONE;
        if (outcome != QDQ_DONE)
            return outcome;
        bool fits = (is_constant || parts[i].kind == parts[first].kind) && parts[i].view.rank == parts[0].view.rank;
        for (int k = 0; fits && k < parts[0].view.rank; k++)
            fits = k == axis || parts[i].view.dimensions[k] == parts[0].view.dimensions[k];
        size += fits ? parts[i].view.dimensions[axis] : 0;
        int64_t channels = axis == 1 || !is_image ? size : size * qdq_tensor(qdq, parts[first].tensor)->channels;
        if (!fits || channels > MAXIMUM_DIMENSION)
            return qdq_fault(qdq, node, NULL,
                             "of shapes %s and %s, supported: equal shapes but along the axis, and up to %d elements there, "
                             "channels included",
                             view_text(&parts[0].view, qdq->arena), view_text(&parts[i].view, qdq->arena),
                             MAXIMUM_DIMENSION);
    }
    return QDQ_DONE;
}

static bool is_one_quantisation(struct qdq *qdq, const struct qdq_value *parts, int count)
{
    for (int i = 0; i < count; i++)
        if (parts[i].kind == QDQ_CONSTANT || !same_quantisation(qdq, &parts[0], &parts[i]) ||
            (parts[i].kind != QDQ_ELEMENTS && !qdq_is_plain(qdq, &parts[i])))
            return false;
    return true;
}

/* What the parts are joined to. */
static struct view joined_view(const struct qdq_value *parts, int count, int axis)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    for (int i = 0; i < parts[0].view.rank; i++)
        dimensions[i] = parts[0].view.dimensions[i];
    for (int i = 1; i < count; i++)
        dimensions[axis] += parts[i].view.dimensions[axis];
    struct layout layout = layout_of_image(parts[0].view.rank);
    return layout_view(&layout, dimensions);
}

void qdq_join(struct qdq *qdq, const struct node *node, const struct qdq_value *parts, int count, int dimension,
              struct qdq_value *result)
{
    qdq_pending_parts(qdq, node, QDQ_JOINED, parts, count, dimension, result);
    qdq_set_view(result, joined_view(parts, count, dimension));
}

static enum qdq_outcome join_parts(struct qdq *qdq, const char *name, const struct qdq_value *parts, int count, int axis,
                                   struct middle_value *result)
{
    struct middle_value *values = arena_array(qdq->arena, struct middle_value, (size_t)count);
    int *tensors = arena_array(qdq->arena, int, (size_t)count), rank = parts[0].view.rank;
    for (int i = 0; i < count; i++) {
        values[i] = qdq_placed(&parts[i]);
        tensors[i] = parts[i].tensor;
    }
    if (is_of_images(qdq, parts, count, axis)) {
        enum image_axis image_axis = axis == 1 ? AXIS_CHANNELS : axis == rank - 1 ? AXIS_WIDTH : AXIS_HEIGHT;
        *result = (struct middle_value){quantised_concatenate(&qdq->builder, name, tensors, count, image_axis),
                                        joined_view(parts, count, axis)};
        return QDQ_DONE;
    }
    return middle_join(&qdq->builder, name, values, count, axis, result) ? QDQ_DONE : QDQ_FAULT;
}

enum qdq_outcome qdq_finish_parts(struct qdq *qdq, const struct node *node, const struct qdq_pending *pending,
                                  const struct quantisation *quantisation, struct qdq_value *parts,
                                  struct middle_value *result)
{
    if (pending->whole == QDQ_JOINED) {
        enum qdq_outcome outcome = take_parts(qdq, node, parts, pending->part_count, pending->dimension);
        if (outcome != QDQ_DONE)
            return outcome;
        outcome = join_parts(qdq, pending->layer.name, parts, pending->part_count, pending->dimension, result);
        return outcome == QDQ_DONE ? outcome : qdq_fault(qdq, node, NULL, "joins more elements than the firmware can have");
    }
    return qdq_finish_choice(qdq, node, pending, quantisation, parts, result);
}

/* A constant's own bytes, or its numbers as the only QuantizeLinear behind rounds them: positions and class tokens that the
 * quantiser has left in floating point. Else it stays a constant, until some QuantizeLinear rounds the whole. */
static bool take_constant(struct qdq *qdq, const struct node *node, struct qdq_value *part)
{
    struct quantisation quantisation;
    if (qdq_make_tensor(qdq, node, part) == QDQ_DONE ||
        (qdq_reader_quantisation(qdq, node, &quantisation) && qdq_make_rounded(qdq, node, &quantisation, part) == QDQ_DONE))
        return true;
    part->view = view_of_memory(part->array->rank, part->array->dimensions);
    return part->array->numbers && part->array->rank > 0;
}

static bool has_integers(const struct qdq_value *parts, int count)
{
    bool has = false;
    for (int i = 0; i < count; i++)
        has = has || parts[i].kind == QDQ_ELEMENTS;
    return has;
}

/* In place of each input that is joined along the axis itself, its parts; null: too many. */
static struct qdq_value *open_parts(struct qdq *qdq, const struct qdq_value *inputs, int axis, int *count)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, 1);
    int part_count = 0;
    for (int i = 0; i < *count; i++) {
        const bool is_open = qdq_is_joined(&inputs[i]) && inputs[i].pending->dimension == axis;
        const struct qdq_value *own = is_open ? inputs[i].pending->parts : &inputs[i];
        if (is_open && part_count + inputs[i].pending->part_count > QDQ_MOST_PARTS)
            return NULL;
        for (int k = 0; k < (is_open ? inputs[i].pending->part_count : 1); k++) {
            arena_grow(qdq->arena, parts, part_count);
            parts[part_count] = own[k];
            if (is_open)
                qdq_bound(qdq, &parts[part_count], inputs[i].pending->minimum, inputs[i].pending->maximum);
            part_count++;
        }
    }
    *count = part_count;
    return parts;
}

static bool holds_truths(const struct qdq_array *array)
{
    for (size_t i = 0; array->numbers && i < array->count; i++)
        if (qdq_array_real(array, i) != 0 && qdq_array_real(array, i) != 1)
            return false;
    return array->numbers != NULL;
}

/* Truths have one quantisation once they are tensors; so have constants among them. */
static enum qdq_outcome take_truths(struct qdq *qdq, const struct node *node, struct qdq_value *parts, int count)
{
    bool are_truths = true;
    for (int i = 0; i < count; i++)
        are_truths =
            are_truths && (parts[i].kind == QDQ_CONSTANT ? holds_truths(parts[i].array) : qdq_are_truths(&parts[i]));
    enum qdq_outcome outcome = QDQ_DONE;
    for (int i = 0; i < count && are_truths && outcome == QDQ_DONE; i++)
        if (parts[i].kind != QDQ_CONSTANT)
            qdq_lay_truths(qdq, &parts[i]);
        else
            outcome = qdq_make_rounded(qdq, node, &(struct quantisation){1, 0, false}, &parts[i]);
    return outcome;
}

enum qdq_outcome qdq_concatenation(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)count + 1);
    struct middle_value whole;
    int64_t axis = qdq_integer(qdq, node, "axis", 1), rank;
    memcpy(parts, inputs, (size_t)count * sizeof *parts);
    enum qdq_outcome outcome = take_truths(qdq, node, parts, count);
    if (outcome != QDQ_DONE)
        return outcome;
    for (int i = 0; i < count; i++)
        if (parts[i].kind == QDQ_CONSTANT && !take_constant(qdq, node, &parts[i]))
            return qdq_fault(qdq, node, NULL, "joins the constant '%s', which holds no list of numbers",
                             parts[i].array->name);
    rank = parts[0].view.rank;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", of a tensor of shape %s", axis,
                         view_text(&parts[0].view, qdq->arena));
    parts = open_parts(qdq, parts, (int)axis, &count);
    outcome = parts ? take_parts(qdq, node, parts, count, (int)axis) : QDQ_FLOAT;
    if (outcome != QDQ_DONE)
        return outcome;
    if (!is_one_quantisation(qdq, parts, count)) {
        if (has_integers(parts, count))
            return qdq_fault(qdq, node, NULL, "its inputs are integers of different scales or zero points");
        qdq_join(qdq, node, parts, count, (int)axis, result);
        return QDQ_DONE;
    }
    if (join_parts(qdq, node->name, parts, count, (int)axis, &whole) != QDQ_DONE)
        return qdq_fault(qdq, node, NULL, "joins more elements than the firmware can have");
    *result = parts[0];
    result->tensor = whole.tensor;
    result->view = whole.view;
    return QDQ_DONE;
}

/* ---- sums ---- */

static bool go_together(const struct qdq_value *parts, int count, int64_t axis)
{
    for (int i = 0; i < count; i++) {
        if ((parts[i].kind != QDQ_PENDING && parts[i].kind != QDQ_REALS) || parts[i].view.rank != parts[0].view.rank)
            return false;
        for (int k = 0; k < parts[0].view.rank; k++)
            if (k != axis && parts[i].view.dimensions[k] != parts[0].view.dimensions[k])
                return false;
    }
    return true;
}

/* Parts within parts, up to more than operators go over one by one: each of two may be what two others are. */
static int count_parts(const struct qdq_value *value)
{
    int count = 0;
    if (!qdq_is_joined(value))
        return 1;
    for (int i = 0; i < value->pending->part_count && count <= QDQ_MOST_PARTS; i++)
        count += count_parts(&value->pending->parts[i]);
    return count;
}

enum qdq_outcome qdq_join_unrounded(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    int64_t axis = qdq_integer(qdq, node, "axis", 1);
    axis += axis < 0 ? inputs[0].view.rank : 0;
    if (axis < 0 || axis >= inputs[0].view.rank || !go_together(inputs, count, axis))
        return QDQ_FLOAT;
    int part_count = 0;
    for (int i = 0; i < count && part_count <= QDQ_MOST_PARTS; i++)
        part_count += count_parts(&inputs[i]);
    if (part_count > QDQ_MOST_PARTS)
        return QDQ_FLOAT;
    struct qdq_value *parts = open_parts(qdq, inputs, (int)axis, &count);
    if (!parts)
        return QDQ_FLOAT;
    qdq_join(qdq, node, parts, count, (int)axis, result);
    return QDQ_DONE;
}
