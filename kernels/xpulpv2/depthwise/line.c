/* Computes depth-wise layers of bytes along one dimension, rows or columns, of any kernel size and stride. HWC.
 *
 * Inner loop: line.h, four outputs of a line at a time. There is one kernel for each requantisation between registers, and
 * one for all others, whose sums go through memory. */
#include "line.h"

#include "../scratch.h"
#include "../share.h"
#include "../xpulpv2.h"
#include "line_sum.h"

#define MAXIMUM_FOURS 8 /* whose sums are in memory */

/* How a kernel's sums end. */
struct way {
    dory_compute_line *compute; /* whole fours: of a direct kind, or their sums alone where there is no `finish` */
    void (*finish)(const struct dory_normaliser *normaliser, int32_t *sum, uint32_t lanes, const uint8_t *constants);
};

/* The lines of a tile. Along each lie `outputs`; tiles of a kernel of one row have a line a row, others one a column. */
struct lines {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_line line;
    uint32_t count, outputs, inputs;
    uint32_t kernel, stride;           /* along a line */
    uint32_t line_bytes;               /* of the input, from line to line */
    uint32_t output_step, output_line; /* bytes of the output, from element to element and from line to line */
    uint32_t channels, quad_bytes, weights_bytes;
    uint32_t sliding;            /* see dory_line_sliding */
    const uint8_t *lane_weights; /* of the quad: filled up with zeros to words */
    uint32_t *weights;           /* of this core: [4 lanes][steps], words as they are and moved on */
    uint8_t *column;             /* of this core: a column's weights, as those of a row are */
    uint32_t quad, lanes;
    const uint8_t *constants; /* of the quad */
    bool is_row, is_paired;   /* paired: `weights` are those of the quad */
    bool is_long;             /* no direct kind: sums go through memory */
    bool follows;             /* whole lines of some quads may be computed as if they were of one */
    const struct way *way;
};

static void start_lengths(struct lines *work, const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t channels = tile->channels, bytes = work->line.normaliser.output_bytes;
    uint32_t row_bytes = tile->input_columns * channels, output_row = tile->columns * channels * bytes;
    bool is_row = work->is_row = layer->kernel_height == 1;
    work->count = is_row ? tile->rows : tile->columns;
    work->outputs = is_row ? tile->columns : tile->rows;
    work->inputs = is_row ? tile->input_columns : tile->input_rows;
    work->kernel = is_row ? layer->kernel_width : layer->kernel_height;
    work->stride = is_row ? layer->stride_width : layer->stride_height;
    work->line.pixel_step = is_row ? channels : row_bytes;
    work->line_bytes = is_row ? layer->stride_height * row_bytes : layer->stride_width * channels;
    work->output_step = is_row ? channels * bytes : output_row;
    work->output_line = is_row ? output_row : channels * bytes;
}

/* Where the last word of a sliding four starts: at as many pixels as are read. Of others, which have weights of zero, the
 * pixel before stands for all. */
static void find_tail(const struct lines *work, struct dory_line *line)
{
    uint32_t pixels = (work->kernel + 3) % 4, step = line->pixel_step;
    line->tail_back = pixels == 1 || pixels == 2 ? 0 : step;
    line->tail_step = pixels == 2 ? step : 0;
}

/* What is the same for all quads. */
static void start_quads(struct lines *work, const struct dory_layer *layer)
{
    uint32_t lane_bytes = layer->kernel_height * dory_round_up(layer->kernel_width, 4);
    uint32_t constants_bytes = 4 * dory_channel_constants_bytes(layer);
    bool is_plain = !work->is_long && work->line.normaliser.output_bytes == 1;
    work->weights_bytes = 4 * lane_bytes;
    work->quad_bytes = work->weights_bytes + constants_bytes;
    work->line.to_next_weights = constants_bytes;
    work->line.to_next_constants = work->weights_bytes;
    work->follows = is_plain && work->is_row && work->count == 1 && work->sliding != 0 && work->sliding <= 3 &&
                    work->kernel % 4 != 0 && work->outputs >= 4;
    find_tail(work, &work->line);
}

