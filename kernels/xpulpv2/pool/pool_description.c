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

/* Of a core's part: what its share of the grid of pixels by quads, and channels that are left over, takes. In pools of any
 * elements, by items, of which the last one is the only single. */
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

#define POOL(kernel, pooling)                                                                                               \
    static bool kernel##_supports(const struct dory_layer *layer)                                                           \
    {                                                                                                                       \
        return layer->operation == (pooling) && pool_supports(layer);                                                       \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_##kernel, kernel##_supports, NULL, pool_cycles)

POOL(pool_maximum, DORY_MAXIMUM_POOL)
POOL(pool_average, DORY_AVERAGE_POOL)

/* ---- of elements of any bits ------------------------------------------------------------------------------- */

static bool pool_any_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) && layer->input_bits <= 16 &&
           layer->output_bits <= 16 && !pool_supports(layer);
}

/* Maxima of `count` channels of a pixel; the bytes of part of a word are read one by one. */
static uint64_t words_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    struct window window = window_of(layer, tile);
    uint32_t taps = window.rows * window.columns, bits = count * layer->input_bits, bytes = (bits % 32 + 7) / 8;
    uint32_t tenths = layer->input_bits == 2 ? 230 : layer->input_bits == 4 ? 138 : 88;
    uint64_t word = window.rows * 8 + taps * tenths / 10, read = bytes < 4 ? taps * 7 * (bytes + 1) : 0;
    return 46 + bits / 32 * (word + 6) + (bytes != 0 ? 110 + word + read : 0);
}

/* Sums of sixteen channels of a pixel, two in a word; bytes lie across words where pixels do not begin with one. */
static uint64_t sixteen_cycles(const struct dory_layer *layer, uint32_t channels)
{
    uint32_t bytes_tap = channels % 4 == 0 ? 31 : 34;
    uint32_t tap = layer->input_bits == 2 ? 44 : layer->input_bits == 4 ? 41 : bytes_tap;
    uint32_t less = layer->output_bits == 16 ? 135 : layer->output_bits < 8 ? 105 : 0;
    return layer->kernel_height * (layer->kernel_width * tap + 13) + dory_sixteen_finish_cycles(layer, range_of(layer)) +
           525 - less + (layer->input_is_signed ? 115 : 0);
}

/* Of a window of so few channels that the pixel has not the bytes of four: element by element. */
static uint64_t few_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    struct window window = window_of(layer, tile);
    uint32_t tap = (layer->operation == DORY_MAXIMUM_POOL ? 14u : 17) + (layer->input_bits == 16 ? 5u : 0);
    return 110 + count * (window.rows * (window.columns * tap + 10) + 10);
}

/* Of a window of four channels. */
static uint64_t taps_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    struct window window = window_of(layer, tile);
    uint32_t rows = window.rows, columns = window.columns;
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    switch (layer->input_bits) {
    case 16: return is_maximum ? rows * (columns * 16 + 19) + 181 : rows * (columns * 6 + 12) + 155;
    case 8: return is_maximum ? rows * (columns * 3 + 12) + 165 : average_cycles(layer, tile) + 163;
    case 4: return rows * (columns * 21 + 6) + (is_maximum ? 155 : 132);
    default: return rows * (columns * 18 + 7) + (is_maximum ? 150 : 130);
    }
}

/* Up to four channels of a pixel. What is no word is written byte by byte. */
static uint64_t four_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    bool is_few = count < 4 && dory_element_bytes(tile->channels, layer->input_bits) < layer->input_bits / 2u;
    uint32_t bytes = count < 4 || layer->output_bits < 8 ? dory_element_bytes(count, layer->output_bits) : 0;
    return (is_few ? few_cycles(layer, tile, count) : taps_cycles(layer, tile)) + bytes * 11 +
           dory_four_finish_cycles(layer, range_of(layer)) + called_cycles(layer);
}

/* Of up to sixteen channels of a pixel. */
static uint64_t item_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint32_t count)
{
    uint32_t rest = count % 4;
    if (passes_on(layer)) {
        return words_cycles(layer, tile, count);
    }
    return count == 16 ? sixteen_cycles(layer, tile->channels)
                       : count / 4 * four_cycles(layer, tile, 4) + (rest != 0 ? four_cycles(layer, tile, rest) : 0);
}

/* Of sums, whose range is that of all taps, its bounds are multiplied and divided in 64 bits. */
static uint32_t any_start_cycles(const struct dory_layer *layer)
{
    struct dory_narrow_stage stage[2];
    uint32_t sums = layer->operation == DORY_MAXIMUM_POOL ? 0 : 1;
    switch (layer->normalisation) {
    case DORY_NORMALISE_HIGH: return 615 + sums * 62;
    case DORY_NORMALISE_THRESHOLDS: return 445 + sums * 80;
    default: break;
    }
    return dory_narrow_stages_of(stage, layer, range_of(layer)) ? 695 + sums * 42 + (layer->stages->has_second ? 140 : 0)
                                                                : 550;
}

/* Items of a pixel but for the last one are equal. */
static uint64_t pool_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t wide = dory_pool_item_channels(layer, passes_on(layer), pixels, tile->channels, cores);
    uint32_t rest = tile->channels % wide, groups = dory_divide_up(tile->channels, wide);
    struct items items = {.quad = item_cycles(layer, tile, wide), .pixel = 47, .quads = groups - 1, .singles = 1};
    items.single = rest != 0 ? item_cycles(layer, tile, rest) : items.quad;
    return dory_busiest_cycles(pixels * groups, cores, share_cycles, &items) + any_start_cycles(layer);
}

DORY_DESCRIBE(xpulpv2_pool_any, pool_any_supports, NULL, pool_any_cycles)
