/* What the planner knows of convolutions of bytes, and of linear layers. */
#include "convolution_description.h"

#include "direct.h"
#include "scratch.h"

uint64_t dory_long_finish_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return 610;
    case DORY_NORMALISE_32: return 590;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 680 : 590;
    case DORY_NORMALISE_SPLIT: return 900;
    case DORY_NORMALISE_HIGH: return 800;
    case DORY_NORMALISE_SHARED: return 1000;
    case DORY_NORMALISE_DIVIDE: return 1110;
    default: return 850;
    }
}

/* How whole blocks finish: of the kernels with elements below 8 bits, the split kinds go the long way. */
static enum dory_direct kind_of(const struct dory_layer *layer)
{
    bool is_packed = layer->weight_bits < 8 || layer->input_bits < 8 || layer->output_bits < 8;
    return is_packed ? dory_packed_direct_of(layer) : dory_product_direct_of(layer);
}

/* The same, as more than what the shortest way takes. */
static uint64_t finish_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint64_t lanes = dory_minimum(tile->channels, 4), pixels = dory_minimum(tile->rows * tile->columns, 4);
    uint64_t stores = layer->normalisation == DORY_NORMALISE_NONE && layer->output_bits > 8 ? 130 : 0;
    switch (kind_of(layer)) {
    case DORY_DIRECT: return 0;
    case DORY_DIRECT_CLAMPED: return 28;
    case DORY_DIRECT_CLAMPED_LESS_ONE: return 71;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 135;
    case DORY_DIRECT_SPLIT: return 51;
    case DORY_DIRECT_SPLIT_AWAY: return 95;
    case DORY_DIRECT_HIGH: return 112;
    case DORY_DIRECT_HIGH_AWAY: return 154;
    case DORY_DIRECT_HIGH_EVEN: return 162;
    default:
        return (dory_long_finish_cycles(layer) + stores) * (4 + 3 * lanes) / 16 +
               pixels * lanes * dory_bitwise_division_cycles(layer);
    }
}

/* Before the first block: what a kind keeps in registers. */
static uint64_t start_cycles(const struct dory_layer *layer)
{
    switch (dory_direct_of(layer)) {
    case DORY_NOT_DIRECT: return 620;
    case DORY_DIRECT_SPLIT:
    case DORY_DIRECT_SPLIT_AWAY: return 855;
    case DORY_DIRECT_HIGH:
    case DORY_DIRECT_HIGH_AWAY:
    case DORY_DIRECT_HIGH_EVEN: return 1110;
    default: return 770;
    }
}

uint64_t dory_part_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t pixels = tile->rows * tile->columns % 4;
    return kind_of(layer) != DORY_NOT_DIRECT && pixels != 0 ? 65 + 20 * pixels : 0;
}

/* The last core's part of four pixels is computed with those before it, or where another core has a part of these, stored
 * element by element. */
static uint64_t edge_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t quads = dory_divide_up(tile->channels, 4), pixels = (uint64_t)tile->rows * tile->columns;
    uint64_t blocks = quads * ((pixels + 3) / 4) / cores; /* of the last core */
    return blocks < 2 * quads ? (blocks < quads ? blocks : quads) * dory_part_cycles(layer, tile) : 0;
}

/* Of the busiest core: the first ones have a block more where all have not as many, and the last one has the edge. */
static uint64_t busiest_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                               uint64_t blocks, uint64_t block)
{
    uint64_t first = (blocks + cores - 1) / cores * block;
    uint64_t last = blocks / cores * block + edge_cycles(layer, tile, cores);
    return first > last ? first : last;
}

/* Tenths of a cycle for a step of 4 bytes; weights below 8 bits are unpacked in it. */
static uint32_t step_tenths(const struct dory_layer *layer, unsigned cores)
{
    uint32_t instructions = layer->weight_bits == 8 ? 24 : layer->weight_bits == 4 ? 26 : 28;
    return 10 * instructions + (cores > 1 ? 5 : 2);
}

/* Cycles more for a block whose weights or output have fewer than 8 bits. */
static uint32_t packed_cycles(const struct dory_layer *layer)
{
    return (layer->weight_bits == 4 ? 16u : 0u) + (layer->output_bits < 8 ? 128u : 0u);
}

/* Fours of pixels of which the slowest core has a part: shares of blocks may begin in the middle of one. */
static uint64_t most_started(uint64_t all_blocks, uint64_t quads, unsigned cores)
{
    uint64_t more = all_blocks % cores, slowest = more ? more : cores, blocks = all_blocks / cores + (more != 0);
    uint64_t whole = blocks / quads, rest = blocks % quads, first = 0;
    for (uint64_t core = 0; core < slowest; core++) {
        if (first + rest > quads) {
            return whole + 2;
        }
        first = first + rest == quads ? 0 : first + rest;
    }
    return whole + (rest != 0);
}

