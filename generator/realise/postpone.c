/* When prefetches start, in a schedule whose order and cycles are given.
 *
 * schedule_make starts each as soon as its bytes are free, whatever it gains by that: L2 is then full at nearly every step,
 * and places for all of it hardly exist. Most prefetches can wait: until then their bytes live for less time, and places are
 * easy to find. With the places found, each starts as early as its own place lets it, so that one that takes longer than
 * predicted still has the time that there is. */
#include "realise/schedule.h"

#include "dory/hal.h"

/* Those that start in front of the step that needs them; the others cannot start at another time. */
static bool is_prefetch(const struct plan_transfer *transfer)
{
    return transfer->record.kind != HAL_RAM_WRITE && transfer->start_step < transfer->needed_step;
}

static void count_started(struct schedule *schedule)
{
    int started = 0;
    for (int step = 0; step < schedule->step_count; step++) {
        while (started < schedule->transfer_count && schedule->transfers[started].start_step <= step)
            started++;
        schedule->steps[step].record.transfers_started = (uint16_t)started;
    }
}

/* ---- as late as possible ---- */

struct deadlines {
    const struct schedule *schedule;
    struct timeline timeline;
    int step;        /* the last one that no transfer looked at so far is awaited by */
    uint64_t margin; /* cycles by which prefetches are in the queue before they must start */
    uint64_t cycle;  /* at which the transfer behind must start, or the first step that awaits this one does */
    int latest_step; /* in which this transfer may start: the queue keeps its order */
};

/* The latest cycle at which transfer `index` may start, called from the last one to the first. */
static uint64_t latest_start(struct deadlines *d, int index)
{
    const struct plan_step *steps = d->schedule->steps;
    const struct timeline_transfer *times = &d->timeline.transfers[index];
    while (d->step > 0 && steps[d->step - 1].record.transfers_awaited > index)
        d->step--;
    if (steps[d->step].record.transfers_awaited > index && d->timeline.steps[d->step].start_cycle < d->cycle)
        d->cycle = d->timeline.steps[d->step].start_cycle;
    d->cycle -= times->end_cycle - times->start_cycle;
    return d->cycle;
}

/* The cycle at which a step's prefetches enter the queue. */
static uint64_t queue_cycle(const struct deadlines *d, int step)
{
    const struct plan_step *record = &d->schedule->steps[step];
    return d->timeline.steps[step].start_cycle - record->fetch_cycles + record->start_cycles;
}

static int latest_step(const struct deadlines *d, const struct plan_transfer *transfer, uint64_t cycle)
{
    int step = transfer->start_step;
    int last = transfer->needed_step - 1 < d->latest_step ? transfer->needed_step - 1 : d->latest_step;
    while (step < last && queue_cycle(d, step + 1) + d->margin <= cycle)
        step++;
    return step;
}

void schedule_postpone(const struct problem *problem, uint64_t margin, struct schedule *schedule, struct arena *arena)
{
    struct deadlines d = {
        .schedule = schedule, .step = schedule->step_count - 1, .margin = margin, .latest_step = schedule->step_count};
    schedule_timeline(problem, schedule, &d.timeline, arena);
    d.cycle = d.timeline.end_cycle;
    for (int i = schedule->transfer_count - 1; i >= 0; i--) {
        struct plan_transfer *transfer = &schedule->transfers[i];
        uint64_t cycle = latest_start(&d, i);
        if (is_prefetch(transfer)) {
            transfer->start_step = latest_step(&d, transfer, cycle);
            schedule->buffers[transfer->buffer].first_step = transfer->start_step; /* of several the first one stays */
        }
        /* what starts at the beginning of a step stands in front of that step's prefetches */
        d.latest_step = transfer->start_step - (is_prefetch(transfer) ? 0 : 1);
    }
    count_started(schedule);
    schedule_count_live(schedule, arena);
}

/* ---- as early as places let them ---- */

/* The first step from which on nothing else lives in a buffer's place, up to its life. */
static int first_free_step(const struct schedule *schedule, const struct plan_buffer *buffer)
{
    int first = 0;
    for (int i = 0; i < schedule->buffer_count; i++) {
        const struct plan_buffer *other = &schedule->buffers[i];
        bool meets = other->offset < buffer->offset + buffer->bytes && buffer->offset < other->offset + other->bytes;
        if (meets && other->last_step < buffer->first_step && other->last_step >= first)
            first = other->last_step + 1;
    }
    return first;
}

void schedule_advance(struct schedule *schedule, const int *earliest, struct arena *arena)
{
    int before = 0;
    for (int i = 0; i < schedule->transfer_count; i++) {
        struct plan_transfer *transfer = &schedule->transfers[i];
        struct plan_buffer *buffer = &schedule->buffers[transfer->buffer];
        if (is_prefetch(transfer)) {
            int first = earliest[i] > before ? earliest[i] : before;
            int free = first < transfer->start_step ? first_free_step(schedule, buffer) : 0;
            first = free > first ? free : first;
            transfer->start_step = first < transfer->start_step ? first : transfer->start_step;
            buffer->first_step = transfer->start_step < buffer->first_step ? transfer->start_step : buffer->first_step;
        }
        before = transfer->start_step;
    }
    count_started(schedule);
    schedule_count_live(schedule, arena);
}
