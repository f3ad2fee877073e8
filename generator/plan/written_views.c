/* Results that their layer writes where a copy behind it would move them: the tensor that it computes is a view of the one
 * that the copy would make. Of every copy that only brings elements into another order this could be so; these are those
 * that kernels and the DMA can write. */
#include "plan/views.h"

/* By element of the copy's input, its place in the output; null where some have none, or more than one. */
static int32_t *find_places(const struct network *network, const struct layer *copy, struct arena *arena)
{
    const struct tensor *to = &network->tensors[copy->output];
    size_t count = tensor_elements(&network->tensors[copy->inputs[0]]), element = 0;
    int32_t *places = arena_array(arena, int32_t, count);
    bool *found = arena_array(arena, bool, count);
    if (tensor_elements(to) != count)
        return NULL;
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++)
            for (int c = 0; c < to->channels; c++, element++) {
                int32_t row = copy->map.rows[y], column = copy->map.columns[x], channel = copy->map.channels[c];
                size_t from = (size_t)((int64_t)row + column + channel);
                if (row < 0 || column < 0 || channel < 0 || from >= count || found[from])
                    return NULL;
                found[from] = true;
                places[from] = (int32_t)element;
            }
    return places;
}

/* Elements that are one more in a dimension are equally far apart everywhere. */
static bool find_steps(const struct tensor *from, const int32_t *places, struct tensor_view *view)
{
    int32_t channels = from->channels, row = from->width * channels;
    bool are_equal = true;
    view->first = places[0];
    view->channel_step = from->channels > 1 ? places[1] - places[0] : 1;
    view->column_step = from->width > 1 ? places[channels] - places[0] : view->channel_step * channels;
    view->row_step = from->height > 1 ? places[row] - places[0] : view->column_step * from->width;
    for (int y = 0; y < from->height; y++)
        for (int x = 0; x < from->width; x++)
            for (int c = 0; c < channels; c++)
                are_equal = are_equal &&
                            *places++ == view->first + y * view->row_step + x * view->column_step + c * view->channel_step;
    return are_equal;
}

/* Rows of a matrix product, side by side in each pixel: the DMA's stores take a stride. */
static bool is_of_heads(const struct tensor *from, const struct tensor_view *view)
{
    return view->channel_step == 1 && view->column_step > from->channels && view->column_step <= UINT16_MAX &&
           (from->height == 1 || view->row_step == from->channels);
}

/* The tensor as it lies in CHW. */
static bool is_of_planes(const struct tensor *from, const struct tensor_view *view)
{
    return view->channel_step == from->height * from->width && (from->width == 1 || view->column_step == 1) &&
           (from->height == 1 || view->row_step == from->width);
}

/* A layer whose kernels, or whose stores, can write so. */
static bool can_write(const struct layer *producer, const struct tensor *from, enum view_kinds kinds,
                      const struct tensor_view *view)
{
    bool is_convolution = producer->kind == LAYER_CONVOLUTION && producer->groups == 1;
    return (producer->kind == LAYER_MATRIX_PRODUCT && is_of_heads(from, view)) ||
           (kinds >= VIEWS_OF_PLANES && is_convolution && is_of_planes(from, view));
}

bool view_of_result(const struct network *network, const struct layer *copy, enum view_kinds kinds, struct tensor_view *view)
{
    int input = copy->inputs[0];
    const struct tensor *from = &network->tensors[input], *to = &network->tensors[copy->output];
    struct arena scratch = {0};
    bool may = copy->kind == LAYER_COPY && copy->stage_count == 0 && from->producer != NO_LAYER && !from->view &&
               from->bits == 8 && to->bits == 8 && from->is_signed == to->is_signed &&
               network_count_readers(network, input) == 1;
    const int32_t *places = may ? find_places(network, copy, &scratch) : NULL;
    *view = (struct tensor_view){.of = copy->output};
    bool is = places && find_steps(from, places, view) && can_write(&network->layers[from->producer], from, kinds, view);
    arena_free(&scratch);
    return is;
}
