/* What the planner knows of convolutions in groups of elements of any bits, and of taps that dilation tears apart: see
 * convolution_any.c, which lays windows byte by byte, tap by tap. */
#include "../convolution_description.h"
#include "../scratch.h"
#include "quads.h"

static bool grouped_any_supports(const struct dory_layer *layer, uint32_t weight_bits)
{
    bool is_apart = layer->dilation_width != 1 && layer->input_bits <= 8;
    return layer->operation == DORY_GROUPED && layer->weight_bits == weight_bits && (is_apart || dory_has_halves(layer));
}

static uint32_t grouped_any_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_any_core_bytes(layer, tile->input_channels);
}

/* Cycles to lay a pixel. */
static uint64_t laid_pixel_cycles(const struct dory_layer *layer)
{
    uint32_t present = dory_minimum(dory_window_channels(layer), layer->input_channels), rest = present % 4;
    uint64_t rows = layer->kernel_height, taps = rows * layer->kernel_width, words = present / 4;
    if (layer->input_bits < 8) {
        return 46 + taps * (37 + 30 * present);
    }
    if (layer->input_bits == 8) {
        return 46 + 7 * rows + taps * (29 + 7 * words + 10 * rest);
    }
    return rest == 0 ? 46 + 9 * rows + taps * (8 + 15 * words) / 2 : 46 + 7 * rows + taps * (27 + 12 * words + 16 * rest);
}

/* What is behind sums in memory: a call for a channel, and an element. */
struct laid_end {
    uint32_t call, element;
};

static struct laid_end laid_end_of(const struct dory_layer *layer)
{
    bool is_narrow = dory_divides_narrowly(layer), is_quick = is_narrow && dory_divides_quickly(layer);
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return (struct laid_end){80, 12};
    case DORY_NORMALISE_32: return (struct laid_end){86, 9};
    case DORY_NORMALISE_CLAMPED: return (struct laid_end){95, layer->reciprocal ? 16 : 8};
    case DORY_NORMALISE_64:
        return dory_multiplies_halves(layer) ? (struct laid_end){178, 9}
               : dory_shifts_narrowly(layer) ? (struct laid_end){150, 26}
                                             : (struct laid_end){92, 42};
    case DORY_NORMALISE_DIVIDE:
        return is_quick    ? (struct laid_end){166, 19}
               : is_narrow ? (struct laid_end){168, 40}
                           : (struct laid_end){120, 16 + dory_bitwise_division_cycles(layer)};
    case DORY_NORMALISE_SHARED: return (struct laid_end){105, 30};
    default: return (struct laid_end){123, layer->normalisation == DORY_NORMALISE_SPLIT ? 28 : 15};
    }
}

/* Of so many pixels and channels of a quad, in rows of four pixels. */
static uint64_t laid_finish_cycles(const struct dory_layer *layer, uint32_t rows, uint32_t pixels, uint32_t lanes)
{
    enum dory_direct kind =
        layer->output_bits == 8 && pixels % 4 == 0 && lanes == 4 ? dory_direct_of(layer) : DORY_NOT_DIRECT;
    struct laid_end end = laid_end_of(layer);
    bool packs = layer->output_bits < 8;
    switch (kind) {
    case DORY_NOT_DIRECT:
        return lanes * (end.call + (uint64_t)(packs ? 4 * rows : pixels) * end.element) + (packs ? 265 * rows : 0);
    case DORY_DIRECT: return 75 + 250 * rows;
    case DORY_DIRECT_CLAMPED:
    case DORY_DIRECT_CLAMPED_DIVIDED: return 75 + 375 * rows;
    default: return 75 + 425 * rows;
    }
}

/* The grid of windows by four pixels, a row of it, by a window's quads, which need not all be in the tile. */
struct laid {
    const struct dory_layer *layer;
    uint32_t pixels, pixel_quads, channels, each; /* of the tile; quads of a window */
    uint32_t batch;                               /* rows that are finished at once */
    uint64_t pixel, block;                        /* to lay a pixel; sums of four pixels by four channels */
};

