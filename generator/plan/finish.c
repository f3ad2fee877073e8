/* What is done to a plan when it has been decided.
 *
 * The first weights of a layer depend on nothing that the layer before computes: they are brought to L1 beside that one's
 * last tile, where L1 has room for them that this tile does not use. The buffers of the layer are laid round that room.
 *
 * Where cores take tiles from a table, and a layer of one tile reads all that the one before has computed in one, it reads
 * that where it lies in L1: its other buffers are laid round it. The results are stored nevertheless, beside the layer, for
 * others may read them, and nobody waits for that. */
#include "dory/hal.h"
#include "dory/prepared.h"
#include "plan/plan.h"
#include "plan/timeline.h"
#include "tile/tile_walk.h"

/* ---- early weights ---- */

enum { MAXIMUM_BUFFERS = 10 };

struct piece {
    uint32_t start, bytes;
};

/* Pieces of L1 that are taken, in any order. */
struct pieces {
    struct piece piece[MAXIMUM_BUFFERS + 1];
    int count;
};

static void take(struct pieces *pieces, uint32_t start, uint32_t bytes)
{
    if (bytes > 0 && start != DORY_NO_BUFFER)
        pieces->piece[pieces->count++] = (struct piece){start, bytes};
}

/* The least address from `least` on at which `bytes` are free; UINT32_MAX where they are not below `end`. */
static uint32_t find_room(const struct pieces *taken, uint32_t bytes, uint32_t least, uint32_t end)
{
    uint32_t start = least;
    for (int i = 0; i < taken->count; i++) {
        const struct piece *piece = &taken->piece[i];
        if (piece->start < start + bytes && start < piece->start + piece->bytes) {
            start = dory_round_up(piece->start + piece->bytes, DORY_ALIGNMENT);
            i = -1; /* all of them anew */
        }
    }
    return start + bytes <= end ? start : UINT32_MAX;
}

static void walk_to_last(const struct plan *plan, int index, struct tile_walk *walk)
{
    const struct plan_layer *layer = &plan->layers[index];
    tile_walk_start(walk, &layer->record);
    for (int i = 0; i < layer->step_count; i++) {
        tile_walk_enter(walk, &plan->steps[layer->first_step + i].record);
        while (tile_walk_next(walk))
            continue;
    }
}

void plan_last_tile(const struct plan *plan, int index, struct dory_placed_tile *last)
{
    struct tile_walk walk;
    walk_to_last(plan, index, &walk);
    *last = walk.tile;
}

/* Its buffers, and that of the results that are still stored. */
static struct pieces in_use_at_end(const struct plan *plan, int index, const struct l1_sizes *sizes)
{
    const struct dory_l1_map *map = &plan->layers[index].record.l1;
    struct dory_placed_tile last;
    plan_last_tile(plan, index, &last);
    struct pieces used = {.count = 0};
    take(&used, map->input[last.input_buffer], sizes->input);
    take(&used, map->second_input[last.input_buffer], sizes->second_input);
    take(&used, map->weights[last.weights_buffer], sizes->weights);
    take(&used, map->output[0], sizes->output);
    take(&used, map->output[1], sizes->output);
    take(&used, map->accumulators, sizes->accumulators);
    take(&used, map->scratch, sizes->scratch);
    return used;
}

/* Where buffers have to lie; DORY_NO_BUFFER: anywhere. */
struct fixed {
    uint32_t weights;   /* the first buffer of two */
    uint32_t inputs[2]; /* of the layer */
};

/* Lays a buffer, or two where the map has two, round those that are there. The first may be there itself. */
static bool lay(uint32_t place[2], uint32_t fixed, uint32_t bytes, struct pieces *taken, uint32_t end)
{
    bool two = place[0] != place[1], is_there = fixed != DORY_NO_BUFFER;
    if (is_there)
        place[0] = fixed;
    for (int i = is_there; i < (two ? 2 : 1) && bytes > 0; i++) {
        place[i] = find_room(taken, bytes, DORY_L1_RUNTIME_BYTES, end);
        if (place[i] == UINT32_MAX)
            return false;
        take(taken, place[i], bytes);
    }
    if (!two)
        place[1] = place[0];
    return true;
}

