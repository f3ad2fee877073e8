#include "middle/moves.h"

struct middle_move middle_move_none(const struct view *view)
{
    struct middle_move move = {.rank = view->rank};
    for (int i = 0; i < view->rank; i++)
        move.counts[i] = view->dimensions[i];
    return move;
}

/* A dimension's list is always of the indices that it has so far, so that operators can follow each other. */
static bool set_list(struct middle_move *move, int dimension, int32_t *list, int64_t count)
{
    const int32_t *before = move->from[dimension];
    for (int64_t i = 0; before && i < count; i++)
        list[i] = list[i] < 0 ? -1 : before[list[i]];
    move->from[dimension] = list;
    move->counts[dimension] = count;
    return true;
}

static bool can_have(int64_t count) { return count >= 1 && count <= MAXIMUM_DIMENSION; }

static int32_t *new_list(struct quantised_builder *builder, int64_t count)
{
    return arena_array(builder->arena, int32_t, (size_t)count);
}

bool middle_move_slice(struct quantised_builder *builder, struct middle_move *move, int dimension, int64_t first,
                       int64_t step, int64_t count)
{
    int64_t size = move->counts[dimension];
    if (first == 0 && step == 1 && count == size)
        return true;
    step = count == 1 ? 0 : step;
    if (!can_have(count) || first < 0 || first >= size || step < -size || step > size || first + (count - 1) * step < 0 ||
        first + (count - 1) * step >= size)
        return false;
    int32_t *list = new_list(builder, count);
    for (int64_t i = 0; i < count; i++)
        list[i] = (int32_t)(first + i * step);
    return set_list(move, dimension, list, count);
}

/* Where an index outside of 0 to size - 1 comes from; -1: nowhere. */
static int64_t outside_index(enum middle_border border, int64_t at, int64_t size)
{
    int64_t period = border == BORDER_REFLECT ? 2 * (size - 1) : 2 * size;
    if (border == BORDER_CONSTANT)
        return -1;
    if (border == BORDER_EDGE || size == 1)
        return at < 0 ? 0 : size - 1;
    if (border == BORDER_WRAP)
        return (at % size + size) % size;
    at = (at % period + period) % period;
    if (at < size)
        return at;
    return border == BORDER_REFLECT ? period - at : period - 1 - at;
}

bool middle_move_pad(struct quantised_builder *builder, struct middle_move *move, int dimension, enum middle_border border,
                     int64_t before, int64_t behind)
{
    int64_t size = move->counts[dimension];
    if (before < -size || behind < -size || before > MAXIMUM_DIMENSION || behind > MAXIMUM_DIMENSION ||
        !can_have(size + before + behind))
        return false;
    if (before == 0 && behind == 0)
        return true;
    int64_t count = size + before + behind;
    int32_t *list = new_list(builder, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i - before;
        list[i] = (int32_t)(at >= 0 && at < size ? at : outside_index(border, at, size));
    }
    return set_list(move, dimension, list, count);
}

bool middle_move_gather(struct quantised_builder *builder, struct middle_move *move, int dimension, const int64_t *indices,
                        int64_t count)
{
    int64_t size = move->counts[dimension];
    bool moves = count != size;
    if (!can_have(count))
        return false;
    int32_t *list = new_list(builder, count);
    for (int64_t i = 0; i < count; i++) {
        if (indices[i] < -size || indices[i] >= size)
            return false;
        list[i] = (int32_t)(indices[i] < 0 ? indices[i] + size : indices[i]);
        moves = moves || list[i] != i;
    }
    return !moves || set_list(move, dimension, list, count);
}

bool middle_move_spread(struct quantised_builder *builder, struct middle_move *move, int dimension, int64_t stride)
{
    int64_t size = move->counts[dimension];
    if (!can_have(stride) || !can_have((size - 1) * stride + 1))
        return false;
    int64_t count = (size - 1) * stride + 1;
    int32_t *list = new_list(builder, count);
    for (int64_t i = 0; i < count; i++)
        list[i] = i % stride ? -1 : (int32_t)(i / stride);
    return set_list(move, dimension, list, count);
}

static bool moves_nothing(const struct middle_move *move)
{
    for (int i = 0; i < move->rank; i++)
        if (move->from[i])
            return false;
    return true;
}

bool middle_move_apply(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                       const struct middle_move *move, const struct layout *layout, int border, struct middle_value *result)
{
    *result = *value;
    return moves_nothing(move) || middle_lay(builder, name, value, move, layout, border, result);
}

/* ---- images ---- */

bool middle_stack_images(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                         int64_t before, int64_t pitch, int border, struct middle_value *result)
{
    const struct layout layout = {4, {0, 1, 2, 3}, 2, 1};
    const int64_t rows = value->view.dimensions[1];
    struct middle_move move = middle_move_none(&value->view);
    *result = *value;
    if (pitch == rows)
        return middle_lay_out(builder, name, &layout, result);
    return middle_move_pad(builder, &move, 1, BORDER_CONSTANT, before, pitch - rows - before) &&
           middle_lay(builder, name, value, &move, &layout, border, result);
}

struct view middle_unstack_images(int64_t images, int64_t rows, int64_t pitch, const struct tensor *tensor)
{
    const int64_t row = (int64_t)tensor->width * tensor->channels;
    const struct view_factor factors[4] = {
        {images, pitch * row}, {rows, row}, {tensor->width, tensor->channels}, {tensor->channels, 1}};
    struct view view = {.rank = 4};
    for (int i = 0, made = 0; i < 4; i++) {
        view.dimensions[i] = factors[i].size;
        view.factor_counts[i] = factors[i].size > 1;
        if (view.factor_counts[i])
            view.factors[made++] = factors[i];
    }
    return view;
}
