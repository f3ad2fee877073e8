/* A plan for people: what --dump prints, and the file NAME_plan.txt. */
#ifndef DORYGEN_PLAN_TEXT_H
#define DORYGEN_PLAN_TEXT_H

#include "base/text.h"
#include "plan/plan.h"

/* The table of plan_report.h, the channels of layers that have not all of the model's, the things in L2 over time,
 * transfers. */
void plan_text(struct text *text, const struct plan *plan);

/* The flash image: blobs with their addresses and the first bytes of each. After layout_weights. */
void plan_text_layout(struct text *text, const struct plan *plan);

#endif
