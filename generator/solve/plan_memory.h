/* What plans have found, for those behind them. */
#ifndef DORYGEN_PLAN_MEMORY_H
#define DORYGEN_PLAN_MEMORY_H

#include "choose/cut_memory.h"
#include "solve/plan_make.h"

/* What is known of cuts on such a target; null where there is no memory. */
struct cut_memory *plan_memory_cuts(struct plan_memory *memory, const struct target *target);

/* The plan before at equal clocks, all weights in flash, if it was for this target and this size of L2; else false. Plans
 * that are kept are made in the memory's arena. */
bool plan_memory_find(const struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, struct plan *plan);
void plan_memory_keep(struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, const struct plan *plan);
struct arena *plan_memory_arena(struct plan_memory *memory);

#endif
