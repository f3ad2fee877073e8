/* Layers that are wrong: tiles and L1, weights, layouts, and what is whole and resident. */
#include <string.h>

#include "corruptions.h"
#include "dory/hal.h"
#include "dory/prepared.h"

static bool l1_buffers_overlap(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &chosen_layer(plan, choice)->record;
    if (dory_operands_in_place(&record->l1))
        return false;
    record->l1.output[0] = record->l1.output[1] = record->l1.input[0];
    return true;
}

/* On a buffer of the layer before, which may be computing then. */
static bool weights_too_early(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i + 1 < plan->network->layer_count; i++) {
        int before = (int)((choice + (uint32_t)i) % (uint32_t)(plan->network->layer_count - 1));
        const struct dory_layer *record = &plan->layers[before + 1].record;
        struct dory_step *first = &plan->steps[plan->layers[before + 1].first_step].record;
        uint32_t output = plan->layers[before].record.l1.output[0], weights = record->l1.weights[0];
        if (record->block_bytes == 0 || first->weights_are_early || output < weights ||
            output >= weights + record->block_bytes)
            continue;
        first->weights_are_early = 1;
        return true;
    }
    return false;
}

/* A tile that the generator has placed. */
static struct dory_prepared_tile *tile_of(struct plan *plan, uint32_t choice)
{
    return plan->tiles ? (struct dory_prepared_tile *)(uintptr_t)&plan->tiles[choice % plan_tile_count(plan)] : NULL;
}

static bool tile_stores_elsewhere(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->stores == DORY_STORES_NOTHING)
        return false;
    tile->store.external++;
    tile->tile.rows++;
    return true;
}

static bool tile_is_lost(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->stores == DORY_STORES_NOTHING)
        return false;
    tile->stores = DORY_STORES_NOTHING;
    return true;
}

static bool tile_loads_behind_l1(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->load_count == 0)
        return false;
    tile->loads[0].local = (uint16_t)plan->l1_peak_bytes;
    tile->loads[0].local_above = (uint8_t)(plan->l1_peak_bytes >> 16);
    return true;
}

static bool tile_reads_other_weights(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    uintptr_t weights = tile ? (uintptr_t)tile->tile.weights : 0;
    if (weights < DORY_PREPARED_WEIGHTS || weights == DORY_NO_BUFFER)
        return false;
    tile->tile.weights = (const uint8_t *)tile->tile.weights + 4;
    return true;
}

/* The cores would not wait for the driver, or the driver for cores that never come. */
static bool tile_misses_the_driver(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile)
        return false;
    tile->meets = tile->meets == DORY_MEETS_NOBODY ? DORY_MEETS : DORY_MEETS_NOBODY;
    return true;
}

static bool tile_is_loaded_too_early(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->overlaps || tile->loads_beside == tile->load_count)
        return false;
    tile->loads_beside = tile->load_count;
    return true;
}

static struct dory_prepared_tile *first_tile_of(const struct plan *plan, int layer)
{
    const struct dory_prepared_tile *first = plan->tiles;
    for (int i = 0; i < layer; i++)
        first += plan->layers[i].tile_count;
    return plan->tiles ? (struct dory_prepared_tile *)(uintptr_t)first : NULL;
}

/* A layer's weights come to L1 beside the layer before. A transfer that was awaited in front of that is awaited by the
 * layer's first step, of which all else is as such a step has it. */
static bool weights_before_transfers(struct plan *plan, uint32_t choice)
{
    (void)choice;
    for (int i = 1; plan->tiles && i < plan->step_count; i++) {
        struct dory_step *step = &plan->steps[i].record, *before = &plan->steps[i - 1].record;
        struct dory_prepared_tile *tile = first_tile_of(plan, plan->steps[i].layer);
        int last = before->transfers_awaited - 1;
        if (!step->weights_are_early || tile->overlaps == DORY_OVERLAPS || last < 0 || plan->transfers[last].needed_step < i)
            continue;
        for (int j = 0; j < i; j++)
            if (plan->steps[j].record.transfers_awaited > last)
                plan->steps[j].record.transfers_awaited = (uint16_t)last;
        tile->meets = (uint8_t)dory_step_meets(step, before);
        return true;
    }
    return false;
}

