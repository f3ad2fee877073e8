/* What is done to a plan when it has been decided.
 *
 * The first weights of a layer depend on nothing that the layer before computes: they are brought to L1 beside that one's
 * last tile, where L1 has room for them that this tile does not use. The buffers of the layer are laid round that room. So
 * it is with inputs that were there before that layer.
 *
 * Where cores take tiles from a table, and a layer of one tile reads all that the one before has computed in one, it reads
 * that where it lies in L1: its other buffers are laid round it. Results that others read, too, are stored beside the layer,
 * and nobody waits for that. Where the layer has a border round them, the one before leaves gaps for it, if its kernel can.
 */
#include "dory/hal.h"
#include "dory/prepared.h"
#include "plan/plan.h"
#include "plan/timeline.h"
#include "tile/tile_walk.h"

/* ---- early weights ---- */

enum { MAXIMUM_BUFFERS = 20 }; /* of two layers */

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
    uint32_t weights;            /* the first buffer of two */
    uint32_t inputs[2];          /* of the layer */
    const struct pieces *others; /* where nothing else may lie; null: anywhere */
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
    struct pieces taken = fixed->others ? *fixed->others : (struct pieces){.count = 0};
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

static uint32_t bytes_of(const struct hal_dma_copy *copy) { return copy->run_bytes * copy->runs; }

/* In L2. */
static bool is_one_piece(const struct hal_dma_copy *copy)
{
    return copy->planes == 1 && (copy->runs == 1 || copy->external_run_stride == copy->run_bytes);
}

/* In L1. */
static bool is_flat(const struct hal_dma_copy *copy) { return copy->runs == 1 || copy->local_run_stride == copy->run_bytes; }

/* What is stored lies in L1 as it would be loaded. */
static bool lie_alike(const struct hal_dma_copy *load, const struct hal_dma_copy *store)
{
    bool same_rows = load->run_bytes == store->run_bytes && load->local_run_stride == store->local_run_stride;
    return is_flat(load) || is_flat(store) ? is_flat(load) && is_flat(store) : same_rows;
}

