/* Which weights are in memory before a run: the pass `plan`, once for each choice that is worth a comparison.
 *
 * A network that runs again and again need not fetch the same weights each time. What stays in L2 is missing there for
 * activations and for weights that pass through, so that more of it is not always faster: small networks gain with all of
 * it, large ones with a part or with none. Which part is found by trying: the first layers, whose weights nothing in front
 * of them hides, or the last ones, which have most weights and wait for the flash longest. */
#include "choose/problem.h"
#include "solve/solve.h"

#include <string.h>

/* ---- one choice ---- */

static bool *all_layers(const struct network *network, struct arena *arena)
{
    bool *resident = arena_array(arena, bool, (size_t)network->layer_count);
    memset(resident, true, (size_t)network->layer_count * sizeof *resident);
    return resident;
}

/* What stays a question of cycles is no error where it does not fit. */
static bool try_plan(const struct plan *like, const struct plan_options *options, const bool *resident, struct plan *plan,
                     struct arena *arena)
{
    struct diagnostics unheard = {.arena = arena};
    return plan_with(like->network, like->target, options, resident, plan, arena, &unheard);
}

/* ---- a part ---- */

static const uint32_t parts[] = {2, 4, 8, 16}; /* of the arena */

/* The layers from one end whose weights take at most so many bytes, up to the first that does not fit; null: none has any.
 */
static bool *layers_from(const struct plan *plan, bool last_first, uint32_t most_bytes, struct arena *arena)
{
    int count = plan->network->layer_count;
    bool *resident = arena_array(arena, bool, (size_t)count);
    uint64_t bytes = 0, kept_bytes = 0;
    for (int i = 0; i < count; i++) {
        int layer = last_first ? count - 1 - i : i;
        bytes += aligned(plan->layers[layer].weights_bytes);
        if (bytes > most_bytes)
            break;
        resident[layer] = true;
        kept_bytes = bytes;
    }
    return kept_bytes > 0 ? resident : NULL;
}

static void keep_faster(struct plan *best, const struct plan *other)
{
    uint64_t flash_cycles = best->flash_cycles;
    if (other->predicted_cycles < best->predicted_cycles)
        *best = *other;
    best->flash_cycles = flash_cycles;
}

/* `best` has all weights in the flash. */
static void try_parts(const struct plan_options *options, struct plan *best, struct arena *arena)
{
    const struct plan flash = *best;
    struct plan other;
    for (size_t i = 0; i < 2 * sizeof parts / sizeof *parts; i++) {
        const bool *resident = layers_from(&flash, i % 2, flash.l2_arena_bytes / parts[i / 2], arena);
        if (resident && try_plan(&flash, options, resident, &other, arena))
            keep_faster(best, &other);
    }
}

/* ---- all weights in the flash ---- */

/* Those of layers that have equal ones once, where that is not slower. */
static bool plan_from_flash(const struct network *network, const struct target *target, const struct plan_options *options,
                            struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan_options sharing = *options;
    struct plan shared;
    if (!plan_with(network, target, options, NULL, plan, arena, diagnostics))
        return false;
    sharing.shares_weights = true;
    sharing.memory = NULL;
    if (network_repeats_weights(network) && try_plan(plan, &sharing, NULL, &shared, arena) &&
        shared.predicted_cycles <= plan->predicted_cycles)
        *plan = shared;
    return true;
}

/* ---- the pass ---- */

/* All of them are tried first: where they fit, no part of them is faster. */
static bool plan_by_cycles(const struct network *network, const struct target *target, const struct plan_options *options,
                           struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan all;
    if (!plan_from_flash(network, target, options, plan, arena, diagnostics))
        return false;
    plan->flash_cycles = plan->predicted_cycles;
    if (try_plan(plan, options, all_layers(network, arena), &all, arena))
        keep_faster(plan, &all);
    else
        try_parts(options, plan, arena);
    if (plan->resident_bytes == 0)
        plan->flash_cycles = 0;
    return true;
}

static void count_flash_cycles(const struct plan_options *options, struct plan *plan, struct arena *arena)
{
    struct plan flash;
    struct diagnostics unheard = {.arena = arena};
    if (plan_from_flash(plan->network, plan->target, options, &flash, arena, &unheard))
        plan->flash_cycles = flash.predicted_cycles;
}

bool plan_make(const struct network *network, const struct target *target, const struct plan_options *options,
               struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    if (options->weights == WEIGHTS_AUTO)
        return plan_by_cycles(network, target, options, plan, arena, diagnostics);
    if (options->weights == WEIGHTS_FLASH)
        return plan_from_flash(network, target, options, plan, arena, diagnostics);
    if (!plan_with(network, target, options, all_layers(network, arena), plan, arena, diagnostics))
        return false;
    if (options->weights == WEIGHTS_RESIDENT)
        count_flash_cycles(options, plan, arena);
    return true;
}
