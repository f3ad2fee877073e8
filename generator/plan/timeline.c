#include "plan/timeline.h"

#include <string.h>

#include "dory/prepared.h"
#include "dory/turn.h"
#include "placed_tile.h"

uint64_t l3_cycles(const struct target *target, const struct dory_transfer *transfer)
{
    return target_l3_cycles(target, transfer->runs, transfer->run_bytes);
}

struct walk {
    const struct sequence *sequence;
    struct timeline *timeline;
    uint64_t layer_start; /* of the current layer, with all waits so far added */
    uint64_t channel_free, driver_free;
    int queued;
};

/* Cores that go from tile to tile of a table wait for the driver at meetings only. */
static bool has_meetings(const struct sequence *sequence) { return sequence->finished && sequence->target->has_table; }

/* What the driver takes to queue the transfers that the first step awaits, in the run's start. */
static uint64_t queueing_in_start(const struct target *target, uint64_t awaited)
{
    return awaited * target->transfer_driver_cycles;
}

/* What the first step awaits is queued in a call of its own, before all else: with a table, so much sooner. */
static void queue_transfers(struct walk *walk, int end, uint64_t now)
{
    const struct target *target = walk->sequence->target;
    int in_start = walk->sequence->steps[0].record.transfers_awaited;
    uint64_t before = queueing_in_start(target, (uint64_t)in_start);
    if (has_meetings(walk->sequence) && walk->queued == 0 && in_start > 0)
        now -= before < now ? before : now;
    for (; walk->queued < end; walk->queued++) {
        struct timeline_transfer *transfer = &walk->timeline->transfers[walk->queued];
        uint64_t cycles = l3_cycles(target, &walk->sequence->transfers[walk->queued].record);
        if (has_meetings(walk->sequence) && walk->queued >= in_start) /* one behind the other */
            now = walk->driver_free = (now > walk->driver_free ? now : walk->driver_free) + target->transfer_driver_cycles;
        transfer->queued_cycle = now;
        transfer->start_cycle = now > walk->channel_free ? now : walk->channel_free;
        transfer->end_cycle = walk->channel_free = transfer->start_cycle + cycles;
        walk->timeline->l3_busy_cycles += cycles;
    }
}

/* Transfers are done in the order of the queue, so the last one awaited is the latest; what was not started yet is
 * started now. Returns the cycles of waiting until that is done, and what can only be done `behind` it: at least `least`. */
static uint64_t await_transfers(struct walk *walk, int end, uint64_t least, uint64_t behind, uint64_t now)
{
    queue_transfers(walk, end, now);
    uint64_t done = end ? walk->timeline->transfers[end - 1].end_cycle + behind : 0;
    uint64_t wait = done > now + least ? done - now : least;
    walk->timeline->l3_wait_cycles += wait;
    return wait;
}

static bool meets(const struct walk *walk, int index)
{
    const struct plan_step *step = &walk->sequence->steps[index];
    return index > 0 && has_meetings(walk->sequence) &&
           dory_step_meets(&step->record, &step[-1].record) != DORY_MEETS_NOBODY;
}

/* Where they meet, the cores wait as long as the driver still queues transfers. */
static uint64_t await_driver(const struct walk *walk, uint64_t now)
{
    return now > walk->driver_free ? 0 : walk->driver_free - now;
}

static uint64_t tiles_of(const struct dory_layer *layer, const struct dory_step *step)
{
    struct dory_cursor at;
    uint64_t count = 1;
    for (dory_cursor_first(&at, step); dory_cursor_next(&at, layer, step);)
        count++;
    return count;
}

/* What is to be done behind the transfers that a layer's first step awaits, if they had to be waited for: its first weights
 * come early, and the driver turns to it. Transfers that nobody has started yet are awaited last of all. */
static uint64_t behind_transfers(const struct walk *walk, int index)
{
    const struct sequence *sequence = walk->sequence;
    const struct plan_step *step = &sequence->steps[index];
    bool turns = index > 0 && step[-1].layer != step->layer, started = step->record.transfers_awaited <= walk->queued;
    if (!sequence->finished || has_meetings(sequence) || !turns || !started) /* from a table no early weights come from L3 */
        return 0;
    return step->early_cycles + sequence->target->turn_driver_cycles;
}

