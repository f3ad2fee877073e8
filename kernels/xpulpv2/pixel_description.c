/* What the planner knows of the kernels that make whole pixels: interpolation, largest element. */
#include "description.h"

#include "moves/interpolation.h"

static bool interpolation_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_INTERPOLATION && layer->normalisation == DORY_NORMALISE_HIGH && layer->input_bits == 8 &&
           layer->output_bits == 8;
}

/* Of a pixel that has several pairs of rows and columns: where each one's elements are, once, or again for each channel. */
static uint64_t windows_cycles(const struct dory_layer *layer, uint32_t channels)
{
    uint32_t windows = (uint32_t)layer->interpolation.row_pairs * layer->interpolation.column_pairs;
    return windows <= 9 ? channels * (windows * 49 / 2 + 24) + windows * 70 + layer->interpolation.row_pairs * 60u + 147
                        : channels * (windows * 81 + layer->interpolation.row_pairs * 27u + 7) + 186;
}

static bool has_windows(const struct dory_layer *layer)
{
    return layer->interpolation.row_pairs > 1 || layer->interpolation.column_pairs > 1;
}

/* Of a pixel: where its elements are, and its channels; fours of those whose weights are bytes and whose scale is a shift.
 */
static uint64_t pixel_cycles(const struct dory_layer *layer, uint32_t channels)
{
    bool is_shift = layer->stages->first.multiplier == 1 << 30 && layer->left_shift >= 2;
    uint32_t fours = channels / 4;
    if (!is_shift) {
        return channels * (layer->rounding == DORY_ROUND_FLOOR ? 19u : 22u) + 12;
    }
    if (channels < 4 || !dory_weights_are_bytes(layer)) {
        return channels * 17 + 11;
    }
    return fours * 48 + (channels - 4 * fours) * 17 + 62;
}

static uint64_t interpolation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    if (has_windows(layer)) {
        uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores;
        return pixels * windows_cycles(layer, tile->channels) + 475;
    }
    struct dory_parts parts = dory_parts_of(tile->rows, tile->columns, cores);
    return parts.rows * (parts.columns * pixel_cycles(layer, tile->channels) + 110) + parts.columns * 50 + 600;
}

/* Fewer cores than are planned for may divide the tile so that together they keep more columns. */
static uint32_t interpolation_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    uint32_t most = 0;
    for (uint32_t some = 1; some <= cores; some++) {
        uint32_t columns = some * dory_parts_of(tile->rows, tile->columns, some).columns;
        most = columns > most ? columns : most;
    }
    return has_windows(layer) ? 0 : most * DORY_COLUMN_BYTES + DORY_AHEAD_BYTES;
}

DORY_DESCRIBE(xpulpv2_interpolation, interpolation_supports, interpolation_scratch_bytes, interpolation_cycles)

static bool largest_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_LARGEST && layer->input_bits == 8 && layer->output_bits >= 8;
}

/* Where the largest element is depends on the data: in the middle of random ones on the average, and farther back for the
 * core that has to search longest. */
static uint64_t largest_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = layer->input_channels;
    uint64_t farther = pixels > 1 ? channels * 5 / 2 : 0;
    return (uint64_t)((pixels + cores - 1) / cores) * (channels * 123 / 10 + 50) + farther + 135;
}

DORY_DESCRIBE(xpulpv2_largest, largest_supports, NULL, largest_cycles)