static void start_lines(struct lines *work, const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct dory_line *line = &work->line;
    work->layer = layer;
    work->tile = tile;
    work->channels = tile->channels;
    dory_start_normaliser(&line->normaliser, layer);
    start_lengths(work, layer, tile);
    line->steps = dory_depthwise_steps(work->kernel, work->stride);
    work->sliding = dory_line_sliding(layer, work->kernel, work->stride);
    line->is_signed = layer->input_is_signed;
    work->weights = (uint32_t *)(void *)((uint8_t *)tile->scratch + core * dory_line_core_bytes(work->kernel, work->stride));
    work->column = (uint8_t *)(work->weights + 8 * line->steps);
    start_quads(work, layer);
    work->quad = UINT32_MAX;
}

/* ---- weights --------------------------------------------------------------------------------------------------- */

/* Words of a lane, which are filled up with zeros, as they are and moved on: as many as there are steps. */
static void pair_words(const struct lines *work, const uint8_t *weights, uint32_t *words)
{
    uint32_t steps = work->line.steps, present = (work->kernel + 3) / 4, behind = work->stride / 4, before = 0;
    uint32_t selector = 0x07060504 - work->stride % 4 * 0x01010101, *end = words + 2 * steps, *moved = words + 1;
    for (; behind > 0; behind--, moved += 2) {
        *moved = 0;
    }
    for (; words < end; words += 2, moved += 2, weights += 4, present--) {
        uint32_t own = (int32_t)present > 0 ? dory_load_word(weights) : 0;
        *words = own;
        if (moved < end) {
            *moved = pv_shuffle2_b(before, own, selector);
        }
        before = own;
    }
}

/* Those of a column have a word each; of all four lanes. */
static const uint8_t *gather_column(const struct lines *work, const uint8_t *weights)
{
    uint32_t row_bytes = dory_round_up(work->kernel, 4), kernel = work->kernel;
    uint8_t *gathered = work->column;
    for (uint32_t lane = 0; lane < 4; lane++) {
        for (uint32_t i = 0; i < row_bytes; i++, gathered++) {
            *gathered = i < kernel ? *weights : 0;
            weights += i < kernel ? 4 : 0;
        }
    }
    return work->column;
}

static void start_quad(struct lines *work, uint32_t quad)
{
    const uint8_t *weights = (const uint8_t *)work->tile->weights + quad * work->quad_bytes;
    work->quad = quad;
    work->lanes = dory_minimum(4, work->channels - 4 * quad);
    work->constants = weights + work->weights_bytes;
    work->lane_weights = work->is_row ? weights : gather_column(work, weights);
    work->is_paired = false;
}

/* The weights as the fours take that are to be computed. */
static void choose_weights(struct lines *work)
{
    uint32_t lane_bytes = dory_round_up(work->kernel, 4), pair_bytes = 8 * work->line.steps;
    bool takes_pairs = work->line.sliding == 0 || work->line.sliding > 3;
    for (uint32_t lane = 0; takes_pairs && !work->is_paired && lane < work->lanes; lane++) {
        pair_words(work, work->lane_weights + lane * lane_bytes, work->weights + lane * pair_bytes / 4);
    }
    work->is_paired |= takes_pairs;
    work->line.weights = takes_pairs ? (const uint8_t *)work->weights : work->lane_weights;
    work->line.weights_bytes = takes_pairs ? pair_bytes : lane_bytes;
}

/* ---- fours ----------------------------------------------------------------------------------------------------- */

/* Elements from the sums of so many fours of a lane. */
static void finish_sums(const struct lines *work, uint8_t *output, uint32_t lane, int32_t *sum, uint32_t fours)
{
    uint32_t bytes = work->line.normaliser.output_bytes, output_step = work->output_step;
    dory_normalise_lane(&work->line.normaliser, work->constants, lane, sum, 1, 4 * fours);
    output += lane * bytes;
    for (const int32_t *end = sum + 4 * fours; sum < end; sum += 4, output += 4 * output_step) {
        dory_store_four_elements(output, output_step, sum, bytes);
    }
}

/* Lane by lane. */
static void compute_long(struct lines *work, uint8_t *output)
{
    struct dory_line *line = &work->line;
    int32_t sums[4 * MAXIMUM_FOURS];
    for (uint32_t lane = 0; lane < work->lanes; lane++) {
        line->lanes = 1;
        line->last = (uint8_t *)sums;
        work->way->compute(line);
        finish_sums(work, output, lane, sums, line->fours);
    }
}

