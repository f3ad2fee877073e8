/* What the planner knows of the pools. */
#include "../description.h"
#include "../stage_description.h"
#include "dory/normalise.h"
#include "items.h"

static bool pool_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) && layer->input_bits == 8 &&
           layer->output_bits == 8;
}

/* What a window's maximum or sum can be. */
static struct dory_range range_of(const struct dory_layer *layer)
{
    struct dory_range range = dory_element_range(layer->input_bits, layer->input_is_signed);
    int64_t taps = layer->operation == DORY_AVERAGE_POOL ? layer->kernel_height * layer->kernel_width : 1;
    return (struct dory_range){range.least * taps, range.most * taps};
}

/* A maximum that is the element. */
static bool passes_on(const struct dory_layer *layer)
{
    const struct dory_stage *first = &layer->stages->first;
    struct dory_range range = range_of(layer);
    return layer->operation == DORY_MAXIMUM_POOL && layer->normalisation < DORY_NORMALISE_HIGH && first->multiplier == 1 &&
           first->addend == 0 && first->divisor == 1 && !layer->stages->has_second &&
           layer->input_bits == layer->output_bits && layer->minimum <= range.least && layer->maximum >= range.most;
}

/* A window of whole rows of the tile is one row. */
struct window {
    uint32_t rows, columns;
};

static struct window window_of(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t rows = layer->kernel_height, columns = layer->kernel_width;
    bool is_row = tile->columns == 1 && layer->dilation_height == 1 && layer->dilation_width == 1;
    return is_row ? (struct window){1, rows * columns} : (struct window){rows, columns};
}

/* Words of pixels that do not begin with one lie across two, but for every fourth pixel. */
static uint32_t across_cycles(const struct dory_tile_shape *tile, uint32_t words)
{
    return tile->channels % 4 != 0 ? words * 3 / 4 : 0;
}

/* Of four channels: pixels are added by fours, and those that are left over. */
static uint64_t average_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    struct window window = window_of(layer, tile);
    uint32_t fours = window.columns / 4, rest = window.columns % 4;
    uint32_t row = fours * 16 + rest * 6 + 10 + (fours ? 4 : 0) + (rest ? 3 : 0) + across_cycles(tile, window.columns);
    return window.rows * row + 2;
}

/* Divisions and second stages are called element by element: what that is for four. */
static uint32_t called_cycles(const struct dory_layer *layer)
{
    int64_t divisor = layer->stages->first.divisor;
    bool divides = (divisor & (divisor - 1)) != 0, is_called = divides || layer->stages->has_second;
    return layer->normalisation < DORY_NORMALISE_HIGH && is_called ? (divides ? 120 : 90) : 0;
}

/* Of a core's part: what its share of the grid of pixels by quads, and channels that are left over, takes. */
struct items {
    uint64_t quad, single, pixel; /* cycles; of a pixel, to walk on to it, and to find how much of it is the core's */
    uint32_t quads, singles;      /* of a pixel */
};

static uint32_t quads_before(const struct items *items, uint32_t item)
{
    uint32_t all = items->quads + items->singles;
    return item / all * items->quads + dory_minimum(item % all, items->quads);
}

static uint64_t share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct items *items = context;
    uint32_t all = items->quads + items->singles, pixels = dory_divide_up(end, all) - first / all;
    uint64_t quads = quads_before(items, end) - quads_before(items, first);
    return quads * items->quad + (end - first - quads) * items->single + pixels * items->pixel;
}

/* Before the first pixel: the range of values is followed through the stages, a divisor's logarithm counted bit by bit. For
 * sums, whose range is that of all taps, its bounds take longer. */
static uint32_t start_cycles(const struct dory_layer *layer, bool is_plain)
{
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    uint64_t divisor = (uint64_t)layer->stages->first.divisor;
    struct dory_narrow_stage stage[2];
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return is_maximum ? 355 : 395;
    }
    if (layer->normalisation == DORY_NORMALISE_HIGH || !dory_narrow_stages_of(stage, layer, range_of(layer))) {
        return is_maximum ? 550 : 580;
    }
    uint32_t second = layer->stages->has_second ? DORY_SECOND_STAGE_CYCLES : 0;
    return second + (is_plain ? 635 : (divisor & (divisor - 1)) != 0 ? 690 : 620 + 6 * dory_log2(divisor));
}

/* Of a quad: with so many quads each, all cores begin at one bank of the memory or at one of two, and stay together where
 * they have parts of one pixel. */
static uint64_t conflict_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t quads)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    if (tile->channels % 32 != 0 || quads % 8 != 0) {
        return 0;
    }
    return tile->rows * tile->columns > 1 ? taps / 2 : taps * (quads % 16 == 0 ? 4 : 2) / 3;
}

/* Quads, and the channels that are left over one by one. */
static uint64_t pool_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct window window = window_of(layer, tile);
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL, is_plain = passes_on(layer);
    uint32_t finish = is_plain ? 0 : dory_scalar_finish_cycles(layer, range_of(layer)),
             four_finish = is_plain ? 0 : dory_four_finish_cycles(layer, range_of(layer)) + called_cycles(layer);
    uint32_t row = window.columns * 3u + across_cycles(tile, window.columns) + (is_plain ? 10u : 11u);
    uint64_t maximum = window.rows * row + (is_plain ? 22 : 42);
    struct items items = {
        .quad = (is_maximum ? maximum : average_cycles(layer, tile)) + four_finish,
        .single = window.rows * (window.columns * (is_maximum ? 12u : 10u) + 7u) + finish + 35,
        .pixel = 35,
        .quads = tile->channels / 4,
        .singles = tile->channels % 4,
    };
    uint32_t all = (uint32_t)tile->rows * tile->columns * (items.quads + items.singles);
    items.quad += conflict_cycles(layer, tile, dory_divide_up(all, cores));
    return dory_busiest_cycles(all, cores, share_cycles, &items) + start_cycles(layer, is_plain);
}

