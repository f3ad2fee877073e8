#include "middle/layout.h"

/* ---- which dimension is what ---- */

/* How far the outermost factor of a dimension goes in memory; 0 where the dimension has one index. */
static int64_t reach(const struct view *view, int dimension)
{
    int64_t furthest = 0;
    for (int i = 0, factor = 0; i <= dimension; i++)
        for (int k = 0; k < view->factor_counts[i]; k++, factor++)
            if (i == dimension && view->factors[factor].step > furthest)
                furthest = view->factors[factor].step;
    return furthest;
}

/* The innermost dimension that has more than one index is channels: those without any say nothing, and come first. */
static struct layout split_last(struct layout layout)
{
    layout.columns = layout.rank >= 2;
    layout.rows = layout.rank > 2 ? layout.rank - 2 : 0;
    return layout;
}

static void sort_by_reach(const struct view *view, int *order, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0; k--) {
            int64_t before = reach(view, order[k - 1]), here = reach(view, order[k]);
            bool comes_first = before != 0 && (here == 0 || here > before);
            if (!comes_first)
                break;
            int moved = order[k];
            order[k] = order[k - 1];
            order[k - 1] = moved;
        }
}

struct layout layout_of_model(int rank)
{
    struct layout layout = {.rank = rank};
    for (int i = 0; i < rank; i++)
        layout.order[i] = i;
    return split_last(layout);
}

struct layout layout_of_memory(const struct view *view)
{
    struct layout layout = layout_of_model(view->rank);
    sort_by_reach(view, layout.order, layout.rank);
    return layout;
}

struct layout layout_of_image(int rank)
{
    struct layout layout = {.rank = rank, .rows = rank >= 4, .columns = rank >= 3};
    int space = layout.rows + layout.columns;
    for (int i = 0; i < rank; i++)
        layout.order[i] = i < space ? rank - space + i : i - space;
    return layout;
}

struct layout layout_with_channels(const struct view *view, int dimension)
{
    struct layout layout = layout_of_memory(view);
    int at = 0;
    while (layout.order[at] != dimension)
        at++;
    for (; at < layout.rank - 1; at++)
        layout.order[at] = layout.order[at + 1];
    layout.order[layout.rank - 1] = dimension;
    return layout;
}

struct layout layout_with_rows(const struct view *view, const bool *is_row)
{
    struct layout sorted = layout_of_memory(view), layout = {.rank = view->rank};
    int next = 0;
    for (int i = 0; i < sorted.rank; i++)
        if (is_row[sorted.order[i]])
            layout.order[next++] = sorted.order[i];
    layout.rows = next;
    for (int i = 0; i < sorted.rank; i++)
        if (!is_row[sorted.order[i]])
            layout.order[next++] = sorted.order[i];
    layout.columns = layout.rank - layout.rows > 1 ? layout.rank - layout.rows - 1 : 0;
    return layout;
}

/* How many of the dimensions, from `first` on, make `size`; those of one index belong to the last group, which takes all. */
static int count_dimensions(const struct layout *layout, const struct view *view, int first, int64_t size)
{
    int count = 0;
    for (int64_t all = 1; all < size && first + count < layout->rank; count++)
        all *= view->dimensions[layout->order[first + count]];
    return count;
}

bool layout_of_tensor(const struct view *view, const struct tensor *tensor, struct layout *layout)
{
    int64_t sizes[3];
    *layout = layout_of_memory(view);
    layout->rows = count_dimensions(layout, view, 0, tensor->height);
    layout->columns = count_dimensions(layout, view, layout->rows, tensor->width);
    layout_sizes(layout, view->dimensions, sizes);
    struct view wanted = layout_view(layout, view->dimensions);
    return sizes[0] == tensor->height && sizes[1] == tensor->width && sizes[2] == tensor->channels &&
           view_equal(view, &wanted);
}

void layout_sizes(const struct layout *layout, const int64_t *dimensions, int64_t sizes[3])
{
    for (int i = 0; i < 3; i++)
        sizes[i] = 1;
    for (int i = 0; i < layout->rank; i++)
        sizes[i < layout->rows ? 0 : i < layout->rows + layout->columns ? 1 : 2] *= dimensions[layout->order[i]];
}

struct view layout_view(const struct layout *layout, const int64_t *dimensions)
{
    int64_t in_order[VIEW_MAXIMUM_RANK];
    int places[VIEW_MAXIMUM_RANK] = {0};
    for (int i = 0; i < layout->rank; i++) {
        in_order[i] = dimensions[layout->order[i]];
        places[layout->order[i]] = i;
    }
    struct view memory = view_of_memory(layout->rank, in_order), view;
    view_permute(&memory, places, &view);
    return view;
}

/* ---- copies ---- */

static int64_t count_of(const struct middle_value *value, const struct middle_move *move, int dimension)
{
    return move ? move->counts[dimension] : value->view.dimensions[dimension];
}

