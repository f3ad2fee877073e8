/* Plans made without the planner, for tests of the reports: chains of convolutions in the manner of MobileNet, with
 * weights that are prefetched one layer ahead. */
#ifndef DORY_TEST_SAMPLE_PLAN_H
#define DORY_TEST_SAMPLE_PLAN_H

#include "plan/plan.h"

/* At least 3 layers; `name` names every layer and every tensor, with its number behind it. */
struct plan *sample_plan(int layer_count, const char *name, struct arena *arena);

/* Once its cycles are known: that it is proven optimal, for fewer than 10 layers, else 20 cycles above a bound. */
void sample_proof(struct plan *plan, uint64_t cycles);

#endif