/* So many fours of all lanes, all of whose words exist. */
static void compute_fours(struct lines *work, const uint8_t *input, uint32_t fours, uint8_t *output)
{
    struct dory_line *line = &work->line;
    uint32_t step = line->pixel_step, output_step = work->output_step;
    line->fours = fours;
    line->input = input;
    line->last = output + 3 * output_step;
    line->constants = work->constants;
    line->lanes = work->lanes;
    line->back = -(int32_t)output_step;
    line->to_next = 7 * (int32_t)output_step;
    line->far = 2 * work->stride * step;
    line->four_step = 4 * (work->stride - line->steps) * step;
    choose_weights(work);
    if (work->is_long) {
        compute_long(work, output);
    } else {
        work->way->compute(line);
    }
}

static inline __attribute__((always_inline)) void compute_some(struct lines *work, const uint8_t *input, uint32_t fours,
                                                               uint8_t *output)
{
    uint32_t most = work->is_long ? MAXIMUM_FOURS : fours;
    while (fours > 0) {
        uint32_t now = dory_minimum(most, fours);
        compute_fours(work, input, now, output);
        input += 4 * now * work->stride * work->line.pixel_step;
        output += 4 * now * work->output_step;
        fours -= now;
    }
}

/* ---- single outputs -------------------------------------------------------------------------------------------- */

static void finish_singly(const struct lines *work, int32_t *sum)
{
    const struct dory_normaliser *normaliser = &work->line.normaliser;
    if (!work->is_long) {
        work->way->finish(normaliser, sum, work->lanes, work->constants);
        return;
    }
    for (uint32_t lane = 0; lane < work->lanes; lane++) {
        dory_normalise_lane(normaliser, work->constants, lane, sum + lane, 1, 1);
    }
}

