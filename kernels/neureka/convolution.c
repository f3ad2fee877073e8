/* Computes 1x1, 3x3 and depth-wise 3x3 convolutions of bytes by N-EUREKA. Input, output: HWC.
 *
 * The first core starts a tile's jobs; where weights are in their memory, all cores copy constants meanwhile. In the second
 * part all cores make elements of the sums of a job that has ended, while the engine is at the next one; where the engine
 * requantises nothing is left to do but to wait. */
#include "../xpulpv2/xpulp.h"
#include "dory/share.h"

#include "finish.h"
#include "neureka.h"

#define NOT_INLINE __attribute__((noinline)) /* code that is there once stays in the cache */

/* A job of the tile. */
struct part {
    uint32_t rows, columns, channels; /* rows and columns of the layer, of which the engine makes step x step as many */
    const uint8_t *input, *weights, *constants;
    const uint8_t *multipliers; /* and the engine's addends */
    bool is_wide;
    uint8_t *sums;   /* its pixels, side by side */
    uint8_t *output; /* its first element */
};

static uint8_t *behind_queue(const struct dory_tile *tile)
{
    return (uint8_t *)tile->scratch + sizeof(struct dory_neureka_queue);
}

static NOT_INLINE struct dory_neureka_queue queue_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_neureka_queue queue = {
        .jobs = dory_neureka_jobs_of(layer, tile->rows, tile->columns, tile->channels),
        .weight_bytes = dory_neureka_block_weight_bytes(layer),
        .constants_bytes = dory_neureka_block_constants_bytes(layer),
        .may_be_wide = dory_neureka_may_be_wide(layer),
        .requantises = dory_neureka_requantises(layer),
    };
    queue.block_bytes = queue.weight_bytes + queue.constants_bytes;
    queue.copied_words = dory_neureka_copied_words(layer);
    return queue;
}

static uint32_t input_row_bytes(const struct dory_layer *layer, const struct dory_tile *tile,
                                const struct dory_neureka_jobs *jobs)
{
    uint32_t rows = layer->stride_height / jobs->step;
    return tile->input_channels * (jobs->is_flat ? jobs->columns : rows * tile->input_columns);
}

/* Bytes that the engine writes for the cores. */
static uint32_t left_bytes(const struct dory_neureka_queue *queue) { return queue->requantises ? 1 : 4; }

/* Rows and columns; the last band may be what is left of rows of six. */
static NOT_INLINE struct part part_of(const struct dory_layer *layer, const struct dory_tile *tile,
                                      const struct dory_neureka_queue *queue, uint32_t block, uint32_t band)
{
    const struct dory_neureka_jobs *jobs = &queue->jobs;
    uint32_t first_row = band * jobs->band_rows, first = block * jobs->block_channels;
    struct part part = {.rows = dory_minimum(jobs->band_rows, jobs->rows - first_row), .columns = jobs->columns};
    if (jobs->rest > 0 && band == jobs->bands - 1) {
        first_row = jobs->rows;
        part.rows = 1;
        part.columns = jobs->rest;
    }
    uint32_t columns = dory_neureka_stepped(jobs->columns, jobs->step), first_pixel = first_row * jobs->columns;
    uint32_t pixels = tile->rows * jobs->step * columns, first_left = first_row * jobs->step * columns;
    part.channels = dory_minimum(jobs->block_channels, tile->channels - first);
    part.input = (const uint8_t *)tile->input + first_row * jobs->step * input_row_bytes(layer, tile, jobs);
    part.weights = (const uint8_t *)tile->weights + block * queue->block_bytes;
    part.constants = part.weights + queue->weight_bytes;
    part.multipliers = queue->copied_words > 0 ? behind_queue(tile) + 4 * block * queue->copied_words : part.constants;
    part.is_wide = queue->may_be_wide;
    part.sums = behind_queue(tile) + 4 * jobs->blocks * queue->copied_words +
                left_bytes(queue) * (pixels * first + first_left * part.channels);
    part.output = (uint8_t *)tile->output + (first_pixel * tile->channels + first) * (layer->output_bits / 8u);
    return part;
}

