/* Weights that layers share, in a schedule of all else.
 *
 * They have a buffer behind all others, from the first step on. The blob of the first of these layers, their owner, comes
 * into it as a whole. Behind the last step of each of them, the constants of the next one are written over its own, block by
 * block: so much less, and from then on it is that layer's blob. */
#include "realise/schedule.h"

#include "dory/hal.h"

/* Steps of a layer, from its first one to its last. */
struct span {
    int first, last;
};

static struct span span_of(const struct schedule *schedule, int layer)
{
    struct span span = {-1, -1};
    for (int i = 0; i < schedule->step_count; i++)
        if (schedule->steps[i].layer == layer) {
            span.first = span.first < 0 ? i : span.first;
            span.last = i;
        }
    return span;
}

/* The tiles that were decided for both cut blocks into the same chunks. */
static bool have_equal_cuts(const struct decision *decision, int owner, int layer)
{
    const struct cut *a = cut_of(decision, owner), *b = cut_of(decision, layer);
    return a->block_bytes == b->block_bytes && a->tiling.tile.input_channels == b->tiling.tile.input_channels;
}

/* ---- transfers ---- */

/* Behind all that starts in front of it, or with it and is needed no later. */
static void insert_transfer(struct schedule *schedule, struct plan_transfer transfer)
{
    int i = schedule->transfer_count++;
    for (; i > 0; i--) {
        const struct plan_transfer *before = &schedule->transfers[i - 1];
        if (before->start_step < transfer.start_step ||
            (before->start_step == transfer.start_step && before->needed_step <= transfer.needed_step))
            break;
        schedule->transfers[i] = *before;
    }
    schedule->transfers[i] = transfer;
}

static void count_transfers(struct schedule *schedule)
{
    int started = 0, awaited = 0, count = schedule->transfer_count;
    for (int step = 0; step < schedule->step_count; step++) {
        while (started < count && schedule->transfers[started].start_step <= step)
            started++;
        for (int i = awaited; i < count; i++)
            if (schedule->transfers[i].needed_step <= step)
                awaited = i + 1;
        schedule->steps[step].record.transfers_started = (uint16_t)started;
        schedule->steps[step].record.transfers_awaited = (uint16_t)awaited;
    }
}

/* All of the owner's blob. */
static struct dory_transfer blob_of(const struct cut *cut)
{
    const struct dory_layer *record = &cut->of->record;
    return (struct dory_transfer){
        .kind = HAL_FLASH_READ, .runs = 1, .run_bytes = dory_blocks(record, record->output_channels) * cut->block_bytes};
}

/* Of each of its blocks the constants, which are behind one another in the flash. */
static struct dory_transfer constants_of(const struct cut *cut)
{
    const struct dory_layer *record = &cut->of->record;
    uint32_t bytes = cut->of->weights->constants_bytes(record);
    return (struct dory_transfer){.kind = HAL_FLASH_READ,
                                  .runs = (uint16_t)dory_blocks(record, record->output_channels),
                                  .run_bytes = bytes,
                                  .l2_offset = cut->block_bytes - bytes,
                                  .l2_stride = cut->block_bytes,
                                  .l3_stride = bytes};
}

/* ---- owners ---- */

static void use_buffer(struct schedule *schedule, int layer, int buffer)
{
    for (int i = 0; i < schedule->step_count; i++)
        if (schedule->steps[i].layer == layer)
            schedule->steps[i].weights_buffer = buffer;
}

/* False where a layer starts before the one in front of it has ended. */
static bool share_with(const struct decision *decision, int owner, struct schedule *schedule)
{
    const struct problem *p = decision->problem;
    int buffer = schedule->buffer_count++, last = -1;
    struct dory_transfer blob = blob_of(cut_of(decision, owner));
    for (int l = owner; l < p->network->layer_count; l++) {
        if (p->owners[l] != owner)
            continue;
        struct span span = span_of(schedule, l);
        if (span.first <= last || !have_equal_cuts(decision, owner, l))
            return false;
        struct dory_transfer copy = l == owner ? blob : constants_of(cut_of(decision, l));
        if (copy.run_bytes > 0) /* numbers alone, which a constant is, have none */
            insert_transfer(schedule, (struct plan_transfer){.record = copy,
                                                             .buffer = buffer,
                                                             .start_step = l == owner ? 0 : last + 1,
                                                             .needed_step = span.first});
        use_buffer(schedule, l, buffer);
        last = span.last;
    }
    schedule->buffers[buffer] = (struct plan_buffer){.kind = BUFFER_WEIGHTS,
                                                     .tensor = -1,
                                                     .layer = owner,
                                                     .bytes = blob.run_bytes,
                                                     .last_step = last,
                                                     .offset = aligned(schedule->peak_bytes)};
    schedule->peak_bytes = aligned(schedule->buffers[buffer].offset + blob.run_bytes);
    return true;
}

/* With room for a buffer and a transfer of each layer. */
static void make_room(struct schedule *schedule, int layers, struct arena *arena)
{
    struct plan_buffer *buffers = arena_array(arena, struct plan_buffer, (size_t)(schedule->buffer_count + layers));
    struct plan_transfer *transfers = arena_array(arena, struct plan_transfer, (size_t)(schedule->transfer_count + layers));
    for (int i = 0; i < schedule->buffer_count; i++)
        buffers[i] = schedule->buffers[i];
    for (int i = 0; i < schedule->transfer_count; i++)
        transfers[i] = schedule->transfers[i];
    schedule->buffers = buffers;
    schedule->transfers = transfers;
}

bool schedule_share(const struct decision *decision, struct schedule *schedule, struct arena *arena)
{
    const struct problem *p = decision->problem;
    struct timeline timeline;
    make_room(schedule, p->network->layer_count, arena);
    for (int l = 0; l < p->network->layer_count; l++)
        if (p->owners[l] == l && !share_with(decision, l, schedule))
            return false;
    count_transfers(schedule);
    schedule_count_live(schedule, arena);
    schedule_timeline(p, schedule, &timeline, arena);
    schedule->cycles = timeline.end_cycle;
    return schedule->peak_bytes <= schedule->l2_bytes + p->resident_bytes;
}
