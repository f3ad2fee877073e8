/* L2 holds a network's arena, its tables, the code that runs them, and the application. The code is measured by linking it,
 * the application's share is said by the user (command/memory_options.c), the tables are counted here; the arena is what
 * they leave. */
#include "plan/budget.h"

#include <inttypes.h>

#include "dory/hal.h"

/* As the structs are on a 64-bit machine; with the smaller pointers of a target they are a little smaller. */
enum { NETWORK_BYTES = 256 };
#define LAYER_BYTES    ((uint32_t)sizeof(struct dory_layer))
#define STAGES_BYTES   ((uint32_t)sizeof(struct dory_stages))
#define STEP_BYTES     ((uint32_t)sizeof(struct dory_step))
#define TRANSFER_BYTES ((uint32_t)sizeof(struct dory_transfer))
#define PORT_BYTES     ((uint32_t)sizeof(struct dory_port))

/* Of what a layer has beside its stages. */
static uint32_t list_bytes(const struct dory_layer *run)
{
    return (run->operation == DORY_TABLE ? 256 : 0) + 4 * dory_list_words(run);
}

uint32_t budget_table_bytes(const struct plan *plan)
{
    const struct network *network = plan->network;
    uint32_t with_stages = 0, lists = 0;
    for (int i = 0; i < network->layer_count; i++) {
        const struct dory_layer *run = &plan->layers[i].run;
        with_stages += run->stages != NULL;
        lists += list_bytes(run);
    }
    return NETWORK_BYTES + (uint32_t)network->layer_count * LAYER_BYTES + with_stages * STAGES_BYTES + lists +
           (uint32_t)plan->step_count * STEP_BYTES + (uint32_t)plan->transfer_count * TRANSFER_BYTES +
           (uint32_t)(network->input_count + network->output_count) * PORT_BYTES;
}

#define GUESS_STEPS   3 /* a layer: for the first attempt */
#define MOST_ATTEMPTS 4

bool budget_plan(const struct network *network, const struct target *target, const struct plan_options *options,
                 struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan_options with_arena = *options;
    if (options->l2_bytes)
        return plan_make(network, target, options, plan, arena, diagnostics);
    uint32_t room = target->l2_bytes - options->l2_firmware_bytes;
    uint64_t tables = NETWORK_BYTES + (uint64_t)network->layer_count *
                                          (LAYER_BYTES + STAGES_BYTES + GUESS_STEPS * (STEP_BYTES + TRANSFER_BYTES));
    for (int attempt = 0; attempt < MOST_ATTEMPTS && tables + DORY_ALIGNMENT <= room; attempt++) {
        with_arena.l2_bytes = room - (uint32_t)tables;
        if (!plan_make(network, target, &with_arena, plan, arena, diagnostics))
            return false;
        plan->l2_firmware_bytes = options->l2_firmware_bytes;
        if (plan->l2_peak_bytes <= room && budget_table_bytes(plan) <= room - plan->l2_peak_bytes)
            return true;
        tables = budget_table_bytes(plan) + tables / 8; /* with less memory there are more steps */
    }
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "does not fit L2: code and application take %" PRIu32 " bytes, the tables of layers, steps and transfers "
             "about %" PRIu64 ", there are %" PRIu32,
             options->l2_firmware_bytes, tables, target->l2_bytes);
    return false;
}
