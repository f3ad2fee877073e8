/* What the planner knows of convolutions of bytes, and of linear layers. */
#include "convolution_description.h"

#include "direct.h"
#include "quads.h"
#include "scratch.h"

/* Of the long way, behind the sums of a block: a call for each channel, and an element, with what stores it. */
struct long_way {
    uint32_t call, element;
};

static struct long_way long_way_of(const struct dory_layer *layer)
{
    bool is_quick = dory_divides_narrowly(layer) && dory_divides_quickly(layer);
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return (struct long_way){32, layer->output_bits > 8 ? 23 : 14};
    case DORY_NORMALISE_32: return (struct long_way){30, 17};
    case DORY_NORMALISE_CLAMPED: return (struct long_way){30, layer->reciprocal ? 26 : 19};
    case DORY_NORMALISE_SPLIT: return (struct long_way){56, 25};
    case DORY_NORMALISE_HIGH: return (struct long_way){51, 26};
    case DORY_NORMALISE_SHARED: return (struct long_way){32, 40};
    case DORY_NORMALISE_DIVIDE:
        return is_quick                       ? (struct long_way){100, 27}
               : dory_divides_narrowly(layer) ? (struct long_way){110, 55}
                                              : (struct long_way){85, 27 + dory_bitwise_division_cycles(layer)};
    default: return dory_shifts_narrowly(layer) ? (struct long_way){75, 27} : (struct long_way){14, 57}; /* in 64 bits */
    }
}

static uint64_t long_block_cycles(const struct dory_layer *layer, uint32_t pixels, uint32_t lanes)
{
    struct long_way way = long_way_of(layer);
    return 213 + lanes * (way.call + (uint64_t)pixels * way.element);
}

uint64_t dory_long_finish_cycles(const struct dory_layer *layer)
{
    return long_block_cycles(layer, 4, 4) - 16 * dory_bitwise_division_cycles(layer);
}

uint64_t dory_long_quad_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_64: return dory_shifts_narrowly(layer) ? 650 : 690;
    case DORY_NORMALISE_DIVIDE: return 785;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 480 : 430;
    case DORY_NORMALISE_SPLIT: return 555;
    case DORY_NORMALISE_HIGH: return 515;
    case DORY_NORMALISE_SHARED: return 595;
    default: return 435;
    }
}

/* How whole blocks finish: of the kernels with elements below 8 bits, the split kinds go the long way. */
static enum dory_direct kind_of(const struct dory_layer *layer)
{
    bool is_packed = layer->weight_bits < 8 || layer->input_bits < 8 || layer->output_bits < 8;
    return is_packed ? dory_packed_direct_of(layer) : dory_product_direct_of(layer);
}

/* The same for whole blocks, as more than what the shortest way takes. */
static uint64_t finish_cycles(const struct dory_layer *layer)
{
    switch (kind_of(layer)) {
    case DORY_DIRECT: return 0;
    case DORY_DIRECT_CLAMPED: return 36;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 145;
    case DORY_DIRECT_SPLIT: return 51;
    case DORY_DIRECT_SPLIT_AWAY: return 115;
    case DORY_DIRECT_HIGH: return 118;
    case DORY_DIRECT_HIGH_AWAY: return 156;
    case DORY_DIRECT_HIGH_EVEN: return 170;
    default: return long_block_cycles(layer, 4, 4);
    }
}

/* Before the first block: what a kind keeps in registers. */
static uint64_t start_cycles(const struct dory_layer *layer)
{
    switch (kind_of(layer)) {
    case DORY_NOT_DIRECT: return 455;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 550;
    case DORY_DIRECT_SPLIT: return 590;
    case DORY_DIRECT_SPLIT_AWAY: return 560;
    case DORY_DIRECT_HIGH: return 590;
    case DORY_DIRECT_HIGH_AWAY:
    case DORY_DIRECT_HIGH_EVEN: return 615;
    case DORY_DIRECT_CLAMPED: return 560;
    default: return 590;
    }
}

/* To pack a block of elements below 8 bits. */
enum { PACK_BLOCK = 130 };

/* Where whole blocks are direct, others store element by element, and those of elements below 8 bits go the long way. What
 * goes it anyway takes less for fewer elements. */
