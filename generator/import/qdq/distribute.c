/* Operators on real numbers that no QuantizeLinear has rounded, piece by piece: of parts that are joined, as NNCF leaves a
 * Concat in front of a BatchNormalization, each part by itself; of a function of elements, means and sums of its bytes. */
#include "import/qdq/combinations.h"

#include <string.h>

/* ---- which operators ---- */

static bool is_listed(qdq_handler *handle, qdq_handler *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == handle)
            return true;
    return false;
}

#define IS_ONE_OF(handle, ...)                                                                                              \
    is_listed(handle, (qdq_handler *const[]){__VA_ARGS__},                                                                  \
              sizeof((qdq_handler *const[]){__VA_ARGS__}) / sizeof(qdq_handler *))

/* Constants of one number a channel, which is dimension 1 of the first input. */
static bool has_channels(qdq_handler *handle) { return IS_ONE_OF(handle, qdq_batch_normalization, qdq_instance_norm); }

static int rank_of(const struct qdq_value *value)
{
    return value->kind == QDQ_CONSTANT ? value->array->rank : value->view.rank;
}

/* A node with its handler and what it reads. */
struct call {
    const struct node *node;
    qdq_handler *handle;
    const struct qdq_value *inputs;
    int count;
};

static int rank_of_all(const struct call *call)
{
    int rank = 0;
    for (int i = 0; i < call->count; i++)
        rank = rank_of(&call->inputs[i]) > rank ? rank_of(&call->inputs[i]) : rank;
    return rank;
}

/* The dimension of the result along which parts lie that lay along this one of the input; -1: the operator needs all of
 * them. */
static int dimension_behind(struct qdq *qdq, const struct call *call, int rank, int dimension)
{
    qdq_handler *const handle = call->handle;
    bool is_reduced[GRAPH_MAXIMUM_RANK] = {false};
    int before = 0;
    if (IS_ONE_OF(handle, qdq_unary, qdq_clip, qdq_batch_normalization))
        return dimension;
    if (handle == qdq_binary)
        return dimension + rank_of_all(call) - rank;
    if (IS_ONE_OF(handle, qdq_instance_norm, qdq_average_pool, qdq_maximum_pool, qdq_global_average, qdq_global_maximum))
        return dimension == 1 ? dimension : -1;
    if (handle == qdq_layer_norm) {
        const int64_t axis = qdq_integer(qdq, call->node, "axis", -1);
        return dimension < axis + (axis < 0 ? call->inputs[0].view.rank : 0) ? dimension : -1;
    }
    if (handle != qdq_reduce || !qdq_read_axes(qdq, call->node, call->inputs, call->count, is_reduced) ||
        is_reduced[dimension])
        return -1;
    for (int i = 0; i < dimension; i++)
        before += is_reduced[i];
    return qdq_integer(qdq, call->node, "keepdims", 1) ? dimension : dimension - before;
}

/* ---- pieces of inputs ---- */

struct piece {
    int dimension; /* from the last on, that being 1: inputs of fewer dimensions are repeated */
    int64_t first, size, whole;
};

static enum qdq_outcome cut_constant(struct qdq *qdq, int dimension, const struct piece *piece, struct qdq_value *value)
{
    const struct qdq_array *from = value->array;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    size_t inner = 1, size = (size_t)from->dimensions[dimension];
    for (int i = 0; i < from->rank; i++)
        dimensions[i] = i == dimension ? piece->size : from->dimensions[i];
    for (int i = dimension + 1; i < from->rank; i++)
        inner *= (size_t)from->dimensions[i];
    struct qdq_array *cut = qdq_array_make(qdq, NULL, from->rank, dimensions);
    double *numbers = (double *)(uintptr_t)cut->numbers;
    if (!numbers || !from->numbers)
        return QDQ_FLOAT;
    for (size_t i = 0; i < cut->count; i++) {
        size_t own = i / inner % (size_t)piece->size, outer = i / inner / (size_t)piece->size;
        numbers[i] = qdq_array_real(from, (outer * size + (size_t)piece->first + own) * inner + i % inner);
    }
    cut->name = from->name;
    value->array = cut;
    return QDQ_DONE;
}

