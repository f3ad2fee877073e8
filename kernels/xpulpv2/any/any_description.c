/* What the planner knows of the convolutions of elements of any bits. */
#include "../convolution_description.h"
#include "../scratch.h"
#include "quads.h"

/* ---- any elements, which are laid byte by byte ------------------------------------------------------------------ */

static bool any_supports(const struct dory_layer *layer, uint32_t weight_bits)
{
    return layer->operation == DORY_CONVOLUTION && layer->weight_bits == weight_bits && dory_has_halves(layer);
}

static uint32_t any_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_any_core_bytes(layer, tile->input_channels);
}

/* Of a channel's sums of so many pixels, a call and the elements with their stores. */
static uint64_t any_lane_cycles(const struct dory_layer *layer, uint32_t pixels)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return 73 + 12 * pixels;
    case DORY_NORMALISE_32: return 76 + 9 * pixels;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 82 + 17 * pixels : 95 + 8 * pixels;
    case DORY_NORMALISE_SPLIT: return 105 + 20 * pixels;
    case DORY_NORMALISE_HIGH: return 93 + 20 * pixels;
    case DORY_NORMALISE_SHARED: return 85 + 31 * pixels;
    case DORY_NORMALISE_DIVIDE: return 135 + (21 + dory_bitwise_division_cycles(layer)) * pixels;
    default: break;
    }
    if (pixels > 4 && dory_multiplies_halves(layer)) { /* constants are brought to another form */
        return 137 + 8 * pixels;
    }
    return dory_shifts_narrowly(layer) ? 108 + 23 * pixels : 92 + 40 * pixels;
}

/* Of a whole block of bytes that is finished without calls; 0: there is no such way. */
static uint32_t any_direct_cycles(const struct dory_layer *layer)
{
    switch (layer->output_bits == 8 ? dory_direct_of(layer) : DORY_NOT_DIRECT) {
    case DORY_NOT_DIRECT: return 0;
    case DORY_DIRECT: return 260;
    case DORY_DIRECT_CLAMPED: return 340;
    case DORY_DIRECT_SPLIT:
    case DORY_DIRECT_SPLIT_AWAY: return 445;
    default: return 500;
    }
}

/* Cycles to lay one pixel ready: words, and what is left of runs one by one. Below 8 bits all are one by one. */
static uint64_t any_split_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint64_t rows = layer->kernel_height, runs = dory_runs(layer);
    uint32_t elements = dory_run_elements(layer, tile->input_channels);
    uint32_t words = elements / 4, rest = elements % 4;
    switch (layer->input_bits) {
    case 16:
        return rest == 0 ? 53 + rows * 10 + runs * (5 + 7 * words) : 53 + rows * 5 + runs * (29 + 13 * words + 16 * rest);
    case 8: return 53 + rows * 7 + runs * (27 + 7 * words + 11 * rest);
    default: return 53 + rows * 6 + runs * (31 + 30 * elements);
    }
}

/* The grid of pixel quads by quads of channels, of whose rows a core finishes some at once where it has all of them. */
struct any_grid {
    const struct dory_layer *layer;
    uint32_t quads, rows, batch;
    uint32_t absent_pixels, absent_lanes; /* of the four of the last row, and of the last quad */
    uint64_t laid, block;                 /* of a pixel that is laid ready; of the sums of a block */
    bool is_chunk;                        /* whose sums are not finished, or together with others */
};

/* A quad's sums of some rows become elements: a call, and to pack a block of elements below 8 bits. */
enum { QUAD_CALL = 89, DIRECT_CALL = 130, PACK_ROW = 290 };

