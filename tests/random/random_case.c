#include "random_case.h"
#include "check/check.h"

#include <stdio.h>
#include <string.h>

#include "check/check_channels.h"
#include "check/check_values.h"
#include "command/load_model.h"
#include "dead_channels.h"
#include "emit/assemble.h"
#include "network/interpret.h"
#include "network/range.h"
#include "plan/plan.h"
#include "plan/views.h"
#include "random_views.h"
#include "report/plan_text.h"
#include "run_plan.h"
#include "simplify/tidy.h"
#include "solve/plan_make.h"

#define PLENTY (64u * 1024 * 1024)

/* Memories of any size and the cycles of GAP8, more or less: the planner's choices are not what is tested. */
static const struct target machine = {
    .name = "test",
    .engines = {&dory_portable_engine},
    .cores = 8,
    .l1_bytes = PLENTY,
    .l2_bytes = PLENTY,
    .flash_bytes = PLENTY,
    .ram_bytes = PLENTY,
    .dma_setup_cycles = 30,
    .dma_latency_cycles = 50,
    .dma_read_bytes_per_1000_cycles = 7000,
    .dma_write_bytes_per_1000_cycles = 7000,
    .dma_run_overhead_cycles = 4,
    .l3_bytes_per_1000_cycles = 500,
    .l3_setup_cycles = 300,
    .tile_overhead_cycles = 100,
    .tile_driver_cycles = 50,
    .step_driver_cycles = 200,
    .turn_driver_cycles = 200,
    .layer_overhead_cycles = 500,
};

struct trial {
    struct network *network;
    struct random *random;
    const char *reproduction;
    struct arena *arena;
    struct plan_options options;
    struct target target;
    struct plan plan;
    const char *refusal; /* of the last pass that refused */
    bool only_blocks, exact_add;
};

/* ---- planning ---- */

static const char *first_error(const struct diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; i++)
        if (diagnostics->list[i].severity == SEVERITY_ERROR)
            return diagnostics->list[i].text;
    return "an error without a text";
}

static bool is_fault(const struct trial *trial) { return strstr(trial->refusal, "a fault of dory") != NULL; }

static bool prove(struct trial *trial)
{
    struct diagnostics diagnostics = {.arena = trial->arena};
    struct range_options options = {.exact_add = random_chance(trial->random, 50) && trial->network->tensors[0].scale == 0};
    bool proven = range_prove(trial->network, &options, trial->arena, &diagnostics);
    trial->refusal = proven ? NULL : first_error(&diagnostics);
    trial->exact_add = options.exact_add;
    return proven;
}

/* Mostly: a network with dead channels must be right, too. */
static bool shrink(struct trial *trial)
{
    struct diagnostics diagnostics = {.arena = trial->arena};
    struct options options = {.range.exact_add = trial->exact_add, .all_channels = random_chance(trial->random, 15)};
    trial->network = model_shrink(trial->network, &options, trial->arena);
    bool good = channels_check(trial->network, &diagnostics);
    trial->refusal = good ? NULL : first_error(&diagnostics);
    return good;
}

/* Do both networks give the same of random inputs? */
static bool gives_same(struct trial *trial, const struct network *moved)
{
    struct diagnostics diagnostics = {.arena = trial->arena};
    const int64_t *const *inputs = random_inputs(trial->random, trial->network, trial->arena);
    int64_t **expected = interpret_network(trial->network, inputs, trial->arena, &diagnostics);
    int64_t **actual = interpret_network(moved, inputs, trial->arena, &diagnostics);
    bool good = expected && actual;
    for (int i = 0; good && i < moved->output_count; i++)
        good = !memcmp(actual[moved->outputs[i]], expected[trial->network->outputs[i]],
                       tensor_elements(&moved->tensors[moved->outputs[i]]) * sizeof **actual);
    return good;
}

/* Of most networks: the copies are tested by the others. */
static bool use_views(struct trial *trial, enum view_kinds kinds)
{
    struct network *viewed = network_hash(trial->network) % 4 ? network_view(trial->network, kinds, trial->arena) : NULL;
    if (!viewed)
        return true;
    if (!gives_same(trial, viewed)) {
        trial->refusal = "a fault of dory: views give something else than copies";
        return false;
    }
    trial->network = viewed;
    return true;
}

static bool take_early(struct trial *trial, struct random_totals *totals)
{
    struct network *moved = network_take_early(trial->network, false, trial->arena);
    if (moved == trial->network)
        return true;
    struct diagnostics diagnostics = {.arena = trial->arena};
    if (!gives_same(trial, moved) || !values_check(moved, &diagnostics)) {
        trial->refusal = "a fault of dory: a slice that is taken early gives something else";
        return false;
    }
    trial->network = model_choose(moved, &(struct options){0}, trial->arena);
    totals->moved += trial->network == moved;
    return true;
}

/* Of all operands these may lie where they are, and tiles have a table. */
static bool leaves_weights_alone(const struct trial *trial)
{
    return trial->target.weights_in_place && !trial->target.activations_in_place;
}