/* A tile that has its input in L1, or is said to have it. */
static bool tile_awaits_no_store(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile)
        return false;
    tile->awaits_stores = !tile->awaits_stores;
    return true;
}

/* The tiles from `choice` on, to one whose input stays in L1. */
static struct dory_prepared_tile *staying_tile(struct plan *plan, uint32_t choice)
{
    uint32_t count = plan->tiles ? plan_tile_count(plan) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct dory_prepared_tile *tile = tile_of(plan, choice + i);
        if (tile->starts_layer && !tile->awaits_stores)
            return tile;
    }
    return NULL;
}

static bool staying_input_is_elsewhere(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = staying_tile(plan, choice);
    if (!tile)
        return false;
    tile[-1].store.local += 8;
    tile[-1].tile.output = (void *)((uintptr_t)tile[-1].tile.output + 8);
    return true;
}

static bool staying_tile_has_no_ticket(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = staying_tile(plan, choice);
    if (!tile)
        return false;
    tile->output_buffer ^= 1;
    return true;
}

static bool copied_output_in_place(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &chosen_layer(plan, choice)->record;
    if (plan->target->activations_in_place)
        return false;
    record->l1.output[0] = record->l1.output[1] = DORY_IN_PLACE;
    return true;
}

/* Tiles of half the columns are no pieces of the tensors. */
static bool tile_in_place_narrower(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &chosen_layer(plan, choice)->record;
    if (!dory_is_in_place(record->l1.output) || record->tile.columns < 2)
        return false;
    record->tile.columns /= 2;
    return true;
}

static bool border_is_not_known(struct plan *plan, uint32_t choice)
{
    static struct dory_kernel_description kernel; /* until the next one */
    struct plan_layer *layer = chosen_layer(plan, choice);
    bool pads = layer->record.padding_top > 0 || layer->record.padding_left > 0;
    if (!dory_is_in_place(layer->record.l1.input) || !pads)
        return false;
    kernel = *layer->kernel;
    kernel.knows_border = false;
    layer->kernel = &kernel;
    return true;
}

/* Something is copied to L1, and nobody is there who does it. */
static bool nobody_copies(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &chosen_layer(plan, choice)->record;
    if (!plan->runs_layers)
        return false;
    record->l1.input[0] = record->l1.input[1] = DORY_NO_BUFFER - 3;
    return true;
}

/* An output a row further down in its input. */
static bool output_overtakes_input(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = &plan->steps[choice % (uint32_t)plan->step_count];
    struct plan_buffer *input = &plan->buffers[step->input_buffer[0]], *output = &plan->buffers[step->output_buffer];
    bool shares = input->offset < output->offset + output->bytes && output->offset < input->offset + input->bytes;
    if (!shares || input->offset < DORY_ALIGNMENT)
        return false;
    input->offset -= DORY_ALIGNMENT;
    step->record.input[0].offset -= DORY_ALIGNMENT;
    return true;
}

static bool l1_too_large(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &chosen_layer(plan, choice)->record;
    record->l1.output[0] = plan->l1_arena_bytes - 4;
    return true;
}

static bool l1_runtime_taken(struct plan *plan, uint32_t choice)
{
    chosen_layer(plan, choice)->record.l1.input[0] = 0;
    return true;
}

static bool tile_of_odd_channels(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    if (layer->record.output_channels < 6)
        return false;
    layer->record.tile.channels = 5;
    return true;
}

static bool tile_larger(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    if (layer->record.output_height < 2 || dory_operands_in_place(&layer->record.l1))
        return false;
    layer->record.tile.rows = (uint16_t)(layer->record.tile.rows + 200);
    return true;
}

static bool quads_miscounted(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    if (!layer->weights_bytes)
        return false;
    layer->record.block_bytes -= 16;
    return true;
}