int64_t dory_part_cycles(const struct dory_layer *layer, uint32_t pixels, uint32_t lanes)
{
    uint32_t elements = pixels * lanes;
    int64_t finish = (int64_t)finish_cycles(layer), longest = (int64_t)dory_long_finish_cycles(layer);
    if (elements == 16) {
        return 0;
    }
    if (kind_of(layer) == DORY_NOT_DIRECT) {
        return (int64_t)long_block_cycles(layer, pixels, lanes) - finish;
    }
    if (layer->output_bits < 8) {
        return longest * 6 / 10 - 30 + 16 * elements - finish - PACK_BLOCK;
    }
    return lanes == 4 ? 68 + 20 * pixels : 100 + 4 * elements; /* blocks of four channels follow one another */
}

/* Tenths of a cycle for a step of 4 bytes; weights below 8 bits are unpacked in it. */
static uint32_t step_tenths(const struct dory_layer *layer, unsigned cores)
{
    uint32_t instructions = layer->weight_bits == 8 ? 24 : layer->weight_bits == 4 ? 26 : 28;
    return 10 * instructions + (cores > 1 ? 5 : 2);
}

/* Whether blocks of a direct kind are packed, each by a call. */
static bool packs(const struct dory_layer *layer) { return layer->output_bits < 8 && kind_of(layer) != DORY_NOT_DIRECT; }

/* Cycles more for a block whose weights or output have fewer than 8 bits. */
static uint32_t packed_cycles(const struct dory_layer *layer)
{
    bool is_long = kind_of(layer) == DORY_NOT_DIRECT && !dory_has_bytes(layer);
    return (layer->weight_bits == 4 ? 16u : 0u) + (packs(layer) ? PACK_BLOCK : is_long ? 35u : 0u);
}

/* Whether a last quad of fewer than four channels has code of its own, as along a row: see product_part.c. */
static bool has_part(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t runs)
{
    enum dory_direct kind = dory_product_direct_of(layer);
    bool whole = (uint32_t)tile->rows * tile->columns >= 4 && tile->input_channels == layer->input_channels;
    return dory_fills_taps(layer) && tile->channels % 4 != 0 && whole && runs == 1 && dory_has_bytes(layer) &&
           !layer->input_is_signed && (kind == DORY_DIRECT_CLAMPED || kind == DORY_DIRECT_SPLIT);
}

/* What a share of the grid of pixel quads by channel quads takes. */
struct grid {
    uint32_t quads, pixel_quads;
    uint64_t block, row; /* four pixels by four channels; to lay four pixels ready, and go on */
    int64_t fewer_channels, fewer_pixels, fewer_of_both; /* more for such a block; 0: all have four */
    bool steps_back;                                     /* a last part of four pixels is computed with those before */
};

/* Of blocks `first` to `end` - 1, in the order of the grid. */
static uint64_t share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct grid *grid = context;
    uint32_t quads = grid->quads, last_row = (grid->pixel_quads - 1) * quads, from = first > last_row ? first : last_row;
    uint32_t first_row = first / quads, end_row = end / quads, last_quads = end_row - first_row;
    uint32_t started = last_quads + (end_row * quads < end);
    bool steps_back = grid->steps_back && grid->pixel_quads > 1;
    uint32_t short_blocks = end > last_row && !steps_back ? end - from : 0;
    bool corner = short_blocks != 0 && end == last_row + quads;
    int64_t parts = grid->fewer_channels * (last_quads - corner) + grid->fewer_pixels * (short_blocks - corner) +
                    (corner ? grid->fewer_of_both : 0);
    return (uint64_t)((int64_t)((end - first) * grid->block + started * grid->row) + parts);
}

/* To go on to four pixels, where all that is behind them is direct, and where a function is called for each block. */
enum { ROW = 30, LONG_ROW = 80 };

static struct grid grid_of(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t runs)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, lanes = (tile->channels - 1u) % 4 + 1,
             last = (pixels - 1) % 4 + 1;
    bool is_direct = kind_of(layer) != DORY_NOT_DIRECT;
    return (struct grid){
        .quads = dory_divide_up(tile->channels, 4),
        .pixel_quads = dory_divide_up(pixels, 4),
        .row = is_direct && !packs(layer) ? ROW : LONG_ROW,
        .fewer_channels = has_part(layer, tile, runs) ? 120 : dory_part_cycles(layer, 4, lanes),
        .fewer_pixels = dory_part_cycles(layer, last, 4),
        .fewer_of_both = dory_part_cycles(layer, last, lanes),
        .steps_back = is_direct,
    };
}