static bool have_bytes_in_common(const struct hal_dma_copy *load, const struct hal_dma_copy *store)
{
    const uint8_t *a = load->external, *b = store->external;
    return a < b + bytes_of(store) && b < a + bytes_of(load);
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
 * loaded while results are still stored. The copies of both are given back. */
static int input_of_results(const struct plan *plan, int index, struct hal_dma_copy *load, struct hal_dma_copy *store)
{
    const struct dory_layer *record = &plan->layers[index].record;
    struct dory_copies before = copies_of_tile(plan, index - 1), copies = copies_of_tile(plan, index);
    unsigned weights = record->block_bytes != 0 && !dory_is_in_place(record->l1.weights),
             inputs = dory_has_second_input(record) ? 2 : 1;
    int found = -1;
    *store = before.store;
    if (before.store_count == 0 || copies.load_count != weights + inputs || !is_one_piece(store))
        return -1;
    for (unsigned i = 0; i < inputs; i++) {
        const struct hal_dma_copy *input = &copies.loads[weights + i];
        if (!is_one_piece(input) || (found >= 0 && have_bytes_in_common(input, store)))
            return -1;
        if (!have_bytes_in_common(input, store))
            continue;
        if (input->external != store->external || bytes_of(input) != bytes_of(store))
            return -1;
        found = (int)i;
        *load = *input;
    }
    return found;
}

static int staying_input(const struct plan *plan, int index, struct fixed *fixed)
{
    const struct dory_l1_map *map = &plan->layers[index].record.l1;
    struct hal_dma_copy load, store;
    int staying = input_of_results(plan, index, &load, &store);
    if (staying < 0 || !lie_alike(&load, &store))
        return -1;
    uint32_t place = staying ? map->second_input[0] : map->input[0];
    fixed->inputs[staying] =
        place + (uint32_t)(uintptr_t)store.local - (uint32_t)(uintptr_t)load.local; /* with its border */
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
static bool lay_layer(struct plan *plan, int index, const struct pieces *used, const struct l1_sizes *sizes, bool early,
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
    return true;
}

/* In L2 when the layer before starts: no store of it is under way then, as of what that one has in L1. */
static bool has_come_before(const struct plan *plan, int index, int tensor)
{
    int producer = plan->network->tensors[tensor].producer;
    if (plan->tensors[tensor].level != IN_L2)
        return false;
    if (producer == NO_LAYER)
        return true;
    bool is_late = producer == index - 2 && plan->layers[index - 1].inputs_stay != 0;
    return !is_late && producer < index - 1 && plan->layers[producer].last_step < plan->layers[index - 1].first_step;
}

/* Whether all inputs that do not stay can come while the layer before works, if they have room then. */
static bool can_have_inputs_early(const struct plan *plan, int index, const struct fixed *fixed)
{
    const struct plan_layer *layer = &plan->layers[index];
    int inputs = layer_input_count(&plan->network->layers[index]), early = 0;
    if (index == 0 || layer->block >= 0 || layer[-1].block >= 0 || layer->tile_count != 1 ||
        (dory_operands_in_place(&layer->record.l1) & DORY_INPUTS_IN_PLACE))
        return false;
    const struct plan_step *first = &plan->steps[layer->first_step];
    for (int i = 0; i < inputs; i++) {
        bool stays = fixed->inputs[i] != DORY_NO_BUFFER;
        if (!stays && !has_come_before(plan, index, plan->network->layers[index].inputs[i]))
            return false;
        early += !stays;
    }
    return early > 0 && dory_step_meets(&first->record, &first[-1].record) == DORY_MEETS_NOBODY;
}

/* Lays the layer so that they can; with weights that come, these have to be early, too. */
static bool bring_inputs_early(struct plan *plan, int index, const struct pieces *used, const struct l1_sizes *sizes,
                               bool early, const struct fixed *staying)
{
    struct plan_layer *layer = &plan->layers[index];
    const uint32_t bytes[2] = {sizes->input, sizes->second_input};
    struct fixed fixed = *staying;
    struct pieces all = *used;
    bool loads_weights = layer->record.block_bytes != 0 && !dory_is_in_place(layer->record.l1.weights);
    for (int i = 0; i < 2; i++)
        take(&all, fixed.inputs[i], bytes[i]);
    for (int i = 0; i < layer_input_count(&plan->network->layers[index]); i++) {
        if (fixed.inputs[i] != DORY_NO_BUFFER)
            continue;
        fixed.inputs[i] = find_room(&all, bytes[i], DORY_L1_RUNTIME_BYTES, plan->l1_arena_bytes);
        if (fixed.inputs[i] == UINT32_MAX)
            return false;
        take(&all, fixed.inputs[i], bytes[i]);
    }
    if ((loads_weights && !early) || !lay_layer(plan, index, used, sizes, early, &fixed))
        return false;
    layer->inputs_are_early = !loads_weights || plan->steps[layer->first_step].record.weights_are_early;
    return layer->inputs_are_early;
}

/* Where the layer before makes its elements: round all that this one uses, too. */
static bool lay_added(struct plan *plan, int index, const struct pieces *used, const struct l1_sizes *sizes,
                      const struct fixed *staying)
{
    struct fixed fixed = *staying;
    bool is_second = fixed.inputs[1] != DORY_NO_BUFFER;
    fixed.others = used;
    return plan_may_add(plan, index, is_second) && bring_inputs_early(plan, index, used, sizes, false, &fixed);
}

/* What a layer finds in L1 when it starts. False where all of it lies as before; `must`: nothing else is good then. */
static bool bring_layer_early(struct plan *plan, int index, bool has_table, const struct l1_sizes *before,
                              const struct l1_sizes *sizes, bool must, struct arena *arena)
{
    const struct fixed anywhere = {DORY_NO_BUFFER, {DORY_NO_BUFFER, DORY_NO_BUFFER}, NULL};
    struct plan_layer *layer = &plan->layers[index];
    struct fixed fixed = anywhere;
    plan_unset_added(plan, index);
    bool early = can_be_early(plan, index, has_table);
    bool stays = has_table && find_staying(plan, index, sizes, &fixed);
    bool have_inputs = has_table && can_have_inputs_early(plan, index, &fixed);
    if (!early && !stays && !must && !have_inputs)
        return false;
    struct pieces used = index > 0 ? in_use_at_end(plan, index - 1, before) : (struct pieces){.count = 0};
    bool is_added = stays && have_inputs && lay_added(plan, index, &used, sizes, &fixed);
    bool laid = is_added || (have_inputs && bring_inputs_early(plan, index, &used, sizes, early, &fixed)) ||
                ((stays || must) && lay_layer(plan, index, &used, sizes, early, &fixed));
    if (laid) {
        layer->inputs_stay = (uint8_t)((fixed.inputs[0] != DORY_NO_BUFFER) | (fixed.inputs[1] != DORY_NO_BUFFER) << 1);
        if (is_added)
            plan_set_added(plan, index, arena);
        return true;
    }
    early = early && !must && make_room(plan, index, &used, sizes, &anywhere);
    plan->steps[layer->first_step].record.weights_are_early = early;
    return early;
}

/* ---- results with the border of the next layer round them ---- */

struct gap {
    uint16_t columns;
    uint32_t before; /* bytes of border in front of the first row */
    uint32_t bytes;  /* with all border */
};

/* The next layer reads all results and nothing else, in rows with border between them. */
static bool find_gap(const struct plan *plan, int index, struct gap *gap)
{
    const struct plan_layer *layer = &plan->layers[index];
    const struct dory_layer *record = &layer->record;
    uint32_t pixel = dory_element_bytes(record->output_channels, record->output_bits), row = record->output_width * pixel;
    struct hal_dma_copy load, store;
    if (index + 1 == plan->network->layer_count || !layer->kernel->leaves_gaps || record->output_layout != DORY_HWC ||
        !can_stay(plan, index + 1) || input_of_results(plan, index + 1, &load, &store) != 0)
        return false;
    uint32_t step = load.local_run_stride;
    if (load.run_bytes != row || load.runs != record->output_height || load.runs == 1 || step <= row)
        return false;
    gap->columns = (uint16_t)((step - row) / pixel);
    gap->before = (uint32_t)(uintptr_t)load.local - layer[1].record.l1.input[0];
    gap->bytes = timeline_l1_sizes(plan, index + 1).input;
    return (step - row) % pixel == 0 && row % L1_ALIGNMENT == 0 && step % L1_ALIGNMENT == 0 &&
           gap->before % L1_ALIGNMENT == 0;
}

/* The output's buffer is the next layer's input. */
static bool leave_gap(struct plan *plan, int index, const struct l1_sizes *before, const struct l1_sizes *sizes,
                      struct arena *arena)
{
    struct dory_layer *record = &plan->layers[index].record;
    struct l1_sizes wide = *sizes;
    struct gap gap;
    if (!find_gap(plan, index, &gap))
        return false;
    record->rows.output_gap = gap.columns;
    wide.output = gap.bytes;
    if (!bring_layer_early(plan, index, true, before, &wide, true, arena)) {
        record->rows.output_gap = 0;
        return false;
    }
    record->l1.output[0] += gap.before;
    record->l1.output[1] = record->l1.output[0];
    return true;
}

/* True where the output needs no place but L1: the next layer has it there, and no other reads it, nor the caller. */
static bool is_left_in_l1(const struct plan *plan, int index)
{
    bool stays = index + 1 < plan->network->layer_count && plan->layers[index + 1].inputs_stay != 0;
    return stays && plan_is_for_next_alone(plan, index);
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
        if (!has_table || !leave_gap(plan, i, &before, &sizes, arena))
            bring_layer_early(plan, i, has_table, &before, &sizes, false, arena);
        before = timeline_l1_sizes(plan, i);
    }
    for (int i = 0; i < plan->network->layer_count; i++)
        plan->layers[i].is_left_in_l1 = is_left_in_l1(plan, i);
    plan->is_finished = true;
    set_start(plan);
    timeline_play_layers(plan, arena);
    timeline_make(plan, &timeline, arena);
    plan->predicted_cycles = timeline.end_cycle;
}
