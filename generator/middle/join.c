#include "middle/join.h"

static bool lies_so(const struct quantised_builder *builder, const struct middle_value *value, const struct layout *layout)
{
    const struct tensor *tensor = &builder->network->tensors[value->tensor];
    struct view wanted = layout_view(layout, value->view.dimensions);
    int64_t sizes[3];
    layout_sizes(layout, value->view.dimensions, sizes);
    return view_equal(&wanted, &value->view) && tensor->height == sizes[0] && tensor->width == sizes[1] &&
           tensor->channels == sizes[2];
}

/* All dimensions but one are rows and columns. */
static struct layout layout_of_parts(const struct middle_value *first, int dimension)
{
    return layout_with_channels(&first->view, dimension);
}

bool middle_make_parts(struct quantised_builder *builder, const char *name, struct middle_value *values, int count,
                       int dimension)
{
    struct layout layout = layout_of_parts(&values[0], dimension);
    int64_t channels = 0;
    for (int i = 0; i < count; i++) {
        channels += values[i].view.dimensions[dimension];
        const char *own = arena_format(builder->arena, "%s, part %d", name, i);
        if (channels > MIDDLE_MAXIMUM_DIMENSION ||
            (!lies_so(builder, &values[i], &layout) && !middle_lay(builder, own, &values[i], NULL, &layout, 0, &values[i])))
            return false;
    }
    return true;
}

struct view middle_joined_view(const struct middle_value *parts, int count, int dimension)
{
    struct layout layout = layout_of_parts(&parts[0], dimension);
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    for (int i = 0; i < layout.rank; i++)
        dimensions[i] = parts[0].view.dimensions[i];
    for (int i = 1; i < count; i++)
        dimensions[dimension] += parts[i].view.dimensions[dimension];
    return layout_view(&layout, dimensions);
}

struct middle_value middle_join(struct quantised_builder *builder, const char *name, const struct middle_value *parts,
                                int count, int dimension)
{
    int *tensors = arena_array(builder->arena, int, (size_t)count);
    for (int i = 0; i < count; i++)
        tensors[i] = parts[i].tensor;
    return (struct middle_value){quantised_concatenate(builder, name, tensors, count, AXIS_CHANNELS),
                                 middle_joined_view(parts, count, dimension)};
}

bool middle_align(struct quantised_builder *builder, const char *name, struct middle_value values[2], int rank,
                  const int64_t *dimensions)
{
    int lead = -1;
    for (int i = 0; i < 2; i++) {
        bool was_whole = middle_is_whole(builder, &values[i]);
        if (!view_broadcast(&values[i].view, rank, dimensions, &values[i].view))
            return false;
        lead = lead < 0 && was_whole && middle_is_whole(builder, &values[i]) ? i : lead;
    }
    const struct view *first = &values[lead < 0 ? 0 : lead].view;
    struct layout layout = view_is_memory(first) ? layout_of_model(rank) : layout_of_memory(first);
    for (int i = 0; i < 2; i++) {
        const char *own = arena_format(builder->arena, "%s, operand %d", name, i);
        if (!lies_so(builder, &values[i], &layout) && !middle_lay(builder, own, &values[i], NULL, &layout, 0, &values[i]))
            return false;
    }
    return true;
}
