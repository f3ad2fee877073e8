/* What the planner knows of the depth-wise kernels. */
#include "depthwise_description.h"

/* Channels of the quads that take longest, and cycles to transpose a unit of theirs, and one of its rows: byte by byte where
 * pixels are no whole words. */
static uint32_t lanes_of(const struct dory_tile_shape *tile) { return dory_minimum(tile->channels, 4); }

static uint64_t unit_cycles(const struct dory_tile_shape *tile, uint32_t rows)
{
    return tile->channels % 4 == 0 ? 19 * rows + 35 : (15 + 22 * lanes_of(tile)) * rows + 82;
}

/* Cycles of a core that computes `rows` rows of one quad of channels; `own` are what its kernel knows of them. */
typedef uint64_t band_function(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t rows,
                               const uint64_t own[2]);

/* Rows of all quads, one quad after the other, in bands of at most so many. */
struct bands {
    const struct dory_layer *layer;
    const struct dory_tile_shape *tile;
    band_function *band_cycles;
    const uint64_t *own;
    uint64_t quad_cycles;  /* a quad takes of each core that has some of its rows */
    uint64_t whole_cycles; /* a band takes that has the most rows */
    uint32_t most_rows;
};

/* So many rows of one quad. */
static uint64_t quad_rows_cycles(const struct bands *bands, uint32_t rows)
{
    uint32_t whole = rows / bands->most_rows, rest = rows % bands->most_rows;
    return whole * bands->whole_cycles + bands->quad_cycles +
           (rest != 0 ? bands->band_cycles(bands->layer, bands->tile, rest, bands->own) : 0);
}

/* What is left of the first quad, quads that are all there, and what there is of the last one. */
static uint64_t rows_cycles(const struct bands *bands, uint32_t first, uint32_t end)
{
    uint32_t in_quad = bands->tile->rows, left = (in_quad - first % in_quad) % in_quad;
    uint32_t rows = dory_minimum(left, end - first), quads = (end - first - rows) / in_quad;
    uint32_t last = end - first - rows - quads * in_quad;
    return (rows != 0 ? quad_rows_cycles(bands, rows) : 0) + (quads != 0 ? quads * quad_rows_cycles(bands, in_quad) : 0) +
           (last != 0 ? quad_rows_cycles(bands, last) : 0);
}

/* Quads of four channels, and behind them rows of one that has fewer. */
struct quads {
    struct bands whole, part;
    uint32_t whole_rows;
};

static uint64_t quads_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct quads *quads = context;
    uint32_t middle = quads->whole_rows < first ? first : dory_minimum(quads->whole_rows, end);
    return (first < middle ? rows_cycles(&quads->whole, first, middle) : 0) +
           (middle < end ? rows_cycles(&quads->part, middle, end) : 0);
}

/* Of the busiest core, as dory_depthwise_share divides the rows. */
static uint64_t busiest_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                               band_function *band_cycles, const uint64_t own[2], uint64_t quad_cycles)
{
    uint32_t most_rows = dory_depthwise_band_rows(layer->kernel_height, layer->stride_height, tile->rows),
             rest = tile->channels % 4;
    struct dory_tile_shape few = *tile;
    struct quads quads = {.whole = {.layer = layer,
                                    .tile = tile,
                                    .band_cycles = band_cycles,
                                    .own = own,
                                    .quad_cycles = quad_cycles,
                                    .whole_cycles = band_cycles(layer, tile, most_rows, own),
                                    .most_rows = most_rows},
                          .whole_rows = (uint32_t)(tile->channels / 4 * tile->rows)};
    quads.part = quads.whole;
    if (rest != 0) {
        few.channels = (uint16_t)rest;
        quads.part.tile = &few;
        quads.part.whole_cycles = band_cycles(layer, &few, most_rows, own);
    }
    return dory_busiest_cycles(dory_divide_up(tile->channels, 4) * tile->rows, cores, quads_cycles, &quads);
}

/* Transposes, then strips of 4 columns in the quad's lanes: a lane takes own[0] / 10 cycles a row, own[1] beside them. */
static uint64_t band_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t rows,
                            const uint64_t own[2])
{
    uint32_t input_rows = dory_input_extent(rows, layer->kernel_height, layer->stride_height, 1);
    uint32_t input_columns = dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, 1);
    bool words = tile->channels % 4 == 0, half = words && input_columns % 4 != 0 && input_columns % 4 <= 2;
    uint32_t units = dory_divide_up(input_columns, 4) - half;
    uint64_t transpose = units * unit_cycles(tile, input_rows) + half * (input_rows * 128 / 10 + 35);
    return transpose + dory_divide_up(tile->columns, 4) * (lanes_of(tile) * (rows * own[0] / 10 + own[1]) + 48) + 80;
}

