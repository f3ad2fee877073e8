/* Tiles of small networks are placed here, with the firmware's own functions, so that its driver need not. */
#include "dory/hal.h"
#include "dory/prepared.h"
#include "plan/plan.h"
#include "tile/tile.h"
#include "tile/tile_walk.h"

struct preparation {
    const struct plan *plan;
    struct dory_prepared_tile *next;
    const struct dory_step *step_before;
    bool is_too_wide; /* something does not fit in its field */
    struct tile_walk walk;
};

/* Fields of 16 bits take what they can; the others are noted. */
static uint16_t narrow(struct preparation *to, uint32_t value)
{
    to->is_too_wide |= value > UINT16_MAX;
    return (uint16_t)value;
}

/* One long run as some that follow each other: the fewest whose bytes fit. */
static struct hal_dma_copy in_short_runs(struct hal_dma_copy copy)
{
    uint32_t runs = 2;
    if (copy.runs > 1 || copy.planes > 1 || copy.run_bytes <= UINT16_MAX)
        return copy;
    while (copy.run_bytes % runs != 0 || copy.run_bytes / runs > UINT16_MAX)
        runs++;
    copy.run_bytes /= runs;
    copy.runs = runs;
    copy.external_run_stride = copy.local_run_stride = copy.run_bytes;
    return copy;
}

static struct dory_prepared_copy pack(struct preparation *to, const struct hal_dma_copy *whole)
{
    const struct hal_dma_copy short_runs = in_short_runs(*whole), *copy = &short_runs;
    bool has_runs = copy->runs > 1, has_planes = copy->planes > 1;
    uint32_t local = (uint32_t)(uintptr_t)copy->local;
    to->is_too_wide |= local >> 16 > UINT8_MAX;
    return (struct dory_prepared_copy){
        .external = (uint32_t)((uintptr_t)copy->external - (uintptr_t)TILE_BASE),
        .external_plane_stride = has_planes ? copy->external_plane_stride : 0,
        .local = (uint16_t)local,
        .local_above = (uint8_t)(local >> 16),
        .run_bytes = narrow(to, copy->run_bytes),
        .runs = narrow(to, copy->runs),
        .planes = narrow(to, copy->planes),
        .external_run_stride = has_runs ? narrow(to, copy->external_run_stride) : 0,
        .local_run_stride = has_runs ? narrow(to, copy->local_run_stride) : 0,
        .local_plane_stride = has_planes ? narrow(to, copy->local_plane_stride) : 0,
        .is_flat = !has_planes && (!has_runs || copy->local_run_stride == copy->run_bytes),
    };
}

static void describe_copies(struct preparation *to, const struct plan_layer *layer, struct dory_prepared_tile *prepared)
{
    struct dory_copies copies = {0};
    tile_walk_loads(&to->walk, layer->inputs_stay, &copies);
    prepared->load_count = copies.load_count;
    for (unsigned i = 0; i < copies.load_count; i++)
        prepared->loads[i] = pack(to, &copies.loads[i]);
    if (tile_walk_store(&to->walk, &copies)) {
        prepared->stores = layer->is_left_in_l1 ? DORY_STORES_FOR_OBSERVER : DORY_STORES;
        prepared->store = pack(to, &copies.store);
    }
}

/* `before`: whose store they wait for anyway; null: there is none. */
static void bring_weights_early(struct dory_prepared_tile *tile, const struct dory_prepared_tile *before)
{
    const struct dory_prepared_copy *load = &tile->loads[0];
    uint32_t bytes = (uint32_t)load->run_bytes * load->runs,
             beside = before ? (uint32_t)before->store.run_bytes * before->store.runs * before->store.planes : 0;
    tile->loads_beside = tile->load_weights;
    if (tile->load_weights && (!before || bytes > beside + TILE_LONG_BYTES))
        tile->overlaps = DORY_OVERLAPS_WEIGHTS;
}

