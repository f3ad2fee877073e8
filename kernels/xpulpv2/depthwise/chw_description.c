/* What the planner knows of the kernels for depth-wise layers 3x3 with an input in CHW. */
#include "../share.h"
#include "depthwise_description.h"

/* With the border that the kernels know, rows that end in `end` columns, or 0: in any; see depthwise_3x3_chw.c. */
static __attribute__((noinline)) bool depthwise_3x3_chw_supports(const struct dory_layer *layer, uint32_t stride,
                                                                 uint32_t left, uint32_t end, enum dory_direct kind)
{
    bool any = kind == DORY_DIRECT_SPLIT || kind == DORY_DIRECT_HIGH_AWAY;
    return dory_depthwise_3x3_supports(layer, stride, kind) && layer->padding_left == left && layer->output_width >= 4 &&
           layer->input_width == stride * layer->output_width && (any || layer->border_value == 0) &&
           (end == 0 || layer->output_width % 4 == end);
}

/* Strips of so many columns and a quad of channels, shared out by rows: a row of a lane takes so many tenths of a cycle, a
 * lane so many cycles besides. */
struct strips {
    uint32_t columns, rows, quads, lanes; /* in each quad */
    uint64_t row_tenths, lane_cycles;
};

/* Cycles of a call, of what strips of their own for the last columns take more, and of quads of a strip that follow each
 * other, or what there is of one. */
enum { CALL = 360, END_CALL = 170, STRIPS = 110 };

/* Of a core with these rows of all strips, strip by strip through all channels: it may start and end within a quad. */
static uint64_t share_cycles(const struct strips *strips, uint32_t first, uint32_t end)
{
    uint32_t quad = dory_divide_up(first, strips->rows), end_quad = end / strips->rows; /* those that are all there */
    uint32_t quads = dory_divide_up(end, strips->rows) - first / strips->rows, calls = quads;
    if (quad < end_quad) {
        calls -= end_quad - quad - (1 + (end_quad - 1) / strips->quads - quad / strips->quads);
    }
    return strips->lanes * ((end - first) * strips->row_tenths / 10 + quads * strips->lane_cycles) + calls * STRIPS;
}

static uint64_t core_cycles(const struct strips *strips, unsigned core, unsigned cores)
{
    struct dory_grid_share share = dory_grid_share_of(strips->columns * strips->quads, strips->rows, core, cores);
    uint32_t first = share.row * strips->rows + share.first;
    return share.items != 0 ? share_cycles(strips, first, first + share.items) : 0;
}

/* Of strips of four columns, and of those of the last columns, if they have their own. */
static uint64_t busiest_strips_cycles(const struct strips *four, const struct strips *end, unsigned cores)
{
    uint64_t most = 0;
    for (unsigned core = 0; core < cores; core++) {
        uint64_t cycles = core_cycles(four, core, cores) + (end->columns != 0 ? core_cycles(end, core, cores) : 0);
        most = cycles > most ? cycles : most;
    }
    return most;
}

/* Tenths of a cycle that a row of so many last columns takes beside their part of what follows sums in a row of four. */
static uint64_t end_row_tenths(uint32_t stride, uint32_t columns)
{
    static const uint8_t tenths[][3] = {{0, 84, 99}, {0, 50, 127}};
    return tenths[stride - 1][columns];
}

/* Strips of four columns, the last of which may overlap the one before, and those of the last columns alone. A word of a row
 * that starts within one takes a cycle or two more, of which a loop with stride 1 hides most. */
static uint64_t chw_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores, uint32_t end,
                           uint64_t row_tenths, uint64_t lane_cycles)
{
    bool is_1 = layer->stride_width == 1;
    uint64_t finish_tenths = row_tenths - (is_1 ? 185 : 222);
    uint64_t misaligned = layer->input_width % 4 == 0 ? 0 : is_1 ? 5 : 25;
    struct strips four = {.columns = end != 0 ? tile->columns / 4 : dory_divide_up(tile->columns, 4),
                          .rows = tile->rows,
                          .quads = dory_divide_up(tile->channels, 4),
                          .lanes = dory_minimum(tile->channels, 4),
                          .row_tenths = row_tenths + misaligned,
                          .lane_cycles = lane_cycles},
                  last = four;
    last.columns = end != 0;
    last.row_tenths = end_row_tenths(layer->stride_width, end) + finish_tenths * end / 4 + misaligned;
    return busiest_strips_cycles(&four, &last, cores) + CALL + (end != 0 ? END_CALL : 0);
}

#define DEPTHWISE_3X3_CHW(suffix, stride, left, end, kind, row_tenths, lane_cycles)                                         \
    static bool supports_chw_##suffix(const struct dory_layer *layer)                                                       \
    {                                                                                                                       \
        return depthwise_3x3_chw_supports(layer, stride, left, end, kind);                                                  \
    }                                                                                                                       \
    static uint64_t cycles_chw_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores) \
    {                                                                                                                       \
        return chw_cycles(layer, tile, cores, end, row_tenths, lane_cycles);                                                \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_depthwise_3x3_chw_##suffix, supports_chw_##suffix, NULL, cycles_chw_##suffix,                     \
                  .contention_percent = 55, .reads_chw = true)

/* For rows that end in any number of columns, in two and in one. */
#define DEPTHWISE_3X3_CHW_ENDS(name, kind_suffix, stride, left, kind, row_tenths, lane_cycles)                              \
    DEPTHWISE_3X3_CHW(name##kind_suffix, stride, left, 0, kind, row_tenths, lane_cycles)                                    \
    DEPTHWISE_3X3_CHW(name##_half##kind_suffix, stride, left, 2, kind, row_tenths, lane_cycles)                             \
    DEPTHWISE_3X3_CHW(name##_one##kind_suffix, stride, left, 1, kind, row_tenths, lane_cycles)

DEPTHWISE_3X3_CHW_ENDS(stride_1, , 1, 1, DORY_DIRECT, 338, 47)
DEPTHWISE_3X3_CHW_ENDS(stride_1, _clamped, 1, 1, DORY_DIRECT_CLAMPED, 385, 49)
DEPTHWISE_3X3_CHW_ENDS(stride_1, _split, 1, 1, DORY_DIRECT_SPLIT, 485, 53)
DEPTHWISE_3X3_CHW_ENDS(stride_1, _high_away, 1, 1, DORY_DIRECT_HIGH_AWAY, 760, 52)

/* With the border on either side. */
#define DEPTHWISE_3X3_CHW_STRIDE_2(name, left)                                                                              \
    DEPTHWISE_3X3_CHW_ENDS(name, , 2, left, DORY_DIRECT, 382, 45)                                                           \
    DEPTHWISE_3X3_CHW_ENDS(name, _clamped, 2, left, DORY_DIRECT_CLAMPED, 430, 47)                                           \
    DEPTHWISE_3X3_CHW_ENDS(name, _split, 2, left, DORY_DIRECT_SPLIT, 519, 48)                                               \
    DEPTHWISE_3X3_CHW_ENDS(name, _high_away, 2, left, DORY_DIRECT_HIGH_AWAY, 792, 47)

DEPTHWISE_3X3_CHW_STRIDE_2(stride_2, 1)
DEPTHWISE_3X3_CHW_STRIDE_2(stride_2_right, 0)
