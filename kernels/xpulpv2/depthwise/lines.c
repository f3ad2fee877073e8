/* Depth-wise layers along one dimension: strips of four outputs of a line are computed in pairs, next to each other. What
 * are rows elsewhere are units here, so that one transpose serves a part of a line. */
#include "../share.h"
#include "../transpose.h"
#include "any.h"

#define MOST_KERNEL DORY_LINE_MOST_ROWS

/* A line's outputs lie in the tile's rows, or they are its one column. */
struct lines {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_series series;
    uint32_t rows;            /* lines */
    uint32_t outputs, inputs; /* of a line */
    uint32_t kernel, stride;  /* along it */
    uint32_t line_bytes;      /* from line to line of the input */
    uint32_t channels, quad_bytes, weights_bytes;
    uint32_t advance, spacing, part; /* `part`: strips that are computed together at most */
    uint8_t *units, *pairs;          /* of this core */
    uint32_t quad;                   /* whose weights are ready */
};

static void start_lines(struct lines *work, const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    bool is_row = layer->kernel_height == 1;
    work->layer = layer;
    work->tile = tile;
    work->rows = is_row ? tile->rows : 1;
    work->outputs = is_row ? tile->columns : tile->rows;
    work->inputs = is_row ? tile->input_columns : tile->input_rows;
    work->kernel = is_row ? layer->kernel_width : layer->kernel_height;
    work->stride = is_row ? layer->stride_width : layer->stride_height;
    work->channels = tile->channels;
    work->line_bytes = (uint32_t)layer->stride_height * tile->input_columns * work->channels;
    work->weights_bytes = dory_depthwise_quad_weight_bytes(layer);
    work->quad_bytes = work->weights_bytes + dory_constants_bytes(layer);
    work->advance = dory_depthwise_advance(work->stride);
    work->spacing = dory_depthwise_spacing(work->stride);
    uint32_t one = dory_depthwise_units(work->kernel, work->stride);
    uint32_t units = dory_line_units(work->kernel, work->stride, (work->outputs + 3) / 4);
    uint32_t pairs_bytes = dory_depthwise_pairs_bytes(1, work->kernel, work->stride);
    work->part = dory_quotient(units - one, work->advance) + 1;
    work->units = (uint8_t *)tile->scratch + core * (16 * units + pairs_bytes);
    work->pairs = work->units + 16 * units;
    work->quad = UINT32_MAX;
    dory_start_series(&work->series, layer, tile);
}

/* The steps of a four are inner ones. */
static void start_steps(struct lines *work)
{
    struct dory_series *series = &work->series;
    series->source[0] = work->units;
    series->source[1] = work->units + 4 * (2 * work->stride / work->spacing);
    series->outer = 1;
    series->rolls = 0;
    series->inner = dory_depthwise_steps(work->kernel, work->stride);
    series->step = work->spacing == 2 ? 8 : 4;
    series->second = 4 * work->advance;
    series->pair_step = 8 * work->advance;
    series->weights = work->pairs;
    series->weights_bytes = 8 * series->inner;
    series->four_bytes = 4 * series->pixel_bytes;
}

/* Weights of a column have a word each. */
static void gather_weights(const uint8_t *weights, uint32_t kernel, uint8_t *gathered, uint32_t row_bytes)
{
    for (uint32_t lane = 0; lane < 4; lane++, gathered += row_bytes) {
        for (uint32_t i = 0; i < row_bytes; i++) {
            gathered[i] = i < kernel ? *weights : 0;
            weights += i < kernel ? 4 : 0;
        }
    }
}

static void start_quad(struct lines *work, uint32_t quad)
{
    const uint8_t *weights = (const uint8_t *)work->tile->weights + quad * work->quad_bytes;
    uint32_t row_bytes = dory_round_up(work->kernel, 4);
    work->quad = quad;
    work->series.constants = weights + work->weights_bytes;
    work->series.lanes = dory_minimum(4, work->channels - 4 * quad);
    if (work->layer->kernel_height == 1) {
        dory_pair_weights(weights, 1, work->kernel, row_bytes, work->stride, work->pairs);
    } else {
        uint8_t gathered[4 * MOST_KERNEL];
        gather_weights(weights, work->kernel, gathered, row_bytes);
        dory_pair_weights(gathered, 1, work->kernel, row_bytes, work->stride, work->pairs);
    }
}

