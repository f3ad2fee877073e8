/* Computes convolutions, depth-wise and fully connected layers of bytes, whose weights lie in the model's order.
 *
 * Each core takes every so many pixels. Inner loop: one product. Operands may be in place, with the input's border to be
 * known here. */
#include "toy.h"

#include "dory/normalise.h"

struct view {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t inputs; /* channels that one output reads */
};

/* Weights of an output channel of the tile, and the constants of its block. */
static const int8_t *weights_of(const struct view *view, uint32_t channel)
{
    const struct dory_layer *layer = view->layer;
    uint32_t block = channel >> layer->block_shift, lane = channel & (dory_block_channels(layer) - 1);
    const uint8_t *weights = (const uint8_t *)view->tile->weights + block * layer->block_bytes;
    return (const int8_t *)weights + lane * view->inputs * layer->kernel_height * layer->kernel_width;
}

static const uint8_t *constants_of(const struct view *view, uint32_t channel)
{
    const uint8_t *weights = view->tile->weights;
    return weights + (channel >> view->layer->block_shift) * view->layer->block_bytes + view->layer->chunk_bytes;
}

static int32_t input_at(const struct view *view, uint32_t row, uint32_t column, uint32_t channel)
{
    const struct dory_tile *tile = view->tile;
    if (row >= tile->input_rows || column >= tile->input_columns) {
        return view->layer->border_value;
    }
    const uint8_t *pixel = (const uint8_t *)tile->input + (row * tile->input_columns + column) * tile->input_channels;
    return view->layer->input_is_signed ? (int8_t)pixel[channel] : pixel[channel];
}

/* Of the window whose corner is at (row, column) of the tile's input, with its border. */
static int32_t sum_of(const struct view *view, uint32_t row, uint32_t column, uint32_t first, const int8_t *weights)
{
    const struct dory_layer *layer = view->layer;
    struct dory_border_rows border = dory_border_of(layer, view->tile);
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    int32_t sum = 0;
    for (uint32_t tap = 0; tap < taps; tap++) {
        uint32_t y = row + tap / layer->kernel_width * layer->dilation_height - border.top; /* may wrap */
        uint32_t x = column + tap % layer->kernel_width * layer->dilation_width - border.left;
        for (uint32_t i = 0; i < view->inputs; i++) {
            sum += input_at(view, y, x, first + i) * weights[i * taps + tap];
        }
    }
    return sum;
}

static void compute_pixel(const struct view *view, uint32_t pixel)
{
    const struct dory_layer *layer = view->layer;
    const struct dory_tile *tile = view->tile;
    uint32_t row = pixel / tile->columns * layer->stride_height, column = pixel % tile->columns * layer->stride_width;
    for (uint32_t channel = 0; channel < tile->channels; channel++) {
        uint32_t lane = channel & (dory_block_channels(layer) - 1);
        uint32_t first = layer->operation == DORY_DEPTHWISE ? channel : 0;
        int32_t sum = sum_of(view, row, column, first, weights_of(view, channel));
        int32_t value = dory_normalise(layer, constants_of(view, channel), lane, sum);
        ((uint8_t *)tile->output)[pixel * tile->channels + channel] = (uint8_t)value;
    }
}

static void compute(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct view view = {layer, tile, layer->operation == DORY_DEPTHWISE ? 1 : layer->input_channels};
    for (uint32_t pixel = core; pixel < (uint32_t)tile->rows * tile->columns; pixel += cores) {
        compute_pixel(&view, pixel);
    }
}

void toy_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    compute(layer, tile, core, cores);
}

void toy_depthwise(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    compute(layer, tile, core, cores);
}

void toy_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    compute(layer, tile, core, cores);
}
