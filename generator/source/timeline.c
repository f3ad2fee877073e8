#include "timeline.h"

uint64_t timeline_transfer_cycles(const struct target *target, const struct dory_transfer *transfer)
{
    uint64_t bytes = (uint64_t)transfer->run_bytes * transfer->runs;
    uint64_t rate = target->l3_bytes_per_1000_cycles;
    return (uint64_t)transfer->runs * target->l3_setup_cycles + (rate ? (bytes * 1000 + rate - 1) / rate : 0);
}

static uint64_t outputs_of(const struct plan_step *step) { return (uint64_t)step->run.rows * step->run.channels; }

uint64_t timeline_step_cycles(const struct plan *plan, int step)
{
    const struct plan_layer *layer = &plan->layers[plan->steps[step].layer];
    uint64_t before = 0, all = 0;
    for (int i = layer->first_step; i < layer->first_step + layer->step_count; i++) {
        uint64_t outputs = outputs_of(&plan->steps[i]);
        before += i < step ? outputs : 0;
        all += outputs;
    }
    if (all == 0)
        return 0;
    uint64_t to_end = layer->predicted_cycles * (before + outputs_of(&plan->steps[step])) / all;
    return to_end - layer->predicted_cycles * before / all;
}

struct walk {
    const struct plan *plan;
    struct timeline *timeline;
    uint64_t now, channel_free;
    int queued;
};

static void queue_transfers(struct walk *walk, int end)
{
    for (; walk->queued < end; walk->queued++) {
        struct timeline_transfer *transfer = &walk->timeline->transfers[walk->queued];
        uint64_t cycles = timeline_transfer_cycles(walk->plan->target, &walk->plan->transfers[walk->queued].run);
        transfer->queued_cycle = walk->now;
        transfer->start_cycle = walk->now > walk->channel_free ? walk->now : walk->channel_free;
        transfer->end_cycle = walk->channel_free = transfer->start_cycle + cycles;
        walk->timeline->l3_busy_cycles += cycles;
    }
}

/* Transfers are done in the order of the queue: the last one awaited is the latest. */
static void await_transfers(struct walk *walk, int end)
{
    queue_transfers(walk, end);
    uint64_t done = end ? walk->timeline->transfers[end - 1].end_cycle : 0;
    if (done > walk->now) {
        walk->timeline->l3_wait_cycles += done - walk->now;
        walk->now = done;
    }
}

static void take_step(struct walk *walk, int index)
{
    const struct dory_step *step = &walk->plan->steps[index].run;
    struct timeline_step *times = &walk->timeline->steps[index];
    times->begin_cycle = walk->now;
    await_transfers(walk, step->transfers_awaited);
    times->start_cycle = walk->now;
    queue_transfers(walk, step->transfers_started);
    walk->now += timeline_step_cycles(walk->plan, index);
    times->end_cycle = walk->now;
}

void timeline_make(const struct plan *plan, struct timeline *timeline, struct arena *arena)
{
    *timeline = (struct timeline){
        .steps = arena_array(arena, struct timeline_step, (size_t)plan->step_count),
        .transfers = arena_array(arena, struct timeline_transfer, (size_t)plan->transfer_count),
    };
    struct walk walk = {.plan = plan, .timeline = timeline};
    for (int i = 0; i < plan->step_count; i++)
        take_step(&walk, i);
    uint64_t last_step_end = walk.now;
    await_transfers(&walk, plan->transfer_count);
    timeline->final_wait_cycles = walk.now - last_step_end;
    timeline->end_cycle = walk.now;
}
