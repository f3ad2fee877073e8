#include "middle/join.h"

#include "middle/moves.h"

/* All elements of each part as channels, where no dimension outside of the joined one has more than one index: the parts
 * follow each other in memory then. As the largest part lies; where the joined dimension has one index in it, which lies
 * anywhere, as the model orders the dimensions. */
static bool layout_in_a_row(const struct middle_value *parts, int count, int dimension, struct layout *layout)
{
    int64_t elements = 0;
    const struct view *largest = &parts[0].view;
    for (int i = 0; i < count; i++) {
        elements += view_elements(&parts[i].view);
        largest = view_elements(&parts[i].view) > view_elements(largest) ? &parts[i].view : largest;
    }
    *layout = layout_of_memory(largest);
    struct layout outside = largest->dimensions[dimension] == 1 ? layout_of_model(largest->rank) : *layout;
    for (int i = 0; outside.order[i] != dimension; i++)
        if (largest->dimensions[outside.order[i]] != 1)
            return false;
    layout->rows = layout->columns = 0;
    return elements <= MAXIMUM_DIMENSION;
}

/* Rows of what is outside of the joined dimension in memory; that and what is inside of it are channels, so that the parts
 * of a row follow each other as they lie. */
static bool layout_in_rows(const struct middle_value *parts, int count, int dimension, struct layout *layout)
{
    int64_t channels = 0, inside = 1, outside = 1;
    int rows = 0;
    *layout = layout_of_memory(&parts[0].view);
    for (; layout->order[rows] != dimension; rows++)
        outside *= parts[0].view.dimensions[layout->order[rows]];
    for (int i = rows + 1; i < layout->rank; i++)
        inside *= parts[0].view.dimensions[layout->order[i]];
    for (int i = 0; i < count; i++)
        channels += parts[i].view.dimensions[dimension] * inside;
    layout->rows = rows;
    layout->columns = 0;
    return inside > 1 && channels <= MAXIMUM_DIMENSION && outside <= MAXIMUM_DIMENSION && view_is_memory(&parts[0].view);
}

/* Else all dimensions but the joined one are rows and columns. */
static struct layout layout_of_parts(const struct middle_value *parts, int count, int dimension)
{
    struct layout layout;
    return layout_in_a_row(parts, count, dimension, &layout) || layout_in_rows(parts, count, dimension, &layout)
               ? layout
               : layout_with_channels(&parts[0].view, dimension);
}

static struct view joined_view(const struct layout *layout, const struct middle_value *parts, int count, int dimension)
{
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    for (int i = 0; i < layout->rank; i++)
        dimensions[i] = parts[0].view.dimensions[i];
    for (int i = 1; i < count; i++)
        dimensions[dimension] += parts[i].view.dimensions[dimension];
    return layout_view(layout, dimensions);
}

/* Parts that are laid may have another best layout than before: it is found once. */
bool middle_join(struct quantised_builder *builder, const char *name, struct middle_value *parts, int count, int dimension,
                 struct middle_value *result)
{
    const struct layout layout = layout_of_parts(parts, count, dimension);
    int *tensors = arena_array(builder->arena, int, (size_t)count);
    int64_t channels = 0;
    for (int i = 0; i < count; i++) {
        channels += parts[i].view.dimensions[dimension];
        const char *own = arena_format(builder->arena, "%s, part %d", name, i);
        if (channels > MAXIMUM_DIMENSION || !middle_lay_out(builder, own, &layout, &parts[i]))
            return false;
        tensors[i] = parts[i].tensor;
    }
    *result = (struct middle_value){quantised_concatenate(builder, name, tensors, count, AXIS_CHANNELS),
                                    joined_view(&layout, parts, count, dimension)};
    return true;
}

/* ---- operands of one order ---- */

static struct view with_rank(struct view view, int rank)
{
    while (view.rank < rank)
        view = middle_insert(&view, 0);
    return view;
}

/* Of `count` dimensions of the layout the value has all, or one index each. */
static bool is_all_or_one(const struct view *view, const int64_t *dimensions, const int *order, int count)
{
    int repeated = 0, whole = 0;
    for (int i = 0; i < count; i++) {
        repeated += view->dimensions[order[i]] != dimensions[order[i]];
        whole += view->dimensions[order[i]] != 1;
    }
    return repeated == 0 || whole == 0;
}

/* What layers repeat by themselves. */
static bool is_pixel_or_channel(const struct view *view, const int64_t *dimensions, const struct layout *layout)
{
    int pixels = layout->rows + layout->columns;
    return is_all_or_one(view, dimensions, layout->order, pixels) &&
           is_all_or_one(view, dimensions, layout->order + pixels, layout->rank - pixels);
}

/* Several dimensions in the channels of one pixel, as a join of rows leaves them: layers behind mostly want them apart. */
static bool is_flat(const struct view *view, const struct layout *layout)
{
    int larger = 0;
    for (int i = 0; i < view->rank; i++)
        larger += view->dimensions[i] > 1;
    return larger > 1 && layout->rows + layout->columns == 0;
}

/* The value is all elements, and lies so. */
static bool has_layout(const struct quantised_builder *builder, const struct middle_value *value, int rank,
                       const int64_t *dimensions, bool may_be_flat, struct layout *layout)
{
    struct view repeated;
    return view_broadcast(&value->view, rank, dimensions, &repeated) &&
           view_elements(&value->view) == view_elements(&repeated) &&
           layout_of_tensor(&repeated, &builder->network->tensors[value->tensor], layout) &&
           (may_be_flat || !is_flat(&repeated, layout));
}

int middle_find_lead(const struct quantised_builder *builder, const struct middle_value *values, int count, int rank,
                     const int64_t *dimensions, struct layout *layout)
{
    struct view repeated;
    for (int may_be_flat = 0; may_be_flat < 2; may_be_flat++)
        for (int i = 0; i < count; i++)
            if (has_layout(builder, &values[i], rank, dimensions, may_be_flat != 0, layout))
                return i;
    for (int i = 0; i < count; i++) {
        if (!view_broadcast(&values[i].view, rank, dimensions, &repeated))
            continue;
        *layout = view_is_memory(&repeated) ? layout_of_model(repeated.rank) : layout_of_memory(&repeated);
        if (view_elements(&values[i].view) == view_elements(&repeated) && middle_is_whole(builder, &values[i]))
            return i;
    }
    *layout = layout_of_model(rank);
    return 0;
}

int middle_align(struct quantised_builder *builder, const char *name, struct middle_value values[2], int rank,
                 const int64_t *dimensions)
{
    struct view repeated[2];
    struct layout layout;
    for (int i = 0; i < 2; i++)
        if (!view_broadcast(&values[i].view, rank, dimensions, &repeated[i]))
            return -1;
    int lead = middle_find_lead(builder, values, 2, rank, dimensions, &layout), other = 1 - lead;
    values[lead].view = repeated[lead];
    values[other].view = with_rank(values[other].view, rank);
    if (!is_pixel_or_channel(&values[other].view, dimensions, &layout))
        values[other].view = repeated[other];
    for (int i = 0; i < 2; i++)
        if (!middle_lay_out(builder, arena_format(builder->arena, "%s, operand %d", name, i), &layout, &values[i]))
            return -1;
    return lead;
}