static bool blobs_overlap(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    if (!layer->weights_bytes)
        return false;
    layer->weights_address -= layer->weights_address >= 48 ? 8 : 0;
    layer->weights_address -= layer->weights_address == 32 ? 32 : 0;
    return true;
}

static bool other_kernel(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    const struct dory_kernel_description *const *kernels = dory_portable_engine.kernels;
    for (int i = 0; kernels[i]; i++)
        if (!kernels[i]->supports(&layer->record)) {
            layer->kernel = kernels[i];
            return true;
        }
    return false;
}

static bool writes_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    layer->record.output_layout = layer->record.output_layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool reads_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    layer->record.input_layout = layer->record.input_layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool tensor_of_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_tensor *tensor = &plan->tensors[choice % (uint32_t)plan->network->tensor_count];
    tensor->layout = tensor->layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool memory_exceeded(struct plan *plan, uint32_t choice)
{
    (void)choice;
    plan->l2_peak_bytes = plan->l2_arena_bytes + 8;
    return true;
}

static bool step_missing(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    memmove(plan->steps + index, plan->steps + index + 1, (size_t)(plan->step_count - 1 - (int)index) * sizeof *plan->steps);
    plan->step_count--;
    return true;
}

static bool output_lost(struct plan *plan, uint32_t choice)
{
    (void)choice;
    struct plan_tensor *output = &plan->tensors[plan->network->outputs[0]];
    output->buffer = plan->tensors[plan->network->inputs[0]].buffer;
    return output->level == IN_L2 && plan->tensors[plan->network->inputs[0]].level == IN_L2;
}

/* All weights that stay, and the steps that read them, in the last bytes of the activations. */
static bool resident_lower(struct plan *plan, uint32_t choice)
{
    uint32_t lower = 64 + choice % 8 * 8;
    if (plan->resident_bytes == 0)
        return false;
    plan->resident_offset -= lower;
    for (int i = 0; i < plan->step_count; i++)
        if (plan->layers[plan->steps[i].layer].resident)
            plan->steps[i].record.weights_offset -= lower;
    return true;
}

static bool resident_not_loaded(struct plan *plan, uint32_t choice)
{
    plan->resident_bytes -= plan->resident_bytes ? 8 + choice % 8 * 8 : 0;
    return plan->resident_bytes > 0;
}

const struct corruption corruptions_of_layers[] = {
    CORRUPTION(l1_buffers_overlap),
    CORRUPTION(weights_too_early),
    CORRUPTION(copied_output_in_place),
    CORRUPTION(tile_in_place_narrower),
    CORRUPTION(border_is_not_known),
    CORRUPTION(nobody_copies),
    CORRUPTION(output_overtakes_input),
    CORRUPTION(tile_stores_elsewhere),
    CORRUPTION(tile_is_lost),
    CORRUPTION(tile_loads_behind_l1),
    CORRUPTION(tile_reads_other_weights),
    CORRUPTION(tile_misses_the_driver),
    CORRUPTION(tile_is_loaded_too_early),
    CORRUPTION(weights_before_transfers),
    CORRUPTION(tile_awaits_no_store),
    CORRUPTION(staying_input_is_elsewhere),
    CORRUPTION(staying_tile_has_no_ticket),
    CORRUPTION(l1_too_large),
    CORRUPTION(l1_runtime_taken),
    CORRUPTION(tile_of_odd_channels),
    CORRUPTION(tile_larger),
    CORRUPTION(quads_miscounted),
    CORRUPTION(blobs_overlap),
    CORRUPTION(other_kernel),
    CORRUPTION(writes_another_layout),
    CORRUPTION(reads_another_layout),
    CORRUPTION(tensor_of_another_layout),
    CORRUPTION(memory_exceeded),
    CORRUPTION(step_missing),
    CORRUPTION(output_lost),
    CORRUPTION(resident_lower),
    CORRUPTION(resident_not_loaded),
    {.name = NULL},
};
