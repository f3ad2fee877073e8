/* Copies bytes by a map or with a stride. Shapes: any, HWC. Each core takes a part of the pixels, element by element. */
#include "elements.h"
#include "reference.h"

/* The byte that output element (y, x, channel) of the tile is a copy of; null: none. */
static const uint8_t *source(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                             uint32_t channel)
{
    const uint8_t *input = tile->input;
    if (!layer->map) {
        uint32_t row = y * layer->stride_height, column = x * layer->stride_width;
        return input + (row * tile->input_columns + column) * tile->input_channels + tile->first_channel + channel;
    }
    const int32_t *columns = layer->map + layer->output_height, *channels = columns + layer->output_width;
    int32_t row = layer->map[tile->first_row + y], column = columns[tile->first_column + x];
    int32_t last = channels[tile->first_channel + channel], row_bytes = tile->input_columns * tile->input_channels;
    int32_t above = dory_first_input_row(layer, tile->first_row) * row_bytes; /* of the tile */
    return row < 0 || column < 0 || last < 0 ? NULL : input + (row + column + last - above);
}

void dory_reference_copy(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint8_t *output = (uint8_t *)tile->output + pixel * tile->channels;
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            const uint8_t *from = source(layer, tile, pixel / tile->columns, pixel % tile->columns, channel);
            output[channel] = from ? *from : (uint8_t)layer->border_value;
        }
    }
}