static void transpose(const struct lines *work, const struct dory_transpose *job)
{
    if (work->channels % 4 != 0) {
        dory_transpose_bytes(job);
    } else {
        dory_transpose_words(job);
    }
}

/* The units of a part that begins at an input, of which `left` are left in the line. Columns that are not there are read by
 * weights that are zero, or by no output: any value will do. */
static void transpose_part(const struct lines *work, const uint8_t *input, uint32_t left, uint32_t units)
{
    uint32_t channels = work->channels, shift = work->spacing / 2; /* spacing is 1 << shift */
    uint32_t whole = left < 4 ? 0 : dory_minimum(((left - 4) >> shift) + 1, units);
    struct dory_transpose job = {
        .input = input,
        .offset = {channels, 2 * channels, 3 * channels},
        .row_bytes = work->spacing * channels,
        .rows = whole,
        .output = work->units,
        .lane_bytes = 4 * units,
        .lanes = work->series.lanes,
    };
    if (whole != 0) {
        transpose(work, &job);
    }
    job.rows = 1;
    for (uint32_t unit = whole; unit < units && (unit << shift) < left; unit++) {
        uint32_t columns = left - (unit << shift);
        job.input = input + unit * job.row_bytes;
        job.output = work->units + 4 * unit;
        job.offset[2] = 0;
        job.offset[1] = columns < 3 ? 0 : 2 * channels;
        job.offset[0] = columns < 2 ? 0 : channels;
        transpose(work, &job);
    }
}

/* So many fours of so many columns, the first of them `strip` strips behind the first unit. */
static void compute_fours(struct lines *work, uint8_t *output, uint32_t fours, uint32_t columns, uint32_t strip,
                          dory_compute_series *compute)
{
    struct dory_series *series = &work->series;
    uint32_t offset = strip * series->second;
    series->source[0] += offset;
    series->source[1] += offset;
    series->output = output + strip * series->four_bytes;
    series->columns = columns;
    series->pairs = fours / 2;
    series->single = fours % 2;
    compute(series);
    series->source[0] -= offset;
    series->source[1] -= offset;
}

/* Strips `first` to `first + strips` of a line. */
static void compute_part(struct lines *work, uint32_t row, uint32_t first, uint32_t strips, dory_compute_series *compute)
{
    struct dory_series *series = &work->series;
    uint32_t channel = 4 * work->quad, input = 4 * first * work->stride;
    uint32_t units = (strips - 1) * work->advance + dory_depthwise_units(work->kernel, work->stride);
    uint32_t outputs = dory_minimum(4 * strips, work->outputs - 4 * first);
    uint8_t *output = (uint8_t *)work->tile->output + (row * work->outputs + 4 * first) * series->pixel_bytes +
                      channel * series->normaliser.output_bytes;
    transpose_part(work, (const uint8_t *)work->tile->input + row * work->line_bytes + input * work->channels + channel,
                   work->inputs - input, units);
    series->lane_bytes = 4 * units;
    if (outputs >= 4) {
        compute_fours(work, output, outputs / 4, 4, 0, compute);
    }
    if (outputs % 4 != 0) {
        compute_fours(work, output, 1, outputs % 4, outputs / 4, compute);
    }
}

void dory_depthwise_lines(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                          dory_compute_series *compute)
{
    struct lines work;
    start_lines(&work, layer, tile, core);
    start_steps(&work);
    uint32_t strips = (work.outputs + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of((work.channels + 3) / 4 * work.rows, strips, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, strips), quad = dory_quotient(share.row, work.rows);
        if (quad != work.quad) {
            start_quad(&work, quad);
        }
        for (uint32_t first = share.first; first < end; first += work.part) {
            compute_part(&work, share.row - quad * work.rows, first, dory_minimum(work.part, end - first), compute);
        }
        dory_grid_share_next_row(&share, end);
    }
}
