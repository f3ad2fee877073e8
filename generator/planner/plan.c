/* Pass `plan`: everything that is decided about a network, by the passes that planner.h lists. This file calls them and
 * writes down the result. */
#include "plan/timeline.h"
#include "planner/planner.h"

#include <string.h>

#include "dory/hal.h"
#include "place/place.h"

/* ---- offsets ---- */

uint32_t schedule_place(const struct planner *planner, struct schedule *schedule, uint32_t enough, enum place_care care)
{
    struct arena scratch = {0};
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)schedule->buffer_count);
    for (int i = 0; i < schedule->buffer_count; i++) {
        const struct plan_buffer *buffer = &schedule->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
    }
    uint32_t peak = place_again(planner->placements, items, schedule->buffer_count, DORY_ALIGNMENT, enough, care, &scratch);
    for (int i = 0; i < schedule->buffer_count; i++)
        schedule->buffers[i].offset = items[i].offset;
    arena_free(&scratch);
    return peak;
}

/* ---- the plan's parts ---- */

static void write_layer(const struct planner *p, struct plan *plan, int index, const struct schedule *schedule)
{
    const struct cut *cut = cut_of(p, index);
    struct plan_layer *layer = &plan->layers[index];
    struct dory_layer own = p->records[index]; /* its planned layer may be shared */
    own.input_layout = layer_of(p, index)->record.input_layout;
    own.output_layout = layer_of(p, index)->record.output_layout;
    struct tile_problem problem = {
        .layer = &own, .kernel = cut->kernel, .cores = p->cores, .steps = cut->steps, .step_count = cut->step_count};
    const struct tile_cost *cost = &schedule->costs[index];
    tile_apply(&problem, &cut->tiling, &layer->record);
    layer->kernel = cut->kernel;
    layer->requantisation = p->requantisations[index];
    layer->block = is_in_block(p, index) ? block_start(p, index) : -1;
    layer->macs = layer_macs(p->network, &p->network->layers[index]);
    timeline_set_cost(layer, cost);
    layer->tile_count = cost->tile_count;
    layer->l1_bytes = cost->l1_bytes;
    layer->weights_bytes = dory_divide_up(layer->record.output_channels, 4) * layer->record.quad_bytes;
    layer->resident = layer->weights_bytes > 0 && p->resident && p->resident[index];
    plan->l1_peak_bytes = cost->l1_bytes > plan->l1_peak_bytes ? cost->l1_bytes : plan->l1_peak_bytes;
}

static void count_steps(struct plan *plan)
{
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_layer *layer = &plan->layers[plan->steps[i].layer];
        layer->first_step = layer->step_count++ ? layer->first_step : i;
        layer->last_step = i;
    }
}

/* Its lists in `arena`. */
static bool write_plan(const struct planner *p, struct plan *plan, const struct schedule *schedule, struct arena *arena)
{
    const struct network *network = p->network;
    plan->steps = schedule->steps;
    plan->step_count = schedule->step_count;
    plan->transfers = schedule->transfers;
    plan->transfer_count = schedule->transfer_count;
    plan->buffers = schedule->buffers;
    plan->buffer_count = schedule->buffer_count;
    plan->l2_live_bytes = schedule->live_bytes;
    plan->l2_gap_cycles = schedule->gap_cycles;
    plan->layers = arena_array(arena, struct plan_layer, (size_t)network->layer_count);
    plan->tensors = arena_array(arena, struct plan_tensor, (size_t)network->tensor_count);
    for (int i = 0; i < network->layer_count; i++)
        write_layer(p, plan, i, schedule);
    count_steps(plan);
    for (int i = 0; i < network->tensor_count; i++)
        plan->tensors[i] = (struct plan_tensor){.level = p->levels[i],
                                                .buffer = schedule->tensor_buffer[i],
                                                .bytes = tensor_bytes(&network->tensors[i]),
                                                .layout = p->layouts[i]};
    plan->weights_are_linked = p->options->weights == WEIGHTS_LINKED;
    plan_name_buffers(plan, arena);
    bool good = plan_set_addresses(plan, p->lives, p->diagnostics);
    plan->start_cycles = timeline_run_start_cycles(plan, p->target);
    plan->moved = traffic_of(p);
    plan->moved_without_blocks = p->without_blocks;
    plan->predicted_cycles = plan->start_cycles + schedule->cycles;
    plan->proof.searched_cycles = plan->predicted_cycles;
    if (plan->proof.rounds > 0)
        plan->proof.bound_cycles += plan->start_cycles;
    return good;
}

/* ---- the decision ---- */

static bool check_counts(const struct planner *p, const struct schedule *schedule)
{
    if (schedule->step_count <= UINT16_MAX && schedule->transfer_count <= UINT16_MAX)
        return true;
    diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the plan has %d steps and %d transfers, at most %d are supported; give it more L2", schedule->step_count,
             schedule->transfer_count, UINT16_MAX);
    return false;
}

