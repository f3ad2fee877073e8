/* Computes 1x1, 3x3 and depth-wise 3x3 convolutions of bytes by N-EUREKA. Input, output: HWC.
 *
 * The first core starts a tile's jobs. In the second part all cores make elements of the sums of a job that has ended, while
 * the engine is at the next one; where the engine requantises nothing is left to do but to wait. */
#include "dory/share.h"

#include "finish.h"
#include "neureka.h"

/* A job of the tile, by its number. */
struct part {
    uint32_t block, first_row, rows, channels;
    const uint8_t *weights;
    uint8_t *sums;   /* its pixels, side by side */
    uint8_t *output; /* its first element */
};

static struct part part_of(const struct dory_layer *layer, const struct dory_tile *tile,
                           const struct dory_neureka_jobs *jobs, uint32_t number)
{
    struct part part = {.block = number / jobs->bands, .first_row = number % jobs->bands * jobs->band_rows};
    uint32_t first = part.block * jobs->block_channels, pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t skipped = part.first_row * tile->columns;
    part.rows = dory_minimum(jobs->band_rows, tile->rows - part.first_row);
    part.channels = dory_minimum(jobs->block_channels, tile->channels - first);
    part.weights = (const uint8_t *)tile->weights + part.block * dory_neureka_block_bytes(layer);
    part.sums =
        (uint8_t *)tile->scratch + sizeof(struct dory_neureka_queue) + 4 * (pixels * first + skipped * part.channels);
    part.output = (uint8_t *)tile->output + (skipped * tile->channels + first) * (layer->output_bits / 8u);
    return part;
}

static void set_output(struct dory_neureka_job *job, const struct dory_layer *layer, const struct dory_tile *tile,
                       const struct part *part)
{
    job->output_kind = DORY_NEUREKA_SUMS;
    job->output = part->sums;
    job->output_pixel_bytes = 4 * part->channels;
    if (dory_neureka_requantises(layer)) {
        job->output_kind = DORY_NEUREKA_BYTES;
        job->output = part->output;
        job->output_pixel_bytes = tile->channels;
        job->multipliers = part->weights + dory_neureka_block_weight_bytes(layer);
        job->addends = (const uint8_t *)job->multipliers + 4 * dory_neureka_block_channels(layer);
        job->shift = layer->shift;
        job->output_is_signed = layer->output_is_signed;
    }
    job->output_row_bytes = tile->columns * job->output_pixel_bytes;
}

static uint32_t start(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part)
{
    uint32_t pixel_bytes = tile->input_channels, row_bytes = tile->input_columns * pixel_bytes;
    struct dory_neureka_job job = {
        .mode = (uint8_t)dory_neureka_mode_of(layer),
        .weight_bits = layer->weight_bits,
        .input_is_signed = layer->input_is_signed,
        .rows = (uint16_t)part->rows,
        .columns = tile->columns,
        .channels = (uint16_t)part->channels,
        .input_channels = tile->input_channels,
        .input_pixel_bytes = layer->stride_width * pixel_bytes,
        .input_row_bytes = layer->stride_height * row_bytes,
        .input = (const uint8_t *)tile->input + part->first_row * layer->stride_height * row_bytes,
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

void dory_neureka_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    (void)cores;
    if (core == 0) {
        struct dory_neureka_jobs jobs = dory_neureka_jobs_of(layer, tile->rows, tile->channels);
        struct dory_neureka_queue *queue = tile->scratch;
        queue->started = 0;
        start_some(layer, tile, &jobs, queue);
    }
}

/* A core's share of a job's elements: some pixels of all channels, or where these are few some channels of all pixels. */
static void finish_part(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part, unsigned core,
                        unsigned cores)
{
    uint32_t pixels = part->rows * tile->columns, element_bytes = layer->output_bits / 8u;
    bool by_pixels = pixels >= 8 * cores;
    struct dory_share share = dory_share_of(by_pixels ? pixels : part->channels, core, cores);
    uint32_t first_pixel = by_pixels ? share.first : 0, first_channel = by_pixels ? 0 : share.first;
    struct dory_neureka_elements elements = {
        .sums = (const int32_t *)(const void *)part->sums + first_pixel * part->channels,
        .sum_step = part->channels,
        .output = part->output + first_pixel * tile->channels * element_bytes,
        .output_step = tile->channels * element_bytes,
        .pixels = by_pixels ? share.end - share.first : pixels,
        .constants = part->weights + dory_neureka_block_weight_bytes(layer),
        .first_channel = first_channel,
        .end_channel = by_pixels ? part->channels : share.end,
    };
    dory_neureka_finish(layer, &elements);
}

void dory_neureka_finish_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    struct dory_neureka_jobs jobs = dory_neureka_jobs_of(layer, tile->rows, tile->channels);
    struct dory_neureka_queue *queue = tile->scratch;
    uint32_t first_number = queue->first_number; /* which others may read while the first core starts more */
    bool requantises = dory_neureka_requantises(layer);
    for (uint32_t number = 0; number < jobs.blocks * jobs.bands; number++) {
        if (core > 0 && requantises) {
            return; /* who waits for the first core waits for the engine */
        }
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
