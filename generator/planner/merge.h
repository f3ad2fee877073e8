/* Fewer transfers. */
#ifndef DORYGEN_MERGE_H
#define DORYGEN_MERGE_H

#include "plan/plan.h"

/* Joins transfers of a plan that gets a table of tiles, as it was decided: in lists of its own. False where there is nothing
 * to join, or no room for it; the plan is not to be used then. */
bool plan_merge_transfers(struct plan *plan, struct arena *arena);

#endif