/* Of the result of another operator on parts of the same sizes, or of the same parts. */
static enum qdq_outcome take_part(struct qdq *qdq, const struct piece *piece, struct qdq_value *value)
{
    const struct qdq_pending *whole = value->pending;
    int64_t first = 0;
    int part = 0;
    for (; part < whole->part_count && first < piece->first; part++)
        first += whole->parts[part].view.dimensions[whole->dimension];
    if (part == whole->part_count || first != piece->first || value->view.rank - whole->dimension != piece->dimension ||
        whole->parts[part].view.dimensions[whole->dimension] != piece->size)
        return QDQ_FLOAT;
    *value = whole->parts[part];
    qdq_bound(qdq, value, whole->minimum, whole->maximum);
    return QDQ_DONE;
}

static enum qdq_outcome cut_tensor(struct qdq *qdq, const struct node *node, int dimension, const struct piece *piece,
                                   struct qdq_value *value)
{
    struct middle_move move = middle_move_none(&value->view);
    const struct qdq_value from = *value;
    return middle_move_slice(&qdq->builder, &move, dimension, piece->first, 1, piece->size)
               ? qdq_apply_move(qdq, node, &from, &move, 0, value)
               : QDQ_FLOAT;
}

/* Input `index` becomes what the piece has of it. */
static enum qdq_outcome cut_input(struct qdq *qdq, const struct call *call, const struct piece *piece, int index,
                                  struct qdq_value *value)
{
    qdq_handler *const handle = call->handle;
    if (qdq_is_joined(value))
        return take_part(qdq, piece, value);
    if (index && !has_channels(handle) && handle != qdq_binary)
        return QDQ_DONE;
    const int rank = rank_of(value);
    const int dimension = has_channels(handle) ? 0 : rank - piece->dimension;
    if (dimension < 0 || value->kind == QDQ_NONE)
        return QDQ_DONE;
    const int64_t size =
        value->kind == QDQ_CONSTANT ? value->array->dimensions[dimension] : value->view.dimensions[dimension];
    if (rank == 0 || size == 1)
        return QDQ_DONE;
    if (size != piece->whole)
        return QDQ_FLOAT;
    if (value->kind == QDQ_CONSTANT)
        return cut_constant(qdq, dimension, piece, value);
    return value->kind == QDQ_REALS ? cut_tensor(qdq, call->node, dimension, piece, value) : QDQ_FLOAT;
}

/* ---- joined parts ---- */

#define MOST_PIECES 16384 /* a DenseNet-201 has some 4,000 */

/* `has_all`: the piece needs all of the other inputs. */
static enum qdq_outcome run_piece(struct qdq *qdq, const struct call *call, const struct piece *piece, bool has_all,
                                  struct qdq_value *result)
{
    struct qdq_value *own = arena_array(qdq->arena, struct qdq_value, (size_t)call->count + 8);
    memcpy(own, call->inputs, (size_t)call->count * sizeof *own);
    for (int i = 0; i < call->count; i++) {
        enum qdq_outcome outcome = i && has_all ? QDQ_DONE : cut_input(qdq, call, piece, i, &own[i]);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    enum qdq_outcome outcome;
    if (own[0].kind == QDQ_CONSTANT && !IS_ONE_OF(call->handle, qdq_unary, qdq_clip, qdq_binary))
        return QDQ_FLOAT;
    return qdq_fold(qdq, call->node, own, call->count, result, &outcome)
               ? outcome
               : call->handle(qdq, call->node, own, call->count, result);
}

/* The result has the piece along this dimension, and can be joined with others. */
static bool is_part(const struct qdq_value *part, int dimension, const struct piece *piece)
{
    return (part->kind == QDQ_REALS || part->kind == QDQ_PENDING || part->kind == QDQ_CONSTANT) &&
           dimension < part->view.rank && part->view.dimensions[dimension] == piece->size;
}

static enum qdq_outcome run_parts(struct qdq *qdq, const struct call *call, int joined, struct qdq_value *result)
{
    const struct view *view = &call->inputs[joined].view;
    const struct qdq_pending *whole = call->inputs[joined].pending;
    if (whole->part_count > QDQ_MOST_PARTS || qdq->piece_count + whole->part_count > MOST_PIECES)
        return QDQ_FLOAT;
    qdq->piece_count += whole->part_count;
    const int behind = dimension_behind(qdq, call, view->rank, whole->dimension);
    if (behind < 0)
        return QDQ_FLOAT;
    const bool has_all = has_channels(call->handle) && whole->dimension != 1;
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)whole->part_count);
    struct piece piece = {.dimension = view->rank - whole->dimension, .whole = view->dimensions[whole->dimension]};
    for (int i = 0; i < whole->part_count; i++) {
        piece.size = whole->parts[i].view.dimensions[whole->dimension];
        enum qdq_outcome outcome = run_piece(qdq, call, &piece, has_all, &parts[i]);
        if (outcome != QDQ_DONE)
            return outcome;
        if (parts[i].kind == QDQ_CONSTANT)
            parts[i].view = view_of_memory(parts[i].array->rank, parts[i].array->dimensions);
        if (!is_part(&parts[i], behind, &piece))
            return QDQ_FLOAT;
        piece.first += piece.size;
    }
    qdq_join(qdq, call->node, parts, whole->part_count, behind, result);
    return QDQ_DONE;
}