/* Whether a last quad of fewer than four channels has code of its own, as along a row: see product_part.c. */
static bool has_part(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t runs)
{
    enum dory_direct kind = dory_product_direct_of(layer);
    bool whole = tile->rows * tile->columns >= 4 && tile->input_channels == layer->input_channels;
    return dory_fills_taps(layer) && tile->channels % 4 != 0 && whole && runs == 1 && dory_has_bytes(layer) &&
           !layer->input_is_signed && (kind == DORY_DIRECT_CLAMPED || kind == DORY_DIRECT_SPLIT);
}

/* At the end of four pixels' channels: fewer than four are a block of their own, called anew for each four and stored one by
 * one, and go the long way where they are packed. */
static uint64_t last_quad_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t runs)
{
    bool is_direct = kind_of(layer) != DORY_NOT_DIRECT, is_whole = tile->channels % 4 == 0;
    uint32_t lanes = tile->channels % 4, stored = 165 + 20 * lanes;
    return is_direct && is_whole                 ? 30
           : has_part(layer, tile, runs)         ? 160
           : is_direct && layer->output_bits < 8 ? 130 + 105 * lanes
           : is_direct                           ? stored
                                                 : 110;
}

uint64_t dory_product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t run_bytes, uint32_t runs, uint64_t source_cycles)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixel_quads = dory_divide_up(tile->rows * tile->columns, 4);
    uint64_t steps = (uint64_t)runs * dory_divide_up(run_bytes, 4);
    uint64_t block = steps * step_tenths(layer, cores) / 10 + 86 + (runs > 1 ? 9 * runs - 4 : 0);
    block += finish_cycles(layer, tile) + packed_cycles(layer);
    if (tile->input_channels < layer->input_channels) { /* 130 for a first chunk, 230 for a middle one, 550 for the last */
        block += 300;
    }
    uint64_t blocks = (uint64_t)quads * pixel_quads, started = most_started(blocks, quads, cores);
    uint64_t row = source_cycles + last_quad_cycles(layer, tile, runs);
    block -= has_part(layer, tile, runs) ? 5 * steps / quads : 0; /* a step of three channels takes 5 instructions less */
    return busiest_cycles(layer, tile, cores, blocks, block) + started * row + start_cycles(layer);
}

/* A program has all kernels that a layer might take, so a layer that has one of its own is offered no other. */
static bool has_its_own(const struct dory_layer *layer) { return dory_has_narrow(layer) || dory_has_few_outputs(layer); }

static bool convolution_supports(const struct dory_layer *layer)
{
    return !has_its_own(layer) && layer->operation == DORY_CONVOLUTION && dory_has_bytes(layer) && dory_is_stored(layer) &&
           layer->dilation_width == 1 && layer->input_channels % 4 == 0;
}

uint64_t dory_convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_product_cycles(layer, tile, cores, layer->kernel_width * tile->input_channels, layer->kernel_height, 40);
}

DORY_DESCRIPTIONS_OF_KINDS(convolution, convolution_supports, .scratch_bytes = dory_no_scratch, .start_percent = 78,
                           .code = DORY_CODE_OF_PRODUCTS, .cycles = dory_convolution_cycles, .can_tile_input_channels = true,
                           .writes_chw = true)

static bool gather_supports(const struct dory_layer *layer)
{
    return !has_its_own(layer) && layer->operation == DORY_CONVOLUTION && dory_has_bytes(layer) && dory_is_stored(layer) &&
           !dory_fills_taps(layer);
}

uint32_t dory_gather_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * 4 * dory_gather_pixel_bytes(layer, tile->input_channels);
}

/* Four pixels: words, of which 3 in 4 are misaligned unless all are words, then bytes; in groups of runs. */
uint64_t dory_gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t groups = layer->dilation_width == 1 ? 1 : layer->kernel_height, runs = dory_runs(layer) / groups;
    uint32_t elements = dory_run_elements(layer, tile->input_channels), words = elements / 4, rest = elements % 4;
    uint64_t word_cycles = words * (runs * (tile->input_channels % 4 == 0 ? 8 : 11) + 7);
    uint64_t source = 90 + groups * (word_cycles + rest * (runs * 8 + 7) + 25);
    return dory_product_cycles(layer, tile, cores, dory_gather_pixel_bytes(layer, tile->input_channels), 1, source) + 280;
}

DORY_DESCRIPTIONS_OF_KINDS(convolution_gather, gather_supports, .scratch_bytes = dory_gather_scratch_bytes,
                           .start_percent = 80, .code = DORY_CODE_OF_PRODUCTS, .cycles = dory_gather_cycles,
                           .can_tile_input_channels = true, .writes_chw = true)

static bool row_supports(const struct dory_layer *layer) { return !dory_has_narrow(layer) && dory_fills_taps(layer); }

