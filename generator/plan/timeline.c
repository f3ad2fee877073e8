#include "plan/timeline.h"

#include "plan/planner.h"

struct walk {
    const struct plan *plan;
    struct timeline *timeline;
    uint64_t layer_start; /* of the current layer, with all waits so far added */
    uint64_t channel_free;
    int queued;
};

static void queue_transfers(struct walk *walk, int end, uint64_t now)
{
    for (; walk->queued < end; walk->queued++) {
        struct timeline_transfer *transfer = &walk->timeline->transfers[walk->queued];
        uint64_t cycles = l3_cycles(walk->plan->target, &walk->plan->transfers[walk->queued].run);
        transfer->queued_cycle = now;
        transfer->start_cycle = now > walk->channel_free ? now : walk->channel_free;
        transfer->end_cycle = walk->channel_free = transfer->start_cycle + cycles;
        walk->timeline->l3_busy_cycles += cycles;
    }
}

/* Transfers are done in the order of the queue, so the last one awaited is the latest; what was not started yet is
 * started now. Returns the cycles of waiting. */
static uint64_t await_transfers(struct walk *walk, int end, uint64_t now)
{
    queue_transfers(walk, end, now);
    uint64_t done = end ? walk->timeline->transfers[end - 1].end_cycle : 0;
    uint64_t wait = done > now ? done - now : 0;
    walk->timeline->l3_wait_cycles += wait;
    return wait;
}

static void take_step(struct walk *walk, int index)
{
    const struct plan_step *step = &walk->plan->steps[index];
    struct timeline_step *times = &walk->timeline->steps[index];
    times->begin_cycle = walk->layer_start + step->fetch_cycles;
    uint64_t wait = await_transfers(walk, step->run.transfers_awaited, times->begin_cycle);
    times->start_cycle = times->begin_cycle + wait;
    walk->layer_start += wait;
    queue_transfers(walk, step->run.transfers_started, walk->layer_start + step->start_cycles);
    if (step->run.last_of_layer) {
        walk->layer_start += walk->plan->layers[step->layer].predicted_cycles;
        times->end_cycle = walk->layer_start;
    } else {
        times->end_cycle = walk->layer_start + step[1].fetch_cycles;
    }
}

void timeline_make(const struct plan *plan, struct timeline *timeline, struct arena *arena)
{
    *timeline = (struct timeline){
        .steps = arena_array(arena, struct timeline_step, (size_t)plan->step_count),
        .transfers = arena_array(arena, struct timeline_transfer, (size_t)plan->transfer_count),
    };
    struct walk walk = {.plan = plan, .timeline = timeline, .layer_start = plan->start_cycles};
    for (int i = 0; i < plan->step_count; i++)
        take_step(&walk, i);
    timeline->final_wait_cycles = await_transfers(&walk, plan->transfer_count, walk.layer_start);
    timeline->end_cycle = walk.layer_start + timeline->final_wait_cycles;
}