/* All buffers but those that are fixed. */
static bool lay_round(struct dory_l1_map *map, const struct l1_sizes *sizes, const struct fixed *fixed, uint32_t end,
                      uint32_t *peak)
{
    uint32_t accumulators[2] = {map->accumulators, map->accumulators}, scratch[2] = {map->scratch, map->scratch};
    struct pieces taken = {.count = 0};
    take(&taken, fixed->weights, sizes->weights);
    take(&taken, fixed->inputs[0], sizes->input);
    take(&taken, fixed->inputs[1], sizes->second_input);
    bool good = lay(map->input, fixed->inputs[0], sizes->input, &taken, end) &&
                lay(map->second_input, fixed->inputs[1], sizes->second_input, &taken, end) &&
                lay(map->weights, fixed->weights, sizes->weights, &taken, end) &&
                lay(map->output, DORY_NO_BUFFER, sizes->output, &taken, end) &&
                lay(accumulators, DORY_NO_BUFFER, sizes->accumulators, &taken, end) &&
                lay(scratch, DORY_NO_BUFFER, sizes->scratch, &taken, end);
    map->accumulators = accumulators[0];
    map->scratch = scratch[0];
    *peak = 0;
    for (int i = 0; i < taken.count; i++) {
        uint32_t last = taken.piece[i].start + taken.piece[i].bytes;
        *peak = last > *peak ? last : *peak;
    }
    return good;
}

static void set_map(struct plan *plan, int index, const struct dory_l1_map *map, uint32_t peak)
{
    struct plan_layer *layer = &plan->layers[index];
    layer->record.l1 = *map;
    layer->l1_bytes = peak;
    plan->l1_peak_bytes = peak > plan->l1_peak_bytes ? peak : plan->l1_peak_bytes;
}

/* Tries the room between the buffers in use from both of its ends. */
static bool make_room(struct plan *plan, int index, const struct pieces *used, const struct l1_sizes *sizes,
                      const struct fixed *inputs)
{
    uint32_t end = plan->l1_arena_bytes, best_peak = UINT32_MAX;
    struct dory_l1_map best = plan->layers[index].record.l1;
    for (int i = -1; i <= used->count; i++) {
        uint32_t least = i < 0             ? DORY_L1_RUNTIME_BYTES
                         : i < used->count ? dory_round_up(used->piece[i].start + used->piece[i].bytes, DORY_ALIGNMENT)
                                           : (end - dory_minimum(end, sizes->weights)) / DORY_ALIGNMENT * DORY_ALIGNMENT;
        struct dory_l1_map map = plan->layers[index].record.l1;
        struct fixed fixed = *inputs;
        uint32_t peak;
        fixed.weights = find_room(used, sizes->weights, least, end);
        if (fixed.weights != UINT32_MAX && lay_round(&map, sizes, &fixed, end, &peak) && peak < best_peak) {
            best = map;
            best_peak = peak;
        }
    }
    if (best_peak == UINT32_MAX)
        return false;
    set_map(plan, index, &best, best_peak);
    return true;
}

/* With a table the cores bring them, where they need not wait for the driver before. */
static bool can_be_early(const struct plan *plan, int index, bool has_table)
{
    const struct plan_layer *layer = &plan->layers[index];
    if (index == 0 || layer->block >= 0 || layer[-1].block >= 0 || layer->record.block_bytes == 0) /* not for turns */
        return false;
    if (dory_is_in_place(layer->record.l1.weights))
        return false;
    const struct plan_step *first = &plan->steps[layer->first_step];
    return !has_table || !dory_step_awaits(&first->record, &first[-1].record);
}

/* ---- results that stay ---- */

/* One piece on both sides. */
static bool is_one_piece(const struct hal_dma_copy *copy)
{
    bool joined = copy->external_run_stride == copy->run_bytes && copy->local_run_stride == copy->run_bytes;
    return copy->planes == 1 && (copy->runs == 1 || joined);
}

static bool have_bytes_in_common(const struct hal_dma_copy *load, const struct hal_dma_copy *store)
{
    const uint8_t *a = load->external, *b = store->external;
    return a < b + store->run_bytes * store->runs && b < a + load->run_bytes * load->runs;
}

/* The layer's only tile, and the copies for it. */
static struct dory_copies copies_of_tile(const struct plan *plan, int index)
{
    struct tile_walk walk;
    struct dory_copies copies = {.store_count = 0};
    walk_to_last(plan, index, &walk);
    tile_walk_loads(&walk, 0, &copies);
    tile_walk_store(&walk, &copies);
    return copies;
}

/* Which input is all that the layer before computes, and nothing but it; -1: none. No other one has any of it, for that is
 * loaded while results are still stored. */
static int staying_input(const struct plan *plan, int index, struct fixed *fixed)
{
    struct plan_layer *layer = &plan->layers[index];
    struct dory_copies before = copies_of_tile(plan, index - 1), copies = copies_of_tile(plan, index);
    unsigned weights = layer->record.block_bytes != 0 && !dory_is_in_place(layer->record.l1.weights),
             inputs = dory_has_second_input(&layer->record) ? 2 : 1;
    const struct hal_dma_copy *store = &before.store;
    int staying = -1;
    if (before.store_count == 0 || copies.load_count != weights + inputs || !is_one_piece(store))
        return -1;
    for (unsigned i = 0; i < inputs; i++) {
        const struct hal_dma_copy *load = &copies.loads[weights + i];
        if (!is_one_piece(load) || (staying >= 0 && have_bytes_in_common(load, store)))
            return -1;
        if (!have_bytes_in_common(load, store))
            continue;
        bool same = load->external == store->external && load->run_bytes * load->runs == store->run_bytes * store->runs;
        if (!same)
            return -1;
        staying = (int)i;
        uint32_t place = i ? layer->record.l1.second_input[0] : layer->record.l1.input[0];
        fixed->inputs[i] =
            place + (uint32_t)(uintptr_t)store->local - (uint32_t)(uintptr_t)load->local; /* with its border */
    }
    return staying;
}