/* For a table of tiles, whether that is predicted to be faster or not; without one where it cannot say all of them. */
static void finish_with_table(struct trial *trial)
{
    struct plan joined = trial->plan;
    if (plan_merge_transfers(&joined, trial->arena))
        trial->plan = joined;
    plan_join_tiles(&trial->plan, trial->arena);
    plan_await_together(&trial->plan, trial->arena);
    plan_await_early(&trial->plan, trial->arena);
    plan_bring_early(&trial->plan, true, trial->arena);
    trial->plan.tiles = plan_place_tiles(&trial->plan, trial->arena);
}

static bool start_plan(struct trial *trial, struct diagnostics *diagnostics)
{
    trial->plan = (struct plan){0};
    return plan_make(trial->network, &trial->target, &trial->options, &trial->plan, trial->arena, diagnostics);
}

static bool make_plan(struct trial *trial)
{
    struct diagnostics diagnostics = {.arena = trial->arena};
    bool planned = start_plan(trial, &diagnostics);
    bool has_table = planned && (plan_tile_count(&trial->plan) % 3 == 0 || leaves_weights_alone(trial));
    if (has_table) { /* by the generator, else by the driver */
        finish_with_table(trial);
        planned = trial->plan.tiles || start_plan(trial, &diagnostics);
    }
    if (planned && !trial->plan.tiles) {
        plan_bring_early(&trial->plan, false, trial->arena);
        plan_run_layers(&trial->plan);
        plan_overlap(&trial->plan, trial->arena);
    }
    planned = planned && layout_weights(&trial->plan, trial->arena, &diagnostics) && plan_check(&trial->plan, &diagnostics);
    trial->refusal = planned ? NULL : first_error(&diagnostics);
    return planned;
}

static uint32_t part_of(struct random *random, uint32_t bytes)
{
    uint32_t least = bytes / (uint32_t)random_between(random, 1, 12);
    return (uint32_t)random_between(random, least ? least : 1, bytes);
}

static uint32_t a_third_more(uint32_t bytes) { return bytes ? bytes + bytes / 3 + 16 : 0; }

/* Mostly in the flash: for the others there are fewer decisions. */
static enum plan_weights random_weights(struct random *random)
{
    static const enum plan_weights others[] = {WEIGHTS_RESIDENT, WEIGHTS_AUTO, WEIGHTS_LINKED};
    return random_chance(random, 70) ? WEIGHTS_FLASH : others[random_between(random, 0, 2)];
}

static enum plan_blocks random_blocks(struct random *random)
{
    return random_chance(random, 50) ? BLOCKS_ALWAYS : random_chance(random, 70) ? BLOCKS_AUTO : BLOCKS_NONE;
}

static bool plan_with_plenty(struct trial *trial)
{
    struct random *random = trial->random;
    trial->options = (struct plan_options){.cores = (unsigned)random_between(random, 1, 8),
                                           .tensors_in_ram = random_chance(random, 30),
                                           .weights = random_weights(random),
                                           .blocks = random_blocks(random),
                                           .layouts = random_chance(random, 50) ? LAYOUTS_CHW : LAYOUTS_BY_CYCLES};
    if (trial->only_blocks)
        trial->options.blocks = BLOCKS_ALWAYS;
    else if (leaves_weights_alone(trial))
        trial->options.weights = WEIGHTS_LINKED;
    else if (trial->target.activations_in_place && random_chance(random, 40)) /* as where there is one memory */
        trial->options = (struct plan_options){.cores = 1, .weights = WEIGHTS_LINKED, .blocks = BLOCKS_NONE};
    return make_plan(trial);
}

#define IN_PLACE_BYTES 16384 /* of L1, that tensors may need which are in place with plenty, and in RAM with less */

/* With less: what the network used, divided by up to 12, or as much more as it takes. */
static bool plan_tightly(struct trial *trial)
{
    struct random *random = trial->random;
    uint32_t l1_bytes = trial->plan.l1_peak_bytes, l2_bytes = trial->plan.l2_peak_bytes;
    l1_bytes += trial->target.activations_in_place ? IN_PLACE_BYTES : 0;
    if (random_chance(random, 85))
        trial->options.l1_bytes = part_of(random, l1_bytes);
    if (random_chance(random, 50))
        trial->options.l2_bytes = part_of(random, l2_bytes);
    while (!make_plan(trial)) {
        if (is_fault(trial))
            return false;
        bool l1_at_most = !trial->options.l1_bytes || trial->options.l1_bytes >= 2 * l1_bytes;
        bool l2_at_most = !trial->options.l2_bytes || trial->options.l2_bytes >= 2 * l2_bytes;
        if (l1_at_most && l2_at_most)
            return false;
        trial->options.l1_bytes = a_third_more(trial->options.l1_bytes);
        trial->options.l2_bytes = a_third_more(trial->options.l2_bytes);
    }
    return true;
}

/* ---- the case ---- */

/* A network may be too large, and its sums too wide. That dory refuses what it made itself is a fault of it, not of the
 * network. */