/* ---- bytes ---- */

/* A mean, or a sum; of windows, those that count no element outside. */
static bool is_linear(struct qdq *qdq, const struct node *node, qdq_handler *handle)
{
    const struct attribute *pads = node_attribute(node, "pads"), *automatic = node_attribute(node, "auto_pad");
    bool has_border = automatic && !(automatic->kind == ATTRIBUTE_TEXT && !strcmp(automatic->text, "NOTSET"));
    for (size_t i = 0; pads && pads->kind == ATTRIBUTE_INTEGERS && i < pads->count; i++)
        has_border |= pads->integers[i] != 0;
    if (handle == qdq_average_pool)
        return !has_border || !qdq_integer(qdq, node, "count_include_pad", 0);
    return handle == qdq_global_average ||
           (handle == qdq_reduce && (!strcmp(node->type, "ReduceMean") || !strcmp(node->type, "ReduceSum")));
}

static enum qdq_outcome run_bytes(struct qdq *qdq, const struct node *node, qdq_handler *handle,
                                  const struct qdq_value *inputs, int count, struct qdq_value *result)
{
    struct qdq_value parts[QDQ_SPLIT_BYTES], means[QDQ_SPLIT_BYTES];
    struct qdq_value *own = arena_array(qdq->arena, struct qdq_value, (size_t)count + 8);
    double least;
    enum qdq_outcome outcome = qdq_split_reals(qdq, node, &inputs[0], parts, &least);
    memcpy(own, inputs, (size_t)count * sizeof *own);
    for (int i = 0; i < QDQ_SPLIT_BYTES && outcome == QDQ_DONE; i++) {
        own[0] = parts[i];
        outcome = handle(qdq, node, own, count, &means[i]);
    }
    if (outcome == QDQ_DONE)
        outcome = qdq_sum(qdq, node, means, QDQ_SPLIT_BYTES, &(struct qdq_sum){.divisor = 1}, result);
    if (outcome != QDQ_DONE)
        return outcome;
    const bool is_sum = handle == qdq_reduce && !strcmp(node->type, "ReduceSum");
    const int64_t summed = is_sum ? view_elements(&inputs[0].view) / view_elements(&result->view) : 1;
    result->pending->constants[0] += least * (double)summed;
    return QDQ_DONE;
}

enum qdq_outcome qdq_distribute(struct qdq *qdq, const struct node *node, qdq_handler *handle,
                                const struct qdq_value *inputs, int count, struct qdq_value *result)
{
    const struct call call = {node, handle, inputs, count};
    const int last = handle == qdq_binary ? count : 1;
    if (handle == qdq_concatenation)
        return qdq_join_unrounded(qdq, node, inputs, count, result);
    for (int i = 0; i < last; i++)
        if (qdq_is_joined(&inputs[i]))
            return run_parts(qdq, &call, i, result);
    return inputs[0].kind == QDQ_REALS && is_linear(qdq, node, handle) ? run_bytes(qdq, node, handle, inputs, count, result)
                                                                       : QDQ_FLOAT;
}
