#include "network/channels.h"

#include "network/interpret.h"

/* Positions of whole pixels, or of the border. */
static bool are_pixels(const int32_t *positions, int count, int channels)
{
    for (int i = 0; i < count; i++)
        if (positions[i] >= 0 && positions[i] % channels != 0)
            return false;
    return true;
}

bool copy_takes_channels(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    if (layer->kind != LAYER_COPY || !are_pixels(layer->map.rows, output->height, input->channels) ||
        !are_pixels(layer->map.columns, output->width, input->channels))
        return false;
    for (int c = 0; c < output->channels; c++)
        if (layer->map.channels[c] >= input->channels)
            return false;
    return true;
}

int64_t *channels_take(const struct network *network, int index, int64_t *whole, struct arena *arena)
{
    const struct tensor *tensor = &network->tensors[index];
    if (!tensor->kept)
        return whole;
    size_t all = (size_t)network->whole->tensors[index].channels, channels = (size_t)tensor->channels;
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = whole[i / channels * all + (size_t)tensor->kept[i % channels]];
    return values;
}

int64_t **channels_interpret(const struct network *network, const int64_t *const *inputs, struct arena *arena,
                             struct diagnostics *diagnostics)
{
    if (!network->whole)
        return interpret_network(network, inputs, arena, diagnostics);
    int64_t **whole = interpret_network(network->whole, inputs, arena, diagnostics);
    if (!whole)
        return NULL;
    int64_t **tensors = arena_array(arena, int64_t *, (size_t)network->tensor_count);
    for (int i = 0; i < network->tensor_count; i++)
        tensors[i] = channels_take(network, i, whole[i], arena);
    return tensors;
}