static void set_output(struct dory_neureka_job *job, const struct dory_layer *layer, const struct dory_tile *tile,
                       const struct dory_neureka_queue *queue, const struct part *part)
{
    job->output_kind = part->is_wide ? DORY_NEUREKA_WIDE : DORY_NEUREKA_SUMS;
    job->output = part->sums;
    job->output_pixel_bytes = 4 * part->channels;
    job->multipliers = part->is_wide ? part->multipliers : 0;
    job->shift = part->is_wide ? DORY_NEUREKA_WIDE_SHIFT : 0;
    if (queue->requantises) {
        job->output_kind = DORY_NEUREKA_BYTES;
        job->output = queue->jobs.by_cores ? part->sums : part->output;
        job->output_pixel_bytes = queue->jobs.by_cores ? part->channels : tile->channels;
        job->multipliers = part->multipliers;
        job->addends = part->multipliers + 4 * queue->jobs.block_channels;
        job->shift = layer->shift;
        job->output_is_signed = layer->output_is_signed;
    }
    job->output_row_bytes = job->columns * job->output_pixel_bytes;
}

static uint32_t start(const struct dory_layer *layer, const struct dory_tile *tile, const struct dory_neureka_queue *queue,
                      const struct part *part)
{
    struct dory_neureka_job job = {
        .mode = (uint8_t)dory_neureka_mode_of(layer),
        .weight_bits = layer->weight_bits,
        .input_is_signed = layer->input_is_signed,
        .weights_in_memory = dory_is_in_place(layer->l1.weights),
        .rows = (uint16_t)dory_neureka_stepped(part->rows, queue->jobs.step),
        .columns = (uint16_t)dory_neureka_stepped(part->columns, queue->jobs.step),
        .channels = (uint16_t)part->channels,
        .input_channels = tile->input_channels,
        .input_pixel_bytes = layer->stride_width / queue->jobs.step * tile->input_channels,
        .input_row_bytes = input_row_bytes(layer, tile, &queue->jobs),
        .input = part->input,
        .weights = part->weights,
    };
    set_output(&job, layer, tile, queue, part);
    return dory_neureka_start(&job);
}

/* First core: as many jobs of blocks before this one as the engine takes. */
static NOT_INLINE void start_some(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t end_block)
{
    struct dory_neureka_queue *queue = tile->scratch;
    while (queue->block < end_block && dory_neureka_has_room()) {
        struct part part = part_of(layer, tile, queue, queue->block, queue->band);
        uint32_t number = start(layer, tile, queue, &part);
        queue->first_number = number - queue->started;
        queue->started++;
        if (++queue->band == queue->jobs.bands) {
            queue->band = 0;
            queue->block++;
        }
    }
}

/* Of some of the tile's blocks. */
static NOT_INLINE void copy_multipliers(const struct dory_tile *tile, const struct dory_neureka_queue *queue,
                                        struct dory_share blocks)
{
    uint32_t words = queue->copied_words;
    uint32_t *to = (uint32_t *)(void *)behind_queue(tile) + blocks.first * words;
    const uint8_t *from = (const uint8_t *)tile->weights + blocks.first * queue->block_bytes + queue->weight_bytes;
    for (uint32_t block = blocks.first; block < blocks.end; block++, from += queue->block_bytes) {
        for (uint32_t i = 0; i < words; i++) {
            *to++ = dory_load_word(from + 4 * i);
        }
    }
}

/* First core: block after block, its multipliers and its jobs. */
static void start_blocks(const struct dory_layer *layer, const struct dory_tile *tile,
                         const struct dory_neureka_queue *queue, uint32_t blocks)
{
    for (uint32_t block = 0; block < blocks; block++) {
        copy_multipliers(tile, queue, (struct dory_share){block, block + 1});
        start_some(layer, tile, block + 1);
    }
}

/* Who makes elements asks in the second part for jobs of this one: the first core then copies multipliers alone. Else it
 * begins with the first block's, while the others copy what is left. */
void dory_neureka_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    if (core > 0 && (dory_neureka_is_by_cores(layer) || !dory_is_in_place(layer->l1.weights))) {
        return;
    }
    struct dory_neureka_queue queue = queue_of(layer, tile);
    bool is_shared = !queue.jobs.by_cores && queue.copied_words > 0;
    if (core == 0) {
        *(struct dory_neureka_queue *)tile->scratch = queue;
        start_blocks(layer, tile, &queue, is_shared ? 1 : queue.jobs.blocks);
    }
    if (is_shared) { /* the first core's share is the least */
        struct dory_share others = dory_share_of(queue.jobs.blocks - 1, cores - 1 - core, cores);
        copy_multipliers(tile, &queue, (struct dory_share){1 + others.first, 1 + others.end});
    }
}

