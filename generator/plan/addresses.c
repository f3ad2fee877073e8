/* Where everything of a decided plan lies but its buffers, which have their offsets in L2: weights in the image for the
 * flash, or in L2 for good, and tensors in RAM. By all of that the addresses in steps and transfers. */
#include <inttypes.h>

#include "dory/hal.h"
#include "place/place.h"
#include "plan/lives.h"
#include "plan/plan.h"
#include "plan/views.h"

uint32_t aligned(uint32_t bytes) { return dory_round_up(bytes, DORY_ALIGNMENT); }

/* Behind all else in the arena, with the mark behind them. Those of fewer than 8 bits may take more than was thought. */
static bool place_resident(struct plan *plan, uint64_t bytes, struct diagnostics *diagnostics)
{
    uint32_t least = plan->l2_peak_bytes < DORY_FLASH_HEADER_BYTES ? DORY_FLASH_HEADER_BYTES : plan->l2_peak_bytes;
    if (least + bytes + DORY_LOADED_BYTES > plan->l2_arena_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "weights",
                 "do not fit L2: those that are to stay there take %" PRIu64 " bytes behind %" PRIu32 ", there are %" PRIu32
                 "; with 'auto' as many stay as are worth it, with 'flash' none",
                 bytes + DORY_LOADED_BYTES, least, plan->l2_arena_bytes);
        return false;
    }
    plan->resident_offset = aligned(least);
    plan->resident_bytes = (uint32_t)bytes;
    plan->l2_live_bytes += plan->resident_offset + plan->resident_bytes + DORY_LOADED_BYTES - plan->l2_peak_bytes;
    plan->l2_peak_bytes = plan->resident_offset + plan->resident_bytes + DORY_LOADED_BYTES;
    return true;
}

/* Of the layer's blob, in what weights_offset of a step counts from. */
static uint32_t resident_address(const struct plan *plan, const struct plan_layer *layer)
{
    return plan->weights_are_linked ? layer->weights_address
                                    : plan->resident_offset + layer->weights_address - FLASH_HEADER_BYTES;
}

/* Those of layers that share weights, which are brought with the owner's blob. */
static uint64_t place_constants(struct plan *plan, uint64_t start)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        struct plan_layer *layer = &plan->layers[i];
        if (!layer->shares_weights || plan_has_own_blob(plan, i))
            continue;
        layer->weights_address = plan->layers[layer->owner].weights_address;
        layer->constants_address = (uint32_t)start;
        start += aligned(plan_all_constants_bytes(layer));
    }
    return start;
}

/* Of the resident layers, or of the others, one behind the other from `start` on: where they end. */
static uint64_t place_blobs(struct plan *plan, bool resident, uint64_t start)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        struct plan_layer *layer = &plan->layers[i];
        if (!plan_has_own_blob(plan, i) || layer->resident != resident)
            continue;
        layer->weights_address = (uint32_t)start;
        start += aligned(layer->weights_bytes);
    }
    return start;
}

static bool place_weights(struct plan *plan, struct diagnostics *diagnostics)
{
    uint64_t resident_end = place_blobs(plan, true, FLASH_HEADER_BYTES),
             end = place_constants(plan, place_blobs(plan, false, resident_end));
    plan->flash_bytes = (uint32_t)end;
    uint32_t memory_bytes = plan->target->weight_memory_bytes;
    if (plan->weights_are_linked && memory_bytes > 0 && end > memory_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "weights",
                 "do not fit the weight memory: all together need %" PRIu64 " bytes, there are %" PRIu32
                 "; with 'flash' runs bring them",
                 end, memory_bytes);
        return false;
    }
    if (end > plan->target->flash_bytes) { /* which the image of linked weights is in, too */
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "does not fit the flash: all weights together need %" PRIu64 " bytes, there are %" PRIu32, end,
                 plan->target->flash_bytes);
        return false;
    }
    return plan->weights_are_linked || resident_end == FLASH_HEADER_BYTES ||
           place_resident(plan, resident_end - FLASH_HEADER_BYTES, diagnostics);
}

