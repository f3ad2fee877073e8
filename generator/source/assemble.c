#include "assemble.h"

struct place plan_place(const struct plan *plan, int tensor)
{
    const struct plan_tensor *planned = &plan->tensors[tensor];
    if (planned->home == HOME_RAM)
        return (struct place){.offset = planned->ram_offset, .in_ram = true};
    return (struct place){.offset = plan->buffers[planned->buffer].offset};
}

static uint32_t flash_hash(const struct plan *plan)
{
    const uint8_t *bytes = plan->flash_image + 12; /* header of the image, plan.h */
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool has_one(int count, const int *list, const char *what, const struct network *network,
                    struct diagnostics *diagnostics)
{
    if (count == 1)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d %ss; supported is one", count, what);
    for (int i = 0; i < count; i++)
        diagnose(diagnostics, SEVERITY_NOTE, NULL, NULL, "%s %d: '%s'", what, i, network->tensors[list[i]].name);
    return false;
}

static uint32_t at_least(uint32_t bytes, uint32_t least) { return bytes < least ? least : bytes; }

static void assemble_network(const struct plan *plan, struct assembled *assembled)
{
    int input = plan->network->inputs[0], output = plan->network->outputs[0];
    struct place input_place = plan_place(plan, input), output_place = plan_place(plan, output);
    assembled->network = (struct dory_network){
        .name = plan->network->name,
        .steps = assembled->steps,
        .transfers = assembled->transfers,
        .step_count = (uint16_t)plan->step_count,
        .transfer_count = (uint16_t)plan->transfer_count,
        .layer_count = (uint16_t)plan->network->layer_count,
        .cores = (uint16_t)plan->cores,
        .l1_bytes = plan->l1_peak_bytes,
        .l2_bytes = at_least(plan->l2_peak_bytes, DORY_FLASH_HEADER_BYTES), /* dory_network_check_flash reads it there */
        .ram_bytes = plan->ram_bytes,
        .flash_bytes = plan->flash_bytes,
        .flash_hash = flash_hash(plan),
        .input_bytes = plan->tensors[input].bytes,
        .output_bytes = plan->tensors[output].bytes,
        .input_offset = input_place.offset,
        .output_offset = output_place.offset,
        .input_in_ram = input_place.in_ram,
        .output_in_ram = output_place.in_ram,
    };
}

bool plan_assemble(const struct plan *plan, struct assembled *assembled, struct arena *arena,
                   struct diagnostics *diagnostics)
{
    const struct network *network = plan->network;
    if (!has_one(network->input_count, network->inputs, "input", network, diagnostics) ||
        !has_one(network->output_count, network->outputs, "output", network, diagnostics))
        return false;
    assembled->layers = arena_array(arena, struct dory_layer, (size_t)network->layer_count);
    assembled->steps = arena_array(arena, struct dory_step, (size_t)plan->step_count);
    assembled->transfers = arena_array(arena, struct dory_transfer, (size_t)plan->transfer_count);
    for (int i = 0; i < network->layer_count; i++)
        assembled->layers[i] = plan->layers[i].run;
    for (int i = 0; i < plan->step_count; i++) {
        assembled->steps[i] = plan->steps[i].run;
        assembled->steps[i].layer = &assembled->layers[plan->steps[i].layer];
    }
    for (int i = 0; i < plan->transfer_count; i++)
        assembled->transfers[i] = plan->transfers[i].run;
    assemble_network(plan, assembled);
    return true;
}
