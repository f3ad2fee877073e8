/* Computes convolutions of bytes by N-EUREKA, depth-wise ones with windows of 3x3. Input, output: HWC.
 *
 * In the first part the first core brings constants from the weight memory and starts the tile's jobs, which the generator
 * has prepared, or which it describes itself; where pixels are gathered all cores do so, and jobs start behind it. In the
 * second part all cores make elements of the sums of a job that has ended, while the engine is at the next one; where the
 * engine requantises nothing is left to do but to wait. */
#define DORY_HAL_ON_CORES
#include "../xpulpv2/xpulp.h"
#include "dory/hal.h"
#include "dory/share.h"

#include "finish.h"
#include "neureka.h"

#define NOT_INLINE __attribute__((noinline)) /* code that is there once stays in the cache */

/* A core's view of a tile at work. */
struct work {
    const struct dory_neureka_common *common;
    const struct dory_neureka_part *prepared; /* null: parts are found from the description */
    struct dory_neureka_queue *queue;
    const uint8_t *input, *weights, *constants; /* what offsets count from */
    uint8_t *scratch, *output;
};

/* The last of the constants of the tile's first block, which lie in L1. */
static const struct dory_neureka_prepared *prepared_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t behind = DORY_NEUREKA_QUEUE_BYTES + layer->block_bytes - layer->chunk_bytes;
    const uint8_t *end = dory_is_in_place(layer->l1.weights) ? (const uint8_t *)tile->scratch + behind
                                                             : (const uint8_t *)tile->weights + layer->block_bytes;
    return (const struct dory_neureka_prepared *)(const void *)(end - sizeof(struct dory_neureka_prepared));
}

/* By the first core. */
static NOT_INLINE void open_queue(const struct dory_layer *layer, const struct dory_tile *tile)
{
    const struct dory_neureka_prepared *prepared = prepared_of(layer, tile);
    struct dory_neureka_queue *queue = tile->scratch;
    queue->started = 0;
    queue->is_prepared = dory_neureka_prepared_bytes(layer) > 0 && prepared->rows == tile->rows &&
                         prepared->columns == tile->columns && prepared->channels == tile->channels;
    if (!queue->is_prepared) {
        queue->part[0].channels = queue->part[1].channels = 0;
        dory_neureka_describe(layer, tile, &queue->description);
    }
}

/* Behind that. */
static NOT_INLINE struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct work work = {.queue = tile->scratch, .scratch = tile->scratch, .weights = tile->weights, .output = tile->output};
    work.input = dory_neureka_gathers(layer) ? work.scratch : (const uint8_t *)tile->input;
    work.constants = dory_is_in_place(layer->l1.weights) ? work.scratch : work.weights;
    work.common = &work.queue->description.common;
    if (work.queue->is_prepared) {
        const struct dory_neureka_prepared *prepared = prepared_of(layer, tile);
        work.common = &prepared->common;
        work.prepared = prepared->part;
    }
    return work;
}

static void start(const struct work *work, const struct dory_neureka_part *part)
{
    struct dory_neureka_queue *queue = work->queue;
    const uint8_t *multipliers = work->constants + part->constants + 4 * part->first;
    struct dory_neureka_pointers pointers = {
        .weights = work->weights + part->weights,
        .input = work->input + part->input,
        .output = work->common->by_cores ? work->scratch + part->sums : work->output + part->output,
        .multipliers = multipliers,
        .addends = multipliers + 4 * work->common->block_channels,
    };
    uint32_t number = dory_neureka_start(&part->registers, &pointers);
    if (queue->started == 0) {
        queue->first_number = number;
    }
    __atomic_store_n(&queue->started, queue->started + 1, __ATOMIC_RELEASE);
}

/* The next job of a tile that is not prepared. Most have the shape of the last but one, also where each block ends with a
 * band of the rest: to find registers takes a core longer than the engine takes for a short job. */