static uint64_t any_rows_cycles(const struct any_grid *grid, uint32_t row, uint32_t rows, uint32_t first, uint32_t end)
{
    const struct dory_layer *layer = grid->layer;
    uint32_t quads = end - first, pixels = 4 * rows - (row + rows == grid->rows ? grid->absent_pixels : 0);
    uint32_t absent = end == grid->quads ? grid->absent_lanes : 0, direct_quads = quads - (absent != 0);
    uint32_t direct = pixels % 4 == 0 ? any_direct_cycles(layer) : 0;
    uint64_t cycles = pixels * grid->laid + rows * quads * grid->block;
    if (grid->is_chunk) {
        return cycles;
    }
    if (direct != 0) {
        cycles += direct_quads * (DIRECT_CALL + rows * direct);
        quads -= direct_quads;
    }
    bool is_packed = layer->output_bits < 8;
    return cycles + quads * (QUAD_CALL + (is_packed ? rows * PACK_ROW : 0)) +
           (4 * quads - absent) * any_lane_cycles(layer, is_packed ? 4 * rows : pixels);
}

/* Parts of a first and a last row, and the whole ones between them. */
static uint64_t any_share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct any_grid *grid = context;
    uint32_t quads = grid->quads, row = first / quads, begin = first % quads, end_row = end / quads, behind = end % quads;
    uint64_t cycles = 0;
    if (row == end_row) {
        return any_rows_cycles(grid, row, 1, begin, behind);
    }
    if (begin != 0) {
        cycles = any_rows_cycles(grid, row++, 1, begin, quads);
    }
    if (row < end_row) {
        uint32_t batches = (end_row - row - 1) / grid->batch, last = row + batches * grid->batch;
        cycles += batches * any_rows_cycles(grid, row, grid->batch, 0, quads) +
                  any_rows_cycles(grid, last, end_row - last, 0, quads);
    }
    return cycles + (behind != 0 ? any_rows_cycles(grid, end_row, 1, 0, behind) : 0);
}

static uint64_t any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t pixel_bytes = dory_gather_pixel_bytes(layer, tile->input_channels);
    uint64_t words = (uint64_t)pixel_bytes / 4 * (layer->input_bits == 16 ? 2 : 1);
    struct any_grid grid = {.layer = layer, .quads = quads, .rows = dory_divide_up(pixels, 4)};
    grid.is_chunk = tile->input_channels < layer->input_channels;
    grid.batch = grid.is_chunk ? 1 : quads == 1 ? 4 : dory_any_batch(pixel_bytes);
    grid.absent_pixels = 3 - (pixels - 1) % 4;
    grid.absent_lanes = 3 - (tile->channels - 1u) % 4;
    grid.laid = any_split_cycles(layer, tile);
    grid.block = words * (layer->weight_bits == 8 ? 251 : 280) / 10 + 133;
    grid.block += grid.is_chunk ? dory_long_finish_cycles(layer) + 480 + 16 * dory_bitwise_division_cycles(layer) : 0;
    return dory_busiest_cycles(grid.rows * quads, cores, any_share_cycles, &grid) + 680 + dory_division_start_cycles(layer);
}

#define ANY(bits)                                                                                                           \
    static bool any_##bits##_supports(const struct dory_layer *layer) { return any_supports(layer, bits); }                 \
    DORY_DESCRIBE(xpulpv2_convolution_any_##bits, any_##bits##_supports, any_scratch_bytes, any_cycles,                     \
                  .can_tile_input_channels = true)

ANY(8)
ANY(4)
ANY(2)

/* ---- in groups ------------------------------------------------------------------------------------------------- */

/* The quads of channels for which four pixels are laid ready once. */
static uint32_t quads_of_group(const struct dory_layer *layer, uint32_t quads)
{
    return layer->grouped.outputs % 4 == 0 ? dory_minimum(quads, layer->grouped.outputs / 4u) : 1;
}

static bool has_groups(const struct dory_layer *layer)
{
    return layer->operation == DORY_GROUPED && layer->input_bits <= 8 && layer->dilation_width == 1;
}

static bool grouped_supports(const struct dory_layer *layer)
{
    return has_groups(layer) && dory_has_bytes(layer) && dory_is_stored(layer);
}

static uint32_t input_columns(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, 1);
}

static uint32_t grouped_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_grouped_core_bytes(layer, tile->rows, input_columns(layer, tile));
}

