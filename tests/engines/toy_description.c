/* What the planner knows of the toy engine: its kernels, and its format of weights. */
#include <string.h>

#include "toy.h"

/* ---- weights ---- */

static bool is_linear(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && layer->output_height == 1 && layer->output_width == 1 &&
           layer->kernel_height == 1 && layer->kernel_width == 1;
}

/* 16 channels of a depth-wise layer, 2 of a convolution, 1 of a fully connected layer. */
static uint8_t block_shift(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE ? 4 : is_linear(layer) ? 0 : 1;
}

static uint32_t channel_weights(const struct dory_layer *layer, uint32_t input_channels)
{
    uint32_t inputs = layer->operation == DORY_DEPTHWISE ? 1 : input_channels;
    return inputs * layer->kernel_height * layer->kernel_width;
}

static uint32_t chunk_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_round_up(dory_block_channels(layer) * channel_weights(layer, input_channels), 4);
}

static uint32_t constants_bytes(const struct dory_layer *layer)
{
    return dory_block_channels(layer) * dory_channel_constants_bytes(layer);
}

static bool write_block(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t first, uint8_t *to)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    uint32_t each = channel_weights(layer, layer->input_channels);
    uint8_t *constants = to + chunk_bytes(layer, layer->input_channels);
    bool fit = true;
    for (uint32_t lane = 0; lane < dory_block_channels(layer); lane++) {
        uint32_t output = first + lane;
        for (uint32_t i = 0; i < each; i++) {
            to[lane * each + i] = (uint8_t)dory_model_weight(layer, model, output, i / taps, i % taps);
        }
        bool is_there = output < layer->output_channels;
        fit = dory_write_constants(layer, is_there ? &model->constants[output] : NULL,
                                   constants + lane * dory_channel_constants_bytes(layer)) &&
              fit;
    }
    return fit;
}

static bool write_weights(const struct dory_layer *layer, const struct dory_model_weights *model, uint8_t *to,
                          uint32_t bytes)
{
    bool fit = bytes == dory_blocks(layer, layer->output_channels) * layer->block_bytes;
    memset(to, 0, bytes);
    for (uint32_t first = 0; first < layer->output_channels && fit; first += dory_block_channels(layer)) {
        fit = write_block(layer, model, first, to);
        to += layer->block_bytes;
    }
    return fit;
}

static const struct dory_weights_format format = {
    .name = "the model's order",
    .block_shift = block_shift,
    .chunk_bytes = chunk_bytes,
    .constants_bytes = constants_bytes,
    .write = write_weights,
};

/* ---- kernels ---- */

static bool is_mine(const struct dory_layer *layer, enum dory_operation operation)
{
    return layer->operation == operation && layer->input_bits == 8 && layer->output_bits == 8 && layer->weight_bits == 8 &&
           layer->normalisation == DORY_NORMALISE_HIGH && layer->rounding == DORY_ROUND_AWAY;
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return is_mine(layer, DORY_CONVOLUTION) && !is_linear(layer);
}
static bool depthwise_supports(const struct dory_layer *layer) { return is_mine(layer, DORY_DEPTHWISE); }
static bool linear_supports(const struct dory_layer *layer) { return is_mine(layer, DORY_CONVOLUTION) && is_linear(layer); }

static uint64_t cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores);
    return 100 + pixels * tile->channels * (20 + 4 * (uint64_t)channel_weights(layer, layer->input_channels));
}

/* All three take whatever a target leaves where it lies. */
#define IN_PLACE .in_place = DORY_ALL_IN_PLACE, .knows_border = true, .in_row_order = true

static const struct dory_kernel_description convolution =
    DORY_KERNEL(toy_convolution, convolution_supports, NULL, cycles, IN_PLACE);
static const struct dory_kernel_description depthwise =
    DORY_KERNEL(toy_depthwise, depthwise_supports, NULL, cycles, IN_PLACE);
static const struct dory_kernel_description linear = DORY_KERNEL(toy_linear, linear_supports, NULL, cycles, IN_PLACE);

static const struct dory_kernel_description *const kernels[] = {&convolution, &depthwise, &linear, NULL};

const struct dory_engine toy_engine = {.name = "toy", .weights = &format, .kernels = kernels};