/* Both layers are one tile, and their cores need not meet the driver in between, who might have results written to L3. */
static bool can_stay(const struct plan *plan, int index)
{
    const struct plan_layer *layer = &plan->layers[index], *before = layer - 1;
    if (index == 0 || layer->block >= 0 || before->block >= 0 || layer->tile_count != 1 || before->tile_count != 1)
        return false;
    const struct plan_step *first = &plan->steps[layer->first_step];
    return dory_step_meets(&first->record, &first[-1].record) == DORY_MEETS_NOBODY;
}

#define L1_ALIGNMENT 4 /* of a buffer: what kernels need */

/* Where inputs have to lie so that they need not be loaded; false: anywhere. */
static bool find_staying(const struct plan *plan, int index, const struct l1_sizes *sizes, struct fixed *fixed)
{
    int which = can_stay(plan, index) ? staying_input(plan, index, fixed) : -1;
    if (which < 0)
        return false;
    uint32_t start = fixed->inputs[which], bytes = which ? sizes->second_input : sizes->input;
    return start % L1_ALIGNMENT == 0 && start >= DORY_L1_RUNTIME_BYTES && start <= plan->l1_arena_bytes &&
           bytes <= plan->l1_arena_bytes - start;
}

/* Lays the layer's buffers round what stays, and round its first weights if they can be early. */
static bool keep_inputs(struct plan *plan, int index, const struct pieces *used, const struct l1_sizes *sizes, bool early,
                        const struct fixed *fixed)
{
    struct plan_layer *layer = &plan->layers[index];
    struct dory_l1_map map = layer->record.l1;
    struct pieces all = *used;
    uint32_t peak;
    take(&all, fixed->inputs[0], sizes->input);
    take(&all, fixed->inputs[1], sizes->second_input);
    early = early && make_room(plan, index, &all, sizes, fixed);
    plan->steps[layer->first_step].record.weights_are_early = early;
    if (!early) {
        if (!lay_round(&map, sizes, fixed, plan->l1_arena_bytes, &peak))
            return false;
        set_map(plan, index, &map, peak);
    }
    layer->inputs_stay = (uint8_t)((fixed->inputs[0] != DORY_NO_BUFFER) | (fixed->inputs[1] != DORY_NO_BUFFER) << 1);
    return true;
}

/* What a layer finds in L1 when it starts. */
static void bring_layer_early(struct plan *plan, int index, bool has_table, const struct l1_sizes *before,
                              const struct l1_sizes *sizes)
{
    const struct fixed anywhere = {DORY_NO_BUFFER, {DORY_NO_BUFFER, DORY_NO_BUFFER}};
    struct fixed fixed = anywhere;
    bool early = can_be_early(plan, index, has_table);
    bool stays = has_table && find_staying(plan, index, sizes, &fixed);
    if (!early && !stays)
        return;
    struct pieces used = in_use_at_end(plan, index - 1, before);
    if (stays && keep_inputs(plan, index, &used, sizes, early, &fixed))
        return;
    plan->steps[plan->layers[index].first_step].record.weights_are_early =
        early && make_room(plan, index, &used, sizes, &anywhere);
}

/* Of a finished plan more is known of its start, which is part of what was found and of the bound. */
static void set_start(struct plan *plan)
{
    uint64_t before = plan->start_cycles;
    plan->start_cycles = timeline_run_start_cycles(plan, plan->target);
    plan->proof.searched_cycles += plan->start_cycles - before;
    if (plan->proof.rounds > 0)
        plan->proof.bound_cycles += plan->start_cycles - before;
}

void plan_bring_early(struct plan *plan, bool has_table, struct arena *arena)
{
    struct timeline timeline;
    struct l1_sizes before = {0};
    for (int i = 0; i < plan->network->layer_count; i++) {
        struct l1_sizes sizes = timeline_l1_sizes(plan, i);
        bring_layer_early(plan, i, has_table, &before, &sizes);
        before = sizes;
    }
    plan->is_finished = true;
    set_start(plan);
    timeline_play_layers(plan, arena);
    timeline_make(plan, &timeline, arena);
    plan->predicted_cycles = timeline.end_cycle;
}
