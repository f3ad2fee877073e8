/* What the planner knows of the kernels for GAP8. Cycles are closed forms of the tile, whose constants were fitted to gvsoc
 * (GAP8_V3, layer in L2, instruction cache warm); tests/kernels prints prediction and measurement side by side. */
#include "dory/contract.h"

#include <stddef.h>

#include "../xpulpv2/direct.h"
#include "../xpulpv2/scratch.h"

static uint32_t no_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile, (void)cores;
    return 0;
}

static bool has_bytes(const struct dory_layer *layer) { return layer->input_bits == 8 && layer->weight_bits == 8; }

/* An output whose elements the kernels store: all but those of 16 bits, and for some kernels bytes or 32-bit words. They
 * take every normalisation. */
static bool is_stored_packed(const struct dory_layer *layer) { return layer->output_bits != 16; }
static bool is_stored(const struct dory_layer *layer) { return is_stored_packed(layer) && layer->output_bits >= 8; }

/* ---- convolutions ------------------------------------------------------------------------------------------ */

/* How a product finishes; the clamped kinds only for unsigned inputs. */
static enum dory_direct product_kind(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_direct_of(layer);
    return kind == DORY_DIRECT || !layer->input_is_signed ? kind : DORY_NOT_DIRECT;
}

/* Cycles for what is behind the sums of 16 elements, for every way that is not direct. */
static uint64_t long_finish_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return 610;
    case DORY_NORMALISE_32: return 590;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 680 : 590;
    case DORY_NORMALISE_HIGH: return 870;
    case DORY_NORMALISE_DIVIDE: return 1450;
    default: return 850;
    }
}

/* The same, as more than what the shortest way takes. */
static uint64_t finish_cycles(const struct dory_layer *layer)
{
    switch (product_kind(layer)) {
    case DORY_DIRECT: return 0;
    case DORY_DIRECT_CLAMPED: return 35;
    case DORY_DIRECT_CLAMPED_LESS_ONE: return 71;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 135;
    case DORY_DIRECT_HIGH: return 131;
    case DORY_DIRECT_HIGH_AWAY: return 165;
    default: return long_finish_cycles(layer);
    }
}

/* The last core has the blocks of fewer than 4 pixels, which take the long way; so do those of fewer than 4 channels. */
static uint64_t edge_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint64_t blocks,
                            uint64_t started)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixels = tile->rows * tile->columns % 4;
    uint64_t cycles = 0;
    bool direct = product_kind(layer) != DORY_NOT_DIRECT;
    uint64_t quarter = long_finish_cycles(layer) / 5;
    if (direct && pixels != 0) {
        cycles += (blocks < quads ? blocks : quads) * (80 + quarter * pixels);
    }
    if (direct && tile->channels % 4 != 0) {
        cycles += started * (100 + quarter * (tile->channels % 4));
    }
    return cycles;
}

/* Tenths of a cycle for a step of 4 bytes; weights below 8 bits are unpacked in it. */
static uint32_t step_tenths(const struct dory_layer *layer, unsigned cores)
{
    uint32_t instructions = layer->weight_bits == 8 ? 24 : layer->weight_bits == 4 ? 26 : 28;
    return 10 * instructions + (cores > 1 ? 7 : 2);
}

/* Cycles more for a block whose weights or output have fewer than 8 bits. */
static uint32_t packed_cycles(const struct dory_layer *layer)
{
    return (layer->weight_bits == 4 ? 16u : 0u) + (layer->output_bits < 8 ? 128u : 0u);
}

