/* Layers that are one tile, where that lets them find in L1 what the layer before has left, or the next one theirs: the
 * search compares tiles of each layer alone, for which two are often a little faster. */
#include "plan/plan.h"
#include "plan/timeline.h"
#include "tile/tile.h"

#include "dory/contract.h"

/* Of all rows, columns and channels; the weights' format is the same then. */
static bool whole_tiling(const struct plan *plan, int index, struct tiling *tiling)
{
    const struct plan_layer *layer = &plan->layers[index];
    const struct dory_layer *record = &layer->record;
    bool reads_all = dory_reads_all_channels(record);
    bool is_chunked = reads_all && record->tile.input_channels < record->input_channels;
    *tiling = (struct tiling){.tile = record->tile, .order = record->tile_order};
    tiling->tile.rows = record->output_height;
    tiling->tile.columns = record->output_width;
    tiling->tile.channels = record->output_channels;
    if (!reads_all)
        tiling->tile.input_channels = record->output_channels;
    return layer->tile_count > 1 && layer->step_count == 1 && layer->block < 0 && !is_chunked &&
           dory_operands_in_place(&record->l1) == 0;
}

/* False where it is one already, or does not fit L1. */
static bool join(struct plan *plan, int index)
{
    struct plan_layer *layer = &plan->layers[index];
    struct dory_layer own = layer->record, joined;
    struct tile_problem problem = timeline_first_step(plan, index);
    struct tiling tiling;
    if (!whole_tiling(plan, index, &tiling))
        return false;
    problem.layer = &own;
    uint32_t bytes = tile_apply(&problem, &tiling, &joined);
    if (bytes > plan->l1_arena_bytes)
        return false;
    layer->record = joined;
    layer->tile_count = 1;
    layer->l1_bytes = bytes;
    plan->l1_peak_bytes = bytes > plan->l1_peak_bytes ? bytes : plan->l1_peak_bytes;
    return true;
}

static bool join_all(struct plan *plan, int first, int count)
{
    bool differs = false;
    for (int i = first; i < first + count; i++)
        differs |= join(plan, i);
    return differs;
}

/* Joins the tiles of `count` layers where the finished plan is predicted to be faster with that. */
static void try_joined(struct plan *plan, int first, int count, uint64_t *least_cycles)
{
    struct arena scratch = {0};
    struct plan joined = *plan;
    plan_own_lists(&joined, &scratch);
    uint64_t cycles = join_all(&joined, first, count) ? plan_finished_cycles(&joined) : UINT64_MAX;
    arena_free(&scratch);
    if (cycles < *least_cycles) {
        join_all(plan, first, count);
        *least_cycles = cycles;
    }
}

void plan_join_tiles(struct plan *plan, struct arena *arena)
{
    plan_own_lists(plan, arena);
    uint64_t cycles = plan_finished_cycles(plan);
    for (int i = 0; i < plan->network->layer_count; i++) {
        try_joined(plan, i, 1, &cycles);
        if (i > 0)
            try_joined(plan, i - 1, 2, &cycles);
    }
}
