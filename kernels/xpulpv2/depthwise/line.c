/* Depth-wise layers along one dimension, of any kernel size and stride: see line.h. A kernel for each normalisation that is
 * done between registers, and one for all others, whose sums go through memory. */
#include "line.h"

#include "../scratch.h"
#include "../share.h"
#include "../xpulpv2.h"

#define MAXIMUM_FOURS 8 /* whose sums are in memory */

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
    uint8_t *pixels;             /* of this core: a word for each of a four's; before them, a column's weights */
    uint8_t *elements;           /* of this core: four of four lanes */
    uint32_t quad, lanes;
    const uint8_t *constants; /* of the quad */
    bool is_paired;           /* `weights` are those of the quad */
    bool is_row, is_long;     /* long: not a direct kind */
    dory_compute_line *compute;
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

static void start_lines(struct lines *work, const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct dory_line *line = &work->line;
    work->layer = layer;
    work->tile = tile;
    work->channels = tile->channels;
    dory_start_normaliser(&line->normaliser, layer);
    start_lengths(work, layer, tile);
    work->weights_bytes = dory_depthwise_quad_weight_bytes(layer);
    work->quad_bytes = work->weights_bytes + dory_constants_bytes(layer);
    line->steps = dory_depthwise_steps(work->kernel, work->stride);
    work->sliding = dory_line_sliding(layer, work->kernel, work->stride);
    line->is_signed = layer->input_is_signed;
    work->weights = (uint32_t *)(void *)((uint8_t *)tile->scratch + core * dory_line_core_bytes(work->kernel, work->stride));
    work->pixels = (uint8_t *)(work->weights + 8 * line->steps);
    work->elements = work->pixels + dory_line_pixels_bytes(work->kernel, work->stride);
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
    uint8_t *gathered = work->pixels;
    for (uint32_t lane = 0; lane < 4; lane++) {
        for (uint32_t i = 0; i < row_bytes; i++, gathered++) {
            *gathered = i < kernel ? *weights : 0;
            weights += i < kernel ? 4 : 0;
        }
    }
    return work->pixels;
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
static void finish_sums(const struct lines *work, uint8_t *output, uint32_t lane, int32_t *sum, uint32_t fours,
                        uint32_t output_step)
{
    uint32_t bytes = work->line.normaliser.output_bytes;
    dory_normalise_lane(&work->line.normaliser, work->constants, lane, sum, 1, 4 * fours);
    output += lane * bytes;
    for (const int32_t *end = sum + 4 * fours; sum < end; sum += 4, output += 4 * output_step) {
        dory_store_four_elements(output, output_step, sum, bytes);
    }
}

/* Lane by lane. */
static void compute_long(struct lines *work, uint8_t *output, uint32_t output_step)
{
    struct dory_line *line = &work->line;
    int32_t sums[4 * MAXIMUM_FOURS];
    for (uint32_t lane = 0; lane < work->lanes; lane++) {
        line->lanes = 1;
        line->last = (uint8_t *)sums;
        line->tails[0] = line->tails[lane];
        work->compute(line);
        finish_sums(work, output, lane, sums, line->fours, output_step);
    }
}

/* What is behind the last near word of a sliding four's last step: as many pixels as are read. */
static void find_tails(const struct lines *work, const uint8_t *word, uint32_t tails[4])
{
    uint32_t pixels = (work->kernel + 3) % 4, step = work->line.pixel_step; /* and 3 of what has weights of zero */
    for (uint32_t lane = 0; pixels % 3 != 0 && lane < work->lanes; lane++, word++) {
        tails[lane] = word[0];
        if (pixels > 1) {
            tails[lane] |= (uint32_t)word[step] << 8;
        }
    }
}

/* So many fours of all lanes, all of whose words exist; elements lie output_step apart. */
static void compute_fours(struct lines *work, const uint8_t *input, uint32_t fours, uint8_t *output, uint32_t output_step)
{
    struct dory_line *line = &work->line;
    uint32_t step = line->pixel_step;
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
    if (line->sliding != 0) {
        find_tails(work, input + 4 * (fours - 1 + line->steps) * step, line->tails);
    }
    if (work->is_long) {
        compute_long(work, output, output_step);
    } else {
        work->compute(line);
    }
}

static inline __attribute__((always_inline)) void compute_some(struct lines *work, const uint8_t *input, uint32_t fours,
                                                               uint8_t *output)
{
    uint32_t most = work->is_long ? MAXIMUM_FOURS : fours;
    while (fours > 0) {
        uint32_t now = dory_minimum(most, fours);
        compute_fours(work, input, now, output, work->output_step);
        input += 4 * now * work->stride * work->line.pixel_step;
        output += 4 * now * work->output_step;
        fours -= now;
    }
}

/* So many bytes of each of some pixels; a word where they are one. */
static void copy_pixels(uint8_t *output, uint32_t output_step, const uint8_t *input, uint32_t input_step, uint32_t pixels,
                        uint32_t bytes)
{
    bool is_word = bytes == 4 && (input_step | output_step) % 4 == 0;
    for (; is_word && pixels > 0; pixels--, input += input_step, output += output_step) {
        dory_store_word(output, dory_load_word(input));
    }
    for (; pixels > 0; pixels--, input += input_step, output += output_step) {
        for (uint32_t i = 0; i < bytes; i++) {
            output[i] = input[i];
        }
    }
}

/* A four of which not all outputs, or not all pixels of its words, exist: from a copy of its pixels, and to one of its
 * elements. What is not there is read by weights that are zero, or by no output: any value will do. */
static void compute_copied(struct lines *work, const uint8_t *input, uint32_t pixels, uint8_t *output, uint32_t outputs)
{
    uint32_t step = work->line.pixel_step, bytes = work->line.normaliser.output_bytes;
    work->line.sliding = 0;
    choose_weights(work); /* a column's may lie where the pixels will */
    copy_pixels(work->pixels, 4, input, step, pixels, work->lanes);
    work->line.pixel_step = 4;
    compute_fours(work, work->pixels, 1, work->elements, 4 * bytes);
    work->line.pixel_step = step;
    copy_pixels(output, work->output_step, work->elements, 4 * bytes, outputs, work->lanes * bytes);
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
    if (ends && first < end) {
        work->quad = UINT32_MAX; /* its weights, which fours that slide take as they are, will be overwritten */
    }
    for (; first < end; first += 4) {
        compute_copied(work, input + first * stride * step,
                       dory_minimum(2 * stride + 4 * steps, work->inputs - first * stride),
                       output + first * work->output_step, dory_minimum(4, end - first));
    }
}

/* A core's share is a range of the grid of quads of channels and lines by fours of outputs. */
static void compute_lines(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                          dory_compute_line *compute, bool is_long)
{
    struct lines work;
    work.compute = compute;
    work.is_long = is_long;
    start_lines(&work, layer, tile, core);
    uint32_t fours = (work.outputs + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of((work.channels + 3) / 4 * work.count, fours, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, fours),
                 quad = work.count == 1 ? share.row : dory_quotient(share.row, work.count);
        if (quad != work.quad) {
            start_quad(&work, quad);
        }
        compute_part(&work, share.row - quad * work.count, 4 * share.first, dory_minimum(4 * end, work.outputs));
        dory_grid_share_next_row(&share, end);
    }
}

#define KERNEL(name, kind)                                                                                                  \
    static __attribute__((noinline)) void compute_##name(struct dory_line *line) { dory_line_compute(line, kind); }         \
    void dory_xpulpv2_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)   \
    {                                                                                                                       \
        compute_lines(layer, tile, core, cores, compute_##name, (kind) == DORY_NOT_DIRECT);                                 \
    }

KERNEL(line_direct, DORY_DIRECT)
KERNEL(line_clamped, DORY_DIRECT_CLAMPED)
KERNEL(line_clamped_less_one, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(line_split, DORY_DIRECT_SPLIT)
KERNEL(line_split_away, DORY_DIRECT_SPLIT_AWAY)
KERNEL(line_high, DORY_DIRECT_HIGH)
KERNEL(line_high_away, DORY_DIRECT_HIGH_AWAY)
KERNEL(line, DORY_NOT_DIRECT)