/* What the driver queues at once. */
static void queue_turn(struct walk *walk, int end, uint64_t now)
{
    uint64_t bytes = 0;
    for (uint32_t queued = 0; walk->queued < end && dory_turn_goes_on(queued, bytes); queued++) {
        const struct dory_transfer *transfer = &walk->sequence->transfers[walk->queued].record;
        bytes += (uint64_t)transfer->run_bytes * transfer->runs;
        queue_transfers(walk, walk->queued + 1, now);
    }
}

/* At the start of a run with a table, that transfers have come takes as long to see as to queue one. */
static uint64_t least_wait(const struct sequence *sequence, int index)
{
    bool is_start = index == 0 && has_meetings(sequence) && sequence->steps[0].record.transfers_awaited > 0;
    return is_start ? sequence->target->transfer_driver_cycles : 0;
}

/* What a step starts: beside each of its tiles the driver queues a part, which one transfer may be. */
static void start_transfers(struct walk *walk, int index)
{
    const struct sequence *sequence = walk->sequence;
    const struct plan_step *step = &sequence->steps[index];
    int end = step->record.transfers_started;
    uint64_t start = walk->layer_start + step->start_cycles;
    if (!sequence->finished || has_meetings(sequence)) {
        queue_transfers(walk, end, start);
        return;
    }
    start += sequence->target->tile_driver_cycles; /* the next tile is placed before that */
    uint64_t behind = step->record.last_of_layer ? sequence->layer_cycles[step->layer] : step[1].fetch_cycles;
    uint64_t cycles = behind > step->start_cycles ? behind - step->start_cycles : 0,
             tiles = tiles_of(&sequence->finished[step->layer].record, &step->record);
    for (uint64_t tile = 0; tile < tiles; tile++)
        queue_turn(walk, end, start + tile * cycles / tiles);
}

static void take_step(struct walk *walk, int index)
{
    const struct plan_step *step = &walk->sequence->steps[index];
    struct timeline_step *times = &walk->timeline->steps[index];
    times->begin_cycle = walk->layer_start + step->fetch_cycles;
    uint64_t until_met = meets(walk, index) ? await_driver(walk, times->begin_cycle) : 0;
    uint64_t wait = await_transfers(walk, step->record.transfers_awaited, least_wait(walk->sequence, index),
                                    behind_transfers(walk, index), times->begin_cycle + until_met);
    walk->timeline->l3_wait_cycles += until_met;
    times->start_cycle = times->begin_cycle + until_met + wait;
    walk->layer_start += until_met + wait;
    start_transfers(walk, index);
    if (step->record.last_of_layer)
        walk->layer_start += walk->sequence->layer_cycles[step->layer];
    times->end_cycle = walk->layer_start + (index + 1 < walk->sequence->step_count ? step[1].fetch_cycles : 0);
}

void timeline_of_sequence(const struct sequence *sequence, struct timeline *timeline, struct arena *arena)
{
    *timeline = (struct timeline){
        .steps = arena_array(arena, struct timeline_step, (size_t)sequence->step_count),
        .transfers = arena_array(arena, struct timeline_transfer, (size_t)sequence->transfer_count),
    };
    struct walk walk = {.sequence = sequence, .timeline = timeline, .layer_start = sequence->start_cycles};
    for (int i = 0; i < sequence->step_count; i++)
        take_step(&walk, i);
    timeline->final_wait_cycles = await_transfers(&walk, sequence->transfer_count, 0, 0, walk.layer_start);
    timeline->end_cycle = walk.layer_start + timeline->final_wait_cycles;
}

void timeline_make(const struct plan *plan, struct timeline *timeline, struct arena *arena)
{
    uint64_t *layer_cycles = arena_array(arena, uint64_t, (size_t)plan->network->layer_count);
    for (int i = 0; i < plan->network->layer_count; i++)
        layer_cycles[i] = plan->layers[i].predicted_cycles;
    const struct sequence sequence = {.target = plan->target,
                                      .steps = plan->steps,
                                      .step_count = plan->step_count,
                                      .transfers = plan->transfers,
                                      .transfer_count = plan->transfer_count,
                                      .layer_cycles = layer_cycles,
                                      .start_cycles = plan->start_cycles,
                                      .finished = plan->is_finished ? plan->layers : NULL};
    timeline_of_sequence(&sequence, timeline, arena);
}