/* Four pixels by four channels. */
static uint64_t block_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t run_bytes, uint32_t runs)
{
    uint64_t steps = (uint64_t)runs * dory_divide_up(run_bytes, 4);
    uint64_t block = steps * step_tenths(layer, cores) / 10 + 86 + (runs > 1 ? 9 * runs - 4 : 0);
    block += finish_cycles(layer) + packed_cycles(layer);
    if (kind_of(layer) == DORY_NOT_DIRECT && layer->output_layout == DORY_CHW) { /* byte by byte, each a channel apart */
        block += 85;
    }
    if (tile->input_channels < layer->input_channels) { /* 130 for a first chunk, 230 for a middle one, 550 for the last */
        block += 300;
    }
    uint64_t three = has_part(layer, tile, runs) ? 5 * steps : 0; /* 5 instructions less than a step of four channels */
    return block - three / dory_divide_up(tile->channels, 4);
}

uint64_t dory_product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t run_bytes, uint32_t runs, uint64_t source_cycles)
{
    struct grid grid = grid_of(layer, tile, runs);
    grid.block = block_cycles(layer, tile, cores, run_bytes, runs);
    grid.row += source_cycles;
    return dory_busiest_cycles(grid.quads * grid.pixel_quads, cores, share_cycles, &grid) + start_cycles(layer) +
           dory_division_start_cycles(layer);
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
    return dory_product_cycles(layer, tile, cores, (uint32_t)layer->kernel_width * tile->input_channels,
                               layer->kernel_height, 40);
}

DORY_DESCRIPTIONS_OF_KINDS(convolution, convolution_supports, .cycles = dory_convolution_cycles,
                           .can_tile_input_channels = true, .writes_chw = true)

/* Where what a pixel reads is one run of whole words, there is nothing to gain by a copy of it. */
static bool gather_supports(const struct dory_layer *layer)
{
    return !has_its_own(layer) && layer->operation == DORY_CONVOLUTION && dory_has_bytes(layer) && dory_is_stored(layer) &&
           !dory_fills_taps(layer) && !(dory_runs(layer) == 1 && convolution_supports(layer));
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
    return dory_product_cycles(layer, tile, cores, dory_gather_pixel_bytes(layer, tile->input_channels), 1, source) +
           (groups * runs * elements < 8 ? 10 : 120); /* the loops' code */
}

DORY_DESCRIPTIONS_OF_KINDS(convolution_gather, gather_supports, .scratch_bytes = dory_gather_scratch_bytes,
                           .cycles = dory_gather_cycles, .can_tile_input_channels = true, .writes_chw = true)

static bool row_supports(const struct dory_layer *layer) { return !dory_has_narrow(layer) && dory_fills_taps(layer); }

static uint32_t row_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_row_core_bytes(layer, tile->columns);
}

/* Lines of pixels that dilation lets follow each other, each a grid of four pixels by quads of channels. */
struct lines {
    const struct dory_layer *layer;
    uint32_t columns, in_row, fours; /* of the tile; lines of a row; fours of the longest line */
    uint32_t lanes;                  /* channels of the last quad */
    uint32_t from;                   /* the first line of the grid */
    uint64_t start;                  /* cycles with which a part of a line starts */
    struct grid grid;                /* of a line whose last four are all there */
};

/* What a core copies of so many pixels, word by word, of which 3 in 4 are misaligned unless all are words. */
static uint64_t row_copy_cycles(const struct dory_layer *layer, uint32_t pixels)
{
    uint32_t channels = layer->input_channels, words = dory_divide_up(channels, 4), rest = channels % 4;
    return words * (13 + pixels * (rest == 0 ? 22 : 31) / 10 + pixels % 4 * 5) + (rest != 0 ? 6 + 13 * rest : 0);
}

