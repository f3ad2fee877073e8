#include "plan/table_bytes.h"

#include "dory/prepared.h"

/* As the structs are on a 64-bit machine; with the smaller pointers of a target they are a little smaller. */
enum { NETWORK_BYTES = 256 };
#define LAYER_BYTES    ((uint32_t)sizeof(struct dory_layer))
#define STAGES_BYTES   ((uint32_t)sizeof(struct dory_stages))
#define STEP_BYTES     ((uint32_t)sizeof(struct dory_step))
#define TRANSFER_BYTES ((uint32_t)sizeof(struct dory_transfer))
#define PORT_BYTES     ((uint32_t)sizeof(struct dory_port))

uint32_t table_bytes_of_layer(const struct dory_layer *record)
{
    return LAYER_BYTES + (record->stages ? STAGES_BYTES : 0) +
           (record->operation == DORY_TABLE ? dory_table_bytes(record) : 0) + 4 * dory_list_words(record);
}

uint32_t table_bytes_of_network(const struct network *network)
{
    return NETWORK_BYTES + (uint32_t)(network->input_count + network->output_count) * PORT_BYTES;
}

uint32_t table_bytes_of_schedule(int steps, int transfers)
{
    return (uint32_t)steps * STEP_BYTES + (uint32_t)transfers * TRANSFER_BYTES;
}

uint32_t table_bytes_of_plan(const struct plan *plan)
{
    uint32_t layers = 0;
    if (plan->target->constants_in_flash)
        return 0;
    for (int i = 0; i < plan->network->layer_count; i++)
        layers += table_bytes_of_layer(&plan->layers[i].record);
    bool takes_weights = plan->weights_are_linked && plan->target->weight_memory_bytes == 0;
    return table_bytes_of_network(plan->network) + layers + (takes_weights ? plan->flash_bytes : 0) +
           table_bytes_of_schedule(plan->step_count, plan->transfer_count) +
           (plan->tiles ? plan_tile_count(plan) * DORY_PREPARED_TILE_BYTES : 0);
}
