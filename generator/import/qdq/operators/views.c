/* Nodes that change a view and move no byte. */
#include "import/qdq/operators/handlers.h"

#include <inttypes.h>

/* Of integers: these are the real numbers then, as of images of bytes. */
enum qdq_outcome qdq_cast(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          struct qdq_value *result)
{
    int64_t type = qdq_integer(qdq, node, "to", 1);
    (void)count;
    *result = inputs[0];
    if (inputs[0].kind == QDQ_REALS && type == 9) { /* a truth */
        float *truths = arena_array(qdq->arena, float, 256);
        for (int i = 0; i < 256; i++)
            truths[i] = inputs[0].reals[i] != 0;
        result->reals = truths;
    }
    if (inputs[0].kind != QDQ_ELEMENTS)
        return QDQ_DONE;
    struct tensor *tensor = qdq_tensor(qdq, inputs[0].tensor);
    if (type != 1 && type != 11)
        return qdq_fault(qdq, node, "to", "is type %" PRId64 " of a tensor of integers; supported: FLOAT", type);
    if (tensor->scale == 0) { /* an input of the network, of which nothing was known yet */
        tensor->scale = 1;
        tensor->zero_point = -tensor->model_offset;
    }
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = (float)(i + tensor->model_offset);
    result->kind = QDQ_REALS;
    result->reals = reals;
    return QDQ_DONE;
}

enum qdq_outcome qdq_identity(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                              struct qdq_value *result)
{
    (void)qdq;
    (void)node;
    (void)count;
    *result = inputs[0];
    return QDQ_DONE;
}

enum qdq_outcome qdq_take_shape(struct qdq *qdq, const struct node *node, int rank, const int64_t *dimensions,
                                struct qdq_value *value)
{
    struct view wanted = {.rank = rank};
    if (view_reshape(&value->view, rank, dimensions, &value->view))
        return QDQ_DONE;
    for (int i = 0; i < rank; i++)
        wanted.dimensions[i] = dimensions[i];
    if (view_elements(&wanted) != view_elements(&value->view))
        return qdq_fault(qdq, node, NULL, "a tensor of shape %s cannot become %s (batch 1)",
                         view_text(&value->view, qdq->arena), view_text(&wanted, qdq->arena));
    if (value->kind == QDQ_OUTSIDE || value->kind == QDQ_PENDING)
        return QDQ_FLOAT;
    struct qdq_value image = *value;
    struct layout layout = layout_of_image(value->view.rank);
    if (qdq_lay(qdq, node, NULL, &layout, 0, &image) != QDQ_DONE)
        return QDQ_FAULT;
    if (!view_reshape(&image.view, rank, dimensions, &image.view)) {
        layout = layout_of_model(value->view.rank); /* in which any shape has fixed steps */
        if (qdq_lay(qdq, node, NULL, &layout, 0, value) != QDQ_DONE)
            return QDQ_FAULT;
        image = *value;
        view_reshape(&value->view, rank, dimensions, &image.view);
    }
    *value = image;
    return QDQ_DONE;
}

static enum qdq_outcome reshape(struct qdq *qdq, const struct node *node, const struct qdq_value *input, int rank,
                                const int64_t *dimensions, struct qdq_value *result)
{
    *result = *input;
    return qdq_take_shape(qdq, node, rank, dimensions, result);
}

enum qdq_outcome qdq_flatten(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    const struct view *view = &inputs[0].view;
    int64_t axis = qdq_integer(qdq, node, "axis", 1), dimensions[2] = {1, 1};
    (void)count;
    axis = axis < 0 ? axis + view->rank : axis;
    if (axis < 0 || axis > view->rank)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 " of %d dimensions", axis, view->rank);
    for (int i = 0; i < view->rank; i++)
        dimensions[i >= axis] *= view->dimensions[i];
    return reshape(qdq, node, &inputs[0], 2, dimensions, result);
}

/* Resolves 0 (as before) and -1 (the rest). */
static bool resolve(const struct view *view, int rank, int64_t *dimensions, bool zero_is_zero)
{
    int64_t known = 1, total = view_elements(view);
    int rest = -1;
    for (int i = 0; i < rank; i++) {
        if (dimensions[i] == 0 && !zero_is_zero && i < view->rank)
            dimensions[i] = view->dimensions[i];
        if (dimensions[i] == -1 && rest < 0)
            rest = i;
        else if (dimensions[i] < 1 || dimensions[i] > total || (known *= dimensions[i]) > total)
            return false;
    }
    if (rest >= 0)
        dimensions[rest] = total / known;
    return rank > 0;
}

