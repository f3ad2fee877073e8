/* What the planner knows of the kernels that make whole pixels: interpolation, softmax, largest element. */
#include "description.h"

static bool interpolation_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_INTERPOLATION && layer->normalisation == DORY_NORMALISE_HIGH && layer->input_bits == 8 &&
           layer->output_bits == 8;
}

/* Products of a row's and a column's weight are bytes: none is more than the sum of a pixel's, which is that of all pixels.
 */
static bool are_bytes(const struct dory_layer *layer)
{
    const int32_t *row = layer->taps, *column = row + 4 * layer->row_pairs * layer->output_height;
    return ((int64_t)row[2] + row[3]) * ((int64_t)column[2] + column[3]) <= UINT8_MAX;
}

static uint64_t interpolation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores;
    uint32_t windows = (uint32_t)layer->row_pairs * layer->column_pairs;
    if (windows > 1) {
        return windows <= 9 ? pixels * (tile->channels * (windows * 28 + 35) + windows * 150) + 500
                            : pixels * tile->channels * (windows * 110 + 30) + 500;
    }
    bool is_shift = layer->stages->first.multiplier == 1 << 30 && layer->left_shift >= 2;
    uint32_t element = is_shift ? 22 : 32, fours = is_shift && are_bytes(layer) ? tile->channels / 4 : 0;
    return pixels * (fours * 53 + (tile->channels - 4 * fours) * element + (fours ? 180 : 170)) + 500;
}

const struct dory_kernel_description dory_xpulpv2_interpolation_description = {
    .name = "dory_xpulpv2_interpolation",
    .supports = interpolation_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = interpolation_cycles,
    .code_percent = 41,
};

static bool is_softmax(const struct dory_layer *layer, bool by_thresholds)
{
    return layer->operation == DORY_SOFTMAX && (layer->normalisation == DORY_NORMALISE_THRESHOLDS) == by_thresholds;
}

static bool softmax_supports(const struct dory_layer *layer) { return is_softmax(layer, false); }
static bool softmax_exact_supports(const struct dory_layer *layer) { return is_softmax(layer, true); }

/* A core does a part of a pixel, or several: each has a largest element and a sum. */
static uint64_t softened_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                                uint64_t of_pixel, uint64_t of_element)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * tile->channels, elements = (items + cores - 1) / cores;
    uint64_t pixels = (elements + tile->channels - 1) / tile->channels;
    pixels += elements % tile->channels != 0 && elements > tile->channels;
    return pixels * (of_pixel + 27 * (uint64_t)layer->input_channels) + elements * of_element + 190;
}

static uint64_t softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return softened_cycles(layer, tile, cores, 265, 50);
}

static uint64_t softmax_exact_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return softened_cycles(layer, tile, cores, 130, 250);
}

const struct dory_kernel_description dory_xpulpv2_softmax_description = {
    .name = "dory_xpulpv2_softmax",
    .supports = softmax_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = softmax_cycles,
    .code_percent = 20,
};

const struct dory_kernel_description dory_xpulpv2_softmax_exact_description = {
    .name = "dory_xpulpv2_softmax_exact",
    .supports = softmax_exact_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = softmax_exact_cycles,
    .code_percent = 14,
};

static bool largest_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_LARGEST && layer->input_bits == 8 && layer->output_bits >= 8;
}

static uint64_t largest_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores;
    return pixels * (13 * (uint64_t)layer->input_channels + 42) + 90;
}

const struct dory_kernel_description dory_xpulpv2_largest_description = {
    .name = "dory_xpulpv2_largest",
    .supports = largest_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = largest_cycles,
    .code_percent = 6,
};
