/* Pass `plan`: everything that is decided about a network, by the passes that solve.h lists. This file calls them and
 * writes down the result. */
#include "search/search.h"
#include "solve/solve.h"

#include <string.h>

#include "choose/profile.h"
#include "realise/schedule.h"
#include "solve/plan_memory.h"

/* ---- the plan's parts ---- */

/* What the planner decides of the firmware's layer. Its planned layer may be shared by others of the same shape. */
static struct dory_layer record_of(const struct decision *d, int index)
{
    const struct dory_layer *as = &cut_of(d, index)->of->record;
    struct dory_layer record = d->problem->layers[index].record;
    record.input_layout = as->input_layout;
    record.output_layout = as->output_layout;
    record.input_height = as->input_height;
    record.input_width = as->input_width;
    record.output_height = as->output_height;
    record.output_width = as->output_width;
    if (record.operation == DORY_MATRIX_PRODUCT)
        record.matrix_product = as->matrix_product;
    return record;
}

/* What people and checks read of a layer beside its record. */
static void describe_layer_choice(const struct decision *d, int index, struct plan_layer *layer)
{
    const struct problem *p = d->problem;
    layer->kernel = cut_of(d, index)->kernel;
    layer->engine = p->layers[index].engine;
    layer->requantisation = p->layers[index].requantisation;
    layer->block = is_in_block(d, index) ? block_start(d, index) : -1;
    layer->macs = layer_macs(p->network, &p->network->layers[index]);
    layer->weights_bytes = dory_blocks(&layer->record, layer->record.output_channels) * layer->record.block_bytes;
    layer->resident = layer->weights_bytes > 0 && p->resident && p->resident[index];
    layer->shares_weights = layer_shares_weights(p, index);
    layer->owner = layer->shares_weights ? p->owners[index] : NO_LAYER;
}

static void write_layer(const struct decision *d, struct plan *plan, int index, const struct schedule *schedule)
{
    const struct problem *p = d->problem;
    const struct cut *cut = cut_of(d, index);
    const struct dory_layer record = record_of(d, index);
    const struct tile_problem problem = {.layer = &record,
                                         .weights = p->layers[index].engine->weights,
                                         .kernel = cut->kernel,
                                         .cores = p->cores,
                                         .steps = cut->steps,
                                         .step_count = cut->step_count};
    const struct tile_cost *cost = &schedule->costs[index];
    struct plan_layer *layer = &plan->layers[index];
    tile_apply(&problem, &cut->tiling, &layer->record);
    describe_layer_choice(d, index, layer);
    timeline_set_cost(layer, cost);
    layer->tile_count = cost->tile_count;
    layer->l1_bytes = cost->l1_bytes;
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

/* What problem and schedule say. */
static struct plan start_plan(const struct problem *p, const struct schedule *schedule)
{
    bool are_linked = p->options->weights == WEIGHTS_LINKED;
    return (struct plan){
        .network = p->network,
        .target = p->target,
        .cores = p->cores,
        .l1_arena_bytes = p->l1_bytes,
        .l2_arena_bytes = schedule->l2_bytes + (are_linked ? 0 : p->resident_bytes),
        .l2_peak_bytes = schedule->peak_bytes,
        .l2_live_bytes = schedule->live_bytes,
        .l2_gap_cycles = schedule->gap_cycles,
        .steps = schedule->steps,
        .step_count = schedule->step_count,
        .transfers = schedule->transfers,
        .transfer_count = schedule->transfer_count,
        .buffers = schedule->buffers,
        .buffer_count = schedule->buffer_count,
        .weights_are_linked = are_linked,
    };
}

/* A decision and its schedule as a plan, with its lists in `arena`. */
static bool write_plan(const struct decision *d, const struct schedule *schedule, struct plan *plan, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    const struct network *network = d->problem->network;
    *plan = start_plan(d->problem, schedule);
    plan->layers = arena_array(arena, struct plan_layer, (size_t)network->layer_count);
    plan->tensors = arena_array(arena, struct plan_tensor, (size_t)network->tensor_count);
    for (int i = 0; i < network->layer_count; i++)
        write_layer(d, plan, i, schedule);
    count_steps(plan);
    for (int i = 0; i < network->tensor_count; i++)
        plan->tensors[i] = (struct plan_tensor){.level = d->levels[i],
                                                .buffer = schedule->tensor_buffer[i],
                                                .bytes = tensor_bytes(&network->tensors[i]),
                                                .layout = d->layouts[i]};
    plan_name_buffers(plan, arena);
    plan_stay(plan, arena);
    bool good = plan_set_addresses(plan, d->problem->lives, diagnostics);
    plan->start_cycles = timeline_run_start_cycles(plan, plan->target);
    plan->moved = decision_traffic(d);
    for (int i = 0; i < network->layer_count; i++)
        if (plan->layers[i].shares_weights)
            plan->moved.flash_bytes +=
                plan_has_own_blob(plan, i) ? plan->layers[i].weights_bytes : plan_all_constants_bytes(&plan->layers[i]);
    plan->predicted_cycles = plan->start_cycles + schedule->cycles;
    return good;
}

/* ---- from a problem to a plan ---- */

static bool check_counts(const struct schedule *schedule, struct diagnostics *diagnostics)
{
    if (schedule->step_count <= UINT16_MAX && schedule->transfer_count <= UINT16_MAX)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the plan has %d steps and %d transfers, at most %d are supported; give it more L2", schedule->step_count,
             schedule->transfer_count, UINT16_MAX);
    return false;
}

