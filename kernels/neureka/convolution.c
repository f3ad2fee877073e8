/* Computes convolutions of bytes by N-EUREKA, depth-wise ones with windows of 3x3. Input, output: HWC.
 *
 * In the first part the first core describes the tile's jobs, while others copy constants from the weight memory; where
 * pixels are gathered all of them do so. Jobs start behind it, or at once where there is nothing to wait for. In the second
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
    const uint8_t *input, *weights;
    const uint8_t *constants; /* of its block */
    uint32_t first;           /* of its channels, in the block */
    uint8_t *sums;            /* its pixels, side by side */
    uint8_t *output;          /* its first element */
};

/* What all jobs of a tile have in common. */
static void set_job(const struct dory_layer *layer, const struct dory_tile *tile, struct dory_neureka_queue *queue)
{
    struct dory_neureka_job *job = &queue->job;
    uint32_t channels = tile->input_channels, step = queue->jobs.step;
    uint32_t row_bytes = layer->stride_height / step * tile->input_columns * channels;
    bool requantises = queue->requantises, is_wide = queue->may_be_wide;
    job->mode = (uint8_t)dory_neureka_mode_of(layer);
    job->output_kind = requantises ? DORY_NEUREKA_BYTES : is_wide ? DORY_NEUREKA_WIDE : DORY_NEUREKA_SUMS;
    job->weight_bits = layer->weight_bits;
    job->shift = requantises ? layer->shift : is_wide ? DORY_NEUREKA_WIDE_SHIFT : 0;
    job->input_is_signed = layer->input_is_signed;
    job->output_is_signed = requantises && layer->output_is_signed;
    job->weights_in_memory = dory_is_in_place(layer->l1.weights);
    job->input_channels = (uint16_t)channels;
    job->input_pixel_bytes = layer->stride_width / step * channels;
    if (queue->gathers) {
        job->input_channels = (uint16_t)dory_neureka_input_channels(layer);
        job->input_pixel_bytes = dory_round_up(job->input_channels, 4);
    }
    bool is_close = queue->gathers || queue->jobs.is_flat; /* rows follow one another */
    job->input_row_bytes = is_close ? queue->jobs.columns * job->input_pixel_bytes : row_bytes;
}

/* Where the parts of scratch lie, one behind the other. */
static void lay_scratch(const struct dory_tile *tile, struct dory_neureka_queue *queue)
{
    uint8_t *behind = (uint8_t *)(queue + 1);
    queue->constants = (const uint8_t *)tile->weights + queue->weight_bytes;
    queue->constants_step = queue->block_bytes;
    if (queue->job.weights_in_memory) {
        queue->constants = behind;
        queue->constants_step = queue->block_bytes - queue->weight_bytes;
        behind += queue->jobs.blocks * queue->constants_step;
    }
    queue->input = queue->gathers ? behind : (const uint8_t *)tile->input;
    queue->sums = behind + (queue->gathers ? tile->rows * tile->columns * queue->job.input_pixel_bytes : 0);
}

/* Code that runs once waits for L2 instruction by instruction: it is to be short. */
static NOT_INLINE __attribute__((cold)) void describe(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      struct dory_neureka_queue *queue)
{
    dory_neureka_set_jobs(&queue->jobs, layer, tile->rows, tile->columns, tile->channels);
    uint32_t channels = queue->jobs.block_channels, step = queue->jobs.step;
    queue->started = queue->part = queue->band = 0;
    queue->block_bytes = layer->block_bytes;
    queue->weight_bytes = layer->chunk_bytes;
    queue->may_be_wide = dory_neureka_may_be_wide(layer);
    queue->requantises = dory_neureka_requantises(layer);
    queue->gathers = dory_neureka_gathers(layer);
    queue->element_bytes = layer->output_bits / 8u;
    queue->left_bytes = queue->requantises ? 1 : 4;
    queue->pixels = tile->rows * step * dory_neureka_stepped(queue->jobs.columns, step);
    queue->records.first_record = 4 * channels;
    queue->records.first_kind = layer->block_bytes - layer->chunk_bytes - channels;
    queue->records.record_bytes = (queue->records.first_kind - 4 * channels) / channels;
    set_job(layer, tile, queue);
    lay_scratch(tile, queue);
}

