/* What the planner knows of the depth-wise kernels. */
#include "../description.h"
#include "../direct.h"
#include "../scratch.h"

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
    return layer->operation == DORY_DEPTHWISE && dory_has_bytes(layer) && dory_is_stored(layer) &&
           layer->dilation_height == 1 && layer->dilation_width == 1;
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
    const struct dory_kernel_description dory_xpulpv2_depthwise_3x3_##suffix##_description = {                              \
        .name = "dory_xpulpv2_depthwise_3x3_" #suffix,                                                                      \
        .supports = supports_##suffix,                                                                                      \
        .scratch_bytes = depthwise_3x3_scratch_bytes,                                                                       \
        .cycles = cycles_##suffix,                                                                                          \
    };

DEPTHWISE_3X3(stride_1, 1, DORY_DIRECT, 322, 40)
DEPTHWISE_3X3(stride_1_clamped, 1, DORY_DIRECT_CLAMPED, 363, 42)
DEPTHWISE_3X3(stride_1_clamped_less_one, 1, DORY_DIRECT_CLAMPED_LESS_ONE, 444, 43)
DEPTHWISE_3X3(stride_1_split, 1, DORY_DIRECT_SPLIT, 446, 43)
DEPTHWISE_3X3(stride_1_high, 1, DORY_DIRECT_HIGH, 565, 42)
DEPTHWISE_3X3(stride_1_high_away, 1, DORY_DIRECT_HIGH_AWAY, 720, 42)
DEPTHWISE_3X3(stride_2, 2, DORY_DIRECT, 393, 43)
DEPTHWISE_3X3(stride_2_clamped, 2, DORY_DIRECT_CLAMPED, 434, 45)
DEPTHWISE_3X3(stride_2_clamped_less_one, 2, DORY_DIRECT_CLAMPED_LESS_ONE, 515, 46)
DEPTHWISE_3X3(stride_2_split, 2, DORY_DIRECT_SPLIT, 515, 46)
DEPTHWISE_3X3(stride_2_high, 2, DORY_DIRECT_HIGH, 635, 45)
DEPTHWISE_3X3(stride_2_high_away, 2, DORY_DIRECT_HIGH_AWAY, 790, 45)

/* ---- depth-wise from an input in CHW ----------------------------------------------------------------------- */

/* With the border that the kernels know; see depthwise_3x3_chw.c. */
static bool depthwise_3x3_chw_supports(const struct dory_layer *layer, uint32_t stride, enum dory_direct kind)
{
    bool any = kind == DORY_DIRECT_SPLIT || kind == DORY_DIRECT_HIGH || kind == DORY_DIRECT_HIGH_AWAY;
    return depthwise_3x3_supports(layer, stride, kind) && layer->padding_left == 1 && layer->output_width >= 4 &&
           layer->input_width == stride * layer->output_width && (any || layer->border_value == 0);
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
    const struct dory_kernel_description dory_xpulpv2_depthwise_3x3_chw_##suffix##_description = {                          \
        .name = "dory_xpulpv2_depthwise_3x3_chw_" #suffix,                                                                  \
        .supports = supports_chw_##suffix,                                                                                  \
        .scratch_bytes = dory_no_scratch,                                                                                   \
        .cycles = cycles_chw_##suffix,                                                                                      \
        .reads_chw = true,                                                                                                  \
    };

DEPTHWISE_3X3_CHW(stride_1, 1, DORY_DIRECT, 345, 51)
DEPTHWISE_3X3_CHW(stride_1_clamped, 1, DORY_DIRECT_CLAMPED, 385, 53)
DEPTHWISE_3X3_CHW(stride_1_clamped_less_one, 1, DORY_DIRECT_CLAMPED_LESS_ONE, 465, 54)
DEPTHWISE_3X3_CHW(stride_1_split, 1, DORY_DIRECT_SPLIT, 485, 57)
DEPTHWISE_3X3_CHW(stride_1_high, 1, DORY_DIRECT_HIGH, 605, 56)
DEPTHWISE_3X3_CHW(stride_1_high_away, 1, DORY_DIRECT_HIGH_AWAY, 760, 56)
DEPTHWISE_3X3_CHW(stride_2, 2, DORY_DIRECT, 400, 50)
DEPTHWISE_3X3_CHW(stride_2_clamped, 2, DORY_DIRECT_CLAMPED, 441, 52)
DEPTHWISE_3X3_CHW(stride_2_clamped_less_one, 2, DORY_DIRECT_CLAMPED_LESS_ONE, 522, 53)
DEPTHWISE_3X3_CHW(stride_2_split, 2, DORY_DIRECT_SPLIT, 530, 53)
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
    case DORY_NORMALISE_SPLIT: return 230;
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

const struct dory_kernel_description dory_xpulpv2_depthwise_description = {
    .name = "dory_xpulpv2_depthwise",
    .supports = depthwise_supports,
    .scratch_bytes = depthwise_scratch_bytes,
    .cycles = depthwise_cycles,
};
