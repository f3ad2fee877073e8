/* The tiles of a planned layer over time: its cost is computed once more, with somebody looking on. */
#include "plan/timeline.h"

#include <string.h>

struct watch {
    const struct plan_step *steps; /* of the layer */
    const struct timeline_step *times;
    const struct tile_observer *observer;
};

/* A step's waits for L3 move everything from its first loads on. */
static void see(void *context, const struct tile_event *event)
{
    const struct watch *watch = context;
    struct tile_event moved = *event;
    moved.start += watch->times[event->step].start_cycle - watch->steps[event->step].fetch_cycles;
    watch->observer->see(watch->observer->context, &moved);
}

static struct tiling tiling_of(const struct dory_layer *run)
{
    bool one_input = run->l1.input[0] == run->l1.input[1], one_weights = run->l1.weights[0] == run->l1.weights[1];
    bool one_output = run->l1.output[0] == run->l1.output[1];
    return (struct tiling){
        .shape = {run->tile_rows, run->tile_columns, run->tile_channels, run->tile_input_channels},
        .order = run->tile_order,
        .single = (uint8_t)((one_input ? SINGLE_INPUT : 0) | (one_weights ? SINGLE_WEIGHTS : 0) |
                            (one_output ? SINGLE_OUTPUT : 0)),
    };
}

/* The steps are copied: a problem has them in one piece. */
static struct tile_problem problem_of(const struct plan *plan, const struct plan_layer *planned, struct arena *arena)
{
    struct dory_step *steps = arena_array(arena, struct dory_step, (size_t)planned->step_count);
    for (int i = 0; i < planned->step_count; i++)
        steps[i] = plan->steps[planned->first_step + i].run;
    return (struct tile_problem){
        .layer = &planned->run,
        .kernel = planned->kernel,
        .target = plan->target,
        .cores = plan->cores,
        .l1_bytes = plan->l1_arena_bytes,
        .steps = steps,
        .step_count = (uint32_t)planned->step_count,
        .cycles = cycle_table_make(&planned->run, planned->kernel, plan->target, plan->cores, arena),
    };
}

struct tile_cost timeline_watch_tiles(const struct plan *plan, const struct timeline *timeline, int layer,
                                      const struct tile_observer *observer, struct arena *arena)
{
    const struct plan_layer *planned = &plan->layers[layer];
    struct watch watch = {plan->steps + planned->first_step, timeline->steps + planned->first_step, observer};
    struct tile_problem problem = problem_of(plan, planned, arena);
    struct tiling tiling = tiling_of(&planned->run);
    struct tile_cost cost;
    problem.observer = (struct tile_observer){see, &watch};
    tile_simulate(&problem, &tiling, &cost, NULL);
    return cost;
}

static void play_layer(struct plan *plan, struct plan_layer *planned, struct arena *arena)
{
    struct step_times *times = arena_array(arena, struct step_times, (size_t)planned->step_count);
    struct tile_problem problem = problem_of(plan, planned, arena);
    struct tiling tiling = tiling_of(&planned->run);
    struct tile_cost cost;
    tile_simulate(&problem, &tiling, &cost, times);
    planned->predicted_cycles = cost.cycles;
    planned->turn_cycles = cost.turn_cycles;
    for (int i = 0; i < planned->step_count; i++) {
        plan->steps[planned->first_step + i].fetch_cycles = times[i].fetch;
        plan->steps[planned->first_step + i].start_cycles = times[i].start;
    }
}

void timeline_play_layers(struct plan *plan, struct arena *arena)
{
    size_t layers = (size_t)plan->network->layer_count, steps = (size_t)plan->step_count;
    struct plan_layer *own_layers = arena_array(arena, struct plan_layer, layers);
    struct plan_step *own_steps = arena_array(arena, struct plan_step, steps);
    plan->layers = memcpy(own_layers, plan->layers, layers * sizeof *own_layers);
    plan->steps = memcpy(own_steps, plan->steps, steps * sizeof *own_steps);
    for (size_t i = 0; i < layers; i++)
        play_layer(plan, &plan->layers[i], arena);
}
