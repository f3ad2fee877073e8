/* The largest set of rows and columns that can be removed together, found as that of channels is (dead.c): all of them,
 * until no layer takes one back. A layer that makes each row from the same row of its inputs loses it from all of them, or
 * from none. A copy does without those rows of its input that it does not read, and makes only those of its output that are
 * read. Likewise with columns. */
#include "shrink/unread.h"

#include <string.h>

#include "network/channels.h"

struct search {
    const struct network *network;
    bool **unread[AXES];
    bool takes_back; /* a layer has, since this was cleared */
};

static int extent(const struct search *search, int tensor, enum pixel_axis axis)
{
    return tensor_extent(&search->network->tensors[tensor], axis);
}

static void keep(struct search *search, int tensor, enum pixel_axis axis, int line)
{
    search->takes_back = search->takes_back || search->unread[axis][tensor][line];
    search->unread[axis][tensor][line] = false;
}

static void keep_all(struct search *search, int tensor, enum pixel_axis axis)
{
    for (int i = 0; i < extent(search, tensor, axis); i++)
        keep(search, tensor, axis, i);
}

/* ---- layers ---- */

/* Of a window of one element that is moved by one. */
static bool is_single(const struct layer *layer, enum pixel_axis axis)
{
    if (axis == AXIS_ROW)
        return layer->kernel_height == 1 && layer->stride_height == 1 && !layer->padding_top && !layer->padding_bottom;
    return layer->kernel_width == 1 && layer->stride_width == 1 && !layer->padding_left && !layer->padding_right;
}

/* One pixel for all those of the output. */
static bool is_repeated(const struct search *search, int tensor, int output)
{
    bool is_pixel = true, has_one = true;
    for (enum pixel_axis axis = AXIS_ROW; axis < AXES; axis++) {
        is_pixel = is_pixel && extent(search, tensor, axis) == 1;
        has_one = has_one && extent(search, output, axis) == 1;
    }
    return is_pixel && !has_one;
}

/* Each line of the output from the same of the inputs. An input of one pixel for all others stays. */
static void keep_together(struct search *search, const struct layer *layer, enum pixel_axis axis)
{
    for (int i = 0; i < layer_input_count(layer); i++) {
        int input = layer->inputs[i];
        if (is_repeated(search, input, layer->output)) {
            keep_all(search, input, axis);
            continue;
        }
        for (int line = 0; line < extent(search, layer->output, axis); line++) {
            if (search->unread[axis][input][line] && search->unread[axis][layer->output][line])
                continue;
            keep(search, input, axis, line);
            keep(search, layer->output, axis, line);
        }
    }
}

static void keep_whole(struct search *search, const struct layer *layer, enum pixel_axis axis)
{
    keep_all(search, layer->output, axis);
    for (int i = 0; i < layer_input_count(layer); i++)
        keep_all(search, layer->inputs[i], axis);
}

static void keep_for_copy(struct search *search, const struct layer *layer, enum pixel_axis axis)
{
    if (!copy_takes_lines(search->network, layer)) {
        keep_all(search, layer->inputs[0], axis);
        return;
    }
    for (int line = 0; line < extent(search, layer->output, axis); line++) {
        int from = copy_source_line(search->network, layer, axis, line);
        if (!search->unread[axis][layer->output][line] && from >= 0)
            keep(search, layer->inputs[0], axis, from);
    }
}

static void keep_for_layer(struct search *search, const struct layer *layer, enum pixel_axis axis)
{
    bool by_line = false;
    switch (layer->kind) {
    case LAYER_COPY: keep_for_copy(search, layer, axis); return;
    case LAYER_CONVOLUTION:
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL: by_line = is_single(layer, axis); break;
    case LAYER_NORM: by_line = norm_is_alike(search->network, layer); break;
    case LAYER_MATRIX_PRODUCT:
    case LAYER_LSTM:
    case LAYER_INTERPOLATION: break;
    case LAYER_ADDITION:
    case LAYER_CONCATENATION:
    case LAYER_MULTIPLICATION:
    case LAYER_SQUARED_DIFFERENCE:
    case LAYER_TABLE:
    case LAYER_SOFTMAX:
    case LAYER_LARGEST: by_line = true; break;
    }
    (by_line ? keep_together : keep_whole)(search, layer, axis);
}

/* ---- all of it ---- */

/* A tensor has a row and a column, also where nobody reads it. */
static void keep_one(struct search *search, int tensor, enum pixel_axis axis)
{
    if (!memchr(search->unread[axis][tensor], false, (size_t)extent(search, tensor, axis)))
        keep(search, tensor, axis, 0);
}

static void start(struct search *search, enum pixel_axis axis, struct arena *arena)
{
    const struct network *network = search->network;
    search->unread[axis] = arena_array(arena, bool *, (size_t)network->tensor_count);
    for (int i = 0; i < network->tensor_count; i++) {
        size_t lines = (size_t)extent(search, i, axis);
        search->unread[axis][i] = arena_array(arena, bool, lines);
        memset(search->unread[axis][i], !tensor_is_port(network, i), lines);
    }
}

static void take_back(struct search *search, enum pixel_axis axis)
{
    for (search->takes_back = true; search->takes_back;) {
        search->takes_back = false;
        for (int i = search->network->layer_count - 1; i >= 0; i--)
            keep_for_layer(search, &search->network->layers[i], axis);
        for (int i = 0; i < search->network->tensor_count && !search->takes_back; i++)
            keep_one(search, i, axis);
    }
}

static bool has_any(const struct search *search, enum pixel_axis axis)
{
    for (int i = 0; i < search->network->tensor_count; i++)
        if (memchr(search->unread[axis][i], true, (size_t)extent(search, i, axis)))
            return true;
    return false;
}

bool **const *unread_find(const struct network *network, struct arena *arena)
{
    struct search search = {.network = network};
    bool has = false;
    for (enum pixel_axis axis = AXIS_ROW; axis < AXES; axis++) {
        start(&search, axis, arena);
        take_back(&search, axis);
        has = has_any(&search, axis) || has;
    }
    return has ? arena_copy(arena, search.unread, AXES) : NULL;
}
