/* How the kernels divide their scratch. Pure functions, compiled into the planner, too.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_SCRATCH_H
#define DORY_XPULPV2_SCRATCH_H

#include "dory/layer.h"
#include "quads.h"

/* Convolutions that gather their input: bytes of one pixel, a byte an element, all runs filled up to words. A core has four
 * such pixels. */
static inline uint32_t dory_gather_pixel_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_round_up((uint32_t)layer->kernel_height * layer->kernel_width * input_channels, 4);
}

/* Convolutions along a row whose taps are filled up (convolution_row.c): pixels of a tile's row that dilation lets follow
 * each other, as fours; and bytes of a core's copy of what at most eight fours read. */
#define DORY_ROW_BATCH 8u
static inline uint32_t dory_row_fours(const struct dory_layer *layer, uint32_t columns)
{
    uint32_t pixels = layer->dilation_width == 1 ? columns : dory_divide_up(columns, layer->dilation_width);
    return dory_divide_up(pixels, 4);
}
static inline uint32_t dory_row_core_bytes(const struct dory_layer *layer, uint32_t columns)
{
    uint32_t fours = dory_minimum(DORY_ROW_BATCH, dory_row_fours(layer, columns));
    return (4 * fours + layer->kernel_width - 1) * dory_round_up(layer->input_channels, 4);
}

/* First layers whose pixels read 28 bytes (narrow/): pixels that a core copies at once, an eighth of a small tile's, and
 * bytes of that copy, with some between cores, lest all of them want the same bank. */
static inline uint32_t dory_narrow_batch(uint32_t pixels)
{
    return dory_minimum(64, 4 * dory_divide_up(dory_divide_up(pixels, 4), 8));
}
static inline uint32_t dory_narrow_core_bytes(uint32_t pixels) { return dory_narrow_batch(pixels) * 28 + 8; }

/* Convolutions in groups: output rows for which a core copies a window at once, a compromise between memory and rows that
 * are copied twice; four, so that they have four pixels however narrow they are. And the bytes of that copy. */
static inline uint32_t dory_grouped_band_rows(uint32_t tile_rows) { return dory_minimum(4, tile_rows); }
static inline uint32_t dory_grouped_core_bytes(const struct dory_layer *layer, uint32_t tile_rows, uint32_t input_columns)
{
    uint32_t rows = (dory_grouped_band_rows(tile_rows) - 1) * layer->stride_height +
                    (layer->kernel_height - 1u) * layer->dilation_height + 1;
    return dory_round_up(rows * input_columns * dory_window_channels(layer) + 3, 4); /* the last run is read in words */
}

/* Convolutions of elements of 16 bits, whose low and high bytes lie apart where inputs have them.
 * Fours of pixels that are finished at once, where they have room beside each other: it is one where pixels are large. */
static inline uint32_t dory_any_batch(uint32_t pixel_bytes) { return pixel_bytes > 64 ? 1 : pixel_bytes > 32 ? 2 : 4; }
static inline uint32_t dory_any_laid_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    uint32_t pixel_bytes = dory_gather_pixel_bytes(layer, input_channels);
    return (layer->input_bits == 16 ? 8u : 4u) * pixel_bytes * dory_any_batch(pixel_bytes);
}

/* Behind them the sums of so many pixels and four channels, for which a core's stack has no room. */
#define DORY_SUMS_PIXELS 16 /* a multiple of 4 */
static inline uint32_t dory_any_core_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_any_laid_bytes(layer, input_channels) + 16 * DORY_SUMS_PIXELS;
}

/* How many products fit the sums of 4-bit weights, which are 16 times too large until a block is finished: of 8-bit inputs
 * with 4-bit weights, 2^31 / (16 * 255 * 8). */
#define DORY_PACKED_MAXIMUM_TAPS 65536u

/* Depth-wise layers: a core transposes *units* of 4 columns x 4 channels and as many rows as a band has, and computes strips
 * of 4 output columns from the units that these read. A unit is a word for each channel and row: [4][rows]. */

#define DORY_DEPTHWISE_MAXIMUM_UNITS 16

/* Whether a row ends in a strip of two columns only, where strips lie in CHW: of a width like 5, 6 or 14. */
static inline int dory_ends_in_half(uint32_t columns) { return columns % 4 == 1 || columns % 4 == 2; }

/* Kernels of any size, see series.h: pairs of near and far words that a four takes. */
#define DORY_DEPTHWISE_MAXIMUM_STEPS 8

static inline uint32_t dory_depthwise_steps(uint32_t kernel, uint32_t stride) { return (kernel + stride + 3) / 4; }

/* Columns from unit to unit: far words lie 2 * stride columns behind near ones. */
static inline uint32_t dory_depthwise_spacing(uint32_t stride) { return stride % 2 != 0 ? 2 : 4; }

/* Units from a strip to the next one, and units that a strip reads; so many are kept, in a ring. */
static inline uint32_t dory_depthwise_advance(uint32_t stride) { return stride % 2 != 0 ? 2 * stride : stride; }

static inline uint32_t dory_depthwise_units(uint32_t kernel, uint32_t stride)
{
    uint32_t columns = 4 * dory_depthwise_steps(kernel, stride) - 4 + 2 * stride; /* of the last unit */
    return (stride % 2 != 0 ? columns / 2 : columns / 4) + 1;
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

/* Kernels of any size: weights of a quad of channels, each word as it is and moved on. */
static inline uint32_t dory_depthwise_pairs_bytes(uint32_t rows, uint32_t columns, uint32_t stride)
{
    return 4 * 8 * rows * dory_depthwise_steps(columns, stride);
}

/* Behind them, words for which a core's stack has no room: so many sums. */
#define DORY_DEPTHWISE_MAXIMUM_SUMS 32
static inline uint32_t dory_depthwise_quad_bytes(uint32_t rows, uint32_t columns, uint32_t stride)
{
    return dory_depthwise_pairs_bytes(rows, columns, stride) + 4 * DORY_DEPTHWISE_MAXIMUM_SUMS;
}

/* Kernels of any elements, see any/depthwise_scalar.c: pairs of taps, or 0 where all is done product by product. Of a core:
 * offsets of taps, and weights of a quad of channels as halves. */
#define DORY_SCALAR_MAXIMUM_PAIRS 32

static inline uint32_t dory_scalar_pairs(const struct dory_layer *layer, uint32_t channels)
{
    uint32_t pairs = (layer->kernel_height * layer->kernel_width + 1u) / 2;
    return layer->input_bits == 16 && channels % 2 == 0 && pairs <= DORY_SCALAR_MAXIMUM_PAIRS ? pairs : 0;
}
static inline uint32_t dory_scalar_core_bytes(uint32_t pairs) { return 24 * pairs; }

/* Kernels along one dimension, see depthwise/line.h. Steps of fours that slide, or 0: where a word's pixels beside those
 * that are read may not exist, none. */
static inline uint32_t dory_line_sliding(const struct dory_layer *layer, uint32_t kernel, uint32_t stride)
{
    return stride == 1 && kernel < 20 && !layer->input_is_signed && (kernel % 4 != 0 || kernel > 11) ? kernel / 4 + 1 : 0;
}

/* Bytes of a core: the weights of a quad for fours that do not slide, and as they are where a column has them apart. */
static inline uint32_t dory_line_core_bytes(uint32_t kernel, uint32_t stride)
{
    return 32 * dory_depthwise_steps(kernel, stride) + 4 * dory_round_up(kernel, 4);
}

#endif