/* What was only compared so far, with less in gaps, and then with earlier prefetches, if there are places. */
static bool fit(const struct decision *decision, struct schedule *schedule, struct arena *arena)
{
    const struct fit_limits as_decided = {UINT64_MAX, PLACE_QUICKLY};
    struct schedule other;
    bool found = schedule_fit(decision, &as_decided, schedule, arena);
    const struct fit_limits carefully = {.cycles = found ? schedule->cycles : UINT64_MAX, .care = PLACE_CAREFULLY};
    if (found && schedule->gap_cycles > 0 && schedule_fit(decision, &carefully, &other, arena))
        *schedule = other;
    if (!found && !schedule_fit(decision, &carefully, schedule, arena))
        return false;
    if (schedule->gap_cycles == 0 && schedule_fit_early(decision, &other, arena))
        *schedule = other;
    return true;
}

/* Where the search finds nothing, the smallest plan there is; where that does not fit, what would. */
static bool decide(const struct problem *p, struct outcome *outcome, struct schedule *schedule, struct arena *arena,
                   struct diagnostics *diagnostics)
{
    const struct gaps_variant carefully = {.care = PLACE_CAREFULLY};
    uint32_t bytes;
    int layer;
    if (least_l1(p, &layer) <= p->l1_bytes) {
        if (optimise(p, outcome) && fit(&outcome->decision, schedule, arena))
            return true;
        *outcome = (struct outcome){.decision = decision_make(p, p->arena)};
        if (least_l2(&outcome->decision, &bytes, &layer) &&
            schedule_make_in_gaps(&outcome->decision, &carefully, schedule, arena))
            return true;
    }
    least_report(p, diagnostics);
    return false;
}

static void write_outcome(const struct outcome *outcome, struct plan *plan)
{
    plan->moved_without_blocks = outcome->without_blocks;
    plan->proof = outcome->proof;
    plan->proof.searched_cycles = plan->predicted_cycles;
    if (plan->proof.rounds > 0)
        plan->proof.bound_cycles += plan->start_cycles;
    if (outcome->decision.problem->owners) /* their transfers were not among what was searched */
        plan->proof.is_optimal = false;
}

static bool make_plan(struct problem *p, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct schedule schedule;
    struct outcome outcome;
    memset(plan, 0, sizeof *plan);
    if (!problem_make(p, arena, diagnostics) || !decide(p, &outcome, &schedule, arena, diagnostics) ||
        (p->owners && !schedule_share(&outcome.decision, &schedule, arena)) || !check_counts(&schedule, diagnostics) ||
        !write_plan(&outcome.decision, &schedule, plan, arena, diagnostics))
        return false;
    write_outcome(&outcome, plan);
    return plan_shares_equal_weights(plan);
}

static bool plan_once(const struct network *network, const struct target *target, const struct plan_options *options,
                      const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct arena search = {0};
    struct problem problem = {.network = network,
                              .target = target,
                              .options = options,
                              .resident = resident,
                              .cuts = plan_memory_cuts(options->memory, target),
                              .arena = &search};
    bool planned = make_plan(&problem, plan, arena, diagnostics);
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
