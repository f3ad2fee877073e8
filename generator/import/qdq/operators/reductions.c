/* Reductions of a tensor along some of its dimensions: means, maxima, and the channel of the largest element. */
#include "import/qdq/operators/handlers.h"

#include <inttypes.h>
#include <string.h>

#include "middle/reductions.h"

static enum qdq_outcome reduce(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                               const bool *is_reduced, bool is_sum, struct middle_reduction *reduction)
{
    struct middle_value placed = qdq_placed(input);
    bool keep = qdq_integer(qdq, node, "keepdims", 1) != 0;
    return middle_reduce(&qdq->builder, node->name, &placed, is_reduced, keep, is_sum, reduction)
               ? QDQ_DONE
               : qdq_fault(qdq, node, "axes", "leave or reduce more elements than the firmware can have, of shape %s",
                           view_text(&input->view, qdq->arena));
}

/* ---- sums and means ---- */

static enum qdq_outcome sum_over(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                 const bool *is_reduced, bool is_mean, struct qdq_value *result)
{
    struct qdq_value input = *value;
    struct middle_reduction reduction;
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, &input);
    if (outcome != QDQ_DONE || (outcome = reduce(qdq, node, &input, is_reduced, true, &reduction)) != QDQ_DONE)
        return outcome;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_AVERAGE_POOL, node, reduction.input.tensor, 1);
    middle_set_reduction(&qdq->builder, &reduction, &pending->layer);
    pending->addends[0] = -reduction.count * qdq_tensor(qdq, reduction.input.tensor)->zero_point;
    pending->divisor = is_mean ? reduction.count : 1;
    pending->height = reduction.height;
    pending->width = reduction.width;
    pending->channels = reduction.channels;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = reduction.view, .pending = pending};
    return QDQ_DONE;
}

/* ---- maxima ---- */

/* A minimum is a maximum of what is turned upside down. */
static enum qdq_outcome extreme_over(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                     const bool *is_reduced, bool is_minimum, struct qdq_value *result)
{
    struct middle_reduction reduction;
    if (!qdq_keeps_order(value))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = reduce(qdq, node, value, is_reduced, false, &reduction);
    if (outcome != QDQ_DONE)
        return outcome;
    if (is_minimum)
        reduction.input.tensor = middle_flip(&qdq->builder, node->name, reduction.input.tensor);
    int input = reduction.input.tensor;
    int output = qdq_tensor_like(qdq, node->name, input, reduction.height, reduction.width, reduction.channels);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_MAXIMUM_POOL, node->name, input, output);
    middle_set_reduction(&qdq->builder, &reduction, layer);
    *result = *value;
    result->tensor = is_minimum ? middle_flip(&qdq->builder, node->name, output) : output;
    result->view = reduction.view;
    return QDQ_DONE;
}

/* ---- which dimensions ---- */

static bool read_axis(struct qdq *qdq, const struct node *node, const char *attribute, const struct view *view,
                      int64_t *axis)
{
    int64_t given = *axis;
    *axis += given < 0 ? view->rank : 0;
    if (*axis >= 0 && *axis < view->rank)
        return true;
    qdq_fault(qdq, node, attribute, "has %" PRId64 ", of a tensor of shape %s", given, view_text(view, qdq->arena));
    return false;
}

bool qdq_read_axes(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count, bool *is_reduced)
{
    int64_t axes[16];
    const struct view *view = &inputs[0].view;
    int listed = qdq_list(qdq, node, "axes", count > 1 ? &inputs[1] : NULL, axes);
    if (listed == -2)
        return false;
    for (int i = 0; i < view->rank && listed <= 0; i++)
        is_reduced[i] = qdq_integer(qdq, node, "noop_with_empty_axes", 0) == 0;
    for (int i = 0; i < listed; i++) {
        if (!read_axis(qdq, node, "axes", view, &axes[i]))
            return false;
        is_reduced[axes[i]] = true;
    }
    return true;
}

/* The same reduction in front of the node's, whose result nobody has rounded; null: there is none. */
static const struct node *first_reduction(const struct qdq *qdq, const struct node *node, const struct qdq_value *input)
{
    const int producer = qdq->graph->values[node->inputs[0]].producer;
    const struct node *first = producer == NO_NODE ? NULL : &qdq->graph->nodes[producer];
    return input->kind == QDQ_PENDING && first && !strcmp(first->type, node->type) ? first : NULL;
}