/* ---- the tiles of a layer: its cost is computed once more, with somebody looking on ---- */

struct watch {
    const struct step_times *alone;    /* of a turn's steps, as if there was nothing in front of them */
    const struct timeline_step *times; /* and as they are */
    const struct tile_observer *observer;
    uint32_t first_tile, first_step; /* of the turn, in the layer */
};

/* Waits for L3, and what is in front of the turn, move everything from a step's first loads on. */
static void see(void *context, const struct tile_event *event)
{
    const struct watch *watch = context;
    struct tile_event moved = *event;
    moved.start += watch->times[event->step].start_cycle - watch->alone[event->step].fetch;
    moved.tile += watch->first_tile;
    moved.step += watch->first_step;
    watch->observer->see(watch->observer->context, &moved);
}

static struct tiling tiling_of(const struct dory_layer *record)
{
    bool one_input = record->l1.input[0] == record->l1.input[1],
         one_weights = record->l1.weights[0] == record->l1.weights[1];
    bool one_output = record->l1.output[0] == record->l1.output[1];
    return (struct tiling){
        .tile = record->tile,
        .order = record->tile_order,
        .in_place = dory_operands_in_place(&record->l1),
        .single = (uint8_t)((one_input ? SINGLE_INPUT : 0) | (one_weights ? SINGLE_WEIGHTS : 0) |
                            (one_output ? SINGLE_OUTPUT : 0)),
    };
}

/* Steps of a layer behind each other, in a block those of one turn. */
static uint32_t turn_steps(const struct plan *plan, int first)
{
    int layer = plan->steps[first].layer, end = first + 1;
    while (end <= plan->layers[layer].last_step && plan->steps[end].layer == layer)
        end++;
    return (uint32_t)(end - first);
}

/* What brings the first weights of the step at the start of a turn, and its inputs, if that is early. */
static uint64_t early_cycles_of(const struct plan *plan, int step)
{
    if (step == plan->step_count)
        return 0;
    const struct plan_layer *next = &plan->layers[plan->steps[step].layer];
    bool weights = plan->steps[step].record.weights_are_early, inputs = next->inputs_are_early;
    if (!weights && !inputs)
        return 0;
    struct tile_problem problem = {.layer = &next->record,
                                   .weights = next->engine->weights,
                                   .kernel = next->kernel,
                                   .target = plan->target,
                                   .cores = plan->cores,
                                   .steps = &plan->steps[step].record,
                                   .step_count = 1,
                                   .inputs_stay = next->inputs_stay};
    struct tiling tiling = tiling_of(&next->record);
    return (weights ? tile_first_weights_cycles(&problem, &tiling) : 0) +
           (inputs ? tile_input_cycles(&problem, &tiling) : 0);
}

struct tile_problem timeline_first_step(const struct plan *plan, int layer)
{
    const struct plan_layer *planned = &plan->layers[layer];
    return (struct tile_problem){.layer = &planned->record,
                                 .weights = planned->engine->weights,
                                 .kernel = planned->kernel,
                                 .target = plan->target,
                                 .cores = plan->cores,
                                 .steps = &plan->steps[planned->first_step].record,
                                 .step_count = 1};
}

struct l1_sizes timeline_l1_sizes(const struct plan *plan, int layer)
{
    struct tile_problem problem = timeline_first_step(plan, layer);
    struct tiling tiling = tiling_of(&plan->layers[layer].record);
    return tile_l1_sizes(&problem, &tiling);
}

static uint32_t *transfer_bytes_of(const struct plan *plan, struct arena *arena)
{
    uint32_t *bytes = arena_array(arena, uint32_t, (size_t)plan->transfer_count);
    for (int i = 0; i < plan->transfer_count; i++)
        bytes[i] = plan->transfers[i].record.run_bytes * plan->transfers[i].record.runs;
    return bytes;
}

static struct tile_problem problem_of(const struct plan *plan, int layer, struct arena *arena)
{
    const struct plan_layer *planned = &plan->layers[layer];
    return (struct tile_problem){
        .layer = &planned->record,
        .weights = planned->engine->weights,
        .kernel = planned->kernel,
        .target = plan->target,
        .cores = plan->cores,
        .l1_bytes = plan->l1_arena_bytes,
        .cycles = cycle_table_make(&planned->record, planned->kernel, plan->target, plan->cores, arena),
        .transfer_bytes = plan->is_finished ? transfer_bytes_of(plan, arena) : NULL,
    };
}

