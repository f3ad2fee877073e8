/* Copies bytes by a map, with a stride or with their dimensions in another order; and those of a constant. Shapes: any, HWC.
 * Each core takes a part of the pixels, element by element. */
#include "dory/transposition.h"
#include "elements.h"
#include "reference.h"

/* The byte that output element (y, x, channel) of the tile is a copy of; null: none. */
static const uint8_t *source(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                             uint32_t channel)
{
    const uint8_t *input = tile->input;
    struct dory_border_rows border = dory_border_of(layer, tile);
    if (!layer->constants.map) {
        uint32_t row = y * layer->stride_height - border.top, column = x * layer->stride_width - border.left; /* may wrap */
        if (row >= tile->input_rows || column >= tile->input_columns) {
            return NULL;
        }
        return input + (row * tile->input_columns + column) * tile->input_channels + tile->first_channel + channel;
    }
    const int32_t *columns = layer->constants.map + layer->output_height, *channels = columns + layer->output_width;
    int32_t row = layer->constants.map[tile->first_row + y], column = columns[tile->first_column + x];
    int32_t last = channels[tile->first_channel + channel], row_bytes = tile->input_columns * tile->input_channels;
    int32_t above = (dory_first_input_row(layer, tile->first_row) + (int32_t)border.top) * row_bytes; /* of the tile */
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

/* How far apart in the input tile the elements are that follow each other along a dimension of the output. */
static uint32_t step_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned dimension)
{
    return dory_axis(layer, 2) == dimension   ? 1
           : dory_axis(layer, 1) == dimension ? tile->input_channels
                                              : (uint32_t)tile->input_columns * tile->input_channels;
}

void dory_reference_transposition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    uint32_t row_step = step_of(layer, tile, 0), column_step = step_of(layer, tile, 1), step = step_of(layer, tile, 2);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input =
            (const uint8_t *)tile->input + pixel / tile->columns * row_step + pixel % tile->columns * column_step;
        uint8_t *output = (uint8_t *)tile->output + pixel * tile->channels;
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            output[channel] = input[channel * step];
        }
    }
}

void dory_reference_constant(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    (void)layer;
    struct dory_share share = dory_share_of(tile->channels, core, cores);
    for (uint32_t channel = share.first; channel < share.end; channel++) {
        ((uint8_t *)tile->output)[channel] = ((const uint8_t *)tile->weights)[channel];
    }
}
