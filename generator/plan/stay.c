/* Outputs that are an input with elements behind, as a cache that a network gets and gives with one row more. Both lie in
 * one place: where the layer that joins them stores what is there already, and the new elements behind.
 *
 * Only where one tile is the whole layer: all of the input has been read then before anything is stored. */
#include "dory/hal.h"
#include "place/place.h"
#include "plan/plan.h"
#include "plan/views.h"

static bool is_port_in_l2(const struct plan *plan, int tensor)
{
    return plan->tensors[tensor].level == IN_L2 && plan->network->tensors[tensor].bits == 8;
}

/* The first operand's elements, then the second's, as they are: pixels have no rows or columns beside them. */
static bool appends(const struct network *network, const struct layer *layer)
{
    const struct tensor *first = &network->tensors[layer->inputs[0]], *whole = &network->tensors[layer->output];
    return layer->kind == LAYER_CONCATENATION && layer->stage_count == 0 && layer->input_stages[0].count == 0 &&
           first->height * first->width == 1 && whole->height * whole->width == 1 && layer->inputs[0] != layer->inputs[1];
}

/* The layer appends to an input of the network what makes an output of it, so that both may lie in one place. */
static bool may_stay(const struct plan *plan, int index)
{
    const struct network *network = plan->network;
    const struct layer *layer = &network->layers[index];
    const struct plan_layer *planned = &plan->layers[index];
    if (!appends(network, layer) || tensor_is_viewed(network, layer->inputs[0]) ||
        network->tensors[layer->inputs[0]].producer != NO_LAYER || !network_is_output(network, layer->output) ||
        planned->step_count != 1 || planned->tile_count != 1 || planned->block >= 0 ||
        !is_port_in_l2(plan, layer->inputs[0]) || !is_port_in_l2(plan, layer->output))
        return false;
    const struct plan_buffer *input = &plan->buffers[plan->tensors[layer->inputs[0]].buffer],
                             *output = &plan->buffers[plan->tensors[layer->output].buffer];
    return input->last_step == planned->first_step && output->first_step == planned->first_step &&
           input->kind == BUFFER_TENSOR && output->kind == BUFFER_TENSOR;
}

int plan_output_of_input(const struct plan *plan, int tensor)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct layer *layer = &plan->network->layers[i];
        if (layer->inputs[0] == tensor && may_stay(plan, i) &&
            plan->buffers[plan->tensors[tensor].buffer].offset == plan->buffers[plan->tensors[layer->output].buffer].offset)
            return layer->output;
    }
    return -1;
}

int plan_stay_items(const struct plan *plan, struct place_item *items, int *leader)
{
    int count = 0;
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct layer *layer = &plan->network->layers[i];
        if (!may_stay(plan, i))
            continue;
        const int input = plan->tensors[layer->inputs[0]].buffer, output = plan->tensors[layer->output].buffer;
        items[output].first = items[input].first;
        items[input].bytes = 0;
        leader[input] = output;
        count++;
    }
    return count;
}

/* Of L2, beside weights that stay there. */
static uint64_t room(const struct plan *plan)
{
    uint64_t resident = 0;
    for (int i = 0; i < plan->network->layer_count; i++)
        if (plan->layers[i].resident && !plan->weights_are_linked)
            resident += aligned(plan->layers[i].weights_bytes) + DORY_ALIGNMENT;
    return plan->l2_arena_bytes > resident ? plan->l2_arena_bytes - resident : 0;
}

void plan_stay(struct plan *plan, struct arena *arena)
{
    struct arena scratch = {0};
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)plan->buffer_count);
    int *leader = arena_array(&scratch, int, (size_t)plan->buffer_count);
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
        leader[i] = i;
    }
    if (plan_stay_items(plan, items, leader) > 0) {
        uint32_t bound = place_bound(items, plan->buffer_count, DORY_ALIGNMENT);
        uint32_t peak = place(items, plan->buffer_count, DORY_ALIGNMENT, bound, PLACE_CAREFULLY, &scratch);
        if (peak <= plan->l2_peak_bytes || peak <= room(plan)) {
            plan->buffers = arena_copy(arena, plan->buffers, (size_t)plan->buffer_count);
            for (int i = 0; i < plan->buffer_count; i++)
                plan->buffers[i].offset = items[leader[i]].offset;
            plan->l2_peak_bytes = peak;
            plan->l2_live_bytes = bound;
        }
    }
    arena_free(&scratch);
}