/* The product of runs of `run_bytes` bytes; `source_cycles` is what it takes to lay four pixels ready. */
static uint64_t product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                               uint32_t run_bytes, uint32_t runs, uint64_t source_cycles)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixel_quads = dory_divide_up(tile->rows * tile->columns, 4);
    uint64_t steps = (uint64_t)runs * dory_divide_up(run_bytes, 4);
    uint64_t block = steps * step_tenths(layer, cores) / 10 + 87 + (runs > 1 ? 4 + 9 * runs : 0);
    block += finish_cycles(layer) + packed_cycles(layer);
    if (tile->input_channels < layer->input_channels) { /* 130 for a first chunk, 230 for a middle one, 550 for the last */
        block += 300;
    }
    uint64_t blocks = ((uint64_t)quads * pixel_quads + cores - 1) / cores;
    uint64_t started = (blocks + quads - 1) / quads;
    uint64_t row = source_cycles + (product_kind(layer) != DORY_NOT_DIRECT && tile->channels % 4 == 0 ? 30 : 110);
    return blocks * block + started * row + edge_cycles(layer, tile, blocks, started) + 480;
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && is_stored(layer) && layer->dilation_width == 1 &&
           layer->input_channels % 4 == 0;
}

static uint64_t convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return product_cycles(layer, tile, cores, layer->kernel_width * tile->input_channels, layer->kernel_height, 40);
}

static const struct dory_kernel_description convolution = {
    .name = "dory_xpulpv2_convolution",
    .supports = convolution_supports,
    .scratch_bytes = no_scratch,
    .cycles = convolution_cycles,
    .can_tile_input_channels = true,
    .writes_chw = true,
};

static bool gather_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && is_stored(layer);
}

static uint32_t gather_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * 4 * dory_gather_pixel_bytes(layer, tile->input_channels);
}

/* Four pixels: words, of which 3 in 4 are misaligned unless all are words, then bytes; in groups of runs. */
static uint64_t gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t groups = layer->dilation_width == 1 ? 1 : layer->kernel_height, runs = dory_runs(layer) / groups;
    uint32_t elements = dory_run_elements(layer, tile->input_channels), words = elements / 4, rest = elements % 4;
    uint64_t word_cycles = words * (runs * (tile->input_channels % 4 == 0 ? 8 : 11) + 7);
    uint64_t source = 60 + groups * (word_cycles + rest * (runs * 8 + 7) + 25);
    return product_cycles(layer, tile, cores, dory_gather_pixel_bytes(layer, tile->input_channels), 1, source);
}

static const struct dory_kernel_description gather = {
    .name = "dory_xpulpv2_convolution_gather",
    .supports = gather_supports,
    .scratch_bytes = gather_scratch_bytes,
    .cycles = gather_cycles,
    .can_tile_input_channels = true,
    .writes_chw = true,
};

static bool linear_supports(const struct dory_layer *layer)
{
    bool one_run =
        layer->kernel_height == 1 && layer->kernel_width == 1 && layer->output_height == 1 && layer->output_width == 1;
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && is_stored(layer) && layer->dilation_width == 1 &&
           (layer->input_channels % 4 == 0 || one_run);
}

static uint64_t linear_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t words = dory_divide_up(layer->kernel_width * tile->input_channels, 4);
    uint64_t blocks = ((uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4) + cores - 1) / cores;
    uint64_t block = layer->kernel_height * (words * 95 / 10 + 10) + (long_finish_cycles(layer) * 4 / 10 + 95);
    return blocks * block + 480;
}

static const struct dory_kernel_description linear = {
    .name = "dory_xpulpv2_linear",
    .supports = linear_supports,
    .scratch_bytes = no_scratch,
    .cycles = linear_cycles,
    .can_tile_input_channels = true,
};

/* ---- convolutions with weights, input or output below 8 bits ------------------------------------------------- */

static bool is_packed(const struct dory_layer *layer, uint32_t weight_bits)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width, most = DORY_PACKED_MOST_TAPS;
    return layer->operation == DORY_CONVOLUTION && layer->weight_bits == weight_bits && layer->input_bits <= 8 &&
           (weight_bits < 8 || layer->input_bits < 8 || layer->output_bits < 8) && is_stored_packed(layer) && taps <= most &&
           taps * layer->input_channels <= most;
}

static bool packed_convolution_supports(const struct dory_layer *layer, uint32_t weight_bits)
{
    return is_packed(layer, weight_bits) && layer->input_bits == 8 && layer->dilation_width == 1 &&
           layer->input_channels % 4 == 0;
}

