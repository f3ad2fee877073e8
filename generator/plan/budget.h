/* How much memory a network gets. */
#ifndef DORYGEN_BUDGET_H
#define DORYGEN_BUDGET_H

#include "plan/plan.h"

/* Of L2, for an application beside its network, where the user does not say: a main with printf and some buffers. */
#define BUDGET_APPLICATION_BYTES 16384

/* plan_make, with an arena that leaves room for the network's own tables, which depend on the plan. */
bool budget_plan(const struct network *network, const struct target *target, const struct plan_options *options,
                 struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

/* Bytes of L2 that the generated tables take on the target, a few per cent too many. */
uint32_t budget_table_bytes(const struct plan *plan);

#endif