/* To find a line and its pixels, and to start the product: of a direct kind, and with whole quads, the more. */
static uint64_t row_start_cycles(const struct lines *lines, const struct dory_tile_shape *tile)
{
    enum dory_direct kind = kind_of(lines->layer);
    uint64_t find = lines->in_row > 1 ? 215 : 96, product = kind == DORY_DIRECT ? 26 : 63,
             whole = tile->channels >= 4 ? 86 : 0;
    return find + (kind == DORY_NOT_DIRECT ? 0 : product + whole);
}

/* Of a block that has no pixels: its sums are made, and nothing of them. */
static uint64_t empty_block_cycles(const struct lines *lines)
{
    int64_t none = kind_of(lines->layer) == DORY_NOT_DIRECT ? dory_part_cycles(lines->layer, 0, 4) : 0;
    return (uint64_t)((int64_t)lines->grid.block + none);
}

/* A part of a line: blocks `first` to `end` - 1 of its grid. Of a shorter line the last blocks have no pixels. */
static uint64_t row_part_cycles(const struct lines *lines, uint32_t line, uint32_t first, uint32_t end)
{
    const struct dory_layer *layer = lines->layer;
    struct grid grid = lines->grid;
    uint32_t pixels = dory_divide_up(lines->columns - line % lines->in_row, layer->dilation_width);
    uint32_t four = first / grid.quads, last = (pixels - 1) % 4 + 1;
    uint32_t there = dory_minimum(4 * dory_divide_up(end, grid.quads), pixels);
    if (there <= 4 * four) {
        return 60;
    }
    grid.pixel_quads = dory_divide_up(pixels, 4);
    grid.fewer_pixels = dory_part_cycles(layer, last, 4);
    grid.fewer_of_both = dory_part_cycles(layer, last, lines->lanes);
    uint32_t present = dory_minimum(end, grid.pixel_quads * grid.quads);
    return lines->start + row_copy_cycles(layer, there - 4 * four + layer->kernel_width - 1) +
           share_cycles(&grid, first, present) + (end - present) * empty_block_cycles(lines);
}

/* Of a core: blocks `first` to `end` - 1 of the grids of all lines, a few fours of a line at once. */
static uint64_t row_share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct lines *lines = context;
    uint32_t quads = lines->grid.quads, in_line = lines->fours * quads;
    uint64_t cycles = 0;
    for (uint32_t next; first < end; first = next) {
        uint32_t line = first / in_line, start = first - line * in_line;
        uint32_t batch = (start / quads + DORY_ROW_BATCH) * quads;
        next = dory_minimum(end, line * in_line + dory_minimum(batch, in_line));
        cycles += row_part_cycles(lines, lines->from + line, start, next - line * in_line);
    }
    return cycles;
}

/* Where lines divide the cores, each has as many of these: the first one has the most pixels, but of the last one's fours
 * some may be missing. Else the lines are one grid. */
static uint64_t busiest_row_cycles(struct lines *lines, uint32_t count, unsigned cores)
{
    uint32_t items = lines->fours * lines->grid.quads;
    if (cores % count != 0) {
        return dory_busiest_cycles(count * items, cores, row_share_cycles, lines);
    }
    uint64_t first = dory_busiest_cycles(items, cores / count, row_share_cycles, lines);
    lines->from = lines->in_row - 1;
    uint64_t last = dory_busiest_cycles(items, cores / count, row_share_cycles, lines);
    return first > last ? first : last;
}

static uint64_t row_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct lines lines = {.layer = layer,
                          .columns = tile->columns,
                          .in_row = dory_minimum(layer->dilation_width, tile->columns),
                          .fours = dory_row_fours(layer, tile->columns),
                          .lanes = (tile->channels - 1u) % 4 + 1,
                          .grid = grid_of(layer, tile, 1)};
    bool is_direct = kind_of(layer) != DORY_NOT_DIRECT;
    lines.start = row_start_cycles(&lines, tile);
    lines.grid.steps_back = false;
    if (has_part(layer, tile, 1)) { /* where it is all there is of a row of four pixels, nothing is started anew */
        lines.grid.fewer_channels = lines.grid.quads == 1 ? 35 : 145;
    }
    lines.grid.row = is_direct ? 50 : 95;
    lines.grid.block = block_cycles(layer, tile, cores, layer->kernel_width * dory_round_up(layer->input_channels, 4), 1);
    return busiest_row_cycles(&lines, tile->rows * lines.in_row, cores) + (is_direct ? 553 : 520) +
           dory_division_start_cycles(layer);
}

