/* The check pass: proves a plan anew, by plain integer arithmetic and without asking the planner. */
#ifndef DORYGEN_CHECK_H
#define DORYGEN_CHECK_H

#include "plan/plan.h"

/* False after an error was reported: a plan that is wrong is a fault of dory, and the message says so. The plan is complete:
 * placed, and laid out in the flash image (emit/layout.c). */
bool plan_check(const struct plan *plan, struct diagnostics *diagnostics);

#endif
