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

/* Cycles of what ends: a four of a lane, an output of four lanes beside its sums, and what a quad takes before; and whether
 * sums go through memory, lane by lane. */
struct finish {
    uint32_t four, single, quad;
    bool is_long;
};

/* Outputs `first` to `end` - 1 of a line. */
struct part {
    uint32_t first, end, outputs;
    uint32_t lanes; /* the last quad may have fewer than four */
    bool joined;    /* with that of the quad before */
    bool starts;    /* its quad, whose weights are brought to the form of the fours */
};

/* A call for so many fours of a lane: what it starts with, and the fours. */
static uint64_t call_cycles(uint32_t fours, uint32_t steps, bool slides, const struct finish *finish)
{
    uint64_t four = finish->four + (!slides ? 8 + 18 * steps : steps <= 3 ? 6 + 6 * steps : 7 + 8 * steps);
    return (slides ? 72 + 10 * steps : 80) + fours * four;
}

/* An output of all lanes. Fewer than four are summed up byte by byte, for words would reach beyond the last pixel. */
static uint64_t single_cycles(uint32_t kernel, uint32_t lanes, const struct finish *finish)
{
    uint64_t sums = lanes == 4 ? 190 + 22 * dory_divide_up(kernel, 4) : 100 + lanes * (25 + 16 * (uint64_t)kernel);
    return sums + finish->single * lanes / 4;
}

static uint64_t part_cycles(const struct dory_layer *layer, const struct part *part, const struct finish *finish)
{
    uint32_t kernel = kernel_of(layer), stride = stride_of(layer), steps = dory_depthwise_steps(kernel, stride);
    bool slides = dory_line_sliding(layer, kernel, stride) != 0, ends = slides && kernel % 4 != 0;
    uint32_t outputs = part->end - part->first, fours = outputs / 4, reach = 4 * steps + (slides ? 0 : 2 * stride);
    uint32_t inputs = (part->outputs - 1) * stride + kernel;
    while (!ends && fours > 0 && (part->first + 4 * fours - 4) * stride + reach > inputs) {
        fours--;
    }
    uint32_t singles = outputs - 4 * fours, more = ends && singles > 0 && outputs >= 4, calls = (fours > 0) + more;
    uint64_t pairs = fours == 0 || !part->starts ? 0 : !slides ? 20 * steps : steps > 3 ? 25 + 20 * steps : 0;
    uint64_t called = finish->is_long ? 125 : 0;
    uint64_t lane = calls * called + pairs + (fours > 0 ? call_cycles(fours, steps, slides, finish) : 0) +
                    (more ? call_cycles(1, steps, slides, finish) : 0);
    uint64_t total = (part->joined ? 0 : 130 + 70 * calls) + part->lanes * lane;
    return total + (more ? 0 : singles) * single_cycles(kernel, part->lanes, finish);
}

/* Whether whole lines of quads are computed as if they were of one: see line.c. */
static bool joins(const struct dory_layer *layer, uint32_t lines, uint32_t outputs, const struct finish *finish)
{
    uint32_t sliding = dory_line_sliding(layer, kernel_of(layer), stride_of(layer));
    return layer->kernel_height == 1 && lines == 1 && sliding != 0 && sliding <= 3 && kernel_of(layer) % 4 != 0 &&
           outputs >= 4 && finish->quad == 0 && !dory_depthwise_takes_long_way(layer);
}

/* Before the first line; and where there are fours, the code for them. */
enum { START = 430, START_OF_FOURS = 60 };

/* The lines of all quads, by fours of outputs. */
struct lines {
    const struct dory_layer *layer;
    const struct finish *finish;
    uint32_t channels, count, outputs; /* lines of a quad, and outputs of a line */
};