DORY_DESCRIPTIONS_OF_KINDS(convolution_row, row_supports, .scratch_bytes = row_scratch_bytes, .cycles = row_cycles)

static bool linear_supports(const struct dory_layer *layer)
{
    bool one_run =
        layer->kernel_height == 1 && layer->kernel_width == 1 && layer->output_height == 1 && layer->output_width == 1;
    return !has_its_own(layer) && layer->operation == DORY_CONVOLUTION && dory_has_bytes(layer) && dory_is_stored(layer) &&
           layer->dilation_width == 1 && (layer->input_channels % 4 == 0 || one_run);
}

static bool goes_long_way(const struct dory_layer *layer)
{
    bool is_high = layer->normalisation == DORY_NORMALISE_HIGH || layer->normalisation == DORY_NORMALISE_SHARED;
    return is_high ? layer->output_bits != 8 : dory_direct_of(layer) == DORY_NOT_DIRECT;
}

/* Of four channels of a pixel. */
static uint64_t linear_finish_cycles(const struct dory_layer *layer)
{
    if (goes_long_way(layer)) {
        return dory_long_quad_cycles(layer) + (layer->normalisation < DORY_NORMALISE_64 ? 35 : 0);
    }
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        return 174;
    }
    switch (dory_direct_of(layer)) {
    case DORY_DIRECT: return 103;
    case DORY_DIRECT_CLAMPED: return 136;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 166;
    case DORY_DIRECT_SPLIT: return 160;
    default: return 163; /* by one scale, and split that rounds away from zero */
    }
}

uint64_t dory_linear_division_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint64_t blocks)
{
    uint64_t elements = blocks * tile->channels / dory_divide_up(tile->channels, 4);
    return elements * dory_bitwise_division_cycles(layer) + dory_division_start_cycles(layer);
}

/* Before the first pixel. */
static uint64_t linear_start_cycles(const struct dory_layer *layer)
{
    if (goes_long_way(layer)) {
        return layer->normalisation < DORY_NORMALISE_64 ? 410 : 500;
    }
    switch (layer->normalisation) {
    case DORY_NORMALISE_32: return 405;
    case DORY_NORMALISE_CLAMPED: return 475;
    case DORY_NORMALISE_SPLIT: return 470;
    default: return 455;
    }
}

/* The long way goes lane by lane: of so many times four channels, less where a pixel's last four are not all there. */
uint64_t dory_linear_missing_cycles(const struct dory_tile_shape *tile, uint64_t blocks)
{
    uint64_t quads = dory_divide_up(tile->channels, 4);
    return blocks * (4 * quads - tile->channels) * 73 / quads;
}

static uint64_t linear_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t words = dory_divide_up((uint32_t)layer->kernel_width * tile->input_channels, 4);
    uint64_t blocks = ((uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4) + cores - 1) / cores;
    uint64_t block = layer->kernel_height * (words * 94 / 10 + 15) + linear_finish_cycles(layer);
    uint64_t missing = goes_long_way(layer) ? dory_linear_missing_cycles(tile, blocks) : 0;
    return blocks * block - missing + dory_linear_division_cycles(layer, tile, blocks) + linear_start_cycles(layer);
}

static bool has_own_linear(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_CLAMPED || layer->normalisation == DORY_NORMALISE_SPLIT ||
           layer->normalisation == DORY_NORMALISE_HIGH || layer->normalisation == DORY_NORMALISE_SHARED;
}

#define LINEAR(kernel, condition)                                                                                           \
    static bool kernel##_supports_kind(const struct dory_layer *layer) { return linear_supports(layer) && (condition); }    \
    DORY_DESCRIBE(xpulpv2_##kernel, kernel##_supports_kind, NULL, linear_cycles, .can_tile_input_channels = true)

LINEAR(linear, !has_own_linear(layer))
LINEAR(linear_clamped, layer->normalisation == DORY_NORMALISE_CLAMPED)
LINEAR(linear_split, layer->normalisation == DORY_NORMALISE_SPLIT)
LINEAR(linear_high, layer->normalisation == DORY_NORMALISE_HIGH)
LINEAR(linear_shared, layer->normalisation == DORY_NORMALISE_SHARED)
