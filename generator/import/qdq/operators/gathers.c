/* Gather and GatherND, of constant indices. */
#include <inttypes.h>
#include <math.h>

#include "base/arithmetic.h"
#include "import/qdq/operators/handlers.h"

enum qdq_outcome qdq_gather(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    const struct qdq_value *value = &inputs[0];
    const struct qdq_array *array = count > 1 && inputs[1].kind == QDQ_CONSTANT ? inputs[1].array : NULL;
    int64_t axis = qdq_integer(qdq, node, "axis", 0), dimensions[2 * GRAPH_MAXIMUM_RANK];
    if (!qdq_can_move(value))
        return QDQ_FLOAT;
    axis += axis < 0 ? value->view.rank : 0;
    if (!array || !array->numbers || array->count > QDQ_MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, "indices", "are %s; supported: constants",
                         array ? "too many, or no integers" : "computed by the network");
    int rank = value->view.rank - 1 + array->rank, next = 0;
    if (axis < 0 || axis >= value->view.rank || rank > GRAPH_MAXIMUM_RANK)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", of a tensor of shape %s", axis,
                         view_text(&value->view, qdq->arena));
    struct middle_move move = middle_move_none(&value->view);
    int64_t *indices = arena_array(qdq->arena, int64_t, array->count + 1);
    for (size_t i = 0; i < array->count; i++)
        indices[i] = (int64_t)clamp((int64_t)fmax(fmin(array->numbers[i], 1e9), -1e9), INT32_MIN, INT32_MAX);
    if (!middle_move_gather(&qdq->builder, &move, (int)axis, indices, (int64_t)array->count))
        return qdq_fault(qdq, node, "indices", "are none of dimension %" PRId64 " of a tensor of shape %s", axis,
                         view_text(&value->view, qdq->arena));
    enum qdq_outcome outcome = qdq_apply_move(qdq, node, value, &move, 0, result);
    for (int i = 0; i < value->view.rank; i++)
        if (i != axis)
            dimensions[next++] = value->view.dimensions[i];
        else
            for (int k = 0; k < array->rank; k++)
                dimensions[next++] = array->dimensions[k];
    return outcome == QDQ_DONE ? qdq_take_shape(qdq, node, rank, dimensions, result) : outcome;
}

/* Indices of several dimensions, of which one differs. */
enum qdq_outcome qdq_gather_nd(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               struct qdq_value *result)
{
    const struct qdq_value *value = &inputs[0];
    const struct qdq_array *array = count > 1 && inputs[1].kind == QDQ_CONSTANT ? inputs[1].array : NULL;
    if (!qdq_can_move(value))
        return QDQ_FLOAT;
    if (!array || !array->numbers || array->count == 0 || array->count > QDQ_MAXIMUM_DIMENSION || array->rank == 0 ||
        qdq_integer(qdq, node, "batch_dims", 0) != 0)
        return qdq_fault(qdq, node, "indices", "are no constants, too many, or of a batch; supported: constants");
    const int64_t columns = array->dimensions[array->rank - 1];
    const int outer = array->rank - 1, rank = outer + value->view.rank - (int)columns;
    int64_t dimensions[2 * GRAPH_MAXIMUM_RANK];
    struct middle_move move = middle_move_none(&value->view);
    int64_t *indices = arena_array(qdq->arena, int64_t, array->count);
    for (size_t i = 0; i < array->count; i++)
        indices[i] = (int64_t)fmax(fmin(array->numbers[i], 1e9), -1e9);
    if (columns > value->view.rank || rank > GRAPH_MAXIMUM_RANK ||
        !middle_move_gather_rows(&qdq->builder, &move, indices, (int64_t)array->count / columns, (int)columns))
        return qdq_fault(qdq, node, "indices",
                         "are none of a tensor of shape %s, or differ in several dimensions; supported: in one",
                         view_text(&value->view, qdq->arena));
    for (int i = 0; i < rank; i++)
        dimensions[i] = i < outer ? array->dimensions[i] : value->view.dimensions[i - outer + (int)columns];
    enum qdq_outcome outcome = qdq_apply_move(qdq, node, value, &move, 0, result);
    return outcome == QDQ_DONE ? qdq_take_shape(qdq, node, rank, dimensions, result) : outcome;
}