/* What was only compared so far, with less in gaps, and then with earlier prefetches, if there are places. */
static bool fit(const struct planner *p, struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    const struct fit_limits as_decided = {UINT64_MAX, PLACE_QUICKLY};
    struct schedule other;
    uint32_t bytes;
    if (!schedule_fit(p, &as_decided, schedule, peak, arena))
        return false;
    const struct fit_limits carefully = {.cycles = schedule->cycles, .care = PLACE_CAREFULLY};
    if (schedule->gap_cycles > 0 && schedule_fit(p, &carefully, &other, &bytes, arena)) {
        *schedule = other;
        *peak = bytes;
    }
    if (schedule->gap_cycles == 0 && schedule_fit_early(p, &other, &bytes, arena)) {
        *schedule = other;
        *peak = bytes;
    }
    return true;
}

/* Where the search finds nothing, the smallest plan there is; where that does not fit, what would. */
static bool decide(struct planner *p, struct plan_proof *proof, struct schedule *schedule, uint32_t *peak)
{
    int layer;
    if (least_l1(p, &layer) <= p->l1_bytes) {
        if (optimise(p, proof) && fit(p, schedule, peak, p->kept))
            return check_counts(p, schedule);
        *proof = (struct plan_proof){0};
        const struct gaps_variant carefully = {.care = PLACE_CAREFULLY};
        if (least_l2(p, peak, &layer) && schedule_make_in_gaps(p, &carefully, schedule, peak, p->kept))
            return check_counts(p, schedule);
    }
    least_report(p);
    return false;
}

/* The schedule of the planner's decision as a plan, in `arena`. */
static bool realise(const struct planner *p, const struct schedule *schedule, uint32_t peak, struct plan *plan,
                    struct arena *arena)
{
    plan->network = p->network;
    plan->target = p->target;
    plan->cores = p->cores;
    plan->l1_arena_bytes = p->l1_bytes;
    plan->l2_arena_bytes = schedule->l2_bytes + (p->options->weights == WEIGHTS_LINKED ? 0 : p->resident_bytes);
    plan->l2_peak_bytes = peak;
    return write_plan(p, plan, schedule, arena);
}

uint64_t plan_finished_cycles(const struct planner *planner)
{
    struct arena scratch = {0};
    const struct diagnostics before = *planner->diagnostics; /* what does not fit here is said where it is chosen */
    struct plan plan = {0};
    struct schedule schedule;
    uint32_t peak;
    bool fits = fit(planner, &schedule, &peak, &scratch) && realise(planner, &schedule, peak, &plan, &scratch);
    if (fits)
        plan_bring_early(&plan, planner->target->has_table, &scratch);
    *planner->diagnostics = before;
    arena_free(&scratch);
    return fits ? plan.predicted_cycles : UINT64_MAX;
}

static bool make_plan(struct planner *p, struct plan *plan)
{
    struct schedule schedule;
    uint32_t peak;
    memset(plan, 0, sizeof *plan);
    return planner_start(p) && decide(p, &plan->proof, &schedule, &peak) && realise(p, &schedule, peak, plan, p->kept);
}

static bool plan_once(const struct network *network, const struct target *target, const struct plan_options *options,
                      const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct arena search = {0};
    struct planner planner = {.network = network,
                              .target = target,
                              .options = options,
                              .arena = &search,
                              .kept = arena,
                              .diagnostics = diagnostics,
                              .resident = resident,
                              .memory = options->memory ? plan_memory_cuts(options->memory, target) : NULL};
    bool planned = make_plan(&planner, plan);
    arena_free(&search);
    return planned;
}

/* All that differ from `target` in their clocks ask for the same one. */
static bool plan_at_equal_clocks(const struct network *network, const struct target *target,
                                 const struct plan_options *options, const bool *resident, struct plan *plan,
                                 struct arena *arena)
{
    struct plan_memory *memory = resident ? NULL : options->memory;
    if (memory && plan_memory_find(memory, target->at_equal_clocks, options->l2_bytes, plan))
        return true;
    struct arena *kept = memory ? plan_memory_arena(memory) : arena;
    struct diagnostics unheard = {.arena = kept};
    if (!plan_once(network, target->at_equal_clocks, options, resident, plan, kept, &unheard))
        return false;
    if (memory)
        plan_memory_keep(memory, target->at_equal_clocks, options->l2_bytes, plan);
    return true;
}

/* What is best at equal clocks is mostly not where they differ, but a search that does not try everything may miss it. */
bool plan_with(const struct network *network, const struct target *target, const struct plan_options *options,
               const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan other;
    if (!plan_once(network, target, options, resident, plan, arena, diagnostics))
        return false;
    if (!target->at_equal_clocks || !plan_at_equal_clocks(network, target, options, resident, &other, arena))
        return true;
    timeline_play_on(&other, target, arena);
    if (other.predicted_cycles >= plan->predicted_cycles)
        return true;
    other.proof = plan->proof;
    other.proof.searched_cycles = other.predicted_cycles;
    other.proof.is_optimal = false; /* it was not among those compared */
    *plan = other;
    return true;
}
