/* The largest set of channels that can be removed together. It starts with all channels of all tensors between layers. Then
 * each layer takes back those that it cannot do without, until no layer takes any. What is left over in the end can go. */
#include "shrink/dead.h"

#include <string.h>

#include "network/channels.h"

struct search {
    const struct network *network;
    bool **dead;
    bool takes_back; /* a layer has, since this was cleared */
};

static void keep(struct search *search, int tensor, int channel)
{
    search->takes_back = search->takes_back || search->dead[tensor][channel];
    search->dead[tensor][channel] = false;
}

static void keep_all(struct search *search, int tensor)
{
    for (int c = 0; c < search->network->tensors[tensor].channels; c++)
        keep(search, tensor, c);
}

/* ---- convolutions ---- */

/* Is every element that a window finds in the channel the same, in the border, too? */
static bool is_constant_for(const struct layer *layer, const struct tensor *input, int channel)
{
    struct sum_range range = input->channel_ranges ? input->channel_ranges[channel] : (struct sum_range){0, 1};
    return range.minimum == range.maximum && (!layer_is_padded(layer) || range.minimum == layer->padding_value);
}

/* Has a channel of the output that stays a weight for this one? */
static bool is_read(const struct search *search, const struct layer *layer, int channel)
{
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    size_t inputs = (size_t)search->network->tensors[layer->inputs[0]].channels;
    for (int out = 0; out < search->network->tensors[layer->output].channels; out++)
        for (size_t i = 0; i < kernel && !search->dead[layer->output][out]; i++)
            if (layer->weights[((size_t)out * inputs + (size_t)channel) * kernel + i])
                return true;
    return false;
}

static void keep_for_convolution(struct search *search, const struct layer *layer)
{
    const struct tensor *input = &search->network->tensors[layer->inputs[0]];
    for (int c = 0; c < input->channels; c++)
        if (search->dead[layer->inputs[0]][c] && !is_constant_for(layer, input, c) && is_read(search, layer, c))
            keep(search, layer->inputs[0], c);
}

static bool all_dead(const bool *dead, int count)
{
    int n = 0;
    while (n < count && dead[n])
        n++;
    return n == count;
}

/* A group goes as a whole, its inputs and outputs, or stays as a whole. */
static void keep_for_groups(struct search *search, const struct layer *layer)
{
    int tensors[2] = {layer->inputs[0], layer->output};
    for (int group = 0; group < layer->groups; group++) {
        bool goes = true;
        for (int i = 0; i < 2; i++) {
            int each = search->network->tensors[tensors[i]].channels / layer->groups;
            goes = goes && all_dead(search->dead[tensors[i]] + group * each, each);
        }
        for (int i = 0; i < 2 && !goes; i++) {
            int each = search->network->tensors[tensors[i]].channels / layer->groups;
            for (int c = 0; c < each; c++)
                keep(search, tensors[i], group * each + c);
        }
    }
}

/* ---- other layers ---- */

/* Its inputs and outputs stay whole. */
static void keep_for_any(struct search *search, const struct layer *layer)
{
    keep_all(search, layer->output);
    for (int i = 0; i < layer_input_count(layer); i++)
        keep_all(search, layer->inputs[i]);
}

/* Each channel of the output from the same of the inputs: all of them go, or none. An input of one channel for all has none
 * that could go. */
static void keep_for_elements(struct search *search, const struct layer *layer)
{
    const struct tensor *tensors = search->network->tensors;
    if (layer_has_two_inputs(layer) && tensors[layer->inputs[1]].channels != tensors[layer->output].channels) {
        keep_for_any(search, layer);
        return;
    }
    for (int c = 0; c < search->network->tensors[layer->output].channels; c++) {
        bool goes = search->dead[layer->output][c];
        for (int i = 0; i < layer_input_count(layer); i++)
            goes = goes && search->dead[layer->inputs[i]][c];
        if (goes)
            continue;
        keep(search, layer->output, c);
        for (int i = 0; i < layer_input_count(layer); i++)
            keep(search, layer->inputs[i], c);
    }
}

static void keep_for_concatenation(struct search *search, const struct layer *layer)
{
    int first = 0;
    for (int i = 0; i < 2; i++) {
        int channels = search->network->tensors[layer->inputs[i]].channels;
        for (int c = 0; c < channels; c++)
            if (!search->dead[layer->inputs[i]][c] || !search->dead[layer->output][first + c]) {
                keep(search, layer->inputs[i], c);
                keep(search, layer->output, first + c);
            }
        first += channels;
    }
}

/* What is copied must be there. What is not copied need not. */
static void keep_for_copy(struct search *search, const struct layer *layer)
{
    if (!copy_takes_channels(search->network, layer)) {
        keep_for_any(search, layer);
        return;
    }
    for (int c = 0; c < search->network->tensors[layer->output].channels; c++)
        if (!search->dead[layer->output][c] && layer->map.channels[c] >= 0)
            keep(search, layer->inputs[0], layer->map.channels[c]);
}

static void keep_for_layer(struct search *search, const struct layer *layer)
{
    switch (layer->kind) {
    case LAYER_CONVOLUTION: (layer->groups == 1 ? keep_for_convolution : keep_for_groups)(search, layer); break;
    case LAYER_CONCATENATION: keep_for_concatenation(search, layer); break;
    case LAYER_COPY: keep_for_copy(search, layer); break;
    case LAYER_SOFTMAX:
    case LAYER_NORM:
    case LAYER_LARGEST:
    case LAYER_LSTM:
    case LAYER_MATRIX_PRODUCT: keep_for_any(search, layer); break;
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL:
    case LAYER_ADDITION:
    case LAYER_MULTIPLICATION:
    case LAYER_SQUARED_DIFFERENCE:
    case LAYER_TABLE:
    case LAYER_INTERPOLATION: keep_for_elements(search, layer); break;
    }
}

/* ---- whole words ---- */

/* Pixels stay whole words: kernels read four bytes at a time, and are no faster with fewer. */
static void keep_words(struct search *search, int index)
{
    const struct tensor *tensor = &search->network->tensors[index];
    int unit = tensor->bits < 32 ? 32 / tensor->bits : 1, kept = 0;
    for (int c = 0; c < tensor->channels; c++)
        kept += !search->dead[index][c];
    for (int c = 0; c < tensor->channels && (kept == 0 || kept % unit != 0); c++)
        if (search->dead[index][c]) {
            keep(search, index, c);
            kept++;
        }
}

/* ---- all of it ---- */

static bool **start(const struct network *network, struct arena *arena)
{
    bool **dead = arena_array(arena, bool *, (size_t)network->tensor_count);
    for (int i = 0; i < network->tensor_count; i++) {
        dead[i] = arena_array(arena, bool, (size_t)network->tensors[i].channels);
        memset(dead[i], !tensor_is_port(network, i), (size_t)network->tensors[i].channels);
    }
    return dead;
}

static bool has_any(const struct network *network, bool *const *dead)
{
    for (int i = 0; i < network->tensor_count; i++)
        if (memchr(dead[i], true, (size_t)network->tensors[i].channels))
            return true;
    return false;
}

bool **dead_find(const struct network *network, struct arena *arena)
{
    struct search search = {.network = network, .dead = start(network, arena), .takes_back = true};
    while (search.takes_back) {
        search.takes_back = false;
        for (int i = network->layer_count - 1; i >= 0; i--)
            keep_for_layer(&search, &network->layers[i]);
        for (int i = 0; i < network->tensor_count && !search.takes_back; i++)
            keep_words(&search, i);
    }
    return has_any(network, search.dead) ? search.dead : NULL;
}