/* Tenths of a cycle to unpack an element of the input to a byte. */
static uint32_t unpack_tenths(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    bool seamless = tile->input_channels * layer->input_bits % 8 == 0 ||
                    dory_runs(layer) * tile->input_channels == dory_chunk_elements(layer, tile->input_channels);
    return !seamless ? 320 : layer->input_bits == 4 ? 18 : 20;
}

static uint64_t packed_gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    if (layer->input_bits == 8) {
        return gather_cycles(layer, tile, cores);
    }
    uint64_t elements = (uint64_t)dory_runs(layer) * dory_run_elements(layer, tile->input_channels);
    uint64_t pixel = elements * unpack_tenths(layer, tile) / 10 + dory_runs(layer) * 80 + 20;
    return product_cycles(layer, tile, cores, dory_gather_pixel_bytes(layer, tile->input_channels), 1, 4 * pixel);
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
    uint64_t words = dory_divide_up(layer->kernel_width * tile->input_channels, 4),
             tenths = layer->weight_bits == 4 ? 115 : 135;
    uint64_t blocks = ((uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4) + cores - 1) / cores;
    uint64_t block = layer->kernel_height * (words * tenths / 10 + 10) + (long_finish_cycles(layer) * 4 / 10 + 125);
    return blocks * block + 480;
}

#define PACKED(bits)                                                                                                        \
    static bool packed_convolution_##bits##_supports(const struct dory_layer *layer)                                        \
    {                                                                                                                       \
        return packed_convolution_supports(layer, bits);                                                                    \
    }                                                                                                                       \
    static const struct dory_kernel_description packed_convolution_##bits = {                                               \
        .name = "dory_xpulpv2_packed_convolution_" #bits,                                                                   \
        .supports = packed_convolution_##bits##_supports,                                                                   \
        .scratch_bytes = no_scratch,                                                                                        \
        .cycles = convolution_cycles,                                                                                       \
        .can_tile_input_channels = true,                                                                                    \
        .writes_chw = true,                                                                                                 \
    };                                                                                                                      \
    static bool packed_gather_##bits##_supports(const struct dory_layer *layer) { return is_packed(layer, bits); }          \
    static const struct dory_kernel_description packed_gather_##bits = {                                                    \
        .name = "dory_xpulpv2_packed_gather_" #bits,                                                                        \
        .supports = packed_gather_##bits##_supports,                                                                        \
        .scratch_bytes = gather_scratch_bytes,                                                                              \
        .cycles = packed_gather_cycles,                                                                                     \
        .can_tile_input_channels = true,                                                                                    \
        .writes_chw = true,                                                                                                 \
    };

#define PACKED_LINEAR(bits)                                                                                                 \
    static bool packed_linear_##bits##_supports(const struct dory_layer *layer)                                             \
    {                                                                                                                       \
        return packed_linear_supports(layer, bits);                                                                         \
    }                                                                                                                       \
    static const struct dory_kernel_description packed_linear_##bits = {                                                    \
        .name = "dory_xpulpv2_packed_linear_" #bits,                                                                        \
        .supports = packed_linear_##bits##_supports,                                                                        \
        .scratch_bytes = no_scratch,                                                                                        \
        .cycles = packed_linear_cycles,                                                                                     \
        .can_tile_input_channels = true,                                                                                    \
    };

PACKED(8)
PACKED(4)
PACKED(2)
PACKED_LINEAR(4)
PACKED_LINEAR(2)

/* ---- depth-wise -------------------------------------------------------------------------------------------- */

/* Cycles of a core that computes `rows` rows of one quad of channels: transposes, then strips of 4 columns in four lanes. */
static uint64_t band_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t rows,
                            uint64_t lane_cycles)
{
    uint32_t input_rows = dory_input_extent(rows, layer->kernel_height, layer->stride_height, 1);
    uint32_t input_columns = dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, 1);
    bool words = tile->channels % 4 == 0, half = words && input_columns % 4 != 0 && input_columns % 4 <= 2;
    uint32_t units = dory_divide_up(input_columns, 4) - half;
    uint64_t transpose = units * (input_rows * (words ? 19u : 85u) + 35) + half * (input_rows * 128 / 10 + 35);
    return transpose + dory_divide_up(tile->columns, 4) * (4 * lane_cycles + 48) + 80;
}

