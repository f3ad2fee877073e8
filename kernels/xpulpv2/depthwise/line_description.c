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

/* Cycles of what ends: a four of a lane, an output of four lanes beside its sums; and, where sums go through memory, the
 * call for some fours of a lane. */
struct finish {
    uint32_t four, single, call;
};

/* Outputs `first` to `end` - 1 of a line. */
struct part {
    uint32_t first, end, outputs;
    uint32_t lanes; /* the last quad may have fewer than four */
    bool joined;    /* with that of the quad before */
    bool starts;    /* its quad, whose weights are brought to the form of the fours */
};

/* What a lane starts with in a call, and a four of it. */
static uint32_t lane_start_cycles(uint32_t steps, bool slides, const struct finish *finish)
{
    return 54 + (!slides ? 0 : steps <= 3 ? 14 * steps : 8 * steps) + finish->call;
}

static uint32_t four_cycles(uint32_t steps, bool slides, const struct finish *finish)
{
    return finish->four + (!slides ? 8 + 18 * steps : steps <= 3 ? 6 + 6 * steps : 7 + 8 * steps);
}

/* An output of all lanes. Fewer than four are summed up byte by byte, for words would reach beyond the last pixel. */
static uint64_t single_cycles(uint32_t kernel, uint32_t lanes, const struct finish *finish)
{
    uint64_t sums = lanes == 4 ? 176 + 22 * dory_divide_up(kernel, 4) : 68 + lanes * (42 + 16 * (uint64_t)kernel);
    return sums + (uint64_t)finish->single * lanes / 4;
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
    uint32_t singles = outputs - 4 * fours, more = ends && singles > 0 && outputs >= 4;
    uint32_t calls = (finish->call ? dory_divide_up(fours, DORY_DEPTHWISE_LONG_FOURS) : fours > 0) + more;
    uint64_t pairs = fours > 0 && part->starts && (!slides || steps > 3) ? 14 + 20 * steps : 0;
    uint64_t lane = calls * (uint64_t)lane_start_cycles(steps, slides, finish) + pairs +
                    (fours + more) * (uint64_t)four_cycles(steps, slides, finish);
    uint64_t total = (part->joined ? 0 : 160 + (finish->call ? 240 : 140) * calls) + part->lanes * lane;
    return total + (more ? 0 : singles) * single_cycles(kernel, part->lanes, finish);
}

/* Whether whole lines of quads are computed as if they were of one: see line.c. */
static bool joins(const struct dory_layer *layer, uint32_t lines, uint32_t outputs)
{
    uint32_t sliding = dory_line_sliding(layer, kernel_of(layer), stride_of(layer));
    return layer->kernel_height == 1 && lines == 1 && sliding != 0 && sliding <= 3 && kernel_of(layer) % 4 != 0 &&
           outputs >= 4 && !dory_depthwise_takes_long_way(layer);
}

/* Before the first line; and where there are fours, the code for them. */
enum { START = 384, START_OF_FOURS = 19 };

/* The lines of all quads, by fours of outputs. */
struct lines {
    const struct dory_layer *layer;
    const struct finish *finish;
    uint32_t channels, count, outputs; /* lines of a quad, and outputs of a line */
};

/* To go on to a quad: a column's weights are brought next to each other. */
static uint64_t quad_cycles(const struct lines *of)
{
    uint32_t column = of->layer->kernel_height == 1 ? 0 : 110 + 38 * kernel_of(of->layer);
    return 36 + column;
}

/* Of one core: fours `first` to `end` - 1. Cores that have parts of more lines than others are the slowest. */
static uint64_t core_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct lines *of = context;
    const struct dory_layer *layer = of->layer;
    const struct finish *finish = of->finish;
    uint32_t channels = of->channels, lines = of->count, outputs = of->outputs;
    uint32_t fours = dory_divide_up(outputs, 4);
    uint64_t total = outputs < 4 ? START : START + START_OF_FOURS;
    bool may_join = joins(layer, lines, outputs), was_whole = false;
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
        total += starts_quad ? quad_cycles(of) : 0;
        was_whole = is_whole;
        first = next;
    }
    return total;
}

/* Not in line: it would be in each kernel's. */
static __attribute__((noinline)) uint64_t line_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                                      unsigned cores, struct finish finish)
{
    bool is_row = layer->kernel_height == 1;
    uint32_t outputs = is_row ? tile->columns : tile->rows, lines = is_row ? tile->rows : tile->columns;
    uint32_t items = dory_divide_up(tile->channels, 4) * lines * dory_divide_up(outputs, 4);
    const struct lines of = {layer, &finish, tile->channels, lines, outputs};
    return dory_busiest_cycles(items, cores, core_cycles, &of) + dory_division_start_cycles(layer);
}

/* Of sums in memory. */
static struct finish long_finish(const struct dory_layer *layer)
{
    uint32_t call = dory_depthwise_call_cycles(layer);
    return (struct finish){.four = dory_depthwise_long_cycles(layer),
                           .single = 4 * (call - 45 + dory_bitwise_division_cycles(layer)),
                           .call = call};
}

#define LINE(suffix, kind, ...)                                                                                             \
    static bool supports_##suffix(const struct dory_layer *layer) { return dory_is_line(layer) && (kind); }                 \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        return line_cycles(layer, tile, cores, __VA_ARGS__);                                                                \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_##suffix, supports_##suffix, line_scratch_bytes, cycles_##suffix)
#define DIRECT_LINE(suffix, kind, four, single)                                                                             \
    LINE(line_##suffix, dory_depthwise_kind(layer) == (kind), (struct finish){four, single, 0})

DIRECT_LINE(direct, DORY_DIRECT, 15, 0)
DIRECT_LINE(clamped, DORY_DIRECT_CLAMPED, 20, 32)
DIRECT_LINE(split, DORY_DIRECT_SPLIT, 28, 68)
DIRECT_LINE(split_away, DORY_DIRECT_SPLIT_AWAY, 40, 64)
DIRECT_LINE(high_away, DORY_DIRECT_HIGH_AWAY, 53, 73)
DIRECT_LINE(high_even, DORY_DIRECT_HIGH_EVEN, 57, 74)

LINE(line, dory_depthwise_takes_long_way(layer), long_finish(layer))