/* How blocks end, not in line in all that asks; and whether a function is called for each: where they go the long way, or
 * are packed. */
static __attribute__((noinline)) enum dory_direct grouped_kind(const struct dory_layer *layer)
{
    return grouped_supports(layer) ? dory_product_direct_of(layer) : dory_packed_direct_of(layer);
}

static bool calls_for_blocks(const struct dory_layer *layer)
{
    return grouped_kind(layer) == DORY_NOT_DIRECT || layer->output_bits < 8;
}

/* Cycles to copy so many pixels' window of a quad: by words, by fours of fewer bits, or one by one what there is. */
static uint64_t window_cycles(const struct dory_layer *layer, uint32_t quad, uint64_t pixels)
{
    uint32_t window = dory_window_channels(layer), start = dory_window_start(layer, quad);
    bool is_there = layer->input_channels >= window;
    if (layer->input_bits == 8 && is_there) {
        return dory_divide_up(window, 4) * (11 + pixels * 24 / 10);
    }
    return pixels * (is_there && start * layer->input_bits % 8 == 0
                         ? 5 + window / 4 * (layer->input_bits == 4 ? 17 : 14)
                         : 9 + 18 * dory_minimum(window, layer->input_channels - start));
}

/* With each band of rows the products start anew: what their kind keeps in registers, and their first four pixels. */
static uint64_t band_start_cycles(const struct dory_layer *layer)
{
    return calls_for_blocks(layer) ? 280 : grouped_kind(layer) == DORY_DIRECT ? 345 : 390;
}

/* Copies of a window for pixel quads `first` to `end` - 1: bands of rows from the first one's on, however many pixels of
 * them are the core's. */
static uint64_t bands_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t first,
                             uint32_t end, uint32_t quad)
{
    uint64_t cycles = 0;
    while (first < end) {
        uint32_t row = 4 * first / tile->columns, rows = dory_minimum(dory_grouped_band_rows(tile->rows), tile->rows - row);
        uint32_t copied = dory_input_extent(rows, layer->kernel_height, layer->stride_height, layer->dilation_height) *
                          input_columns(layer, tile);
        first = row + rows == tile->rows ? end : (row + rows) * tile->columns / 4;
        cycles += window_cycles(layer, quad, copied) + band_start_cycles(layer);
    }
    return cycles;
}

/* Of the tile, as if it was the layer's first one; a last quad of fewer than four channels is the layer's last one. */
static uint32_t first_quad(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t all = dory_divide_up(layer->output_channels, 4), quads = dory_divide_up(tile->channels, 4);
    return tile->channels % 4 != 0 && quads < all ? all - quads : 0;
}

/* More for the blocks of a window whose pixels or channels are not all there: those before are not computed with them, as in
 * other convolutions, and four pixels that have such a block are not like those before, with which they would be computed
 * without a start of their own. Pixel quads `first` to `end` - 1 of so many quads, of which the last one has `lanes`
 * channels. */
static int64_t parts_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t first, uint32_t end,
                            uint32_t quads, uint32_t lanes)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, last = end == dory_divide_up(pixels, 4),
             rest = (pixels - 1) % 4 + 1;
    uint32_t unlike = lanes != 4 ? end - first : last != 0 && rest != 4;
    return (int64_t)(end - first - last) * dory_part_cycles(layer, 4, lanes) +
           (calls_for_blocks(layer) ? 0 : 75 * (int64_t)unlike) +
           last * ((quads - 1) * dory_part_cycles(layer, rest, 4) + dory_part_cycles(layer, rest, lanes));
}

