/* What the planner knows of the pools. */
#include "description.h"
#include "stage_description.h"

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

/* Of four channels: a window of whole rows of the tile is one row; pixels are added by fours. */
static uint64_t average_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t rows = layer->kernel_height, columns = layer->kernel_width;
    if (tile->columns == 1 && layer->dilation_height == 1 && layer->dilation_width == 1) {
        columns *= rows;
        rows = 1;
    }
    return rows * (columns / 4 * 16 + columns % 4 * 6 + 12);
}

/* Quads, and the channels that are left over one by one. */
static uint64_t pool_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = tile->channels / 4, rest = tile->channels % 4;
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    bool is_plain = passes_on(layer);
    uint32_t finish = is_plain ? 0 : dory_scalar_finish_cycles(layer, range_of(layer)),
             four_finish = is_plain ? 0 : dory_four_finish_cycles(layer, range_of(layer));
    if (four_finish > 0 && layer->normalisation < DORY_NORMALISE_HIGH &&
        (layer->stages->first.divisor & (layer->stages->first.divisor - 1)) != 0) {
        four_finish += 120; /* a division is called element by element */
    }
    uint64_t maximum = layer->kernel_height * (layer->kernel_width * 3u + 15u) + (is_plain ? 21 : 41);
    uint64_t quad = (is_maximum ? maximum : average_cycles(layer, tile)) + four_finish;
    uint64_t single = layer->kernel_height * (layer->kernel_width * 14u + 8u) + finish + 35;
    uint64_t items = ((uint64_t)tile->rows * tile->columns * (quads + rest) + cores - 1) / cores;
    if (!is_maximum && tile->channels % 64 == 0 && items % 16 == 0) { /* all cores read from one bank of the memory */
        quad += 2 * (uint64_t)layer->kernel_height * layer->kernel_width;
    }
    return items * (quads * quad + rest * single) / (quads + rest) + (is_maximum ? (is_plain ? 870 : 1150) : 1150);
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
        .start_percent = percent,                                                                                           \
    };

POOL(pool_maximum, DORY_MAXIMUM_POOL, 80)
POOL(pool_average, DORY_AVERAGE_POOL, 68)

/* ---- of elements of any bits ------------------------------------------------------------------------------- */

static bool pool_any_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) && layer->input_bits <= 16 &&
           layer->output_bits <= 16 && !pool_supports(layer);
}

/* Maxima of `words` words of a pixel. */
static uint64_t words_cycles(const struct dory_layer *layer, uint32_t words)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    uint64_t tenths = layer->input_bits == 2 ? 260 : layer->input_bits == 4 ? 134 : 94;
    return 40 + words * (27 + taps * tenths / 10);
}

/* Of `count` channels of a pixel, up to sixteen; fewer are copied before they are read. */
static uint64_t sixteen_cycles(const struct dory_layer *layer, uint32_t count)
{
    bool is_part = count < 16;
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    bool sums = layer->operation == DORY_AVERAGE_POOL && !is_part && (layer->input_bits == 16 || !layer->input_is_signed);
    uint64_t tap = !sums                     ? (is_part ? 260 + 9 * (uint64_t)count : 300)
                   : layer->input_bits == 16 ? 55
                   : layer->input_bits == 8  ? 31
                                             : 43;
    uint32_t called = layer->normalisation == DORY_NORMALISE_HIGH ? 160 : 0; /* element by element */
    return taps * tap + 4 * dory_four_finish_cycles(layer, range_of(layer)) + 240 + called + (is_part ? 200u : 0u);
}

/* Sixteens of channels, and what is left over. */
static uint64_t pool_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t whole = tile->channels / 16, rest = tile->channels % 16, groups = whole + (rest != 0);
    uint64_t pixels = (uint64_t)tile->rows * tile->columns, items = (pixels * groups + cores - 1) / cores;
    uint64_t pixel = passes_on(layer) ? whole * words_cycles(layer, layer->input_bits / 2) +
                                            (rest ? words_cycles(layer, dory_divide_up(rest * layer->input_bits, 32)) : 0)
                                      : whole * sixteen_cycles(layer, 16) + (rest ? sixteen_cycles(layer, rest) : 0);
    return items * pixel / groups + (pixels + cores - 1) / cores * 50 + 1370;
}

const struct dory_kernel_description dory_xpulpv2_pool_any_description = {
    .name = "dory_xpulpv2_pool_any",
    .supports = pool_any_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = pool_any_cycles,
    .start_percent = 110,
};
