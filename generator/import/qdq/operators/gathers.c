/* Gather, GatherND and GatherElements: of constant indices, and of constant rows by the indices of an input. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "import/qdq/operators/handlers.h"

/* Of one constant there may be several: each DequantizeLinear makes other numbers of it. */
static bool is_same_table(const struct look_up *a, const struct look_up *b)
{
    const size_t bytes = (size_t)a->rows * (size_t)a->columns * sizeof *a->numbers;
    return a->rows == b->rows && a->columns == b->columns && a->are_elements == b->are_elements &&
           !memcmp(a->numbers, b->numbers, bytes);
}

static int index_bytes_of(const struct qdq *qdq, int tensor)
{
    const struct graph *graph = qdq->graph;
    for (int i = 0; i < graph->input_count; i++) {
        const int input = graph->inputs[i];
        if (qdq->values[input].kind == QDQ_INDICES && qdq->values[input].tensor == tensor)
            return graph->values[input].type == ELEMENT_INT32 ? 4 : 8;
    }
    return 8;
}

/* The input becomes the rows of the constant matrix, which the application looks up by what the model's input is. */
static enum qdq_outcome look_up(struct qdq *qdq, const struct node *node, const struct qdq_value *indices,
                                const struct qdq_array *array, struct qdq_value *result)
{
    struct tensor *tensor = qdq_tensor(qdq, indices->tensor);
    const int rank = indices->view.rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    const bool are_elements = array->scale_count == 0 && (array->type == ELEMENT_INT8 || array->type == ELEMENT_UINT8);
    if (!array->numbers || array->rank != 2 || rank >= GRAPH_MAXIMUM_RANK || array->count == 0 ||
        qdq_integer(qdq, node, "axis", 0) != 0 || array->dimensions[0] > INT32_MAX ||
        array->dimensions[1] > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, NULL, "looks up by input '%s'; supported: rows of a constant matrix, axis 0",
                         tensor->name);
    float *numbers = arena_array(qdq->arena, float, array->count);
    for (size_t i = 0; i < array->count; i++)
        numbers[i] = (float)qdq_array_real(array, i);
    struct look_up *table = arena_array(qdq->arena, struct look_up, 1);
    *table = (struct look_up){array->name,
                              numbers,
                              (int)array->dimensions[0],
                              (int)array->dimensions[1],
                              are_elements,
                              index_bytes_of(qdq, indices->tensor)};
    if (tensor->look_up && !is_same_table(tensor->look_up, table))
        return qdq_fault(
            qdq, node, NULL,
            "looks up in '%s' by input '%s', by which '%s' is looked up in, too; supported: one table an input: "
            "give the model an input more",
            array->name, tensor->name, tensor->look_up->name);
    tensor->look_up = table;
    tensor->channels = table->columns;
    for (int i = 0; i < rank; i++)
        dimensions[i] = indices->view.dimensions[i];
    dimensions[rank] = table->columns;
    *result = *indices;
    result->kind = are_elements ? QDQ_ELEMENTS : QDQ_OUTSIDE;
    if (are_elements && array->type == ELEMENT_INT8)
        tensor->model_offset = -128;
    result->view = view_of_memory(rank + 1, dimensions);
    diagnose(
        qdq->diagnostics, SEVERITY_NOTE, node->name, NULL,
        "the firmware's input are the rows of '%s' that the application looks up by '%s'; `dory run` and `evaluate` look "
        "them up by the indices in a file",
        table->name, tensor->name);
    return QDQ_DONE;
}