/* Not in line: it would be in each kernel's, of which there are many. */
static __attribute__((noinline)) uint64_t depthwise_total(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                                          unsigned cores, uint64_t row_tenths, uint64_t lane_cycles)
{
    const uint64_t own[2] = {row_tenths, lane_cycles};
    uint64_t total = 350 + busiest_cycles(layer, tile, cores, band_cycles, own, 0);
    uint32_t conflicts = tile->channels % 32 == 0  ? 1
                         : tile->channels % 4 == 0 ? 5
                                                   : 0; /* of banks, %: reads of transposes of words */
    return total + (cores > 1 ? total * conflicts / 100 : 0);
}

static uint32_t ring_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t units)
{
    uint32_t kernel = layer->kernel_height, stride = layer->stride_height;
    return units * dory_depthwise_unit_bytes(kernel, stride, dory_depthwise_band_rows(kernel, stride, tile->rows));
}

/* What the kernels of each kind do: one clips to all values of a byte only; the high one that rounds can do without. */
static bool depthwise_3x3_finishes(const struct dory_layer *layer, enum dory_direct kind)
{
    enum dory_direct own = dory_direct_of(layer);
    switch (kind) {
    case DORY_DIRECT: return own == kind && layer->minimum == 0 && layer->maximum == 255;
    case DORY_DIRECT_HIGH_AWAY: return own == kind || own == DORY_DIRECT_HIGH;
    default: return own == kind;
    }
}

bool dory_depthwise_3x3_supports(const struct dory_layer *layer, uint32_t stride, enum dory_direct kind)
{
    return dory_is_plain_depthwise(layer) && !layer->input_is_signed && depthwise_3x3_finishes(layer, kind) &&
           layer->kernel_height == 3 && layer->kernel_width == 3 && layer->stride_height == stride &&
           layer->stride_width == stride;
}

static uint32_t depthwise_3x3_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    return cores * ring_bytes(layer, tile, layer->stride_width + 1u);
}

/* `row_tenths`: tenths of a cycle a row of a lane, a little more than its instructions. */
#define DEPTHWISE_3X3(suffix, stride, kind, row_tenths, lane_cycles)                                                        \
    static bool supports_##suffix(const struct dory_layer *layer)                                                           \
    {                                                                                                                       \
        return dory_depthwise_3x3_supports(layer, stride, kind);                                                            \
    }                                                                                                                       \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        return depthwise_total(layer, tile, cores, row_tenths, lane_cycles);                                                \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_depthwise_3x3_##suffix, supports_##suffix, depthwise_3x3_scratch_bytes, cycles_##suffix)

DEPTHWISE_3X3(stride_1, 1, DORY_DIRECT, 322, 40)
DEPTHWISE_3X3(stride_1_clamped, 1, DORY_DIRECT_CLAMPED, 363, 42)
DEPTHWISE_3X3(stride_1_split, 1, DORY_DIRECT_SPLIT, 446, 43)
DEPTHWISE_3X3(stride_1_high_away, 1, DORY_DIRECT_HIGH_AWAY, 720, 42)
DEPTHWISE_3X3(stride_2, 2, DORY_DIRECT, 393, 43)
DEPTHWISE_3X3(stride_2_clamped, 2, DORY_DIRECT_CLAMPED, 434, 45)
DEPTHWISE_3X3(stride_2_split, 2, DORY_DIRECT_SPLIT, 515, 46)
DEPTHWISE_3X3(stride_2_high_away, 2, DORY_DIRECT_HIGH_AWAY, 790, 45)

/* ---- depth-wise of any size, see series.h ------------------------------------------------------------------- */

bool dory_has_depthwise_any(const struct dory_layer *layer)
{
    uint32_t steps = dory_depthwise_steps(layer->kernel_width, layer->stride_width);
    uint32_t units = dory_depthwise_units(layer->kernel_width, layer->stride_width);
    return dory_is_plain_depthwise(layer) && steps <= DORY_DEPTHWISE_MAXIMUM_STEPS &&
           units <= DORY_DEPTHWISE_MAXIMUM_UNITS && !dory_is_line(layer);
}