/* A lane of a strip takes row_tenths / 10 cycles a row and `lane_cycles` beside them; a quad takes quad_cycles. */
static uint64_t depthwise_total(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                                uint64_t row_tenths, uint64_t lane_cycles, uint64_t quad_cycles)
{
    uint32_t items = dory_divide_up(dory_divide_up(tile->channels, 4) * tile->rows, cores);
    uint32_t band = dory_depthwise_band_rows(layer->kernel_height, layer->stride_height, tile->rows);
    uint64_t total = 350;
    for (uint32_t row = 0; row < items;) { /* bands of the slowest core, as if it started with a quad */
        uint32_t in_quad = row % tile->rows, rows = dory_minimum(dory_minimum(band, items - row), tile->rows - in_quad);
        total += band_cycles(layer, tile, rows, rows * row_tenths / 10 + lane_cycles) + (in_quad == 0 ? quad_cycles : 0);
        row += rows;
    }
    return total;
}

static bool is_plain_depthwise(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE && has_bytes(layer) && is_stored(layer) && layer->dilation_height == 1 &&
           layer->dilation_width == 1;
}

static uint32_t ring_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t kernel = layer->kernel_height, stride = layer->stride_height;
    return dory_depthwise_units(layer) *
           dory_depthwise_unit_bytes(kernel, stride, dory_depthwise_band_rows(kernel, stride, tile->rows));
}

/* What the kernels of each kind do: some clip to all values of a byte only; the high one that rounds can do without. */
static bool depthwise_3x3_finishes(const struct dory_layer *layer, enum dory_direct kind)
{
    enum dory_direct own = dory_direct_of(layer);
    bool all_values = layer->minimum == 0 && layer->maximum == 255;
    switch (kind) {
    case DORY_DIRECT:
    case DORY_DIRECT_HIGH: return own == kind && all_values;
    case DORY_DIRECT_HIGH_AWAY: return own == kind || (own == DORY_DIRECT_HIGH && !all_values);
    default: return own == kind;
    }
}

static bool depthwise_3x3_supports(const struct dory_layer *layer, uint32_t stride, enum dory_direct kind)
{
    return is_plain_depthwise(layer) && !layer->input_is_signed && depthwise_3x3_finishes(layer, kind) &&
           layer->kernel_height == 3 && layer->kernel_width == 3 && layer->stride_height == stride &&
           layer->stride_width == stride;
}

static uint32_t depthwise_3x3_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    return cores * ring_bytes(layer, tile);
}

/* `row_tenths`: tenths of a cycle a row of a lane, a little more than its instructions. */
#define DEPTHWISE_3X3(suffix, stride, kind, row_tenths, lane_cycles)                                                        \
    static bool supports_##suffix(const struct dory_layer *layer) { return depthwise_3x3_supports(layer, stride, kind); }   \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        return depthwise_total(layer, tile, cores, row_tenths, lane_cycles, 0);                                             \
    }                                                                                                                       \
    static const struct dory_kernel_description depthwise_3x3_##suffix = {                                                  \
        .name = "dory_xpulpv2_depthwise_3x3_" #suffix,                                                                      \
        .supports = supports_##suffix,                                                                                      \
        .scratch_bytes = depthwise_3x3_scratch_bytes,                                                                       \
        .cycles = cycles_##suffix,                                                                                          \
    };

DEPTHWISE_3X3(stride_1, 1, DORY_DIRECT, 322, 40)
DEPTHWISE_3X3(stride_1_clamped, 1, DORY_DIRECT_CLAMPED, 363, 42)
DEPTHWISE_3X3(stride_1_clamped_less_one, 1, DORY_DIRECT_CLAMPED_LESS_ONE, 444, 43)
DEPTHWISE_3X3(stride_1_high, 1, DORY_DIRECT_HIGH, 565, 42)
DEPTHWISE_3X3(stride_1_high_away, 1, DORY_DIRECT_HIGH_AWAY, 720, 42)
DEPTHWISE_3X3(stride_2, 2, DORY_DIRECT, 393, 43)
DEPTHWISE_3X3(stride_2_clamped, 2, DORY_DIRECT_CLAMPED, 434, 45)
DEPTHWISE_3X3(stride_2_clamped_less_one, 2, DORY_DIRECT_CLAMPED_LESS_ONE, 515, 46)
DEPTHWISE_3X3(stride_2_high, 2, DORY_DIRECT_HIGH, 635, 45)
DEPTHWISE_3X3(stride_2_high_away, 2, DORY_DIRECT_HIGH_AWAY, 790, 45)