/* A mean of means, as of x.mean(3).mean(2), or a sum of sums: that of the first one's elements, along the axes of both. */
static enum qdq_outcome sum_over_both(struct qdq *qdq, const struct node *node, const struct node *first,
                                      const struct view *between, const bool *is_reduced, struct qdq_value *result)
{
    struct qdq_value inputs[2] = {qdq->values[first->inputs[0]], {.kind = QDQ_NONE}};
    bool of_both[GRAPH_MAXIMUM_RANK] = {false};
    const bool has_list = first->input_count > 1 && first->inputs[1] != NO_VALUE;
    const bool keeps_first = qdq_integer(qdq, first, "keepdims", 1) != 0, keeps = qdq_integer(qdq, node, "keepdims", 1) != 0;
    if (has_list)
        inputs[1] = qdq->values[first->inputs[1]];
    if (inputs[0].kind != QDQ_REALS || !qdq_read_axes(qdq, first, inputs, 1 + has_list, of_both))
        return QDQ_FLOAT;
    for (int i = 0, own = 0; i < inputs[0].view.rank; i++)
        if (keeps_first || !of_both[i])
            of_both[i] |= is_reduced[own++];
    enum qdq_outcome outcome = sum_over(qdq, node, &inputs[0], of_both, !strcmp(node->type, "ReduceMean"), result);
    const struct view wanted = middle_reduced_view(between, is_reduced, keeps, (struct shorter){INT64_MAX, 1});
    return outcome == QDQ_DONE ? qdq_take_shape(qdq, node, wanted.rank, wanted.dimensions, result) : outcome;
}

enum qdq_outcome qdq_reduce(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    if (!qdq_read_axes(qdq, node, inputs, count, is_reduced))
        return QDQ_FAULT;
    if (!strcmp(node->type, "ReduceMax") || !strcmp(node->type, "ReduceMin"))
        return extreme_over(qdq, node, &inputs[0], is_reduced, node->type[7] == 'i', result);
    if (strcmp(node->type, "ReduceMean") != 0 && strcmp(node->type, "ReduceSum") != 0)
        return QDQ_FLOAT;
    const struct node *first = first_reduction(qdq, node, &inputs[0]);
    return first ? sum_over_both(qdq, node, first, &inputs[0].view, is_reduced, result)
                 : sum_over(qdq, node, &inputs[0], is_reduced, !strcmp(node->type, "ReduceMean"), result);
}

static void reduce_image(const struct view *view, bool *is_reduced)
{
    for (int i = 2; i < view->rank; i++)
        is_reduced[i] = true;
}

enum qdq_outcome qdq_global_average(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    (void)count;
    if (qdq_integer(qdq, node, "channels_last", 0) != 0)
        return qdq_fault(qdq, node, "channels_last", "is set; supported: 0");
    reduce_image(&inputs[0].view, is_reduced);
    return sum_over(qdq, node, &inputs[0], is_reduced, true, result);
}

enum qdq_outcome qdq_global_maximum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    (void)count;
    reduce_image(&inputs[0].view, is_reduced);
    return extreme_over(qdq, node, &inputs[0], is_reduced, false, result);
}

/* ---- the channel of the largest element ---- */

/* The first of equal reals is to be that of equal elements: no two elements stand for one real. */
static enum qdq_outcome tell_apart(struct qdq *qdq, const struct node *node, struct qdq_value *input)
{
    if (input->kind == QDQ_ELEMENTS)
        return QDQ_DONE;
    bool rises = input->kind == QDQ_REALS;
    for (int i = 1; i < 256 && rises; i++)
        rises = input->reals[i] > input->reals[i - 1];
    return rises ? QDQ_DONE : qdq_make_elements(qdq, node, input);
}

static bool is_output_only(const struct qdq *qdq, const struct node *node)
{
    const struct value *value = node->outputs[0] == NO_VALUE ? NULL : &qdq->graph->values[node->outputs[0]];
    return value && value->is_output && value->use_count == 1;
}

/* Indices are INT64 in the model, in the firmware as many bytes as they need. Their tensor has no scale: no layer can read
 * it, so one whose output is no output of the graph is not laid here. */
enum qdq_outcome qdq_arg_maximum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                 struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false}, keep = qdq_integer(qdq, node, "keepdims", 1) != 0;
    struct qdq_value input = inputs[0];
    int64_t axis = qdq_integer(qdq, node, "axis", 0);
    (void)count;
    if (!is_output_only(qdq, node) || qdq_integer(qdq, node, "select_last_index", 0) != 0)
        return QDQ_FLOAT;
    enum qdq_outcome outcome = tell_apart(qdq, node, &input);
    if (outcome == QDQ_DONE && !read_axis(qdq, node, "axis", &input.view, &axis))
        outcome = QDQ_FAULT;
    if (outcome == QDQ_DONE)
        outcome = qdq_make_channels(qdq, node, &input, (int)axis);
    if (outcome != QDQ_DONE)
        return outcome;
    if (!strcmp(node->type, "ArgMin"))
        input.tensor = middle_flip(&qdq->builder, node->name, input.tensor);
    const struct tensor image = *qdq_tensor(qdq, input.tensor);
    int output = quantised_tensor(&qdq->builder, node->name, image.height, image.width, 1, &(struct quantisation){0});
    quantised_layer(&qdq->builder, LAYER_LARGEST, node->name, input.tensor, output);
    is_reduced[axis] = true;
    struct view view = middle_reduced_view(&input.view, is_reduced, keep, (struct shorter){image.channels, image.channels});
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = view, .tensor = output};
    return QDQ_DONE;
}