enum qdq_outcome qdq_reshape(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    int64_t dimensions[16];
    int rank = qdq_list(qdq, node, "shape", count > 1 ? &inputs[1] : NULL, dimensions);
    if (rank == -2)
        return QDQ_FAULT;
    if (rank > GRAPH_MAXIMUM_RANK ||
        !resolve(&inputs[0].view, rank, dimensions, qdq_integer(qdq, node, "allowzero", 0) != 0))
        return qdq_fault(qdq, node, "shape", "is no shape of 1 to %d dimensions for a tensor of shape %s",
                         GRAPH_MAXIMUM_RANK, view_text(&inputs[0].view, qdq->arena));
    return reshape(qdq, node, &inputs[0], rank, dimensions, result);
}

enum qdq_outcome qdq_squeeze(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    const struct view *view = &inputs[0].view;
    int64_t axes[16], dimensions[GRAPH_MAXIMUM_RANK];
    bool gone[GRAPH_MAXIMUM_RANK] = {false};
    int listed = qdq_list(qdq, node, "axes", count > 1 ? &inputs[1] : NULL, axes), rank = 0;
    if (listed == -2)
        return QDQ_FAULT;
    for (int i = 0; i < view->rank; i++)
        gone[i] = listed == -1 && view->dimensions[i] == 1;
    for (int i = 0; i < listed; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + view->rank : axes[i];
        if (axis < 0 || axis >= view->rank || view->dimensions[axis] != 1)
            return qdq_fault(qdq, node, "axes", "has %" PRId64 ", of a tensor of shape %s", axes[i],
                             view_text(view, qdq->arena));
        gone[axis] = true;
    }
    for (int i = 0; i < view->rank; i++)
        if (!gone[i])
            dimensions[rank++] = view->dimensions[i];
    return reshape(qdq, node, &inputs[0], rank, dimensions, result);
}

enum qdq_outcome qdq_unsqueeze(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               struct qdq_value *result)
{
    const struct view *view = &inputs[0].view;
    int64_t axes[16], dimensions[GRAPH_MAXIMUM_RANK];
    bool is_new[GRAPH_MAXIMUM_RANK] = {false};
    int listed = qdq_list(qdq, node, "axes", count > 1 ? &inputs[1] : NULL, axes), from = 0;
    int rank = view->rank + (listed > 0 ? listed : 0);
    if (listed < 0 || rank > GRAPH_MAXIMUM_RANK)
        return listed == -2 ? QDQ_FAULT : qdq_fault(qdq, node, "axes", "are missing or too many");
    for (int i = 0; i < listed; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || is_new[axis])
            return qdq_fault(qdq, node, "axes", "has %" PRId64 ", for a tensor of shape %s", axes[i],
                             view_text(view, qdq->arena));
        is_new[axis] = true;
    }
    for (int i = 0; i < rank; i++)
        dimensions[i] = is_new[i] ? 1 : view->dimensions[from++];
    return reshape(qdq, node, &inputs[0], rank, dimensions, result);
}

enum qdq_outcome qdq_transpose(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               struct qdq_value *result)
{
    const struct view *view = &inputs[0].view;
    int64_t order[16];
    int places[GRAPH_MAXIMUM_RANK], seen = 0;
    int listed = qdq_list(qdq, node, "perm", NULL, order);
    (void)count;
    for (int i = 0; i < view->rank && listed != -2; i++) {
        places[i] = listed == -1                                                     ? view->rank - 1 - i
                    : listed == view->rank && order[i] >= 0 && order[i] < view->rank ? (int)order[i]
                                                                                     : -1;
        seen |= places[i] < 0 ? 0 : 1 << places[i];
    }
    if (listed == -2)
        return QDQ_FAULT;
    if (seen != (1 << view->rank) - 1)
        return qdq_fault(qdq, node, "perm", "is no order of the dimensions of %s", view_text(view, qdq->arena));
    *result = inputs[0];
    view_permute(view, places, &result->view);
    return QDQ_DONE;
}