static uint32_t row_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_row_core_bytes(layer, tile->columns);
}

/* A core's pixels are copied word by word, of which 3 in 4 are misaligned unless all are words; with what the taps of the
 * first one read before it, once a part. Where lines do not divide the cores, some have parts of two, and the end of one. */
static uint64_t row_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t fours = dory_row_fours(layer, tile->columns), words = dory_divide_up(layer->input_channels, 4);
    uint32_t lines = tile->rows * dory_minimum(layer->dilation_width, tile->columns),
             quads = dory_divide_up(tile->channels, 4);
    uint32_t word_tenths = layer->input_channels % 4 == 0 ? 26 : 45, blocks = dory_divide_up(lines * fours * quads, cores);
    struct dory_tile_shape shape = *tile;
    shape.rows = lines;
    shape.columns = 4 * fours;
    bool even = cores % lines == 0, whole = tile->columns % (4u * layer->dilation_width) == 0;
    uint64_t parts = dory_divide_up(dory_divide_up(lines * fours, cores), dory_minimum(DORY_ROW_BATCH, fours)) + !even;
    uint64_t part = 200 + words * (20 + (layer->kernel_width - 1u) * word_tenths / 10);
    uint64_t ends = even || whole ? 0 : dory_minimum(quads, blocks) * 230u;
    uint64_t source = 40 + 4 * words * word_tenths / 10;
    return dory_product_cycles(layer, &shape, cores, layer->kernel_width * 4 * words, 1, source) + parts * part + ends;
}

DORY_DESCRIPTIONS_OF_KINDS(convolution_row, row_supports, .scratch_bytes = row_scratch_bytes, .start_percent = 96,
                           .code = DORY_CODE_OF_PRODUCTS, .cycles = row_cycles)

static bool linear_supports(const struct dory_layer *layer)
{
    bool one_run =
        layer->kernel_height == 1 && layer->kernel_width == 1 && layer->output_height == 1 && layer->output_width == 1;
    return !has_its_own(layer) && layer->operation == DORY_CONVOLUTION && dory_has_bytes(layer) && dory_is_stored(layer) &&
           layer->dilation_width == 1 && (layer->input_channels % 4 == 0 || one_run);
}

/* Of four channels of a pixel. */
static uint64_t linear_finish_cycles(const struct dory_layer *layer)
{
    if (layer->normalisation == DORY_NORMALISE_HIGH && layer->output_bits == 8) {
        return 180;
    }
    if (layer->normalisation == DORY_NORMALISE_SHARED && layer->output_bits == 8) {
        return 172;
    }
    switch (dory_direct_of(layer)) {
    case DORY_DIRECT: return 110;
    case DORY_DIRECT_CLAMPED: return 145;
    case DORY_DIRECT_CLAMPED_LESS_ONE: return 155;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 175;
    case DORY_DIRECT_SPLIT: return 160;
    case DORY_DIRECT_SPLIT_AWAY: return 185;
    default: return dory_long_finish_cycles(layer) * 4 / 10 + 195 + 4 * dory_bitwise_division_cycles(layer);
    }
}

static uint64_t linear_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t words = dory_divide_up(layer->kernel_width * tile->input_channels, 4);
    uint64_t blocks = ((uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4) + cores - 1) / cores;
    uint64_t block = layer->kernel_height * (words * 94 / 10 + 15) + linear_finish_cycles(layer);
    return blocks * block + 420;
}

static bool has_own_linear(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_CLAMPED || layer->normalisation == DORY_NORMALISE_SPLIT ||
           layer->normalisation == DORY_NORMALISE_HIGH || layer->normalisation == DORY_NORMALISE_SHARED;
}

#define LINEAR(kernel, condition, percent)                                                                                  \
    static bool kernel##_supports_kind(const struct dory_layer *layer) { return linear_supports(layer) && (condition); }    \
    const struct dory_kernel_description dory_xpulpv2_##kernel##_description = {                                            \
        .name = "dory_xpulpv2_" #kernel,                                                                                    \
        .supports = kernel##_supports_kind,                                                                                 \
        .scratch_bytes = dory_no_scratch,                                                                                   \
        .cycles = linear_cycles,                                                                                            \
        .start_percent = percent,                                                                                           \
        .code = DORY_CODE_OF_LINEAR,                                                                                        \
        .can_tile_input_channels = true,                                                                                    \
    };

LINEAR(linear, !has_own_linear(layer), 43)
LINEAR(linear_clamped, layer->normalisation == DORY_NORMALISE_CLAMPED, 36)
LINEAR(linear_split, layer->normalisation == DORY_NORMALISE_SPLIT, 45)
LINEAR(linear_high, layer->normalisation == DORY_NORMALISE_HIGH, 38)
LINEAR(linear_shared, layer->normalisation == DORY_NORMALISE_SHARED, 42)
