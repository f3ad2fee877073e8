/* Additions of what a convolution has computed, whose cores make them as they make its own elements: these are never
 * written, and what else is added comes to L1 before the convolution ends. */
#include "dory/contract.h"
#include "plan/plan.h"

bool plan_is_for_next_alone(const struct plan *plan, int index)
{
    const struct network *network = plan->network;
    int output = tensor_home(network, network->layers[index].output);
    if (network_is_output(network, output) || plan->tensors[output].level != IN_L2)
        return false;
    for (int i = 0; i < network->layer_count; i++)
        for (int j = 0; j < layer_input_count(&network->layers[i]); j++)
            if (i != index + 1 && tensor_home(network, network->layers[i].inputs[j]) == output)
                return false;
    return true;
}

static uint64_t kernel_cycles(const struct plan *plan, const struct plan_layer *layer, const struct dory_layer *record)
{
    return layer->kernel->cycles(record, &record->tile, plan->cores);
}

/* Both layers, one after the other, take longer than the first that adds. */
static bool is_faster(const struct plan *plan, int index, const struct dory_stages *stages)
{
    const struct plan_layer *layer = &plan->layers[index], *before = layer - 1;
    struct dory_layer adding = before->record;
    adding.stages = stages;
    return kernel_cycles(plan, before, &adding) <
           kernel_cycles(plan, before, &before->record) + kernel_cycles(plan, layer, &layer->record);
}

bool plan_may_add(const struct plan *plan, int index, unsigned input)
{
    const struct plan_layer *layer = &plan->layers[index], *before = layer - 1;
    struct dory_stages stages;
    return before->kernel->adds && before->record.rows.output_gap == 0 && plan_is_for_next_alone(plan, index - 1) &&
           before->kernel->adds(&before->record, &layer->record, input, &stages) && is_faster(plan, index, &stages);
}

void plan_set_added(struct plan *plan, int index, struct arena *arena)
{
    struct plan_layer *layer = &plan->layers[index], *before = layer - 1;
    struct dory_stages *stages = arena_array(arena, struct dory_stages, 1);
    layer->is_added = before->kernel->adds(&before->record, &layer->record, layer->inputs_stay >> 1, stages);
    before->record.stages = stages;
    before->record.rows.sum_gap = layer->record.rows.output_gap;
}

void plan_unset_added(struct plan *plan, int index)
{
    struct plan_layer *layer = &plan->layers[index];
    if (layer->is_added) {
        layer[-1].record.stages = NULL;
        layer[-1].record.rows.sum_gap = 0;
        layer->is_added = false;
    }
}