static void finish_elements(const struct dory_layer *layer, const struct part *part,
                            const struct dory_neureka_elements *elements)
{
    if (part->is_wide) {
        dory_neureka_finish_wide(layer, elements);
    } else {
        dory_neureka_finish(layer, elements);
    }
}

/* A core's share of a job's elements: some channels of all pixels, so that cores are at different banks of L1; or where
 * channels do not divide some pixels of all channels. */
static NOT_INLINE void finish_part(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part,
                                   unsigned core, unsigned cores)
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
    finish_elements(layer, part, &elements);
}

/* The same, of the pixels that are taken, row after row: some columns of each. */
static NOT_INLINE void finish_taken(const struct dory_layer *layer, const struct dory_tile *tile, const struct part *part,
                                    uint32_t step, unsigned core, unsigned cores)
{
    uint32_t together = part->is_wide ? 4 : 1, element_bytes = layer->output_bits / 8u;
    uint32_t row_sums = step * dory_neureka_stepped(part->columns, step) * part->channels;
    bool by_rows = part->channels % (together * cores) != 0 && part->rows > 1;
    struct dory_share share = dory_share_of(by_rows ? part->rows : dory_divide_up(part->channels, together), core, cores);
    for (uint32_t row = by_rows ? share.first : 0; row < (by_rows ? share.end : part->rows); row++) {
        struct dory_neureka_elements elements = {
            .sums = (const int32_t *)(const void *)part->sums + row * row_sums,
            .sum_step = step * part->channels,
            .output = part->output + row * part->columns * tile->channels * element_bytes,
            .output_step = tile->channels * element_bytes,
            .pixels = part->columns,
            .constants = part->constants,
            .first_channel = by_rows ? 0 : together * share.first,
            .end_channel = by_rows ? part->channels : dory_minimum(together * share.end, part->channels),
        };
        finish_elements(layer, part, &elements);
    }
}

/* Of bytes that the engine made: some columns of each row. */
static NOT_INLINE void take_bytes(const struct dory_tile *tile, const struct part *part, uint32_t step, unsigned core,
                                  unsigned cores)
{
    uint32_t row_bytes = step * dory_neureka_stepped(part->columns, step) * part->channels;
    struct dory_share share = dory_share_of(part->columns, core, cores);
    for (uint32_t row = 0; row < part->rows; row++) {
        for (uint32_t column = share.first; column < share.end; column++) {
            const uint8_t *from = part->sums + row * row_bytes + column * step * part->channels;
            uint8_t *to = part->output + (row * part->columns + column) * tile->channels;
            uint32_t channel = 0;
            for (; channel + 4 <= part->channels; channel += 4) {
                dory_store_word(to + channel, dory_load_word(from + channel));
            }
            for (; channel < part->channels; channel++) {
                to[channel] = from[channel];
            }
        }
    }
}

void dory_neureka_finish_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    const struct dory_neureka_queue *queue = tile->scratch;
    uint32_t step = queue->jobs.step;
    if (core > 0 && !queue->jobs.by_cores) {
        return; /* who waits for the first core waits for the engine */
    }
    uint32_t blocks = queue->jobs.blocks, bands = queue->jobs.bands;
    uint32_t number = queue->first_number; /* of sums, known since the first part */
    if (core == 0) {
        start_some(layer, tile, blocks);
    }
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t band = 0; band < bands; band++, number++) {
            dory_neureka_await(number);
            if (core == 0) {
                start_some(layer, tile, blocks);
            }
            if (!queue->jobs.by_cores) {
                continue;
            }
            struct part part = part_of(layer, tile, queue, block, band);
            if (step == 1) {
                finish_part(layer, tile, &part, core, cores);
            } else if (queue->requantises) {
                take_bytes(tile, &part, step, core, cores);
            } else {
                finish_taken(layer, tile, &part, step, core, cores);
            }
        }
    }
}
