/* Computes 1x1, 3x3 and depth-wise 3x3 convolutions of bytes by N-EUREKA. Input, output: HWC.
 *
 * The first core starts a tile's jobs; where all cores copy their constants, when these have done so. In the second part all
 * cores make elements of the sums of a job that has ended, while the engine is at the next one; where the engine requantises
 * nothing is left to do but to wait. */
#include "../xpulpv2/xpulp.h"
#include "dory/share.h"

#include "finish.h"
#include "neureka.h"

/* A job of the tile, by its number. */
struct part {
    uint32_t first_pixel, rows, columns, channels;
    const uint8_t *input, *weights, *constants;
    const uint8_t *multipliers; /* and the engine's addends */
    bool is_wide;
    uint32_t input_row_bytes;
    uint8_t *sums;   /* its pixels, side by side */
    uint8_t *output; /* its first element */
};

/* Rows and columns; the last band may be what is left of rows of six. */
static struct part band_of(const struct dory_tile *tile, const struct dory_layer *layer,
                           const struct dory_neureka_jobs *jobs, uint32_t band)
{
    uint32_t first = band * jobs->band_rows, pixel_bytes = tile->input_channels;
    bool is_rest = jobs->rest > 0 && band == jobs->bands - 1;
    struct part part = {.rows = dory_minimum(jobs->band_rows, jobs->rows - first), .columns = jobs->columns};
    part.input_row_bytes = layer->stride_height * tile->input_columns * pixel_bytes;
    if (jobs->is_flat) {
        part.input_row_bytes = jobs->columns * pixel_bytes;
    }
    if (is_rest) {
        first = jobs->rows;
        part.rows = 1;
        part.columns = jobs->rest;
    }
    part.first_pixel = first * jobs->columns;
    part.input = (const uint8_t *)tile->input + first * part.input_row_bytes;
    return part;
}

static struct part part_of(const struct dory_layer *layer, const struct dory_tile *tile,
                           const struct dory_neureka_jobs *jobs, uint32_t number)
{
    struct part part = band_of(tile, layer, jobs, number % jobs->bands);
    uint32_t block = number / jobs->bands, first = block * jobs->block_channels,
             pixels = (uint32_t)tile->rows * tile->columns;
    part.channels = dory_minimum(jobs->block_channels, tile->channels - first);
    part.weights = (const uint8_t *)tile->weights + block * dory_neureka_block_bytes(layer);
    part.constants = part.weights + dory_neureka_block_weight_bytes(layer);
    part.is_wide = dory_neureka_may_be_wide(layer) &&
                   dory_load_word(part.constants + dory_neureka_block_constants_bytes(layer) - 4) != 0;
    uint8_t *behind_queue = (uint8_t *)tile->scratch + sizeof(struct dory_neureka_queue);
    uint32_t copied_bytes = dory_neureka_copied_bytes(layer, tile->channels);
    part.multipliers = copied_bytes > 0 ? behind_queue + 8 * first : part.constants;
    part.sums = behind_queue + copied_bytes + 4 * (pixels * first + part.first_pixel * part.channels);
    part.output = (uint8_t *)tile->output + (part.first_pixel * tile->channels + first) * (layer->output_bits / 8u);
    return part;
}

static void set_output(struct dory_neureka_job *job, const struct dory_layer *layer, const struct dory_tile *tile,
                       const struct part *part)
{
    job->output_kind = part->is_wide ? DORY_NEUREKA_WIDE : DORY_NEUREKA_SUMS;
    job->output = part->sums;
    job->output_pixel_bytes = 4 * part->channels;
    job->multipliers = part->is_wide ? part->multipliers : 0;
    job->shift = part->is_wide ? DORY_NEUREKA_WIDE_SHIFT : 0;
    if (dory_neureka_requantises(layer)) {
        job->output_kind = DORY_NEUREKA_BYTES;
        job->output = part->output;
        job->output_pixel_bytes = tile->channels;
        job->multipliers = part->multipliers;
        job->addends = (const uint8_t *)job->multipliers + 4 * dory_neureka_block_channels(layer);
        job->shift = layer->shift;
        job->output_is_signed = layer->output_is_signed;
    }
    job->output_row_bytes = part->columns * job->output_pixel_bytes;
}

static uint32_t start(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part)
{
    struct dory_neureka_job job = {
        .mode = (uint8_t)dory_neureka_mode_of(layer),
        .weight_bits = layer->weight_bits,
        .input_is_signed = layer->input_is_signed,
        .weights_in_memory = dory_is_in_place(layer->l1.weights),
        .rows = (uint16_t)part->rows,
        .columns = (uint16_t)part->columns,
        .channels = (uint16_t)part->channels,
        .input_channels = tile->input_channels,
        .input_pixel_bytes = (uint32_t)layer->stride_width * tile->input_channels,
        .input_row_bytes = part->input_row_bytes,
        .input = part->input,
        .weights = part->weights,
    };
    set_output(&job, layer, tile, part);
    return dory_neureka_start(&job);
}