/* ---- depth-wise from an input in CHW ----------------------------------------------------------------------- */

/* With the border that the kernels know; see depthwise_3x3_chw.c. */
static bool depthwise_3x3_chw_supports(const struct dory_layer *layer, uint32_t stride, enum dory_direct kind)
{
    bool high = kind == DORY_DIRECT_HIGH || kind == DORY_DIRECT_HIGH_AWAY;
    return depthwise_3x3_supports(layer, stride, kind) && layer->padding_left == 1 && layer->output_width >= 4 &&
           layer->input_width == stride * layer->output_width && (high || layer->border_value == 0);
}

/* The slowest core has an equal part of the rows of all strips of 4 columns x 4 channels, strip by strip through all
 * channels, and may start in a strip's middle. */
static uint64_t strips_cycles(const struct dory_tile_shape *tile, unsigned cores, uint64_t row_tenths, uint64_t lane_cycles)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), strips = quads * dory_divide_up(tile->columns, 4);
    uint32_t rows = dory_divide_up(strips * tile->rows, cores);
    bool uneven = rows % tile->rows != 0;
    uint32_t started = dory_divide_up(rows, tile->rows) + uneven, starts = dory_divide_up(started, quads) + uneven;
    return rows * 4 * row_tenths / 10 + started * 4 * lane_cycles + starts * 90 + 250;
}

#define DEPTHWISE_3X3_CHW(suffix, stride, kind, row_tenths, lane_cycles)                                                    \
    static bool supports_chw_##suffix(const struct dory_layer *layer)                                                       \
    {                                                                                                                       \
        return depthwise_3x3_chw_supports(layer, stride, kind);                                                             \
    }                                                                                                                       \
    static uint64_t cycles_chw_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores) \
    {                                                                                                                       \
        (void)layer;                                                                                                        \
        return strips_cycles(tile, cores, row_tenths, lane_cycles);                                                         \
    }                                                                                                                       \
    static const struct dory_kernel_description depthwise_3x3_chw_##suffix = {                                              \
        .name = "dory_xpulpv2_depthwise_3x3_chw_" #suffix,                                                                  \
        .supports = supports_chw_##suffix,                                                                                  \
        .scratch_bytes = no_scratch,                                                                                        \
        .cycles = cycles_chw_##suffix,                                                                                      \
        .reads_chw = true,                                                                                                  \
    };

DEPTHWISE_3X3_CHW(stride_1, 1, DORY_DIRECT, 345, 51)
DEPTHWISE_3X3_CHW(stride_1_clamped, 1, DORY_DIRECT_CLAMPED, 385, 53)
DEPTHWISE_3X3_CHW(stride_1_clamped_less_one, 1, DORY_DIRECT_CLAMPED_LESS_ONE, 465, 54)
DEPTHWISE_3X3_CHW(stride_1_high, 1, DORY_DIRECT_HIGH, 605, 56)
DEPTHWISE_3X3_CHW(stride_1_high_away, 1, DORY_DIRECT_HIGH_AWAY, 760, 56)
DEPTHWISE_3X3_CHW(stride_2, 2, DORY_DIRECT, 400, 50)
DEPTHWISE_3X3_CHW(stride_2_clamped, 2, DORY_DIRECT_CLAMPED, 441, 52)
DEPTHWISE_3X3_CHW(stride_2_clamped_less_one, 2, DORY_DIRECT_CLAMPED_LESS_ONE, 522, 53)
DEPTHWISE_3X3_CHW(stride_2_high, 2, DORY_DIRECT_HIGH, 655, 52)
DEPTHWISE_3X3_CHW(stride_2_high_away, 2, DORY_DIRECT_HIGH_AWAY, 805, 52)

