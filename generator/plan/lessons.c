/* What the schedule of a pick teaches the model, which knows less than a schedule does. */
#include "dory/hal.h"
#include "plan/optimiser.h"

struct lesson {
    const struct planner *planner;
    const struct schedule *schedule;
    const struct timeline *timeline;
    struct model *model;
    const struct candidate *const *pick;
    int first_layer; /* from which on no tensor can be in RAM: weights are all that is brought */
};

/* The first of the transfers that follow each other without a pause up to this one. */
static int chain_start(const struct lesson *lesson, int transfer)
{
    const struct timeline_transfer *times = lesson->timeline->transfers;
    while (transfer > 0 && times[transfer].start_cycle > times[transfer].queued_cycle)
        transfer--;
    return transfer;
}

static bool is_as_foreseen(const struct lesson *lesson, int layer)
{
    return lesson->schedule->costs[layer].cycles == lesson->planner->choices[layer].cut->cost.cycles;
}

/* From the start of layer `first` to the end of that of step `waiting`, at least: computing until the chain of transfers
 * starts, those transfers, and what is left to compute. */
static uint64_t chain_cycles(const struct lesson *lesson, int first, int start, int end, int waiting)
{
    const struct schedule *s = lesson->schedule;
    const struct plan_step *from = &s->steps[s->transfers[start].start_step], *to = &s->steps[waiting];
    const struct timeline_transfer *times = lesson->timeline->transfers;
    const struct timeline_step *from_times = &lesson->timeline->steps[s->transfers[start].start_step];
    bool late =
        times[start].queued_cycle == from_times->begin_cycle; /* queued when the step fetches, else when it computes */
    uint64_t cycles = late ? from->fetch_cycles : from->start_cycles;
    for (int l = first; l < from->layer; l++)
        cycles += s->costs[l].cycles;
    return cycles + times[end].end_cycle - times[start].queued_cycle + s->costs[to->layer].cycles - to->fetch_cycles;
}

/* A step waits for a chain of transfers that could not start earlier, whatever layers far away do: L2 was full. */
static void teach_wait(const struct lesson *lesson, int start, int end, int waiting)
{
    const struct schedule *s = lesson->schedule;
    int step = s->transfers[start].start_step, first = s->steps[step > 0 ? step - 1 : 0].layer;
    int last = s->steps[waiting].layer;
    for (int l = first; l <= last; l++)
        if (l < lesson->first_layer || !is_as_foreseen(lesson, l))
            return;
    for (int i = start; i <= end; i++)
        if (s->transfers[i].run.kind != HAL_FLASH_READ)
            return;
    model_raise(lesson->model, lesson->pick, first, last, chain_cycles(lesson, first, start, end, waiting));
}

static void teach_waits(const struct lesson *lesson)
{
    const struct schedule *s = lesson->schedule;
    int taught = -1;
    for (int i = s->step_count - 1; i >= 0; i--) {
        const struct timeline_step *times = &lesson->timeline->steps[i];
        int end = s->steps[i].run.transfers_awaited - 1;
        if (times->start_cycle == times->begin_cycle || end < 0)
            continue;
        int start = chain_start(lesson, end);
        if (start == taught)
            continue;
        teach_wait(lesson, start, end, i);
        taught = start;
    }
}

static int first_layer_without_spills(const struct optimiser *o)
{
    int first = 0;
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->spill[t] != SPILL_NEVER && o->lives[t].last >= first)
            first = o->lives[t].last + 1;
    return first;
}

void teach(struct optimiser *o, struct model *model, const struct candidate *const *pick)
{
    struct arena scratch = {0};
    struct schedule schedule;
    struct timeline timeline;
    schedule_make(o->planner, 0, &schedule, &scratch);
    schedule_timeline(o->planner, &schedule, &timeline, &scratch);
    teach_waits(&(struct lesson){o->planner, &schedule, &timeline, model, pick, first_layer_without_spills(o)});
    model_exclude(model, pick);
    arena_free(&scratch);
}
