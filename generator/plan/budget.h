/* How much memory a network gets. */
#ifndef DORYGEN_BUDGET_H
#define DORYGEN_BUDGET_H

#include "plan/plan.h"

/* Of L2, for an application beside its network, where the user does not say: a main with printf and some buffers. */
#define BUDGET_APPLICATION_BYTES 16384

/* plan_make, with what code and application leave of L2 for the arena and the network's own tables. */
bool budget_plan(const struct network *network, const struct target *target, const struct plan_options *options,
                 struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

/* Bytes of L2 that the generated tables take on the target, a few per cent too many: of a network without its layers, of a
 * layer, of steps and transfers. */
uint32_t budget_network_bytes(const struct network *network);
uint32_t budget_layer_bytes(const struct dory_layer *record);
uint32_t budget_schedule_bytes(int steps, int transfers);

/* All of them, of a plan. */
uint32_t budget_table_bytes(const struct plan *plan);

#endif
