/* Plans of which nothing is copied. */
#include "dory/hal.h"
#include "plan/plan.h"

/* Nothing of the layer is brought to L1, or from there. */
static bool is_in_place(const struct plan_layer *layer)
{
    const struct dory_layer *record = &layer->record;
    bool has_weights = record->block_bytes > 0 || dory_table_bytes(record) > 0;
    uint8_t needed = DORY_INPUTS_IN_PLACE | DORY_OUTPUT_IN_PLACE | (has_weights ? DORY_WEIGHTS_IN_PLACE : 0);
    return (dory_operands_in_place(&record->l1) & needed) == needed && record->l1.accumulators == DORY_NO_BUFFER;
}

static bool can_run_layers(const struct plan *plan)
{
    bool can = plan->transfer_count == 0;
    for (int i = 0; can && i < plan->network->layer_count; i++)
        can = is_in_place(&plan->layers[i]);
    return can;
}

void plan_run_layers(struct plan *plan)
{
    plan->runs_layers = can_run_layers(plan);
    if (!plan->runs_layers)
        return;
    for (int i = 0; i < plan->network->layer_count; i++) {
        struct plan_layer *layer = &plan->layers[i];
        if (layer->record.l1.scratch != DORY_NO_BUFFER)
            layer->record.l1.scratch -= DORY_L1_RUNTIME_BYTES;
        layer->l1_bytes -= DORY_L1_RUNTIME_BYTES;
    }
    plan->l1_peak_bytes -= DORY_L1_RUNTIME_BYTES;
    plan->l1_peak_bytes = plan->l1_peak_bytes ? plan->l1_peak_bytes : DORY_ALIGNMENT; /* a caller has some */
}
