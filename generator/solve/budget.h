/* How much memory a network gets. */
#ifndef DORYGEN_BUDGET_H
#define DORYGEN_BUDGET_H

#include "solve/plan_make.h"

/* Of L2, for an application beside its network, where the user does not say: a main with printf and some buffers. */
#define BUDGET_APPLICATION_BYTES 16384

/* plan_make, of the network or of that with views (plan/views.h), whichever is faster, with what code and application leave
 * of L2 for the arena and the network's own tables. */
bool budget_plan(const struct network *network, const struct target *target, const struct plan_options *options,
                 struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

#endif