/* The turn that starts with a step. The steps are copied: a problem has them in one piece. */
static struct tile_cost play_turn(const struct plan *plan, struct tile_problem *problem, int first, struct step_times *times)
{
    struct tiling tiling = tiling_of(problem->layer);
    struct tile_cost cost;
    struct arena scratch = {0};
    problem->step_count = turn_steps(plan, first);
    problem->weights_are_early = plan->steps[first].record.weights_are_early;
    problem->inputs_stay = plan->layers[plan->steps[first].layer].inputs_stay;
    problem->inputs_are_early = plan->layers[plan->steps[first].layer].inputs_are_early;
    problem->is_left_in_l1 = plan->layers[plan->steps[first].layer].is_left_in_l1;
    problem->is_added = plan->layers[plan->steps[first].layer].is_added;
    problem->early_cycles_of_next = early_cycles_of(plan, first + (int)problem->step_count);
    problem->is_decided = plan->is_finished;
    problem->is_last = plan->is_finished && first + (int)problem->step_count == plan->step_count;
    problem->l3_busy_percent = plan->steps[first].l3_busy_percent;
    problem->transfers_queued =
        first > 0 ? plan->steps[first - 1].record.transfers_started : plan->steps[0].record.transfers_awaited;
    struct dory_step *steps = arena_array(&scratch, struct dory_step, problem->step_count);
    for (uint32_t i = 0; i < problem->step_count; i++)
        steps[i] = plan->steps[(uint32_t)first + i].record;
    problem->steps = steps;
    tile_simulate(problem, &tiling, &cost, times);
    arena_free(&scratch);
    return cost;
}

struct tile_cost timeline_watch_tiles(const struct plan *plan, const struct timeline *timeline, int layer,
                                      const struct tile_observer *observer, struct arena *arena)
{
    const struct plan_layer *planned = &plan->layers[layer];
    struct step_times *alone = arena_array(arena, struct step_times, (size_t)planned->step_count);
    struct watch watch = {.alone = alone, .observer = observer};
    struct tile_cost sum = {0};
    struct tile_problem problem = problem_of(plan, layer, arena);
    for (int i = planned->first_step; i <= planned->last_step; i++) {
        if (plan->steps[i].layer != layer || (i > 0 && plan->steps[i - 1].layer == layer))
            continue;
        watch.times = &timeline->steps[i];
        watch.first_tile = sum.tile_count;
        problem.observer = (struct tile_observer){0};
        play_turn(plan, &problem, i, alone);
        problem.observer = (struct tile_observer){see, &watch};
        struct tile_cost cost = play_turn(plan, &problem, i, NULL);
        watch.first_step += problem.step_count;
        tile_cost_add(&sum, &cost);
    }
    return sum;
}

/* ---- all layers anew ---- */

/* The times of steps count from the last completed layer on, whose turns are taken off behind the last one. */
static void count_from_completed(struct plan *plan, const uint64_t *turn_cycles)
{
    uint64_t before = 0;
    for (int i = 0; i < plan->step_count; i += (int)turn_steps(plan, i)) {
        int end = i + (int)turn_steps(plan, i);
        for (int j = i; j < end; j++) {
            plan->steps[j].fetch_cycles += before;
            plan->steps[j].start_cycles += before;
        }
        before += turn_cycles[i];
        if (plan->steps[end - 1].record.last_of_layer)
            before -= plan->layers[plan->steps[i].layer].predicted_cycles;
    }
}

void timeline_set_cost(struct plan_layer *layer, const struct tile_cost *cost)
{
    layer->predicted_cycles = cost->cycles;
    layer->kernel_cycles = cost->kernel_cycles;
    layer->exposed_cycles = cost->exposed_cycles;
    layer->dma_cycles = cost->dma_cycles;
}