/* Layers of a block take turns: what one of them reads or writes lives as long as all of them run. */
static int first_beside(const struct plan *plan, int layer)
{
    return plan->layers[layer].block >= 0 ? plan->layers[layer].block : layer;
}

static int last_beside(const struct plan *plan, int layer)
{
    int block = plan->layers[layer].block;
    while (block >= 0 && layer + 1 < plan->network->layer_count && plan->layers[layer + 1].block == block)
        layer++;
    return layer;
}

/* RAM from layer to layer, like L2 from step to step. */
static bool place_ram(struct plan *plan, const struct tensor_life *lives, struct diagnostics *diagnostics)
{
    const struct network *network = plan->network;
    struct arena scratch = {0};
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)network->tensor_count);
    int *tensors = arena_array(&scratch, int, (size_t)network->tensor_count), count = 0;
    for (int t = 0; t < network->tensor_count; t++) {
        if (plan->tensors[t].level != IN_RAM)
            continue;
        int producer = network->tensors[t].producer;
        int first = producer == NO_LAYER ? 0 : first_beside(plan, producer), last = last_beside(plan, lives[t].last);
        tensors[count] = t;
        items[count++] = (struct place_item){plan->tensors[t].bytes, first, last, 0};
    }
    plan->ram_bytes = place(items, count, DORY_ALIGNMENT, plan->target->ram_bytes, PLACE_QUICKLY, &scratch);
    for (int i = 0; i < count; i++)
        plan->tensors[tensors[i]].ram_offset = items[i].offset;
    arena_free(&scratch);
    if (plan->ram_bytes <= plan->target->ram_bytes)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "does not fit the RAM: tensors that L2 has no room for need %" PRIu32 " bytes, there are %" PRIu32,
             plan->ram_bytes, plan->target->ram_bytes);
    return false;
}

/* Of an operand, in its buffer. */
static uint32_t first_byte(const struct plan *plan, const struct plan_step *step, int operand)
{
    return view_first_byte(&plan->network->tensors[layer_operand(&plan->network->layers[step->layer], operand)]);
}

void plan_write_offsets(struct plan *plan)
{
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        step->record.output.offset = plan->buffers[step->output_buffer].offset + first_byte(plan, step, 2);
        for (int j = 0; j < 2; j++)
            if (step->input_buffer[j] >= 0)
                step->record.input[j].offset = plan->buffers[step->input_buffer[j]].offset + first_byte(plan, step, j);
        const struct plan_layer *layer = &plan->layers[step->layer];
        uint32_t first = dory_blocks(&layer->record, step->record.first_channel) * layer->record.block_bytes;
        if (step->weights_buffer >= 0)
            step->record.weights_offset = plan->buffers[step->weights_buffer].offset + (layer->shares_weights ? first : 0);
        else if (layer->resident)
            step->record.weights_offset = resident_address(plan, layer) + first;
    }
}

/* What a transfer of weights counts from: the layer's blob, or its constants. */
static uint32_t flash_address(const struct plan *plan, const struct plan_transfer *transfer)
{
    int index = plan->buffers[transfer->buffer].layer;
    if (plan->layers[index].shares_weights)
        index = plan->steps[transfer->needed_step].layer;
    const struct plan_layer *layer = &plan->layers[index];
    return plan_has_own_blob(plan, index) ? layer->weights_address : layer->constants_address;
}

/* Offsets inside buffers become offsets in the arena; those inside blobs and tensors, addresses. */
static void write_addresses(struct plan *plan)
{
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *transfer = &plan->transfers[i];
        const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
        transfer->record.l2_offset += buffer->offset;
        transfer->record.l3_address +=
            buffer->kind == BUFFER_WEIGHTS ? flash_address(plan, transfer) : plan->tensors[buffer->tensor].ram_offset;
    }
}

bool plan_set_addresses(struct plan *plan, const struct tensor_life *lives, struct diagnostics *diagnostics)
{
    bool good = place_weights(plan, diagnostics);
    good = place_ram(plan, lives, diagnostics) && good;
    plan_write_offsets(plan);
    write_addresses(plan);
    return good;
}