/* What pixel quads take, with a window's quads. */
static uint64_t items_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t quads, uint32_t count)
{
    uint32_t window = dory_window_channels(layer), run_bytes = layer->kernel_width * window;
    uint16_t pixels = (uint16_t)(4 * count * cores), channels = (uint16_t)dory_minimum(4 * quads, UINT16_MAX / 4 * 4);
    struct dory_tile_shape shared = {1, pixels, channels, tile->input_channels}; /* equally */
    uint64_t steps = (uint64_t)layer->kernel_height * dory_divide_up(run_bytes, 4);
    uint64_t find = (tile->columns % 4 == 0 ? 0u : 22u) + (calls_for_blocks(layer) ? 13u : 27u); /* four pixels */
    uint64_t apart = window < 3 ? quads * steps * (4 - window) : 0; /* of four pixels' words some lie across two */
    return dory_product_cycles(layer, &shared, cores, run_bytes, layer->kernel_height, 0) + count * (find + apart);
}

/* The grid of windows by pixel quads. */
struct windows {
    const struct dory_layer *layer;
    const struct dory_tile_shape *tile;
    uint32_t each, last, count, pixel_quads; /* quads of a window, and of the last one; these; pixel quads of each */
    uint64_t item, last_item;                /* cycles of a pixel quad, in a window and in the last one */
};

/* To go on to a window. */
enum { WINDOW_CYCLES = 35 };

/* Of a core, beside its start: items `first` to `end` - 1 of the grid. */
static uint64_t windows_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct windows *windows = context;
    const struct dory_layer *layer = windows->layer;
    const struct dory_tile_shape *tile = windows->tile;
    int64_t cycles = 0;
    while (first < end) {
        uint32_t window = first / windows->pixel_quads, start = first % windows->pixel_quads;
        uint32_t behind = dory_minimum(windows->pixel_quads, start + end - first);
        bool is_last = window == windows->count - 1;
        uint32_t lanes = is_last ? (tile->channels - 1u) % 4 + 1 : 4,
                 quad = first_quad(layer, tile) + window * windows->each;
        cycles += (int64_t)((behind - start) * (is_last ? windows->last_item : windows->item));
        cycles += (int64_t)bands_cycles(layer, tile, start, behind, quad) + WINDOW_CYCLES;
        cycles += parts_cycles(layer, tile, start, behind, is_last ? windows->last : windows->each, lanes);
        first += behind - start;
    }
    return cycles > 0 ? (uint64_t)cycles : 0;
}

/* Beside what the products take to start; of direct kinds a part of it is done with each band. */
static int64_t grouped_start_cycles(const struct dory_layer *layer)
{
    bool is_direct = grouped_kind(layer) != DORY_NOT_DIRECT;
    return grouped_supports(layer) ? (is_direct ? -50 : 90) : (is_direct ? 40 : 160);
}

static uint64_t grouped_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), each = quads_of_group(layer, quads);
    uint32_t count = dory_divide_up(quads, each), last = quads - (count - 1) * each;
    uint64_t one = items_cycles(layer, tile, cores, each, 1), item = items_cycles(layer, tile, cores, each, 2) - one;
    struct windows windows = {
        .layer = layer,
        .tile = tile,
        .each = each,
        .last = last,
        .count = count,
        .pixel_quads = dory_divide_up((uint32_t)tile->rows * tile->columns, 4),
        .item = item,
        .last_item = items_cycles(layer, tile, cores, last, 1) - (one - item),
    };
    uint64_t start = (uint64_t)((int64_t)(one - item) + grouped_start_cycles(layer));
    return start + dory_busiest_cycles(count * windows.pixel_quads, cores, windows_cycles, &windows);
}

DORY_DESCRIPTIONS_OF_KINDS(grouped, grouped_supports, .scratch_bytes = grouped_scratch_bytes, .cycles = grouped_cycles)

#define PACKED(bits)                                                                                                        \
    static bool packed_grouped_##bits##_supports(const struct dory_layer *layer)                                            \
    {                                                                                                                       \
        return has_groups(layer) && layer->weight_bits == bits && dory_is_stored_packed(layer) && !grouped_supports(layer); \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_packed_grouped_##bits, packed_grouped_##bits##_supports, grouped_scratch_bytes, grouped_cycles)

PACKED(8)
PACKED(4)
PACKED(2)