/* Of one core: fours `first` to `end` - 1. Cores that have parts of more lines than others are the slowest. */
static uint64_t core_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct lines *of = context;
    const struct dory_layer *layer = of->layer;
    const struct finish *finish = of->finish;
    uint32_t channels = of->channels, lines = of->count, outputs = of->outputs;
    uint32_t fours = dory_divide_up(outputs, 4);
    uint64_t total = outputs < 4 ? START : START + START_OF_FOURS,
             column = layer->kernel_height == 1 ? 0 : 150 + 30 * kernel_of(layer);
    bool may_join = joins(layer, lines, outputs, finish), was_whole = false;
    for (bool starts = true; first < end; starts = false) {
        uint32_t line = first / fours, next = dory_minimum((line + 1) * fours, end), start = first - line * fours;
        bool is_whole = may_join && next - first == fours;
        bool starts_quad = starts || line % lines == 0;
        struct part part = {.first = 4 * start,
                            .end = dory_minimum(4 * (next - line * fours), outputs),
                            .outputs = outputs,
                            .lanes = dory_minimum(4, channels - line / lines * 4),
                            .joined = is_whole && was_whole,
                            .starts = starts_quad};
        total += part_cycles(layer, &part, finish);
        total += starts_quad ? column + finish->quad : 0;
        was_whole = is_whole;
        first = next;
    }
    return total;
}

static uint64_t line_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                            struct finish finish)
{
    bool is_row = layer->kernel_height == 1;
    uint32_t outputs = is_row ? tile->columns : tile->rows, lines = is_row ? tile->rows : tile->columns;
    uint32_t items = dory_divide_up(tile->channels, 4) * lines * dory_divide_up(outputs, 4);
    const struct lines of = {layer, &finish, tile->channels, lines, outputs};
    return dory_busiest_cycles(items, cores, core_cycles, &of) + dory_division_start_cycles(layer);
}

#define LINE(suffix, kind, percent, ...)                                                                                    \
    static bool supports_##suffix(const struct dory_layer *layer) { return dory_is_line(layer) && (kind); }                 \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        return line_cycles(layer, tile, cores, (struct finish){__VA_ARGS__});                                               \
    }                                                                                                                       \
    const struct dory_kernel_description dory_xpulpv2_##suffix##_description = {                                            \
        .name = "dory_xpulpv2_" #suffix,                                                                                    \
        .supports = supports_##suffix,                                                                                      \
        .scratch_bytes = line_scratch_bytes,                                                                                \
        .cycles = cycles_##suffix,                                                                                          \
        .code_percent = percent,                                                                                            \
    };
#define OF_KIND(kind) dory_depthwise_kind(layer) == (kind)

LINE(line_direct, OF_KIND(DORY_DIRECT), 70, 17, 0, 0, false)
LINE(line_clamped, OF_KIND(DORY_DIRECT_CLAMPED), 70, 20, 20, 0, false)
LINE(line_clamped_less_one, OF_KIND(DORY_DIRECT_CLAMPED_LESS_ONE), 70, 28, 40, 0, false)
LINE(line_split, OF_KIND(DORY_DIRECT_SPLIT), 70, 31, 70, 0, false)
LINE(line_split_away, OF_KIND(DORY_DIRECT_SPLIT_AWAY), 70, 40, 90, 0, false)
LINE(line_high, OF_KIND(DORY_DIRECT_HIGH), 70, 43, 70, 0, false)
LINE(line_high_away, OF_KIND(DORY_DIRECT_HIGH_AWAY), 70, 58, 80, 0, false)
LINE(line_high_even, OF_KIND(DORY_DIRECT_HIGH_EVEN), 70, 61, 80, 0, false)

LINE(line_64, dory_depthwise_translates(layer, DORY_NORMALISE_64), 83,
     dory_multiplies_halves(layer) ? 24 : dory_depthwise_long_cycles(layer), dory_multiplies_halves(layer) ? 105 : 300, 500,
     !dory_multiplies_halves(layer))
LINE(line_divided, dory_depthwise_translates(layer, DORY_NORMALISE_DIVIDE), 83, 57, 140, 540, false)

LINE(line, dory_depthwise_goes_through_memory(layer), 70, dory_depthwise_long_cycles(layer) - 20,
     170 + 4 * dory_bitwise_division_cycles(layer), 0, true)