static uint32_t any_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t units = dory_depthwise_units(layer->kernel_width, layer->stride_width);
    return cores * (ring_bytes(layer, tile, units) +
                    dory_depthwise_quad_bytes(layer->kernel_height, layer->kernel_width, layer->stride_width));
}

/* A dimension along which fours lie: the kernel's taps, the stride, units and their columns. */
struct axis {
    uint32_t kernel, stride, steps, units, advance, spacing;
};

static struct axis axis_of(uint32_t kernel, uint32_t stride)
{
    return (struct axis){.kernel = kernel,
                         .stride = stride,
                         .steps = dory_depthwise_steps(kernel, stride),
                         .units = dory_depthwise_units(kernel, stride),
                         .advance = dory_depthwise_advance(stride),
                         .spacing = dory_depthwise_spacing(stride)};
}

/* How fours are computed that lie along `axis`, see series.h. */
static bool rolls(const struct dory_layer *layer, const struct axis *axis)
{
    return layer->stride_height == 1 && layer->kernel_height % 2 != 0 && (axis->steps <= 2 || layer->input_is_signed);
}

static bool addresses_last(const struct dory_layer *layer, const struct axis *axis)
{
    return !layer->input_is_signed && (axis->steps == 2 || (axis->steps == 1 && rolls(layer, axis)));
}

/* Cycles of a lane that computes so many fours in pairs, which end in own[0] cycles; sums in memory are of some fours, whose
 * call takes own[1]. */
static uint64_t lane_cycles(const struct dory_layer *layer, const struct axis *axis, uint32_t fours, const uint64_t own[2])
{
    uint64_t finish_cycles = own[0];
    uint32_t outer = axis->steps, inner = layer->kernel_height;
    bool roll = rolls(layer, axis), last = addresses_last(layer, axis);
    uint64_t rows = outer * (roll ? 12 : 14) * inner, single_rows = outer * 8 * inner;
    uint64_t pair = rows + 2 * finish_cycles +
                    (!last  ? 24 + outer * (roll ? 9 : 7)
                     : roll ? 17 + outer * 3
                            : 21 + outer * 4);
    uint64_t single = single_rows + finish_cycles + (last ? 10 + outer : 25 + outer * 7);
    return fours / 2 * pair + fours % 2 * single + (last ? 50 : 35) +
           dory_divide_up(fours, DORY_DEPTHWISE_LONG_FOURS) * own[1];
}

/* All units of a band. Two that overlap are made at once of pixels that are whole words. */
static uint64_t units_cycles(const struct dory_tile_shape *tile, const struct axis *axis, uint32_t units, uint32_t rows)
{
    if (tile->channels % 4 != 0) {
        return units * (unit_cycles(tile, rows) - 65);
    }
    if (axis->spacing != 2) {
        return units * unit_cycles(tile, rows);
    }
    return units / 2 * (32 * rows + 80) + units % 2 * (13 * rows + 35);
}

/* The same: units, of which strips share some, and then four lanes; `own` as above. */
static uint64_t any_band_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t rows,
                                const uint64_t own[2])
{
    struct axis axis = axis_of(layer->kernel_width, layer->stride_width);
    uint32_t strips = dory_divide_up(tile->columns, 4);
    uint32_t input_rows = dory_input_extent(rows, layer->kernel_height, layer->stride_height, 1);
    uint32_t input_columns = dory_input_extent(tile->columns, axis.kernel, axis.stride, 1);
    uint32_t kept = axis.units > axis.advance ? axis.units - axis.advance : 0;
    uint32_t units = dory_minimum(kept + strips * (axis.units - kept), dory_divide_up(input_columns, axis.spacing));
    uint32_t narrow = (uint32_t)dory_ends_in_half(tile->columns); /* a strip of half as many fours */
    uint64_t whole = lane_cycles(layer, &axis, rows, own), half = lane_cycles(layer, &axis, (rows + 1) / 2, own);
    return units_cycles(tile, &axis, units, input_rows) + lanes_of(tile) * ((strips - narrow) * whole + narrow * half) +
           strips * (addresses_last(layer, &axis) ? 265 : 215) + 80;
}

/* Beside bands, a core that has some of a quad's rows pairs its weights, in steps of words. */
static uint64_t any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                           const uint64_t own[2])
{
    uint64_t quad = dory_depthwise_steps(layer->kernel_width, layer->stride_width) * (24 * layer->kernel_height + 75u);
    uint64_t cycles = 580 + busiest_cycles(layer, tile, cores, any_band_cycles, own, quad);
    cycles += dory_division_start_cycles(layer);
    return cores > 1 ? cycles + cycles / 32 : cycles; /* banks are in use by others */
}