/* Where an index of the result's dimension lies; negative: nowhere. */
static int64_t position_of(const struct middle_value *value, const struct middle_move *move, int dimension, int64_t index)
{
    int64_t at = move && move->from[dimension] ? move->from[dimension][index] : index;
    return at < 0 ? -1 : view_position(&value->view, dimension, at);
}

/* Several dimensions as one: the number of their indices, 0 where the firmware cannot have so many. */
static int joined_count(const struct middle_value *value, const struct middle_move *move, const int *order, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++) {
        int64_t own = count_of(value, move, order[i]);
        if (own < 1 || own > MAXIMUM_DIMENSION || (all *= own) > MAXIMUM_DIMENSION)
            return 0;
    }
    return (int)all;
}

static const int32_t *joined_positions(struct quantised_builder *builder, const struct middle_value *value,
                                       const struct middle_move *move, const int *order, int count, int all)
{
    int32_t *positions = arena_array(builder->arena, int32_t, (size_t)all);
    for (int i = 0; i < all; i++) {
        int64_t rest = i, sum = 0;
        for (int k = count - 1; k >= 0; k--) {
            int64_t own = count_of(value, move, order[k]), position = position_of(value, move, order[k], rest % own);
            sum = position < 0 || sum < 0 ? -1 : sum + position;
            rest /= own;
        }
        positions[i] = (int32_t)sum;
    }
    return positions;
}

/* One copy for all. */
static bool lay(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                const struct middle_move *move, const struct layout *layout, int border, struct middle_value *result)
{
    const struct tensor from = builder->network->tensors[value->tensor];
    const int counts[3] = {layout->rows, layout->columns, layout->rank - layout->rows - layout->columns};
    const int *order = layout->order;
    const int32_t *positions[3];
    int sizes[3];
    int64_t all = 1;
    for (int i = 0; i < 3; order += counts[i++]) {
        sizes[i] = joined_count(value, move, order, counts[i]);
        if (sizes[i] == 0 || (all *= sizes[i]) > MAXIMUM_ELEMENTS)
            return false;
        positions[i] = joined_positions(builder, value, move, order, counts[i], sizes[i]);
    }
    struct quantisation quantisation = {from.scale, from.zero_point + from.model_offset, from.model_offset != 0};
    int output = quantised_tensor(builder, name, sizes[0], sizes[1], sizes[2], &quantisation);
    struct layer *layer = quantised_layer(builder, LAYER_COPY, name, value->tensor, output);
    layer->padding_value = border;
    layer->map = (struct layer_map){positions[0], positions[1], positions[2]};
    *result = (struct middle_value){output, layout_view(layout, move ? move->counts : value->view.dimensions)};
    return true;
}

/* Dimensions of more than one index come as they lie. */
static bool keeps_order(const struct view *view, const struct layout *layout)
{
    int64_t before = INT64_MAX;
    for (int i = 0; i < layout->rank; i++) {
        int64_t here = reach(view, layout->order[i]);
        if (here > before)
            return false;
        before = here ? here : before;
    }
    return true;
}

static bool has_lists(const struct middle_move *move)
{
    for (int i = 0; move && i < move->rank; i++)
        if (move->from[i])
            return true;
    return false;
}

/* ---- large tensors ---- */

#define SMALL_WINDOW 12288 /* elements that the firmware has at hand at once beside others */

/* Elements between the first and the last that are read in turn for one index of the result, if these go on evenly. */
static int64_t window_of(const struct middle_value *value, const struct middle_move *move, int dimension)
{
    int64_t size = value->view.dimensions[dimension], count = move->counts[dimension], early = 0, late = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = move->from[dimension][i], even = i * size / count;
        early = index >= 0 && even - index > early ? even - index : early;
        late = index >= 0 && index - even > late ? index - even : late;
    }
    return (early + late + 1) * (size > 1 ? view_position(&value->view, dimension, 1) : 1);
}

/* A dimension of a large tensor whose indices jump: it becomes the innermost, where each of its runs is short, and moves
 * there. */
static bool move_inside(struct quantised_builder *builder, const char *name, struct middle_value *value,
                        struct middle_move *move, int dimension, int border)
{
    struct layout layout = layout_with_channels(&value->view, dimension);
    struct middle_move alone = {.rank = move->rank};
    for (int i = 0; i < move->rank; i++)
        alone.counts[i] = value->view.dimensions[i];
    alone.counts[dimension] = move->counts[dimension];
    alone.from[dimension] = move->from[dimension];
    move->from[dimension] = NULL;
    name = arena_format(builder->arena, "%s, dimension %d", name, dimension);
    return lay(builder, arena_format(builder->arena, "%s, inside", name), value, NULL, &layout, 0, value) &&
           lay(builder, name, value, &alone, &layout, border, value);
}

