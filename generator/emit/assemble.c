#include "emit/assemble.h"

struct place plan_place(const struct plan *plan, int tensor)
{
    const struct plan_tensor *planned = &plan->tensors[tensor];
    if (planned->level == IN_RAM)
        return (struct place){.offset = planned->ram_offset, .in_ram = true};
    return (struct place){.offset = plan->buffers[planned->buffer].offset};
}

static uint32_t flash_hash(const struct plan *plan)
{
    const uint8_t *bytes = plan->flash_image + 12; /* header of the image, plan.h */
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t at_least(uint32_t bytes, uint32_t least) { return bytes < least ? least : bytes; }

static struct dory_port *assemble_ports(const struct plan *plan, const int *tensors, int count, struct arena *arena)
{
    struct dory_port *ports = arena_array(arena, struct dory_port, (size_t)count);
    for (int i = 0; i < count; i++) {
        struct place place = plan_place(plan, tensors[i]);
        ports[i] =
            (struct dory_port){.bytes = plan->tensors[tensors[i]].bytes, .offset = place.offset, .in_ram = place.in_ram};
    }
    return ports;
}

static void assemble_network(const struct plan *plan, struct assembled *assembled)
{
    assembled->network = (struct dory_network){
        .name = plan->network->name,
        .steps = assembled->steps,
        .transfers = assembled->transfers,
        .inputs = assembled->inputs,
        .outputs = assembled->outputs,
        .input_count = (uint16_t)plan->network->input_count,
        .output_count = (uint16_t)plan->network->output_count,
        .step_count = (uint16_t)plan->step_count,
        .transfer_count = (uint16_t)plan->transfer_count,
        .layer_count = (uint16_t)plan->network->layer_count,
        .cores = (uint16_t)plan->cores,
        .l1_bytes = plan->l1_peak_bytes,
        .l2_bytes = at_least(plan->l2_peak_bytes, DORY_FLASH_HEADER_BYTES), /* dory_network_check_flash reads it there */
        .ram_bytes = plan->ram_bytes,
        .flash_bytes = plan->weights_are_linked ? 0 : plan->flash_bytes,
        .flash_hash = flash_hash(plan),
        .resident_offset = plan->resident_offset,
        .resident_bytes = plan->resident_bytes,
        .weights = plan->weights_are_linked ? plan->flash_image : NULL,
        .tiles = plan->tiles, /* what runs it is a name of the firmware */
    };
}

void plan_assemble(const struct plan *plan, struct assembled *assembled, struct arena *arena)
{
    const struct network *network = plan->network;
    assembled->layers = arena_array(arena, struct dory_layer, (size_t)network->layer_count);
    assembled->steps = arena_array(arena, struct dory_step, (size_t)plan->step_count);
    assembled->transfers = arena_array(arena, struct dory_transfer, (size_t)plan->transfer_count);
    assembled->inputs = assemble_ports(plan, network->inputs, network->input_count, arena);
    assembled->outputs = assemble_ports(plan, network->outputs, network->output_count, arena);
    for (int i = 0; i < network->layer_count; i++)
        assembled->layers[i] = plan->layers[i].record;
    for (int i = 0; i < plan->step_count; i++) {
        assembled->steps[i] = plan->steps[i].record;
        assembled->steps[i].layer = &assembled->layers[plan->steps[i].layer];
    }
    for (int i = 0; i < plan->transfer_count; i++)
        assembled->transfers[i] = plan->transfers[i].record;
    assemble_network(plan, assembled);
}
