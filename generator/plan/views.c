/* A copy takes some thousand cycles however few elements it moves, most of them to start. Where these follow each other in
 * the tensor that it reads, as those of a slice of a pixel's channels, of some rows, or of another shape of the same
 * elements, a reader that begins there needs no copy. Nor does one of results that can be written where it would move them
 * (written_views.c). */
#include "plan/views.h"

#include "network/channels.h"

/* ---- one copy ---- */

/* Are the positions in equal steps? */
static bool find_step(const int32_t *positions, int count, int32_t *step)
{
    *step = count > 1 ? positions[1] - positions[0] : 0;
    for (int i = 1; i < count; i++)
        if (positions[i] - positions[i - 1] != *step)
            return false;
    return !copy_has_border(positions, count);
}

/* Weights are 0 in all layers that read a tensor, as those of constants are: its elements may be any. */
static bool is_ignored(const struct network *network, int tensor)
{
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        if (!layer_reads(layer, tensor))
            continue;
        size_t count = layer->kind == LAYER_CONVOLUTION ? layer_weight_count(network, layer) : 0;
        for (size_t k = 0; k < count; k++)
            if (layer->weights[k])
                return false;
        if (count == 0)
            return false;
    }
    return true;
}

static bool is_in_a_row(const struct tensor *tensor, const struct tensor_view *view)
{
    return view->column_step == tensor->channels && view->row_step == tensor->width * tensor->channels;
}

/* Where the copy's output is a view, that of its input; of which there may be one already. */
static bool find_view(const struct network *network, const struct layer *copy, struct tensor_view *view)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    int32_t channel_step;
    if (tensor_elements(to) == 1 && is_ignored(network, copy->output)) {
        *view = (struct tensor_view){tensor_home(network, copy->inputs[0]), 0, 1, 1, 1};
        return true;
    }
    if (from->view && !is_in_a_row(from, from->view))
        return false;
    if (!find_step(copy->map.rows, to->height, &view->row_step) ||
        !find_step(copy->map.columns, to->width, &view->column_step) ||
        !find_step(copy->map.channels, to->channels, &channel_step))
        return false;
    view->of = tensor_home(network, copy->inputs[0]);
    view->first = copy->map.rows[0] + copy->map.columns[0] + copy->map.channels[0] + (from->view ? from->view->first : 0);
    view->column_step = to->width > 1 ? view->column_step : to->channels;
    view->row_step = to->height > 1 ? view->row_step : to->width * to->channels;
    view->channel_step = 1;
    return to->channels == 1 || channel_step == 1;
}

/* All that read it are matrix products, and find its rows behind one another in the home's pixels. */
static bool is_of_heads(const struct network *network, int index, const struct tensor_view *view)
{
    const struct tensor *tensor = &network->tensors[index];
    bool is = tensor->bits == 8 && view->column_step > tensor->channels && view->column_step <= UINT16_MAX &&
              (tensor->height == 1 || view->row_step == tensor->channels);
    for (int i = 0; i < network->layer_count; i++)
        is = is && (!layer_reads(&network->layers[i], index) || network->layers[i].kind == LAYER_MATRIX_PRODUCT);
    return is;
}

static bool is_view(const struct network *network, int index, enum view_kinds kinds, struct tensor_view *view)
{
    const struct layer *copy = &network->layers[index];
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    return copy->kind == LAYER_COPY && copy->stage_count == 0 && !network_is_output(network, copy->output) &&
           from->bits == to->bits && from->is_signed == to->is_signed && from->bits % 8 == 0 &&
           find_view(network, copy, view) &&
           (is_in_a_row(to, view) || (kinds >= VIEWS_OF_HEADS && is_of_heads(network, copy->output, view)));
}

/* The tensor that is a view without the copy: its output, or its input, which is computed where it would be moved; -1: none.
 */
static int find_viewed(const struct network *network, int index, enum view_kinds kinds, struct tensor_view *view)
{
    const struct layer *copy = &network->layers[index];
    if (is_view(network, index, kinds, view))
        return copy->output;
    return kinds >= VIEWS_OF_RESULTS && view_of_result(network, copy, kinds, view) ? copy->inputs[0] : -1;
}

/* ---- all of them ---- */

static struct network *copy_of(const struct network *network, struct arena *arena)
{
    struct network *copy = arena_array(arena, struct network, 1);
    *copy = *network;
    copy->tensors = arena_copy(arena, network->tensors, (size_t)network->tensor_count);
    copy->layers = arena_copy(arena, network->layers, (size_t)network->layer_count);
    return copy;
}

static void set_view(struct network *network, int tensor, const struct tensor_view *view, struct arena *arena)
{
    struct tensor_view *own = arena_array(arena, struct tensor_view, 1);
    *own = *view;
    network->tensors[tensor].view = own;
}

/* What it reads and what it writes are in the same tensor. */
static bool moves_nothing(const struct network *network, const struct layer *layer)
{
    return layer->kind == LAYER_COPY && tensor_home(network, layer->inputs[0]) == tensor_home(network, layer->output);
}

static void remove_copies(struct network *network)
{
    int count = 0;
    for (int i = 0; i < network->layer_count; i++) {
        struct layer layer = network->layers[i];
        if (moves_nothing(network, &layer))
            continue;
        network->tensors[tensor_home(network, layer.output)].producer = count;
        network->layers[count++] = layer;
    }
    network->layer_count = count;
    for (int t = 0; t < network->tensor_count; t++)
        network->tensors[t].producer = network->tensors[tensor_home(network, t)].producer;
}

struct network *network_view(const struct network *network, enum view_kinds kinds, struct arena *arena)
{
    struct network *viewed = copy_of(network, arena), *whole = network->whole ? copy_of(network->whole, arena) : NULL;
    struct tensor_view view, whole_view;
    int count = 0;
    for (int i = 0; i < network->layer_count; i++) {
        int tensor = find_viewed(viewed, i, kinds, &view);
        if (tensor < 0 || (whole && find_viewed(whole, i, kinds, &whole_view) != tensor))
            continue;
        set_view(viewed, tensor, &view, arena);
        if (whole)
            set_view(whole, tensor, &whole_view, arena);
        count++;
    }
    if (count == 0)
        return NULL;
    remove_copies(viewed);
    if (whole)
        remove_copies(whole);
    viewed->whole = whole;
    viewed->copied = network;
    return viewed;
}

bool tensor_is_viewed(const struct network *network, int tensor)
{
    bool is = network->tensors[tensor].view != NULL;
    for (int t = 0; t < network->tensor_count && !is; t++)
        is = network->tensors[t].view && network->tensors[t].view->of == tensor;
    return is;
}

uint32_t view_first_byte(const struct tensor *tensor)
{
    return tensor->view ? (uint32_t)tensor->view->first * (uint32_t)tensor->bits / 8 : 0;
}

enum dory_layout view_layout(const struct tensor *tensor)
{
    return tensor->view && tensor->view->channel_step != 1 ? DORY_CHW : DORY_HWC;
}