static void play_layer(struct plan *plan, int layer, uint64_t *turn_cycles, struct arena *arena)
{
    struct plan_layer *planned = &plan->layers[layer];
    struct step_times *times = arena_array(arena, struct step_times, (size_t)planned->step_count);
    struct tile_problem problem = problem_of(plan, layer, arena);
    struct tile_cost sum = {0};
    for (int i = planned->first_step; i <= planned->last_step; i++) {
        if (plan->steps[i].layer != layer || (i > 0 && plan->steps[i - 1].layer == layer))
            continue;
        struct tile_cost cost = play_turn(plan, &problem, i, times);
        plan->steps[i].early_cycles = early_cycles_of(plan, i);
        for (uint32_t j = 0; j < problem.step_count; j++) {
            plan->steps[(uint32_t)i + j].fetch_cycles = times[j].fetch;
            plan->steps[(uint32_t)i + j].start_cycles = times[j].start;
        }
        turn_cycles[i] = cost.cycles;
        tile_cost_add(&sum, &cost);
    }
    timeline_set_cost(planned, &sum);
}

/* Of a time, how much L3 moves data. Transfers and times are in order; `next` is the first one that may not have ended. */
static uint64_t busy_cycles(const struct timeline *timeline, int transfers, uint64_t begin, uint64_t end, int *next)
{
    uint64_t busy = 0;
    while (*next < transfers && timeline->transfers[*next].end_cycle <= begin)
        ++*next;
    for (int i = *next; i < transfers && timeline->transfers[i].start_cycle < end; i++) {
        const struct timeline_transfer *transfer = &timeline->transfers[i];
        uint64_t from = transfer->start_cycle > begin ? transfer->start_cycle : begin;
        busy += (transfer->end_cycle < end ? transfer->end_cycle : end) - from;
    }
    return busy;
}

/* What L3 does beside the steps of a turn, by the times that there are so far. */
static void set_busy(struct plan *plan, struct arena *arena)
{
    struct timeline timeline;
    int next = 0;
    timeline_make(plan, &timeline, arena);
    for (int i = 0; i < plan->step_count; i += (int)turn_steps(plan, i)) {
        uint64_t begin = timeline.steps[i].begin_cycle, end = timeline.steps[i + (int)turn_steps(plan, i) - 1].end_cycle;
        uint64_t busy = busy_cycles(&timeline, plan->transfer_count, begin, end, &next);
        plan->steps[i].l3_busy_percent = end > begin ? (uint32_t)(100 * busy / (end - begin)) : 0;
    }
}

void timeline_play_layers(struct plan *plan, struct arena *arena)
{
    size_t layers = (size_t)plan->network->layer_count, steps = (size_t)plan->step_count;
    struct plan_layer *own_layers = arena_array(arena, struct plan_layer, layers);
    struct plan_step *own_steps = arena_array(arena, struct plan_step, steps);
    uint64_t *turn_cycles = arena_array(arena, uint64_t, steps);
    plan->layers = memcpy(own_layers, plan->layers, layers * sizeof *own_layers);
    plan->steps = memcpy(own_steps, plan->steps, steps * sizeof *own_steps);
    if (plan->is_finished)
        set_busy(plan, arena);
    for (int i = 0; i < plan->network->layer_count; i++)
        play_layer(plan, i, turn_cycles, arena);
    count_from_completed(plan, turn_cycles);
}

/* Of the first layer's transfers, which are queued first. */
static uint64_t moving_in_start(const struct plan *plan, const struct target *target)
{
    uint64_t moving = 0;
    for (uint64_t i = 0; i < plan->steps[0].record.transfers_awaited; i++)
        moving += l3_cycles(target, &plan->transfers[i].record);
    return moving;
}

/* With a driver that places tiles: queueing, and to see that the last one has come, which takes as long as to queue one, but
 * for what transfers take meanwhile. With a table the start is as long with transfers as without; the first layer waits for
 * what is left of them. */
uint64_t timeline_run_start_cycles(const struct plan *plan, const struct target *target)
{
    uint64_t awaited = plan->steps[0].record.transfers_awaited, moving = moving_in_start(plan, target),
             queueing = queueing_in_start(target, awaited), seen = awaited > 0 ? target->transfer_driver_cycles : 0;
    bool waits = !target->has_table && queueing + seen > moving;
    return target->run_overhead_cycles + (waits ? queueing + seen - moving : 0);
}

void timeline_play_on(struct plan *plan, const struct target *target, struct arena *arena)
{
    struct timeline timeline;
    plan->target = target;
    plan->start_cycles = timeline_run_start_cycles(plan, target);
    timeline_play_layers(plan, arena);
    timeline_make(plan, &timeline, arena);
    plan->predicted_cycles = timeline.end_cycle;
}
