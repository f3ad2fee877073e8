/* How a plan is made: what is asked for, and the passes behind describe. Each of them is false after an error was
 * reported. */
#ifndef DORYGEN_PLAN_MAKE_H
#define DORYGEN_PLAN_MAKE_H

#include "choose/plan_options.h"
#include "plan/plan.h"

/* plan_memory.c: an empty memory of what plans have found. */
struct plan_memory *plan_memory_make(struct arena *arena);

/* resident.c: kernels, tiles, steps, transfers, offsets. */
bool plan_make(const struct network *network, const struct target *target, const struct plan_options *options,
               struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

#endif