/* Channels, rows and columns; the last band may be what is left of rows of six. */
static NOT_INLINE struct part part_of(const struct dory_tile *tile, const struct dory_neureka_queue *queue, uint32_t index,
                                      uint32_t band)
{
    const struct dory_neureka_jobs *jobs = &queue->jobs;
    uint32_t block = index / jobs->parts_per_block, in_block = index % jobs->parts_per_block * jobs->part_channels;
    uint32_t first_row = band * jobs->band_rows, first = block * jobs->block_channels + in_block;
    struct part part = {.rows = dory_minimum(jobs->band_rows, jobs->rows - first_row), .columns = jobs->columns};
    if (jobs->rest > 0 && band == jobs->bands - 1) {
        first_row = jobs->rows;
        part.rows = 1;
        part.columns = jobs->rest;
    }
    uint32_t columns = dory_neureka_stepped(jobs->columns, jobs->step);
    uint32_t first_pixel = first_row * jobs->columns, first_left = first_row * jobs->step * columns;
    part.first = in_block;
    part.channels = dory_minimum(jobs->part_channels, dory_minimum(jobs->block_channels - in_block, tile->channels - first));
    part.input = queue->input + first_row * jobs->step * queue->job.input_row_bytes;
    part.weights =
        (const uint8_t *)tile->weights + block * queue->block_bytes + in_block * queue->weight_bytes / jobs->block_channels;
    part.constants = queue->constants + block * queue->constants_step;
    part.sums = queue->sums + queue->left_bytes * (queue->pixels * first + first_left * part.channels);
    part.output = (uint8_t *)tile->output + (first_pixel * tile->channels + first) * queue->element_bytes;
    return part;
}

static uint32_t start(const struct dory_tile *tile, struct dory_neureka_queue *queue, const struct part *part)
{
    struct dory_neureka_job *job = &queue->job;
    bool by_cores = queue->jobs.by_cores;
    job->rows = (uint16_t)dory_neureka_stepped(part->rows, queue->jobs.step);
    job->columns = (uint16_t)dory_neureka_stepped(part->columns, queue->jobs.step);
    job->channels = (uint16_t)part->channels;
    job->input = part->input;
    job->weights = part->weights;
    job->multipliers = part->constants + 4 * part->first;
    job->addends = part->constants + 4 * (part->first + queue->jobs.block_channels);
    job->output = by_cores ? part->sums : part->output;
    job->output_pixel_bytes = by_cores ? queue->left_bytes * part->channels : tile->channels;
    job->output_row_bytes = job->columns * job->output_pixel_bytes;
    return dory_neureka_start(job);
}

/* First core: as many jobs as the engine takes. */
static NOT_INLINE void start_some(const struct dory_tile *tile)
{
    struct dory_neureka_queue *queue = tile->scratch;
    while (queue->part < queue->jobs.parts && dory_neureka_has_room()) {
        struct part part = part_of(tile, queue, queue->part, queue->band);
        uint32_t number = start(tile, queue, &part);
        if (queue->started == 0) {
            queue->first_number = number;
        }
        __atomic_store_n(&queue->started, queue->started + 1, __ATOMIC_RELEASE);
        if (++queue->band == queue->jobs.bands) {
            queue->band = 0;
            queue->part++;
        }
    }
}

