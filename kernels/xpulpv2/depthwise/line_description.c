/* What the planner knows of the depth-wise kernels along one dimension; see line.h. */
#include "depthwise_description.h"

/* Along the line. */
static uint32_t kernel_of(const struct dory_layer *layer)
{
    return layer->kernel_height == 1 ? layer->kernel_width : layer->kernel_height;
}

static uint32_t stride_of(const struct dory_layer *layer)
{
    return layer->kernel_height == 1 ? layer->stride_width : layer->stride_height;
}

static uint32_t line_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile;
    return cores * dory_line_core_bytes(kernel_of(layer), stride_of(layer));
}

/* Cycles of so many fours of a line; the last one, where some of its outputs or pixels do not exist, is computed apart. */
static uint64_t part_cycles(const struct dory_layer *layer, uint32_t fours, bool partial, uint64_t finish_cycles)
{
    uint32_t kernel = kernel_of(layer), stride = stride_of(layer), steps = dory_depthwise_steps(kernel, stride);
    bool slides = dory_line_sliding(layer, kernel, stride) != 0, ends = slides && kernel % 4 != 0;
    uint64_t called = dory_depthwise_takes_long_way(layer) ? 290 : 0; /* lane by lane */
    uint64_t four = finish_cycles + (!slides ? 8 + 18 * steps : steps <= 3 ? 6 + 6 * steps : 7 + 8 * steps);
    uint64_t pairs = !slides ? 80 * steps : steps > 3 ? 100 + 80 * steps : 0, some = 4 * (110 + 17 * steps) + called + pairs;
    uint64_t copied =
        400 + called + 4 * (8 + 18 * steps + finish_cycles) + 15 * kernel + (slides && steps <= 3 ? 100 + 80 * steps : 0);
    if (ends && (!partial || fours > 1)) {
        return 150 + (partial ? 2 : 1) * some + fours * 4 * four;
    }
    return 150 + (fours > 1 ? some + (fours - 1) * 4 * four : pairs) + copied;
}

/* Of one core: fours `first` to `end` - 1 of the lines of all quads. */
static uint64_t core_cycles(const struct dory_layer *layer, uint32_t lines, uint32_t outputs, uint32_t first, uint32_t end,
                            uint64_t finish_cycles)
{
    uint32_t fours = dory_divide_up(outputs, 4);
    uint64_t total = 420, column = layer->kernel_height == 1 ? 0 : 4 * 12 * kernel_of(layer);
    for (bool starts = true; first < end; starts = false) {
        uint32_t line = first / fours, next = dory_minimum((line + 1) * fours, end);
        bool is_last = next == (line + 1) * fours;
        total += part_cycles(layer, next - first, is_last && outputs % 4 != 0, finish_cycles);
        total += starts || line % lines == 0 ? column : 0;
        first = next;
    }
    return total;
}

/* Cores that have parts of more lines than others are the slowest. */
static uint64_t line_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                            uint64_t finish_cycles)
{
    bool is_row = layer->kernel_height == 1;
    uint32_t outputs = is_row ? tile->columns : tile->rows, lines = is_row ? tile->rows : tile->columns;
    uint32_t items = dory_divide_up(tile->channels, 4) * lines * dory_divide_up(outputs, 4), first = 0;
    uint64_t slowest = 0;
    for (unsigned core = 0; core < cores; core++) {
        uint32_t end = first + items / cores + (core < items % cores);
        uint64_t cycles = core_cycles(layer, lines, outputs, first, end, finish_cycles);
        slowest = cycles > slowest ? cycles : slowest;
        first = end;
    }
    return slowest;
}

#define LINE(suffix, kind, finish_cycles)                                                                                   \
    static bool supports_##suffix(const struct dory_layer *layer) { return dory_is_line(layer) && (kind); }                 \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        return line_cycles(layer, tile, cores, finish_cycles);                                                              \
    }                                                                                                                       \
    const struct dory_kernel_description dory_xpulpv2_##suffix##_description = {                                            \
        .name = "dory_xpulpv2_" #suffix,                                                                                    \
        .supports = supports_##suffix,                                                                                      \
        .scratch_bytes = line_scratch_bytes,                                                                                \
        .cycles = cycles_##suffix,                                                                                          \
        .start_percent = 63,                                                                                                \
    };
#define OF_KIND(kind) dory_depthwise_kind(layer) == (kind)

LINE(line_direct, OF_KIND(DORY_DIRECT), 17)
LINE(line_clamped, OF_KIND(DORY_DIRECT_CLAMPED), 20)
LINE(line_clamped_less_one, OF_KIND(DORY_DIRECT_CLAMPED_LESS_ONE), 28)
LINE(line_split, OF_KIND(DORY_DIRECT_SPLIT), 28)
LINE(line_split_away, OF_KIND(DORY_DIRECT_SPLIT_AWAY), 38)
LINE(line_high, OF_KIND(DORY_DIRECT_HIGH), 41)
LINE(line_high_away, OF_KIND(DORY_DIRECT_HIGH_AWAY), 55)
LINE(line, dory_depthwise_takes_long_way(layer), dory_depthwise_long_cycles(layer))
