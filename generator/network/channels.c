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

bool copy_has_border(const int32_t *positions, int count)
{
    for (int i = 0; i < count; i++)
        if (positions[i] < 0)
            return true;
    return false;
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

bool copy_takes_lines(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    if (!copy_takes_channels(network, layer) || !are_pixels(layer->map.rows, output->height, input->width * input->channels))
        return false;
    for (int i = 0; i < output->width; i++)
        if (layer->map.columns[i] >= input->width * input->channels)
            return false;
    return true;
}

int copy_source_line(const struct network *network, const struct layer *layer, enum pixel_axis axis, int line)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]];
    int32_t position = axis == AXIS_ROW ? layer->map.rows[line] : layer->map.columns[line];
    return position < 0 ? position : position / input->channels / (axis == AXIS_ROW ? input->width : 1);
}

int64_t *channels_take(const struct network *network, int index, int64_t *whole, struct arena *arena)
{
    const struct tensor *tensor = &network->tensors[index];
    if (!tensor->kept && !tensor->kept_rows && !tensor->kept_columns)
        return whole;
    const struct tensor *all = &network->whole->tensors[index];
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor)), *next = values;
    for (int y = 0; y < tensor->height; y++)
        for (int x = 0; x < tensor->width; x++) {
            size_t row = (size_t)line_in_whole(tensor, AXIS_ROW, y), column = (size_t)line_in_whole(tensor, AXIS_COLUMN, x);
            const int64_t *pixel = whole + (row * (size_t)all->width + column) * (size_t)all->channels;
            for (int c = 0; c < tensor->channels; c++)
                *next++ = pixel[channel_in_whole(tensor, c)];
        }
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