/* A core's share of each block's: a word of the weight memory is some 30 cycles away from a core. */
static NOT_INLINE void copy_constants(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                      unsigned cores)
{
    uint32_t words = (layer->block_bytes - layer->chunk_bytes) / 4, blocks = dory_blocks(layer, tile->channels);
    uint32_t *to = (uint32_t *)(void *)((struct dory_neureka_queue *)tile->scratch + 1);
    const uint8_t *from = (const uint8_t *)tile->weights + layer->chunk_bytes;
    struct dory_share share = dory_share_of(words, core, cores);
    for (; blocks > 0; blocks--, from += layer->block_bytes, to += words) {
        for (uint32_t i = share.first; i < share.end; i++) {
            to[i] = dory_load_word(from + 4 * i);
        }
    }
}

void dory_neureka_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    unsigned describing = cores > 1; /* cores that do not copy */
    bool copies = dory_is_in_place(layer->l1.weights), gathers = dory_neureka_gathers(layer);
    if (core == 0) {
        describe(layer, tile, tile->scratch);
    }
    if (core == 0 && !copies && !gathers) {
        start_some(tile);
    }
    if (copies && core >= describing) {
        copy_constants(layer, tile, core - describing, cores - describing);
    }
    if (gathers) {
        dory_neureka_gather(layer, tile, core, cores);
    }
}

static void finish_elements(const struct dory_layer *layer, const struct dory_neureka_queue *queue,
                            const struct dory_neureka_elements *elements)
{
    if (queue->may_be_wide) {
        dory_neureka_finish_wide(layer, elements, &queue->records);
    } else {
        dory_neureka_finish(layer, elements);
    }
}

/* A core's share of a job's elements: some channels of all pixels, so that cores are at different banks of L1; or where
 * channels do not divide some pixels of all channels. */
static NOT_INLINE void finish_part(const struct dory_layer *layer, const struct dory_tile *tile,
                                   const struct dory_neureka_queue *queue, const struct part *part, unsigned core,
                                   unsigned cores)
{
    uint32_t pixels = part->rows * part->columns, element_bytes = queue->element_bytes;
    uint32_t together = queue->may_be_wide ? 4 : 1; /* channels */
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
        .first_constant = part->first,
        .first_channel = first_channel,
        .end_channel = by_pixels ? part->channels : dory_minimum(together * share.end, part->channels),
    };
    finish_elements(layer, queue, &elements);
}

/* The same, of the pixels that are taken, row after row: some columns of each. */
static NOT_INLINE void finish_taken(const struct dory_layer *layer, const struct dory_tile *tile,
                                    const struct dory_neureka_queue *queue, const struct part *part, unsigned core,
                                    unsigned cores)
{
    uint32_t together = queue->may_be_wide ? 4 : 1, element_bytes = queue->element_bytes, step = queue->jobs.step;
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
            .first_constant = part->first,
            .first_channel = by_rows ? 0 : together * share.first,
            .end_channel = by_rows ? part->channels : dory_minimum(together * share.end, part->channels),
        };
        finish_elements(layer, queue, &elements);
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

/* The first core starts it, maybe while others are here already. */
static void await_job(const struct dory_neureka_queue *queue, uint32_t index)
{
    while (__atomic_load_n(&queue->started, __ATOMIC_ACQUIRE) <= index) {
    }
    dory_neureka_await(queue->first_number + index);
}

void dory_neureka_finish_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    const struct dory_neureka_queue *queue = tile->scratch;
    uint32_t step = queue->jobs.step;
    if (core > 0 && !queue->jobs.by_cores) {
        return; /* who waits for the first core waits for the engine */
    }
    for (uint32_t index = 0, count = 0; index < queue->jobs.parts; index++) {
        for (uint32_t band = 0; band < queue->jobs.bands; band++, count++) {
            if (core == 0) {
                start_some(tile);
            }
            await_job(queue, count);
            if (core == 0) {
                start_some(tile);
            }
            if (!queue->jobs.by_cores) {
                continue;
            }
            struct part part = part_of(tile, queue, index, band);
            if (step == 1) {
                finish_part(layer, tile, queue, &part, core, cores);
            } else if (queue->requantises) {
                take_bytes(tile, &part, step, core, cores);
            } else {
                finish_taken(layer, tile, queue, &part, core, cores);
            }
        }
    }
}