/* Outputs that are no four, one by one. */
static void compute_singly(struct lines *work, const uint8_t *input, uint32_t outputs, uint8_t *output)
{
    uint32_t bytes = work->line.normaliser.output_bytes, lanes = work->lanes;
    struct dory_line_taps taps = {work->lane_weights, work->kernel, work->line.pixel_step, lanes, work->line.is_signed};
    for (; outputs > 0; outputs--, input += work->stride * work->line.pixel_step, output += work->output_step) {
        int32_t element[4];
        dory_line_sum(&taps, input, element);
        finish_singly(work, element);
        if (lanes == 4 && bytes == 1) {
            dory_store_word(output, dory_pack_bytes(element));
            continue;
        }
        for (uint32_t lane = 0; lane < lanes; lane++) {
            dory_store_element(output + lane * bytes, element[lane], bytes);
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

/* Outputs `first` to `end` - 1 of a line, of which the last ones may be no whole four. Where fours slide, the last one ends
 * with them: some of its outputs are computed twice, of this part, since others are another core's to write. */
static void compute_part(struct lines *work, uint32_t index, uint32_t first, uint32_t end)
{
    uint32_t step = work->line.pixel_step, stride = work->stride, outputs = end - first, fours = outputs / 4;
    bool ends = work->sliding != 0 && work->kernel % 4 != 0;                                 /* words of sliding fours do */
    uint32_t steps = work->line.steps, reach = 4 * steps + (work->sliding ? 0 : 2 * stride); /* pixels of a four's words */
    const uint8_t *input = (const uint8_t *)work->tile->input + index * work->line_bytes + 4 * work->quad;
    uint8_t *output =
        (uint8_t *)work->tile->output + index * work->output_line + 4 * work->quad * work->line.normaliser.output_bytes;
    while (!ends && fours > 0 && (first + 4 * fours - 4) * stride + reach > work->inputs) {
        fours--;
    }
    work->line.sliding = work->sliding;
    compute_some(work, input + first * stride * step, fours, output + first * work->output_step);
    first += 4 * fours;
    if (ends && first < end && outputs >= 4) {
        compute_some(work, input + (end - 4) * step, 1, output + (end - 4) * work->output_step);
        return;
    }
    compute_singly(work, input + first * stride * step, end - first, output + first * work->output_step);
}

/* How many quads from the share's next row on can be computed at once: whole ones. */
static uint32_t count_quads(const struct lines *work, const struct dory_grid_share *share, uint32_t fours)
{
    if (!work->follows || share->first != 0 || share->items < 2 * fours) {
        return 1;
    }
    uint32_t quads = share->items == 2 * fours ? 2 : dory_quotient(share->items, fours);
    return dory_minimum(quads, work->channels / 4 - share->row);
}

/* A core's share is a range of the grid of quads of channels and lines by fours of outputs. */
static void compute_lines(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                          const struct way *way)
{
    struct lines work;
    work.way = way;
    work.is_long = way->finish == NULL;
    start_lines(&work, layer, tile, core);
    uint32_t fours = (work.outputs + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of((work.channels + 3) / 4 * work.count, fours, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, fours),
                 quad = work.count == 1 ? share.row : dory_quotient(share.row, work.count);
        uint32_t quads = count_quads(&work, &share, fours);
        if (quad != work.quad) {
            start_quad(&work, quad);
        }
        work.lanes = quads > 1 ? 4 * quads : work.lanes;
        compute_part(&work, share.row - quad * work.count, 4 * share.first, dory_minimum(4 * end, work.outputs));
        for (; quads > 0; quads--) {
            dory_grid_share_next_row(&share, end);
            end = fours;
        }
    }
}

/* One sum of each lane; `kind` is a constant. */
static inline __attribute__((always_inline)) void finish_lanes(const struct dory_normaliser *normaliser, int32_t *sum,
                                                               uint32_t lanes, const uint8_t *constants,
                                                               enum dory_direct kind)
{
    const struct dory_normaliser own = *normaliser; /* of which the compiler keeps in registers what it reads */
    uint32_t bytes = dory_finish_constants_bytes(kind);
#pragma GCC unroll 1
    for (uint32_t lane = 0; lane < lanes; lane++, sum++, constants += bytes) {
        switch (kind) {
        case DORY_DIRECT: dory_normalise_directly(&own, sum, 1, 1, constants); break;
        case DORY_DIRECT_CLAMPED: dory_normalise_clamped_directly(&own, sum, 1, 1, constants); break;
        case DORY_DIRECT_SPLIT:
        case DORY_DIRECT_SPLIT_AWAY: dory_normalise_split_directly(&own, sum, 1, 1, constants); break;
        default: dory_normalise_highly(&own, sum, 1, 1, constants); break;
        }
    }
}

#define COMPUTE(name, kind)                                                                                                 \
    static __attribute__((noinline)) void compute_##name(struct dory_line *line) { dory_line_compute(line, kind); }
#define FINISH_LANES(name, kind)                                                                                            \
    static __attribute__((noinline)) void finish_##name(const struct dory_normaliser *normaliser, int32_t *sum,             \
                                                        uint32_t lanes, const uint8_t *constants)                           \
    {                                                                                                                       \
        finish_lanes(normaliser, sum, lanes, constants, kind);                                                              \
    }
#define KERNEL(name, ...)                                                                                                   \
    void dory_xpulpv2_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)   \
    {                                                                                                                       \
        struct way way = {__VA_ARGS__};                                                                                     \
        compute_lines(layer, tile, core, cores, &way);                                                                      \
    }
#define DIRECT_KERNEL(name, kind)                                                                                           \
    COMPUTE(name, kind)                                                                                                     \
    FINISH_LANES(name, kind)                                                                                                \
    KERNEL(name, .compute = compute_##name, .finish = finish_##name)

DIRECT_KERNEL(line_direct, DORY_DIRECT)
DIRECT_KERNEL(line_clamped, DORY_DIRECT_CLAMPED)
DIRECT_KERNEL(line_split, DORY_DIRECT_SPLIT)
DIRECT_KERNEL(line_split_away, DORY_DIRECT_SPLIT_AWAY)
DIRECT_KERNEL(line_high_away, DORY_DIRECT_HIGH_AWAY)
DIRECT_KERNEL(line_high_even, DORY_DIRECT_HIGH_EVEN)
COMPUTE(sums, DORY_NOT_DIRECT)
KERNEL(line, .compute = compute_sums)
