/* When cores that take tiles from a table wait for transfers.
 *
 * A meeting with the driver takes them as long as a small tile: at one that there is anyway, they wait for all that has come
 * until then, and need no other for it.
 *
 * And a layer's first weights come to L1 beside the layer before only where they are known to be in L2: so that is seen a
 * step or more before, where the plan is then predicted to be faster. */
#include "dory/prepared.h"
#include "plan/plan.h"
#include "plan/timeline.h"

/* Predictions are not exact, and to wait for what has not come takes longer than a meeting. */
#define SURE_CYCLES 1000

static bool has_come(const struct timeline *timeline, int transfer, int step)
{
    return timeline->transfers[transfer].end_cycle + SURE_CYCLES <= timeline->steps[step].start_cycle;
}

static bool meets(const struct plan *plan, int step)
{
    return dory_step_meets(&plan->steps[step].record, &plan->steps[step - 1].record) != DORY_MEETS_NOBODY;
}

void plan_await_together(struct plan *plan, struct arena *arena)
{
    struct timeline timeline;
    timeline_make(plan, &timeline, arena);
    for (int i = 1; i < plan->step_count; i++) {
        struct dory_step *step = &plan->steps[i].record;
        const struct dory_step *before = &plan->steps[i - 1].record;
        if (step->transfers_awaited < before->transfers_awaited)
            step->transfers_awaited = before->transfers_awaited;
        if (!meets(plan, i))
            continue;
        while (step->transfers_awaited < before->transfers_started && has_come(&timeline, step->transfers_awaited, i))
            step->transfers_awaited++;
    }
}

/* ---- for early weights ---- */

enum {
    MOST_STEPS_BEFORE = 8,
    MEETING_CYCLES = 500 /* of the cores, about: what has to be in L2 before, and code that is not in the caches */
};

uint64_t plan_meeting_cycles(const struct plan *plan)
{
    uint64_t cycles = plan->predicted_cycles;
    for (int i = 1; i < plan->step_count; i++)
        cycles += meets(plan, i) ? MEETING_CYCLES : 0;
    return cycles;
}

static void await_from(struct plan *plan, int first, int end, uint16_t awaited)
{
    for (int i = first; i < end; i++)
        plan->steps[i].record.transfers_awaited = awaited;
}

uint64_t plan_finished_cycles(const struct plan *plan)
{
    struct arena scratch = {0};
    struct plan finished = *plan;
    plan_own_lists(&finished, &scratch);
    plan_bring_early(&finished, true, &scratch);
    uint64_t cycles = plan_meeting_cycles(&finished);
    arena_free(&scratch);
    return cycles;
}

/* Whether a layer starts with this step, and waits for weights that could come early else. */
static bool may_gain(const struct plan *plan, int index)
{
    const struct plan_step *step = &plan->steps[index];
    const struct plan_layer *layer = &plan->layers[step->layer];
    return layer->first_step == index && layer->block < 0 && layer->record.block_bytes != 0 &&
           dory_step_awaits(&step->record, &step[-1].record);
}

/* The step before, or one that meets the driver anyway, where all that this one awaits has been started and has come. */
static bool can_await(const struct plan *plan, const struct timeline *timeline, int step, int waiting)
{
    uint16_t awaited = plan->steps[waiting].record.transfers_awaited;
    bool has_started = awaited <= plan->steps[step - 1].record.transfers_started;
    return has_started && has_come(timeline, awaited - 1, step) && (step == waiting - 1 || meets(plan, step));
}

static void await_before(struct plan *plan, const struct timeline *timeline, int waiting, uint64_t *least_cycles)
{
    uint16_t awaited = plan->steps[waiting].record.transfers_awaited,
             before = plan->steps[waiting - 1].record.transfers_awaited;
    int best = waiting;
    for (int i = waiting - 1; i > 0 && i >= waiting - MOST_STEPS_BEFORE; i--) {
        if (plan->steps[i].record.transfers_awaited < before) /* what a step awaits, those behind it have */
            break;
        if (!can_await(plan, timeline, i, waiting))
            continue;
        await_from(plan, i, waiting, awaited);
        uint64_t cycles = plan_finished_cycles(plan);
        await_from(plan, i, waiting, before);
        if (cycles < *least_cycles) {
            *least_cycles = cycles;
            best = i;
        }
    }
    await_from(plan, best, waiting, awaited);
}

void plan_await_early(struct plan *plan, struct arena *arena)
{
    struct timeline timeline;
    uint64_t cycles = plan_finished_cycles(plan);
    timeline_make(plan, &timeline, arena);
    for (int i = 2; i < plan->step_count; i++)
        if (may_gain(plan, i))
            await_before(plan, &timeline, i, &cycles);
}