static uint8_t border_of(struct tile_walk *walk)
{
    if (!dory_needs_border(walk->bordered, &walk->tile, walk->layer))
        return DORY_BORDER_NONE;
    return walk->layer->input_layout == DORY_CHW ? DORY_BORDER_BEHIND : DORY_BORDER_BESIDE;
}

/* Nobody waits for the store of inputs that lie in L1; the tile's own has another ticket. */
static void leave_inputs(struct dory_prepared_tile *tile)
{
    tile->awaits_stores = false;
    tile->output_buffer = tile[-1].output_buffer ^ 1;
}

static void prepare_tile(struct preparation *to, const struct plan_layer *layer)
{
    struct dory_prepared_tile *prepared = to->next++;
    const struct dory_prepared_tile *before = to->step_before ? prepared - 1 : NULL;
    const struct dory_placed_tile *tile = &to->walk.tile;
    bool is_first = tile_walk_is_first(&to->walk);
    enum dory_meets meets = tile->starts_step ? dory_step_meets(tile->step, to->step_before) : DORY_MEETS_NOBODY;
    *prepared = (struct dory_prepared_tile){
        .tile = tile->tile,
        .valid = tile->valid,
        .starts_layer = is_first,
        .meets = (uint8_t)meets,
        .load_weights = tile->load_weights && to->walk.layer->block_bytes != 0,
        .has_table = tile->load_weights && to->walk.layer->block_bytes == 0,
        .border = border_of(&to->walk),
        .output_buffer = (uint8_t)tile->output_buffer,
    };
    if (tile->tile.second_input && layer->record.operation <= DORY_DEPTHWISE && layer->record.stages)
        prepared->tile.second_input = NULL; /* the addition's tile has it */
    describe_copies(to, layer, prepared);
    bool overlaps = is_first ? layer->inputs_are_early : tile->overlaps && meets == DORY_MEETS_NOBODY;
    if (overlaps && prepared->load_count > 0) {
        prepared->overlaps = layer->is_added ? DORY_OVERLAPS_ADDED : DORY_OVERLAPS;
        prepared->loads_beside = prepared->load_count;
    } else if (is_first && !dory_step_awaits(tile->step, to->step_before) && tile->step->weights_are_early)
        bring_weights_early(prepared, layer->inputs_stay ? NULL : before);
    prepared->awaits_stores = is_first || prepared->overlaps == DORY_OVERLAPS_STORE;
    if (layer->inputs_stay)
        leave_inputs(prepared);
}

static void prepare_step(struct preparation *to, const struct plan_step *step)
{
    tile_walk_enter(&to->walk, &step->record);
    do
        prepare_tile(to, &to->plan->layers[step->layer]);
    while (tile_walk_next(&to->walk));
    to->next[-1].ends_step = true;
    to->step_before = &step->record;
}

uint32_t plan_tile_count(const struct plan *plan)
{
    uint32_t count = 0;
    for (int i = 0; i < plan->network->layer_count; i++)
        count += plan->layers[i].tile_count;
    return count;
}

/* A table knows no address but those of L1 and of weights. */
static bool has_in_place(const struct plan *plan)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct dory_layer *layer = &plan->layers[i].record;
        if (dory_operands_in_place(&layer->l1) & ~(layer->block_bytes ? (unsigned)DORY_WEIGHTS_IN_PLACE : 0))
            return true;
    }
    return false;
}

struct dory_prepared_tile *plan_place_tiles(const struct plan *plan, struct arena *arena)
{
    if (has_in_place(plan))
        return NULL;
    struct preparation to = {.plan = plan, .next = arena_array(arena, struct dory_prepared_tile, plan_tile_count(plan))};
    struct dory_prepared_tile *first = to.next;
    for (int i = 0; i < plan->step_count; i++) {
        if (i == 0 || plan->steps[i - 1].layer != plan->steps[i].layer)
            tile_walk_start(&to.walk, &plan->layers[plan->steps[i].layer].record);
        prepare_step(&to, &plan->steps[i]);
    }
    return to.is_too_wide ? NULL : first;
}