static bool depthwise_supports(const struct dory_layer *layer)
{
    return is_plain_depthwise(layer) && dory_depthwise_units(layer) <= DORY_DEPTHWISE_MOST_UNITS &&
           layer->stride_width <= dory_depthwise_units(layer);
}

static uint32_t depthwise_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * (ring_bytes(layer, tile) + dory_depthwise_spread_bytes(layer));
}

/* Cycles more for a row of a lane that takes the long way. */
static uint32_t long_row_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 260 : 200;
    case DORY_NORMALISE_64: return 300;
    case DORY_NORMALISE_HIGH: return 290;
    case DORY_NORMALISE_DIVIDE: return 430;
    default: return 200;
    }
}

static uint64_t depthwise_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t units = dory_depthwise_units(layer), rows = layer->kernel_height;
    uint64_t row = units * (9 * rows + 14) + 66;
    if (dory_direct_of(layer) != DORY_DIRECT) {
        row += long_row_cycles(layer);
    }
    return depthwise_total(layer, tile, cores, 10 * row, 20, 16 * rows * (14 * units + 10));
}

static const struct dory_kernel_description depthwise = {
    .name = "dory_xpulpv2_depthwise",
    .supports = depthwise_supports,
    .scratch_bytes = depthwise_scratch_bytes,
    .cycles = depthwise_cycles,
};

/* ---- additions and pools ----------------------------------------------------------------------------------- */

static bool addition_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_ADDITION && layer->normalisation != DORY_NORMALISE_THRESHOLDS &&
           layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8;
}

/* Whether four elements are done at a time with a scale in the high half of a product; see stage.h. */
static bool is_high_byte(const struct dory_layer *layer)
{
    return layer->rounding != DORY_ROUND_EVEN && layer->minimum >= 0 && layer->maximum <= 255;
}

/* Tenths of a cycle for an element. Divisions or second stages take the longer ways; see addition.c. */
static uint32_t addition_tenths(const struct dory_layer *layer)
{
    bool is_unrounded = layer->rounding == DORY_ROUND_FLOOR;
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        return !is_high_byte(layer) ? 450 : is_unrounded ? 148 : 169;
    }
    bool folds = layer->stages->input[0].divisor == 1 && layer->stages->input[1].divisor == 1 &&
                 !layer->stages->has_second && !layer->input_is_signed && !layer->second_input_is_signed;
    return !folds ? 320 : layer->minimum >= 0 ? 73 : 110;
}

static uint64_t elements_of_slowest_core(const struct dory_tile_shape *tile, unsigned cores)
{
    return ((uint64_t)tile->rows * tile->columns * tile->channels + cores - 1) / cores;
}

static uint64_t addition_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return elements_of_slowest_core(tile, cores) * addition_tenths(layer) / 10 + 1000;
}

static const struct dory_kernel_description addition = {
    .name = "dory_xpulpv2_addition",
    .supports = addition_supports,
    .scratch_bytes = no_scratch,
    .cycles = addition_cycles,
};

static bool multiplication_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_MULTIPLICATION && layer->normalisation == DORY_NORMALISE_HIGH &&
           layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8;
}

static uint64_t multiplication_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    bool fast = is_high_byte(layer) && !layer->input_is_signed && !layer->second_input_is_signed;
    uint32_t tenths = !fast ? 350 : layer->rounding == DORY_ROUND_FLOOR ? 142 : 162;
    uint64_t pixels = layer->second_is_pixel ? ((uint64_t)tile->rows * tile->columns + cores - 1) / cores : 0;
    uint64_t rest = pixels * (tile->channels % 4) * 30;
    return elements_of_slowest_core(tile, cores) * tenths / 10 + pixels * 60 + rest + 600;
}

static const struct dory_kernel_description multiplication = {
    .name = "dory_xpulpv2_multiplication",
    .supports = multiplication_supports,
    .scratch_bytes = no_scratch,
    .cycles = multiplication_cycles,
};