static bool move_jumps(struct quantised_builder *builder, const char *name, struct middle_value *value,
                       struct middle_move *move, int border)
{
    for (int i = 0; i < move->rank; i++) {
        bool is_large = tensor_elements(&builder->network->tensors[value->tensor]) > SMALL_WINDOW;
        if (is_large && move->from[i] && window_of(value, move, i) > SMALL_WINDOW &&
            !move_inside(builder, name, value, move, i, border))
            return false;
    }
    return true;
}

/* Times that all elements are repeated; 0 where they are not all there. */
static int64_t repeats_of(const struct quantised_builder *builder, const struct middle_value *value)
{
    int64_t elements = (int64_t)tensor_elements(&builder->network->tensors[value->tensor]), all = 1;
    int factor = 0;
    for (int i = 0; i < value->view.rank; i++)
        for (int k = 0; k < value->view.factor_counts[i]; k++, factor++)
            all *= value->view.factors[factor].step ? value->view.factors[factor].size : 1;
    return all == elements ? view_elements(&value->view) / elements : 0;
}

/* Something is repeated, of which more is read between than is at hand at once. */
static bool repeats_far(const struct view *view, const struct layout *layout)
{
    int64_t between = 1;
    for (int i = layout->rank - 1; i >= 0; i--) {
        int last = -1;
        for (int k = 0; k <= layout->order[i]; k++)
            last += view->factor_counts[k];
        for (int k = 0; k < view->factor_counts[layout->order[i]]; k++) {
            struct view_factor factor = view->factors[last - k];
            if (factor.step == 0 && factor.size > 1 && between > SMALL_WINDOW)
                return true;
            between += (factor.size - 1) * factor.step;
        }
    }
    return false;
}

/* Each element as often as all are wanted, one behind the other: from there they go to their places as another order. */
static bool repeat_inside(struct quantised_builder *builder, const char *name, struct middle_value *value, int64_t times)
{
    const struct tensor from = builder->network->tensors[value->tensor];
    const int64_t pixel = (int64_t)from.width * from.channels, dimensions[3] = {from.height, pixel, times};
    const struct layout layout = layout_of_model(3);
    struct middle_value repeated = {value->tensor, view_of_memory(2, dimensions)};
    struct view view = value->view, *wanted = &repeated.view;
    int64_t step = 1;
    wanted->rank = 3;
    wanted->dimensions[2] = times;
    wanted->factor_counts[2] = 1;
    wanted->factors[wanted->factor_counts[0] + wanted->factor_counts[1]] = (struct view_factor){times, 0};
    if (!lay(builder, arena_format(builder->arena, "%s, repeated", name), &repeated, NULL, &layout, 0, &repeated))
        return false;
    int count = 0;
    for (int i = 0; i < view.rank; i++)
        count += view.factor_counts[i];
    for (int i = count - 1; i >= 0; i--) {
        struct view_factor *factor = &view.factors[i];
        int64_t own = factor->step ? factor->step * times : step;
        step *= factor->step ? 1 : factor->size;
        factor->step = own;
    }
    *value = (struct middle_value){repeated.tensor, view};
    return true;
}

/* Elements move in memory's order first: that, and another order, the firmware does in parts of any size, both at once only
 * with all of the input at hand. */
bool middle_lay(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                const struct middle_move *move, const struct layout *layout, int border, struct middle_value *result)
{
    struct middle_value moved = *value;
    struct middle_move rest;
    int64_t times = repeats_of(builder, value);
    if (times > 1 && repeats_far(&value->view, layout) && !repeat_inside(builder, name, &moved, times))
        return false;
    if (!has_lists(move))
        return lay(builder, name, &moved, move, layout, border, result);
    rest = *move;
    if (!move_jumps(builder, name, &moved, &rest, border))
        return false;
    if (keeps_order(&moved.view, layout))
        return lay(builder, name, &moved, &rest, layout, border, result);
    struct layout in_memory = layout_of_memory(&moved.view);
    if (has_lists(&rest) &&
        !lay(builder, arena_format(builder->arena, "%s, moved", name), &moved, &rest, &in_memory, border, &moved))
        return false;
    return lay(builder, name, &moved, NULL, layout, border, result);
}

static bool lies_so(const struct quantised_builder *builder, const struct middle_value *value, const struct layout *layout)
{
    const struct tensor *tensor = &builder->network->tensors[value->tensor];
    struct view wanted = layout_view(layout, value->view.dimensions);
    int64_t sizes[3];
    layout_sizes(layout, value->view.dimensions, sizes);
    return view_equal(&wanted, &value->view) && tensor->height == sizes[0] && tensor->width == sizes[1] &&
           tensor->channels == sizes[2];
}

bool middle_lay_out(struct quantised_builder *builder, const char *name, const struct layout *layout,
                    struct middle_value *value)
{
    return lies_so(builder, value, layout) || middle_lay(builder, name, value, NULL, layout, 0, value);
}

bool middle_is_whole(const struct quantised_builder *builder, const struct middle_value *value)
{
    return view_elements(&value->view) == (int64_t)tensor_elements(&builder->network->tensors[value->tensor]);
}