static NOT_INLINE const struct dory_neureka_part *describe_next(struct dory_neureka_queue *queue)
{
    struct dory_neureka_part *part = &queue->part[queue->started % 2];
    uint16_t rows = part->rows, columns = part->columns, channels = part->channels;
    dory_neureka_set_part(&queue->description, queue->started, part);
    if (part->rows != rows || part->columns != columns || part->channels != channels) {
        part->registers = dory_neureka_registers_of_part(&queue->description, part);
    }
    return part;
}

/* First core: as many jobs as the engine takes. */
static NOT_INLINE void start_some(const struct work *work)
{
    struct dory_neureka_queue *queue = work->queue;
    while (queue->started < work->common->jobs && dory_neureka_has_room()) {
        start(work, work->prepared ? &work->prepared[queue->started] : describe_next(queue));
    }
}

/* First core: constants of all blocks, by the DMA. A word of the weight memory is some 30 cycles away from a core. */
static NOT_INLINE void copy_constants(const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t bytes = layer->block_bytes - layer->chunk_bytes;
    struct hal_dma_copy copy = {.local = (uint8_t *)tile->scratch + DORY_NEUREKA_QUEUE_BYTES,
                                .external = (void *)((uintptr_t)tile->weights + layer->chunk_bytes),
                                .run_bytes = bytes,
                                .runs = dory_blocks(layer, tile->channels),
                                .planes = 1,
                                .external_run_stride = layer->block_bytes,
                                .local_run_stride = bytes,
                                .direction = HAL_TO_LOCAL};
    hal_dma_ticket ticket;
    hal_dma_open(&ticket);
    hal_dma_copy(ticket, &copy);
    hal_dma_wait(ticket);
}

void dory_neureka_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    bool gathers = dory_neureka_gathers(layer);
    if (core == 0) {
        if (dory_is_in_place(layer->l1.weights)) {
            copy_constants(layer, tile);
        }
        open_queue(layer, tile);
    }
    if (gathers) {
        dory_neureka_gather(layer, tile, core, cores);
    } else if (core == 0) {
        struct work work = work_of(layer, tile);
        start_some(&work);
    }
}

/* What a core makes of a job: channels, in so many together, and pixels, in units. */
struct shares {
    struct dory_share quads, units;
};

/* Other channels, so that cores are at different banks of L1; where there are too few for all, groups of cores have other
 * pixels. A division takes a core as long as an element. */
static struct shares shares_of(uint32_t quads, uint32_t units, unsigned core, unsigned cores)
{
    struct shares all = {{0, quads}, {0, units}};
    if (quads % cores == 0 || units < cores) {
        all.quads = dory_share_of(quads, core, cores);
    } else if (cores % quads == 0) {
        all.quads = (struct dory_share){core % quads, core % quads + 1};
        all.units = dory_share_of(units, core / quads, cores / quads);
    } else {
        all.units = dory_share_of(units, core, cores);
    }
    return all;
}

/* Elements of the addition behind the layer, whose output has gaps of its own; the other input has none. */
static NOT_INLINE void add_part(const struct dory_layer *layer, const struct dory_tile *tile, const struct work *work,
                                const struct dory_neureka_part *part, struct dory_neureka_elements *elements)
{
    uint32_t pixel_bytes = elements->output_step, row = part->output / (tile->columns * pixel_bytes);
    uint32_t own_bytes = (uint32_t)(elements->output - work->output) - part->output;
    bool by_rows = elements->output_skip > 0;
    uint32_t pitch = (tile->columns + (uint32_t)layer->rows.sum_gap) * pixel_bytes;
    uint32_t own_gaps = by_rows ? own_bytes / pitch * elements->output_skip : 0;
    const uint8_t *other = (const uint8_t *)tile->second_input + part->output + own_bytes - own_gaps;
    elements->output += row * elements->output_skip;
    if (work->common->may_be_wide) {
        dory_neureka_add_wide(layer, elements, other, &work->common->records);
    } else {
        dory_neureka_add(layer, elements, other);
    }
}

/* A core's share of a job's elements. Pixels that follow each other are one row; where some are left out, or the output has
 * gaps, rows are the tile's, and each core has whole ones. */
