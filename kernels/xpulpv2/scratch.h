/* How the kernels divide their scratch. Pure functions, compiled into the planner, too. */
#ifndef DORY_XPULPV2_SCRATCH_H
#define DORY_XPULPV2_SCRATCH_H

#include "dory/layer.h"

/* Convolutions that gather their input: bytes of one pixel, a byte an element, all runs filled up to words. A core has four
 * such pixels. */
static inline uint32_t dory_gather_pixel_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_chunk_elements(layer, input_channels);
}

/* How many products fit the sums of 4-bit weights, which are 16 times too large until a block is finished: of 8-bit inputs
 * with 4-bit weights, 2^31 / (16 * 255 * 8). */
#define DORY_PACKED_MOST_TAPS 65536u

/* Depth-wise layers: a core transposes *units* of 4 columns x 4 channels and as many rows as a band has, and computes strips
 * of 4 output columns from the units that these read. A unit is a word for each channel and row: [4][rows]. */

#define DORY_DEPTHWISE_MOST_UNITS 8

/* Units that a strip reads; so many are kept, in a ring. */
static inline uint32_t dory_depthwise_units(const struct dory_layer *layer)
{
    return (3u * layer->stride_width + layer->kernel_width + 3) / 4;
}

/* Output rows in a band: such that it has at most 20 input rows, a compromise between memory and rows that are transposed
 * twice, on both sides of the border of two bands. */
static inline uint32_t dory_depthwise_band_rows(uint32_t kernel, uint32_t stride, uint32_t tile_rows)
{
    uint32_t more = kernel < 20 ? 20 - kernel : 0; /* rows behind the first; the usual strides do without a division */
    uint32_t rows = 1 + (stride == 1 ? more : stride == 2 ? more / 2 : more / stride);
    return dory_minimum(rows, tile_rows);
}

/* Bytes of a unit, of one core. */
static inline uint32_t dory_depthwise_unit_bytes(uint32_t kernel, uint32_t stride, uint32_t band_rows)
{
    return 16 * ((band_rows - 1) * stride + kernel);
}

/* Kernels of any size: for each of 4 channels, unit of the strip and kernel row, a word of weights for each of 4 outputs. */
static inline uint32_t dory_depthwise_spread_bytes(const struct dory_layer *layer)
{
    return 4 * dory_depthwise_units(layer) * layer->kernel_height * 16;
}

#endif
