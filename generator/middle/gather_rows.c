/* Gathers by rows of indices, as windows that slide over a sequence, or lists of places in an image, have them. Rows have
 * dimensions of their own; a column of indices varies along some of them. Columns that vary along the same ones are one
 * joint dimension of the value, whose indices are one list. */
#include "middle/moves.h"

struct gather {
    const struct middle_rows *rows;
    int64_t count;
    int64_t *indices;                                  /* none negative */
    bool varies[VIEW_MAXIMUM_RANK][VIEW_MAXIMUM_RANK]; /* a column, along a dimension of the rows */
    int group[VIEW_MAXIMUM_RANK];                      /* of a column: the first one that it is joint with */
    int64_t joint_sizes[VIEW_MAXIMUM_RANK];            /* of a group, by its first column */
    int order[VIEW_MAXIMUM_RANK];                      /* of the result's dimensions: how they are made */
    int made;
};

static int64_t step_of(const struct middle_rows *rows, int dimension)
{
    int64_t step = 1;
    for (int i = dimension + 1; i < rows->rank; i++)
        step *= rows->dimensions[i];
    return step;
}

void middle_rows_place(struct middle_rows *rows, const int *sources, int columns, struct arena *arena)
{
    int64_t count = 1;
    for (int i = 0; i < rows->rank; i++)
        count *= rows->dimensions[i];
    int64_t *indices = arena_array(arena, int64_t, (size_t)(count * columns) + 1);
    for (int64_t row = 0; row < count; row++)
        for (int i = 0; i < columns; i++)
            indices[row * columns + i] = sources[i] < 0 ? rows->indices[row * rows->columns - 1 - sources[i]]
                                                        : row / step_of(rows, sources[i]) % rows->dimensions[sources[i]];
    rows->columns = columns;
    rows->indices = indices;
}

static bool varies_along(const struct gather *gather, int column, int dimension)
{
    const int64_t size = gather->rows->dimensions[dimension], step = step_of(gather->rows, dimension);
    const int columns = gather->rows->columns;
    for (int64_t i = 0; i < gather->count; i++) {
        int64_t first = i - i / step % size * step;
        if (gather->indices[i * columns + column] != gather->indices[first * columns + column])
            return true;
    }
    return false;
}

/* The column, and all that are joint with it, belong to the group of the other one, which is in front. */
static void join_groups(struct gather *gather, int column, int other)
{
    const int from = gather->group[column], to = gather->group[other];
    for (int i = 0; i < gather->rows->columns; i++)
        if (gather->group[i] == from || gather->group[i] == to)
            gather->group[i] = from < to ? from : to;
}

static void find_groups(struct gather *gather)
{
    for (int column = 0; column < gather->rows->columns; column++) {
        gather->group[column] = column;
        for (int i = 0; i < gather->rows->rank; i++)
            gather->varies[column][i] = varies_along(gather, column, i);
        for (int other = 0; other < column; other++)
            for (int i = 0; i < gather->rows->rank; i++)
                if (gather->varies[column][i] && gather->varies[other][i])
                    join_groups(gather, column, other);
    }
}

/* False where an index is none of its dimension. */
static bool take_indices(struct gather *gather, const struct view *view, struct arena *arena)
{
    const int columns = gather->rows->columns;
    gather->indices = arena_array(arena, int64_t, (size_t)(gather->count * columns) + 1);
    for (int64_t i = 0; i < gather->count * columns; i++) {
        const int64_t size = view->dimensions[i % columns], index = gather->rows->indices[i];
        if (index < -size || index >= size)
            return false;
        gather->indices[i] = index < 0 ? index + size : index;
    }
    return true;
}

static bool varies_in_group(const struct gather *gather, int group, int dimension)
{
    for (int i = 0; i < gather->rows->columns; i++)
        if (gather->group[i] == group && gather->varies[i][dimension])
            return true;
    return false;
}

/* The next dimension of the result to be made, and where it goes. */
static void make_dimension(struct gather *gather, int place, int64_t size, int64_t *sizes)
{
    sizes[gather->made] = size;
    gather->order[place] = gather->made++;
}

static int64_t joint_index(const struct gather *gather, const struct view *view, int group, int64_t row)
{
    int64_t index = 0;
    for (int i = 0; i < gather->rows->columns; i++)
        if (gather->group[i] == group)
            index = index * view->dimensions[i] + gather->indices[row * gather->rows->columns + i];
    return index;
}