/* So many rows of a window from `row` on, of each its quads `first` to `end` - 1. */
static uint64_t laid_rows_cycles(const struct laid *laid, uint32_t window, uint32_t row, uint32_t rows, uint32_t first,
                                 uint32_t end)
{
    uint32_t left = dory_divide_up(laid->channels, 4) - window * laid->each, behind = dory_minimum(end, left);
    uint32_t quads = behind > first ? behind - first : 0, pixels = dory_minimum(4 * rows, laid->pixels - 4 * row);
    bool has_last = quads != 0 && behind == left;
    uint64_t ends = (quads - has_last) * laid_finish_cycles(laid->layer, rows, pixels, 4);
    ends += has_last ? laid_finish_cycles(laid->layer, rows, pixels, (laid->channels - 1) % 4 + 1) : 0;
    return 36 + pixels * laid->pixel + quads * (49 + rows * laid->block) + ends;
}

/* Of a window's grid, items `first` to `end` - 1: the end of a row, whole rows, and the start of one. */
static uint64_t laid_window_cycles(const struct laid *laid, uint32_t window, uint32_t first, uint32_t end)
{
    uint32_t each = laid->each, row = first / each, start = first % each, next = dory_minimum(end, first - start + each);
    uint64_t cycles = 175;
    if (start != 0) {
        cycles += laid_rows_cycles(laid, window, row, 1, start, start + next - first);
        first = next;
        row++;
    }
    uint32_t whole = (end - first) / each, batches = whole == 0 ? 0 : (whole - 1) / laid->batch;
    cycles += batches == 0 ? 0 : batches * laid_rows_cycles(laid, window, row, laid->batch, 0, each);
    uint32_t rows = whole - batches * laid->batch, rest = end - first - whole * each; /* the last pixels may be missing */
    cycles += rows == 0 ? 0 : laid_rows_cycles(laid, window, row + batches * laid->batch, rows, 0, each);
    return cycles + (rest == 0 ? 0 : laid_rows_cycles(laid, window, row + whole, 1, 0, rest));
}

static uint64_t laid_share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct laid *laid = context;
    uint32_t items = laid->pixel_quads * laid->each;
    uint64_t cycles = 0;
    for (uint32_t next; first < end; first = next) {
        uint32_t window = first / items, before = window * items;
        next = dory_minimum(end, before + items);
        cycles += laid_window_cycles(laid, window, first - before, next - before);
    }
    return cycles;
}

static uint64_t grouped_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixel_bytes = dory_any_pixel_bytes(layer, tile->input_channels), halves = layer->input_bits == 16;
    uint32_t each = layer->grouped.outputs % 4 == 0 ? layer->grouped.outputs / 4u : 1,
             windows = dory_divide_up(dory_divide_up(tile->channels, 4), each);
    uint64_t words = (uint64_t)pixel_bytes / 4 * (1 + halves);
    struct laid laid = {.layer = layer,
                        .pixels = (uint32_t)tile->rows * tile->columns,
                        .pixel_quads = dory_divide_up((uint32_t)tile->rows * tile->columns, 4),
                        .channels = tile->channels,
                        .each = each,
                        .batch = each == 1 ? 4 : dory_any_batch(pixel_bytes),
                        .pixel = laid_pixel_cycles(layer),
                        .block = words * (layer->weight_bits == 8 ? 247 : 275) / 10 + 132 + 59 * halves};
    return dory_busiest_cycles(windows * laid.pixel_quads * each, cores, laid_share_cycles, &laid) + 645 +
           dory_division_start_cycles(layer);
}

#define GROUPED_ANY(bits)                                                                                                   \
    static bool grouped_any_##bits##_supports(const struct dory_layer *layer) { return grouped_any_supports(layer, bits); } \
    const struct dory_kernel_description dory_xpulpv2_grouped_any_##bits##_description = {                                  \
        .name = "dory_xpulpv2_grouped_any_" #bits,                                                                          \
        .supports = grouped_any_##bits##_supports,                                                                          \
        .scratch_bytes = grouped_any_scratch_bytes,                                                                         \
        .cycles = grouped_any_cycles,                                                                                       \
    };

GROUPED_ANY(8)
GROUPED_ANY(4)
GROUPED_ANY(2)