#define POOL(kernel, pooling, percent)                                                                                      \
    static bool kernel##_supports(const struct dory_layer *layer)                                                           \
    {                                                                                                                       \
        return layer->operation == (pooling) && pool_supports(layer);                                                       \
    }                                                                                                                       \
    const struct dory_kernel_description dory_xpulpv2_##kernel##_description = {                                            \
        .name = "dory_xpulpv2_" #kernel,                                                                                    \
        .supports = kernel##_supports,                                                                                      \
        .scratch_bytes = dory_no_scratch,                                                                                   \
        .cycles = pool_cycles,                                                                                              \
        .code_percent = percent,                                                                                            \
    };

POOL(pool_maximum, DORY_MAXIMUM_POOL, 51)
POOL(pool_average, DORY_AVERAGE_POOL, 54)

/* ---- of elements of any bits ------------------------------------------------------------------------------- */

static bool pool_any_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) && layer->input_bits <= 16 &&
           layer->output_bits <= 16 && !pool_supports(layer);
}

/* Maxima of `count` channels of a pixel; the bytes of part of a word are read one by one. */
static uint64_t words_cycles(const struct dory_layer *layer, uint32_t count)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width, bits = (uint64_t)count * layer->input_bits;
    uint64_t tenths = layer->input_bits == 2 ? 260 : layer->input_bits == 4 ? 134 : 94;
    uint64_t part = bits % 32 != 0 ? 60 + taps * (tenths + 120 + bits % 32 * 10) / 10 : 0;
    return 40 + bits / 32 * (27 + taps * tenths / 10) + part;
}

/* Sums of sixteen channels of a pixel, two in a word. */
static uint64_t sixteen_cycles(const struct dory_layer *layer, uint32_t channels)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    uint32_t called = layer->normalisation == DORY_NORMALISE_HIGH ? 190 : 2 * called_cycles(layer); /* element by element */
    uint32_t tap = layer->input_bits != 8 ? 43 : channels % 4 == 0 ? 31 : 45; /* where pixels begin within words */
    return taps * tap + 4 * dory_four_finish_cycles(layer, range_of(layer)) + called + 280 +
           (layer->input_is_signed ? 80 : 0);
}

/* Of a window of four channels. */
static uint64_t taps_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    struct window window = window_of(layer, tile);
    uint64_t taps = (uint64_t)window.rows * window.columns;
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    if (count < 4 && dory_element_bytes(tile->channels, layer->input_bits) < layer->input_bits / 2u) {
        return count * (taps * 16 + 20); /* element by element */
    }
    switch (layer->input_bits) {
    case 16: return is_maximum ? 2 * (taps * 94 / 10 + 27) : window.rows * (window.columns * 6u + 12);
    case 8: return is_maximum ? window.rows * (window.columns * 3u + 15u) : average_cycles(layer, tile) + taps;
    case 4: return taps * 21 + window.rows * 6u;
    default: return taps * 18 + window.rows * 6u;
    }
}

/* Of up to sixteen channels of a pixel. */
static uint64_t item_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    uint64_t cycles = 0;
    if (passes_on(layer)) {
        return words_cycles(layer, count);
    }
    if (count == 16) {
        return sixteen_cycles(layer, tile->channels);
    }
    for (uint32_t channel = 0; channel < count; channel += 4) {
        cycles += taps_cycles(layer, tile, dory_minimum(4, count - channel)) +
                  dory_four_finish_cycles(layer, range_of(layer)) + called_cycles(layer) + 160;
    }
    return cycles;
}

/* Of sums, whose range is that of all taps, its bounds are multiplied and divided in 64 bits. */
static uint32_t any_start_cycles(const struct dory_layer *layer)
{
    struct dory_narrow_stage stage[2];
    bool is_high = layer->normalisation >= DORY_NORMALISE_HIGH;
    bool is_narrow = !is_high && dory_narrow_stages_of(stage, layer, range_of(layer));
    if (is_narrow) {
        return layer->operation == DORY_MAXIMUM_POOL ? 900 : 880;
    }
    return is_high ? 780 : 550;
}

/* Items of a pixel but for the last one are equal. A core that has less than a pixel has the last one if it takes longer. */
static uint64_t pool_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = (uint64_t)tile->rows * tile->columns;
    uint32_t wide = dory_pool_item_channels(layer, passes_on(layer), (uint32_t)pixels, tile->channels, cores);
    uint32_t rest = tile->channels % wide, groups = dory_divide_up(tile->channels, wide);
    uint64_t items = (pixels * groups + cores - 1) / cores, whole = item_cycles(layer, tile, wide);
    uint64_t last = rest != 0 ? item_cycles(layer, tile, rest) : whole;
    uint64_t cycles = items < groups ? (items - 1) * whole + (last > whole || groups == 1 ? last : whole)
                                     : items * ((groups - 1) * whole + last) / groups;
    return cycles + (pixels + cores - 1) / cores * 50 + any_start_cycles(layer);
}

const struct dory_kernel_description dory_xpulpv2_pool_any_description = {
    .name = "dory_xpulpv2_pool_any",
    .supports = pool_any_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = pool_any_cycles,
    .code_percent = 100,
};