/* Sums in memory: a call for some fours of a lane takes a little more than along a line. */
static uint64_t depthwise_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    const uint64_t own[2] = {dory_depthwise_long_cycles(layer) + 4, dory_depthwise_call_cycles(layer) + 28};
    return any_cycles(layer, tile, cores, own);
}

/* Fours of a direct kind. */
static uint64_t any_direct_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                                  uint64_t finish_cycles)
{
    const uint64_t own[2] = {finish_cycles, 0};
    return any_cycles(layer, tile, cores, own);
}

/* Those of 3x3 are as fast but for lines. A program has all kernels that a layer might take, and what they take of L2 is
 * missing for tensors: so a layer that can have one of those is offered no other. */
static bool has_3x3(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_depthwise_kind(layer);
    bool is_there =
        kind == DORY_DIRECT || kind == DORY_DIRECT_CLAMPED || kind == DORY_DIRECT_SPLIT || kind == DORY_DIRECT_HIGH_AWAY;
    bool is_area = layer->output_height > 1 && layer->output_width > 1;
    uint32_t stride = layer->stride_width;
    return is_there && is_area && (stride == 1 || stride == 2) && dory_depthwise_3x3_supports(layer, stride, kind);
}

#define DEPTHWISE(suffix, takes, function, finish_cycles)                                                                   \
    static bool supports_any_##suffix(const struct dory_layer *layer)                                                       \
    {                                                                                                                       \
        return dory_has_depthwise_any(layer) && (takes) && !has_3x3(layer);                                                 \
    }                                                                                                                       \
    static uint64_t cycles_any_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores) \
    {                                                                                                                       \
        return function(layer, tile, cores, finish_cycles);                                                                 \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_depthwise_##suffix, supports_any_##suffix, any_scratch_bytes, cycles_any_##suffix)
#define DIRECT_DEPTHWISE(suffix, kind, finish_cycles)                                                                       \
    DEPTHWISE(suffix, dory_depthwise_kind(layer) == (kind), any_direct_cycles, finish_cycles)

DIRECT_DEPTHWISE(direct, DORY_DIRECT, 16)
DIRECT_DEPTHWISE(clamped, DORY_DIRECT_CLAMPED, 20)
DIRECT_DEPTHWISE(split, DORY_DIRECT_SPLIT, 26)
DIRECT_DEPTHWISE(split_away, DORY_DIRECT_SPLIT_AWAY, 37)
DIRECT_DEPTHWISE(high_away, DORY_DIRECT_HIGH_AWAY, 51)
DIRECT_DEPTHWISE(high_even, DORY_DIRECT_HIGH_EVEN, 57)

static bool takes_long_way(const struct dory_layer *layer)
{
    return dory_has_depthwise_any(layer) && dory_depthwise_takes_long_way(layer);
}

DORY_DESCRIBE(xpulpv2_depthwise, takes_long_way, any_scratch_bytes, depthwise_cycles)

/* ---- one output pixel, see single.c --------------------------------------------------------------------------- */

/* Of a quad of channels, behind its sums. */
static uint64_t single_finish_cycles(const struct dory_layer *layer)
{
    switch (layer->output_bits == 8 ? dory_direct_of(layer) : DORY_NOT_DIRECT) {
    case DORY_DIRECT:
    case DORY_DIRECT_CLAMPED: return 110;
    case DORY_DIRECT_SPLIT_AWAY:
    case DORY_DIRECT_HIGH_AWAY:
    case DORY_DIRECT_HIGH_EVEN: return 245;
    case DORY_NOT_DIRECT: break;
    default: return 205;
    }
    switch (layer->normalisation) {
    case DORY_NORMALISE_DIVIDE: return 590 + 4 * dory_bitwise_division_cycles(layer);
    case DORY_NORMALISE_64: return 450;
    case DORY_NORMALISE_HIGH: return 330;
    default: return 270;
    }
}

static uint64_t depthwise_single_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t quads = dory_divide_up(dory_divide_up(tile->channels, 4), cores),
             fours = dory_divide_up(layer->kernel_width, 4);
    return quads * (layer->kernel_height * (fours * 38 + 9) + 60 + single_finish_cycles(layer)) + 395 +
           dory_division_start_cycles(layer);
}

DORY_DESCRIBE(xpulpv2_depthwise_single, dory_is_single_depthwise, NULL, depthwise_single_cycles)
