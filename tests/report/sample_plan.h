/* Plans made without the planner, for tests of the reports: chains of convolutions in the manner of MobileNet, with
 * weights that are prefetched one layer ahead. */
#ifndef DORY_TEST_SAMPLE_PLAN_H
#define DORY_TEST_SAMPLE_PLAN_H

#include "plan.h"

/* At least 3 layers; `name` names every layer and every tensor, with its number behind it. */
struct plan *sample_plan(int layer_count, const char *name, struct arena *arena);

#endif