static enum random_outcome refuse(const struct trial *trial, struct random_totals *totals)
{
    printf("%s: refused: %s (%s)\n", trial->reproduction, trial->refusal, random_network_text(trial->network, trial->arena));
    if (is_fault(trial)) {
        totals->wrong++;
        return CASE_WRONG;
    }
    totals->refused++;
    return CASE_REFUSED;
}

static enum random_outcome pass_over(struct random_totals *totals)
{
    totals->passed_over++;
    return CASE_PASSED_OVER;
}

/* The engine that is tested, or as often as not GAP8's (here: a C model of its instructions) before the portable one. */
static void choose_machine(struct trial *trial, const struct random_totals *totals)
{
    trial->target = machine;
    const struct dory_engine *engine = totals->engine                     ? totals->engine
                                       : random_chance(trial->random, 50) ? &dory_xpulpv2_engine
                                                                          : NULL;
    if (engine)
        trial->target.engines[0] = engine, trial->target.engines[1] = &dory_portable_engine;
    bool in_place = totals->engine ? totals->leaves_in_place : random_chance(trial->random, 40);
    bool weights_alone = totals->leaves_in_place && random_chance(trial->random, 40);
    trial->target.weights_in_place = in_place;
    trial->target.activations_in_place = in_place && !weights_alone;
}

/* With all kinds of views; where no kernel writes so, with fewer. */
static bool plan_viewed(struct trial *trial, struct random_totals *totals)
{
    struct network *copied = trial->network;
    int kinds = trial->target.activations_in_place ? VIEWS_IN_A_ROW : VIEWS_OF_PLANES;
    bool planned = false, has_kernels = false;
    for (; !planned && !has_kernels && kinds >= VIEWS_IN_A_ROW; kinds--) {
        trial->network = copied;
        planned = use_views(trial, (enum view_kinds)kinds) && plan_with_plenty(trial);
        has_kernels = planned || !strstr(trial->refusal, "no plan in any memory");
    }
    totals->viewed += planned && trial->network != copied;
    totals->views += planned ? copied->layer_count - trial->network->layer_count : 0;
    return planned;
}

/* All passes up to a plan that has all the memory it asks for. Returns false where one refuses. */
static bool plan_first(struct trial *trial, struct random_totals *totals)
{
    if (totals->has_views)
        random_views(trial->network, trial->random, trial->arena);
    if (totals->dead) {
        random_dead_channels(trial->network, trial->random, trial->arena);
        random_parts(trial->network, trial->random, trial->arena);
        if (!take_early(trial, totals))
            return false;
    }
    return prove(trial) && (!totals->dead || shrink(trial)) && plan_viewed(trial, totals);
}

static void print_wrong(const struct trial *trial, const struct network *network, const struct run_plan_options *options,
                        const struct run_plan_result *result, bool verbose)
{
    printf("%s: %s\n    %s; L1 %u B, L2 %u B, planned for %u cores, on %u, timing %d, %s\n", trial->reproduction,
           result->message, random_network_text(network, trial->arena), trial->plan.l1_peak_bytes, trial->plan.l2_peak_bytes,
           trial->plan.cores, options->cores, (int)options->timing, options->unobserved ? "unobserved" : "observed");
    if (verbose) {
        struct text text = {.arena = trial->arena};
        plan_text(&text, &trial->plan);
        fputs(text.bytes, stdout);
    }
}

/* What an observer does not see. */
static bool has_added(const struct plan *plan)
{
    bool has = false;
    for (int i = 0; i < plan->network->layer_count; i++)
        has |= plan->layers[i].is_added;
    return has;
}

static enum random_outcome run_case(const struct trial *trial, const struct network *network, struct random_totals *totals)
{
    struct random *random = trial->random;
    struct run_plan_options options = {
        .cores = (unsigned)random_between(random, 1, 8),
        .seed = (uint64_t)random_between(random, 1, 1000000),
        .timing = (enum hal_host_timing)random_between(random, 0, 2),
        .unobserved = random_chance(random, has_added(&trial->plan) ? 90 : 50),
    };
    struct run_plan_result result = run_plan(&trial->plan, random_inputs(random, network, trial->arena), &options);
    random_totals_add(totals, &trial->plan, trial->network, result.values_compared);
    if (result.exact) {
        totals->exact++;
        features_count(&totals->features, &trial->plan);
        return CASE_EXACT;
    }
    totals->wrong++;
    print_wrong(trial, network, &options, &result, totals->verbose);
    return CASE_WRONG;
}

enum random_outcome random_case(struct network *network, struct random *random, const char *reproduction,
                                struct arena *arena, struct random_totals *totals)
{
    struct trial trial = {.network = network, .random = random, .reproduction = reproduction, .arena = arena};
    trial.only_blocks = totals->only_blocks;
    choose_machine(&trial, totals);
    if (!plan_first(&trial, totals))
        return refuse(&trial, totals);
    if (trial.only_blocks && !random_has_block(&trial.plan))
        return pass_over(totals);
    if (!plan_tightly(&trial))
        return refuse(&trial, totals);
    if (trial.only_blocks && !random_has_block(&trial.plan))
        return pass_over(totals);
    return run_case(&trial, network, totals);
}