static bool table_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_TABLE && layer->input_bits == 8 && layer->output_bits == 8;
}

static uint64_t table_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return elements_of_slowest_core(tile, cores) * 33 / 10 + 350;
}

static const struct dory_kernel_description table = {
    .name = "dory_xpulpv2_table",
    .supports = table_supports,
    .scratch_bytes = no_scratch,
    .cycles = table_cycles,
};

static bool pool_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) &&
           layer->normalisation != DORY_NORMALISE_THRESHOLDS && layer->input_bits == 8 && layer->output_bits == 8;
}

/* Quads, and the channels that are left over one by one. */
static uint64_t pool_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = tile->channels / 4, rest = tile->channels % 4;
    bool high = layer->normalisation == DORY_NORMALISE_HIGH;
    bool divides = !high && (layer->stages->first.divisor & (layer->stages->first.divisor - 1)) != 0;
    uint64_t maximum = layer->kernel_height * (layer->kernel_width * 3u + 10u) + 36;
    uint64_t average = layer->kernel_height * (layer->kernel_width * 6u + 12u) + (divides ? 405 : high ? 178 : 165);
    uint64_t quad = layer->operation == DORY_MAXIMUM_POOL ? maximum : average;
    uint64_t single = layer->kernel_height * (layer->kernel_width * 14u + 8u) + (divides ? 110 : high ? 65 : 50);
    uint64_t items = ((uint64_t)tile->rows * tile->columns * (quads + rest) + cores - 1) / cores;
    return items * (quads * quad + rest * single) / (quads + rest) + 900;
}

static const struct dory_kernel_description pool = {
    .name = "dory_xpulpv2_pool",
    .supports = pool_supports,
    .scratch_bytes = no_scratch,
    .cycles = pool_cycles,
};

/* ---- copies ------------------------------------------------------------------------------------------------ */

static bool copy_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_COPY && layer->input_bits == 8 && layer->output_bits == 8;
}

/* A pixel's channels are a run of words, or are picked one by one. */
static uint64_t copy_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores;
    uint64_t run = tile->channels / 4 * 4 + tile->channels % 4 * 5 + 30, picked = tile->channels * 16u + 40;
    bool is_run = !layer->map || layer->input_channels == layer->output_channels;
    return pixels * (is_run ? run : picked) + 300;
}

static const struct dory_kernel_description copy = {
    .name = "dory_xpulpv2_copy",
    .supports = copy_supports,
    .scratch_bytes = no_scratch,
    .cycles = copy_cycles,
};

const struct dory_kernel_description *const dory_xpulpv2_kernels[] = {
    &convolution,
    &linear,
    &gather,
    &packed_convolution_8,
    &packed_convolution_4,
    &packed_convolution_2,
    &packed_linear_4,
    &packed_linear_2,
    &packed_gather_8,
    &packed_gather_4,
    &packed_gather_2,
    &depthwise_3x3_stride_1,
    &depthwise_3x3_stride_1_clamped,
    &depthwise_3x3_stride_1_clamped_less_one,
    &depthwise_3x3_stride_1_high,
    &depthwise_3x3_stride_1_high_away,
    &depthwise_3x3_stride_2,
    &depthwise_3x3_stride_2_clamped,
    &depthwise_3x3_stride_2_clamped_less_one,
    &depthwise_3x3_stride_2_high,
    &depthwise_3x3_stride_2_high_away,
    &depthwise_3x3_chw_stride_1,
    &depthwise_3x3_chw_stride_1_clamped,
    &depthwise_3x3_chw_stride_1_clamped_less_one,
    &depthwise_3x3_chw_stride_1_high,
    &depthwise_3x3_chw_stride_1_high_away,
    &depthwise_3x3_chw_stride_2,
    &depthwise_3x3_chw_stride_2_clamped,
    &depthwise_3x3_chw_stride_2_clamped_less_one,
    &depthwise_3x3_chw_stride_2_high,
    &depthwise_3x3_chw_stride_2_high_away,
    &depthwise,
    &addition,
    &multiplication,
    &table,
    &pool,
    &copy,
    NULL,
};