static NOT_INLINE void finish_part(const struct dory_layer *layer, const struct dory_tile *tile, const struct work *work,
                                   const struct dory_neureka_part *part, unsigned core, unsigned cores)
{
    const struct dory_neureka_common *common = work->common;
    bool adds = layer->stages && tile->second_input;
    uint32_t gap = adds ? layer->rows.sum_gap : layer->rows.output_gap;
    uint32_t step = common->step, columns = part->columns, channels = part->channels;
    uint32_t pixel_bytes = tile->channels * common->element_bytes, together = common->may_be_wide ? 4 : 1;
    bool by_rows = step > 1 || gap > 0;
    uint32_t unit_sums = by_rows ? step * dory_neureka_stepped(columns, step) * channels : channels;
    uint32_t unit_bytes = by_rows ? (columns + gap) * pixel_bytes : pixel_bytes;
    struct shares own =
        shares_of(together == 4 ? (channels + 3) / 4 : channels, part->rows * (by_rows ? 1 : columns), core, cores);
    uint32_t count = own.units.end - own.units.first;
    struct dory_neureka_elements elements = {
        .sums = (const int32_t *)(const void *)(work->scratch + part->sums) + own.units.first * unit_sums,
        .sum_step = step * channels,
        .output = work->output + part->output + own.units.first * unit_bytes,
        .output_step = pixel_bytes,
        .pixels = by_rows ? columns : count,
        .rows = by_rows ? count : 1,
        .sum_skip = by_rows ? unit_sums - columns * step * channels : 0,
        .output_skip = gap * pixel_bytes,
        .constants = work->constants + part->constants,
        .first_constant = part->first,
        .first_channel = together * own.quads.first,
        .end_channel = dory_minimum(together * own.quads.end, channels),
    };
    if (adds) {
        add_part(layer, tile, work, part, &elements);
    } else if (common->may_be_wide) {
        dory_neureka_finish_wide(layer, &elements, &common->records);
    } else {
        dory_neureka_finish(layer, &elements);
    }
}

/* Of bytes that the engine made: some columns of each row. */
static NOT_INLINE void take_bytes(const struct dory_layer *layer, const struct dory_tile *tile, const struct work *work,
                                  const struct dory_neureka_part *part, unsigned core, unsigned cores)
{
    uint32_t step = work->common->step, pitch = (uint32_t)part->columns + layer->rows.output_gap;
    uint32_t row_bytes = step * dory_neureka_stepped(part->columns, step) * part->channels;
    struct dory_share share = dory_share_of(part->columns, core, cores);
    for (uint32_t row = 0; row < part->rows; row++) {
        for (uint32_t column = share.first; column < share.end; column++) {
            const uint8_t *from = work->scratch + part->sums + row * row_bytes + column * step * part->channels;
            uint8_t *to = work->output + part->output + (row * pitch + column) * tile->channels;
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

static void finish_job(const struct dory_layer *layer, const struct dory_tile *tile, const struct work *work,
                       const struct dory_neureka_part *part, unsigned core, unsigned cores)
{
    if (work->common->requantises) {
        take_bytes(layer, tile, work, part, core, cores);
    } else {
        finish_part(layer, tile, work, part, core, cores);
    }
}

void dory_neureka_finish_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    struct work work = work_of(layer, tile);
    if (core > 0 && !work.common->by_cores) {
        return; /* who waits for the first core waits for the engine */
    }
    for (uint32_t index = 0; index < work.common->jobs; index++) {
        if (core == 0) {
            start_some(&work);
        }
        await_job(work.queue, index);
        if (core == 0) {
            start_some(&work);
        }
        if (work.common->by_cores && work.prepared) {
            finish_job(layer, tile, &work, &work.prepared[index], core, cores);
        } else if (work.common->by_cores) {
            struct dory_neureka_part part;
            dory_neureka_set_part(&work.queue->description, index, &part);
            finish_job(layer, tile, &work, &part, core, cores);
        }
    }
}