/* First core: as many jobs as the engine takes. */
static void start_some(const struct dory_layer *layer, const struct dory_tile *tile, const struct dory_neureka_jobs *jobs,
                       struct dory_neureka_queue *queue)
{
    for (; queue->started < jobs->blocks * jobs->bands && dory_neureka_has_room(); queue->started++) {
        struct part part = part_of(layer, tile, jobs, queue->started);
        uint32_t number = start(layer, tile, &part);
        queue->first_number = queue->started == 0 ? number : queue->first_number;
    }
}

/* A core's share of the constants that the engine reads in L1, some blocks: multipliers, and addends where there are. */
static void copy_constants(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t channels = dory_neureka_block_channels(layer);
    uint32_t words = dory_neureka_requantises(layer) ? 2 * channels : channels;
    uint32_t *to = (uint32_t *)tile->scratch + sizeof(struct dory_neureka_queue) / 4;
    for (uint32_t block = core; block < dory_blocks(layer, tile->channels); block += cores) {
        const uint8_t *from = (const uint8_t *)tile->weights + block * dory_neureka_block_bytes(layer) +
                              dory_neureka_block_weight_bytes(layer);
        for (uint32_t i = 0; i < words; i++) {
            to[block * 2 * channels + i] = dory_load_word(from + 4 * i);
        }
    }
}

/* Who makes elements of sums asks in the second part for jobs of this one: the first core then copies alone. */
void dory_neureka_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_neureka_queue *queue = tile->scratch;
    bool copies = dory_neureka_copied_bytes(layer, tile->channels) > 0, together = dory_neureka_requantises(layer);
    if (copies && (together || core == 0)) {
        copy_constants(layer, tile, core, together ? cores : 1);
    }
    if (core == 0) {
        struct dory_neureka_jobs jobs = dory_neureka_jobs_of(layer, tile->rows, tile->columns, tile->channels);
        queue->started = 0;
        if (!copies || !together) {
            start_some(layer, tile, &jobs, queue);
        }
    }
}

/* A core's share of a job's elements: some channels of all pixels, so that cores are at different banks of L1; or where
 * channels do not divide some pixels of all channels. */
static void finish_part(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part, unsigned core,
                        unsigned cores)
{
    uint32_t pixels = part->rows * part->columns, element_bytes = layer->output_bits / 8u;
    uint32_t together = part->is_wide ? 4 : 1; /* channels */
    bool by_pixels = part->channels % (together * cores) != 0 && pixels >= 8 * cores;
    struct dory_share share = dory_share_of(by_pixels ? pixels : dory_divide_up(part->channels, together), core, cores);
    uint32_t first_pixel = by_pixels ? share.first : 0, first_channel = by_pixels ? 0 : together * share.first;
    struct dory_neureka_elements elements = {
        .sums = (const int32_t *)(const void *)part->sums + first_pixel * part->channels,
        .sum_step = part->channels,
        .output = part->output + first_pixel * tile->channels * element_bytes,
        .output_step = tile->channels * element_bytes,
        .pixels = by_pixels ? share.end - share.first : pixels,
        .constants = part->constants,
        .first_channel = first_channel,
        .end_channel = by_pixels ? part->channels : dory_minimum(together * share.end, part->channels),
    };
    if (part->is_wide) {
        uint32_t words_bytes = 4 * dory_neureka_block_channels(layer);
        dory_neureka_finish_wide(layer, &elements, part->constants + words_bytes, part->constants + 2 * words_bytes);
    } else {
        dory_neureka_finish(layer, &elements);
    }
}

void dory_neureka_finish_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    struct dory_neureka_jobs jobs = dory_neureka_jobs_of(layer, tile->rows, tile->columns, tile->channels);
    struct dory_neureka_queue *queue = tile->scratch;
    bool requantises = dory_neureka_requantises(layer);
    if (core > 0 && requantises) {
        return; /* who waits for the first core waits for the engine */
    }
    if (core == 0) {
        start_some(layer, tile, &jobs, queue);
    }
    uint32_t first_number = queue->first_number; /* of sums, known since the first part */
    for (uint32_t number = 0; number < jobs.blocks * jobs.bands; number++) {
        dory_neureka_await(first_number + number);
        if (core == 0) {
            start_some(layer, tile, &jobs, queue);
        }
        if (!requantises) {
            struct part part = part_of(layer, tile, &jobs, number);
            finish_part(layer, tile, &part, core, cores);
        }
    }
}