enum qdq_outcome qdq_gather(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    const struct qdq_value *value = &inputs[0];
    const struct qdq_array *array = count > 1 && inputs[1].kind == QDQ_CONSTANT ? inputs[1].array : NULL;
    int64_t axis = qdq_integer(qdq, node, "axis", 0), dimensions[2 * GRAPH_MAXIMUM_RANK];
    if (count > 1 && inputs[1].kind == QDQ_INDICES && value->kind == QDQ_CONSTANT)
        return look_up(qdq, node, &inputs[1], value->array, result);
    if (!qdq_can_move(value))
        return QDQ_FLOAT;
    axis += axis < 0 ? value->view.rank : 0;
    if (!array || !array->numbers || array->count > MAXIMUM_DIMENSION)
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

/* Rows of indices: the constant's dimensions but for the columns, which are its last one, or one a row. */
static bool find_rows(const struct qdq *qdq, const struct qdq_array *array, bool has_columns, struct middle_rows *rows)
{
    if (!array || !array->numbers || array->count == 0 || array->count > MAXIMUM_DIMENSION || array->rank == 0 ||
        array->rank > VIEW_MAXIMUM_RANK)
        return false;
    int64_t *indices = arena_array(qdq->arena, int64_t, array->count);
    *rows = (struct middle_rows){.rank = array->rank - has_columns, .columns = 1, .indices = indices};
    for (int i = 0; i < rows->rank; i++)
        rows->dimensions[i] = array->dimensions[i];
    if (has_columns)
        rows->columns = (int)fmin((double)array->dimensions[rows->rank], 2 * VIEW_MAXIMUM_RANK);
    for (size_t i = 0; i < array->count; i++)
        indices[i] = (int64_t)fmax(fmin(array->numbers[i], 1e9), -1e9);
    return true;
}

static enum qdq_outcome gather_rows(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                    const struct middle_rows *rows, struct qdq_value *result)
{
    struct middle_value placed = qdq_placed(value), gathered;
    if (rows->columns > value->view.rank || rows->rank + value->view.rank - rows->columns > VIEW_MAXIMUM_RANK ||
        !middle_gather_rows(&qdq->builder, node->name, &placed, rows, &gathered))
        return qdq_fault(qdq, node, "indices", "are none of a tensor of shape %s, or too many",
                         view_text(&value->view, qdq->arena));
    *result = *value;
    result->tensor = gathered.tensor;
    result->view = gathered.view;
    return QDQ_DONE;
}

static enum qdq_outcome refuse_indices(struct qdq *qdq, const struct node *node)
{
    return qdq_fault(qdq, node, "indices", "are no constants, or too many; supported: up to %d constants",
                     MAXIMUM_DIMENSION);
}

/* Of a batch each image has rows of its own. */
enum qdq_outcome qdq_gather_nd(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               struct qdq_value *result)
{
    const int64_t batches = qdq_integer(qdq, node, "batch_dims", 0);
    int sources[3 * VIEW_MAXIMUM_RANK];
    struct middle_rows rows;
    if (!qdq_can_move(&inputs[0]))
        return QDQ_FLOAT;
    if (count < 2 || inputs[1].kind != QDQ_CONSTANT || !find_rows(qdq, inputs[1].array, true, &rows))
        return refuse_indices(qdq, node);
    if (batches < 0 || batches > rows.rank)
        return qdq_fault(qdq, node, "batch_dims", "is %" PRId64 " of %d dimensions", batches, rows.rank);
    for (int i = 0; i < batches; i++)
        sources[i] = i;
    for (int i = 0; i < rows.columns; i++)
        sources[batches + i] = -1 - i;
    middle_rows_place(&rows, sources, (int)batches + rows.columns, qdq->arena);
    return gather_rows(qdq, node, &inputs[0], &rows, result);
}

enum qdq_outcome qdq_gather_elements(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                     struct qdq_value *result)
{
    const int rank = inputs[0].view.rank;
    int64_t axis = qdq_integer(qdq, node, "axis", 0);
    int sources[VIEW_MAXIMUM_RANK];
    struct middle_rows rows;
    axis += axis < 0 ? rank : 0;
    if (!qdq_can_move(&inputs[0]))
        return QDQ_FLOAT;
    if (count < 2 || inputs[1].kind != QDQ_CONSTANT || !find_rows(qdq, inputs[1].array, false, &rows))
        return refuse_indices(qdq, node);
    if (axis < 0 || axis >= rank || rows.rank != rank)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", of a tensor of shape %s", axis,
                         view_text(&inputs[0].view, qdq->arena));
    for (int i = 0; i < rank; i++)
        sources[i] = i == axis ? -1 : i;
    middle_rows_place(&rows, sources, rank, qdq->arena);
    return gather_rows(qdq, node, &inputs[0], &rows, result);
}
