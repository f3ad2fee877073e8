/* A plan as a table of layers: what `dory plan` prints. */
#ifndef DORYGEN_PLAN_REPORT_H
#define DORYGEN_PLAN_REPORT_H

#include "base/text.h"
#include "plan/plan.h"

/* A line a layer, then sums, memories with the bounds that were met, and the wait for L3. */
void plan_report(struct text *text, const struct plan *plan);

/* Warnings of layers for which the chip has no kernel of its own. The portable one is a cliff, and its cycles a guess. */
void plan_warn(const struct plan *plan, struct diagnostics *diagnostics);

#endif
