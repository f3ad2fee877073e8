/* What the planner knows of convolutions with weights, input or output below 8 bits. */
#include "../convolution_description.h"
#include "../scratch.h"
#include "quads.h"

static bool is_packed(const struct dory_layer *layer, uint32_t weight_bits)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width, most = DORY_PACKED_MAXIMUM_TAPS;
    return layer->operation == DORY_CONVOLUTION && layer->weight_bits == weight_bits && layer->input_bits <= 8 &&
           (weight_bits < 8 || layer->input_bits < 8 || layer->output_bits < 8) && dory_is_stored_packed(layer) &&
           taps <= most && taps * layer->input_channels <= most;
}

static bool packed_convolution_supports(const struct dory_layer *layer, uint32_t weight_bits)
{
    return is_packed(layer, weight_bits) && layer->input_bits == 8 && layer->dilation_width == 1 &&
           layer->input_channels % 4 == 0;
}

/* To unpack the elements of a run of the input to bytes: word by word, what is left of words one by one, and what is no four
 * of elements, or does not lie in whole words, by any bits. */
static uint64_t unpack_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t elements = dory_run_elements(layer, tile->input_channels), each = 32 / layer->input_bits;
    bool seamless = tile->input_channels * layer->input_bits % 8 == 0 || elements == tile->input_channels;
    if (!seamless) {
        return elements * 28 + layer->kernel_width * 12u + 28;
    }
    uint32_t fours = elements / 4 * 4, words = fours / each;
    return words * (layer->input_bits == 4 ? 15u : 32u) + (fours - words * each) * 12 + (elements - fours) * 21 + 43;
}

/* More than convolutions of bytes take to start. */
static uint32_t packed_start_cycles(const struct dory_layer *layer)
{
    return dory_packed_direct_of(layer) == DORY_NOT_DIRECT ? 60 : 0;
}

/* The same where a pixel is copied. */
static uint32_t packed_gather_start_cycles(const struct dory_layer *layer) { return packed_start_cycles(layer) + 75; }

static uint64_t packed_convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_convolution_cycles(layer, tile, cores) + packed_start_cycles(layer);
}

static uint64_t packed_gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    if (layer->input_bits == 8) {
        return dory_gather_cycles(layer, tile, cores) + packed_gather_start_cycles(layer);
    }
    uint64_t pixel = dory_runs(layer) * unpack_cycles(layer, tile) + 75;
    uint64_t source = dory_minimum(4, (uint32_t)tile->rows * tile->columns) * pixel - 45;
    return dory_product_cycles(layer, tile, cores, dory_gather_pixel_bytes(layer, tile->input_channels), 1, source) +
           packed_gather_start_cycles(layer);
}

static bool packed_linear_supports(const struct dory_layer *layer, uint32_t weight_bits)
{
    bool one_run =
        layer->kernel_height == 1 && layer->kernel_width == 1 && layer->output_height == 1 && layer->output_width == 1;
    return is_packed(layer, weight_bits) && layer->input_bits == 8 && layer->dilation_width == 1 &&
           (layer->input_channels % 4 == 0 || one_run);
}

static uint64_t packed_linear_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t words = dory_divide_up((uint32_t)layer->kernel_width * tile->input_channels, 4),
             tenths = layer->weight_bits == 4 ? 115 : 135;
    uint64_t blocks = ((uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4) + cores - 1) / cores;
    uint64_t block = layer->kernel_height * (words * tenths / 10 + 10) + dory_long_quad_cycles(layer) + 15;
    return blocks * block - dory_linear_missing_cycles(tile, blocks) + dory_linear_division_cycles(layer, tile, blocks) +
           430;
}

#define PACKED(bits)                                                                                                        \
    static bool packed_convolution_##bits##_supports(const struct dory_layer *layer)                                        \
    {                                                                                                                       \
        return packed_convolution_supports(layer, bits);                                                                    \
    }                                                                                                                       \
    static bool packed_gather_##bits##_supports(const struct dory_layer *layer) { return is_packed(layer, bits); }          \
    DORY_DESCRIBE(xpulpv2_packed_convolution_##bits, packed_convolution_##bits##_supports, NULL, packed_convolution_cycles, \
                  .can_tile_input_channels = true, .writes_chw = true)                                                      \
    DORY_DESCRIBE(xpulpv2_packed_gather_##bits, packed_gather_##bits##_supports, dory_gather_scratch_bytes,                 \
                  packed_gather_cycles, .can_tile_input_channels = true, .writes_chw = true)

#define PACKED_LINEAR(bits)                                                                                                 \
    static bool packed_linear_##bits##_supports(const struct dory_layer *layer)                                             \
    {                                                                                                                       \
        return packed_linear_supports(layer, bits);                                                                         \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_packed_linear_##bits, packed_linear_##bits##_supports, NULL, packed_linear_cycles,                \
                  .can_tile_input_channels = true)

PACKED(8)
PACKED(4)
PACKED(2)
PACKED_LINEAR(4)
PACKED_LINEAR(2)
