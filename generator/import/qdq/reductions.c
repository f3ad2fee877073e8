/* Reductions of a tensor along some of its dimensions: means, maxima, and the channel of the largest element. */
#include "import/qdq/qdq.h"

#include <inttypes.h>

/* ---- over height and width ---- */

struct reduced {
    bool rows, columns;
};

/* What a dimension of the view is in memory: rows, columns, both, or false. */
static bool reduce_dimension(const struct view *view, int dimension, const struct tensor *tensor, struct reduced *reduced)
{
    int first = 0;
    for (int i = 0; i < dimension; i++)
        first += view->factor_counts[i];
    for (int i = first; i < first + view->factor_counts[dimension]; i++) {
        struct view_factor factor = view->factors[i];
        int64_t row = (int64_t)tensor->width * tensor->channels;
        if (factor.step == tensor->channels && factor.size == tensor->width)
            reduced->columns = true;
        else if (factor.step == row && factor.size == tensor->height)
            reduced->rows = true;
        else if (factor.step == tensor->channels && factor.size == (int64_t)tensor->width * tensor->height)
            reduced->rows = reduced->columns = true;
        else
            return false;
    }
    return true;
}

/* In memory, steps of at least `above` elements are `by` times shorter behind a reduction. */
struct shorter {
    int64_t above, by;
};

/* The view behind a reduction: without its dimensions, or with 1 in their place. */
static struct view reduced_view(const struct view *view, const bool *is_reduced, bool keep, struct shorter shorter)
{
    struct view made = {.rank = 0};
    int from = 0, to = 0;
    for (int i = 0; i < view->rank; i++) {
        if (is_reduced[i] && keep)
            made.dimensions[made.rank++] = 1;
        if (!is_reduced[i]) {
            made.dimensions[made.rank] = view->dimensions[i];
            made.factor_counts[made.rank++] = view->factor_counts[i];
        }
        for (int k = 0; k < view->factor_counts[i]; k++, from++) {
            if (is_reduced[i])
                continue;
            made.factors[to] = view->factors[from];
            if (made.factors[to].step >= shorter.above)
                made.factors[to].step /= shorter.by;
            to++;
        }
    }
    return made;
}

/* Which of height and width the dimensions are, and the view without them; the value is made an image where its own view
 * does not say it. */
static enum qdq_outcome find_reduced(struct qdq *qdq, const struct node *node, struct qdq_value *input,
                                     const bool *is_reduced, struct reduced *reduced)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        const struct tensor *tensor = qdq_tensor(qdq, input->tensor);
        bool fits = view_elements(&input->view) == (int64_t)tensor_elements(tensor);
        *reduced = (struct reduced){false, false};
        for (int i = 0; i < input->view.rank; i++)
            fits = fits && (!is_reduced[i] || reduce_dimension(&input->view, i, tensor, reduced));
        if (fits)
            return QDQ_DONE;
        enum qdq_outcome outcome = attempt ? QDQ_DONE : qdq_make_image(qdq, node, input);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    return qdq_fault(qdq, node, "axes", "has other dimensions than height and width, of shape %s; supported: those",
                     view_text(&input->view, qdq->arena));
}

static struct view view_behind(const struct qdq_value *input, const struct tensor *tensor, const bool *is_reduced, bool keep,
                               bool columns)
{
    struct shorter rows = {(int64_t)tensor->width * tensor->channels, columns ? tensor->width : 1};
    return reduced_view(&input->view, is_reduced, keep, rows);
}

/* ---- means ---- */

static enum qdq_outcome average_over(struct qdq *qdq, const struct node *node, struct qdq_value input,
                                     const bool *is_reduced, bool keep, struct qdq_value *result)
{
    struct reduced reduced;
    if (input.kind != QDQ_REALS || !qdq_is_plain(qdq, &input))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = find_reduced(qdq, node, &input, is_reduced, &reduced);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct tensor tensor = *qdq_tensor(qdq, input.tensor);
    struct qdq_pending *pending =
        qdq_average(qdq, node, input.tensor, reduced.rows ? tensor.height : 1, reduced.columns ? tensor.width : 1);
    pending->height = reduced.rows ? 1 : tensor.height;
    pending->width = reduced.columns ? 1 : tensor.width;
    *result = (struct qdq_value){
        .kind = QDQ_PENDING, .view = view_behind(&input, &tensor, is_reduced, keep, reduced.columns), .pending = pending};
    return QDQ_DONE;
}

/* ---- maxima ---- */

static enum qdq_outcome maximum_over(struct qdq *qdq, const struct node *node, struct qdq_value input,
                                     const bool *is_reduced, bool keep, struct qdq_value *result)
{
    struct reduced reduced;
    if (!qdq_keeps_order(&input))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = find_reduced(qdq, node, &input, is_reduced, &reduced);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct tensor tensor = *qdq_tensor(qdq, input.tensor);
    struct qdq_window window = {
        .kernel = {reduced.rows ? tensor.height : 1, reduced.columns ? tensor.width : 1},
        .stride = {1, 1},
        .dilation = {1, 1},
        .input = {tensor.height, tensor.width},
        .output = {reduced.rows ? 1 : tensor.height, reduced.columns ? 1 : tensor.width},
    };
    qdq_lay_maximum(qdq, node, &input, &window, result);
    result->view = view_behind(&input, &tensor, is_reduced, keep, reduced.columns);
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

static bool read_axes(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count, bool *is_reduced)
{
    int64_t axes[16];
    const struct view *view = &inputs[0].view;
    int listed = qdq_list(qdq, node, "axes", count > 1 ? &inputs[1] : NULL, axes);
    if (listed == -2)
        return false;
    for (int i = 0; i < view->rank && listed <= 0; i++)
        is_reduced[i] = listed < 0 || qdq_integer(qdq, node, "noop_with_empty_axes", 0) == 0;
    for (int i = 0; i < listed; i++) {
        if (!read_axis(qdq, node, "axes", view, &axes[i]))
            return false;
        is_reduced[axes[i]] = true;
    }
    return true;
}

enum qdq_outcome qdq_reduce_mean(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                 struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    if (!read_axes(qdq, node, inputs, count, is_reduced))
        return QDQ_FAULT;
    return average_over(qdq, node, inputs[0], is_reduced, qdq_integer(qdq, node, "keepdims", 1) != 0, result);
}

enum qdq_outcome qdq_reduce_maximum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    if (!read_axes(qdq, node, inputs, count, is_reduced))
        return QDQ_FAULT;
    return maximum_over(qdq, node, inputs[0], is_reduced, qdq_integer(qdq, node, "keepdims", 1) != 0, result);
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
    return average_over(qdq, node, inputs[0], is_reduced, true, result);
}

enum qdq_outcome qdq_global_maximum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    (void)count;
    reduce_image(&inputs[0].view, is_reduced);
    return maximum_over(qdq, node, inputs[0], is_reduced, true, result);
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
    const struct tensor image = *qdq_tensor(qdq, input.tensor);
    int output = quantised_tensor(&qdq->builder, node->name, image.height, image.width, 1, &(struct quantisation){0});
    quantised_layer(&qdq->builder, LAYER_LARGEST, node->name, input.tensor, output);
    is_reduced[axis] = true;
    struct view view = reduced_view(&input.view, is_reduced, keep, (struct shorter){image.channels, image.channels});
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = view, .tensor = output};
    return QDQ_DONE;
}