/* One row for each index of the dimensions that a group varies along, the others' indices being 0. */
static int64_t list_group(const struct gather *gather, const struct view *view, int group, int64_t *list)
{
    int64_t count = 0;
    for (int64_t row = 0; row < gather->count; row++) {
        bool is_first = true;
        for (int i = 0; i < gather->rows->rank; i++)
            is_first = is_first && (varies_in_group(gather, group, i) ||
                                    row / step_of(gather->rows, i) % gather->rows->dimensions[i] == 0);
        if (is_first)
            list[count++] = joint_index(gather, view, group, row);
    }
    return count;
}

/* In this shape, copied where the elements have no fixed steps in it; false where that is too large. */
static bool reshape(struct quantised_builder *builder, const char *name, int rank, const int64_t *dimensions,
                    struct middle_value *value)
{
    const struct layout layout = layout_of_model(value->view.rank);
    return view_reshape(&value->view, rank, dimensions, &value->view) ||
           (middle_lay_out(builder, name, &layout, value) && view_reshape(&value->view, rank, dimensions, &value->view));
}

/* The columns of a group side by side, as one dimension; groups in front of what no column says. */
static bool join_columns(struct quantised_builder *builder, const char *name, struct gather *gather,
                         struct middle_value *value)
{
    const int columns = gather->rows->columns;
    int order[VIEW_MAXIMUM_RANK], count = 0, rank = 0;
    int64_t joint[VIEW_MAXIMUM_RANK];
    for (int group = 0; group < columns; group++) {
        int64_t size = 1;
        for (int i = group; i < columns; i++)
            if (gather->group[i] == group) {
                order[count++] = i;
                size *= value->view.dimensions[i];
            }
        if (gather->group[group] == group)
            joint[rank++] = size;
    }
    for (int i = columns; i < value->view.rank; i++) {
        order[count++] = i;
        joint[rank++] = value->view.dimensions[i];
    }
    view_permute(&value->view, order, &value->view);
    return reshape(builder, name, rank, joint, value);
}

/* The lists; and the result's dimensions in the order in which they come then. */
static bool gather_groups(struct quantised_builder *builder, struct gather *gather, const struct view *view,
                          struct middle_move *move, int64_t *sizes)
{
    int64_t *list = arena_array(builder->arena, int64_t, (size_t)gather->count + 1);
    int next = 0;
    for (int group = 0; group < gather->rows->columns; group++) {
        if (gather->group[group] != group)
            continue;
        const int64_t count = list_group(gather, view, group, list);
        if (!middle_move_gather(builder, move, next++, list, count))
            return false;
        for (int i = 0; i < gather->rows->rank; i++)
            if (varies_in_group(gather, group, i))
                make_dimension(gather, i, gather->rows->dimensions[i], sizes);
    }
    for (int i = gather->rows->columns; i < view->rank; i++)
        make_dimension(gather, gather->rows->rank + i - gather->rows->columns, view->dimensions[i], sizes);
    return true;
}

/* Dimensions of the rows along which nothing varies, of one index for now. */
static void make_rest(struct gather *gather, struct view *view)
{
    for (int i = 0; i < gather->rows->rank; i++) {
        bool is_made = false;
        for (int column = 0; column < gather->rows->columns; column++)
            is_made = is_made || gather->varies[column][i];
        if (is_made)
            continue;
        gather->order[i] = gather->made++;
        *view = middle_insert(view, view->rank);
    }
}

/* In the result's order, with all of its indices. */
static bool arrange(struct gather *gather, struct view *view)
{
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    make_rest(gather, view);
    view_permute(view, gather->order, view);
    for (int i = 0; i < view->rank; i++)
        dimensions[i] = i < gather->rows->rank ? gather->rows->dimensions[i] : view->dimensions[i];
    return view_elements(view) <= MAXIMUM_ELEMENTS / gather->count && view_broadcast(view, view->rank, dimensions, view);
}

bool middle_gather_rows(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                        const struct middle_rows *rows, struct middle_value *result)
{
    struct gather gather = {.rows = rows, .count = 1};
    const struct view view = value->view;
    int64_t sizes[VIEW_MAXIMUM_RANK];
    for (int i = 0; i < rows->rank; i++)
        gather.count *= rows->dimensions[i];
    *result = *value;
    if (!take_indices(&gather, &view, builder->arena))
        return false;
    find_groups(&gather);
    if (!join_columns(builder, name, &gather, result))
        return false;
    struct middle_move move = middle_move_none(&result->view);
    struct layout layout = view_is_memory(&result->view) ? layout_of_model(move.rank) : layout_of_memory(&result->view);
    return gather_groups(builder, &gather, &view, &move, sizes) &&
           middle_move_apply(builder, name, result, &move, &layout, 0, result) &&
           reshape(builder, name, gather.made, sizes, result) && arrange(&gather, &result->view);
}
