/* What each pass of the planner decided, for people: what --dump=describe, tile, decide, schedule and place print. Views of
 * a plan that is whole: tiles are searched where a decision asks for them, so that no pass is over before the last one is.
 */
#ifndef DORYGEN_PLAN_VIEWS_H
#define DORYGEN_PLAN_VIEWS_H

#include "base/text.h"
#include "describe/describe.h"
#include "plan/plan.h"

/* The firmware's view of every layer, without engine, kernel, tile and L1. */
void plan_view_layers(struct text *text, const struct network *network, const struct described_layer *layers);

/* Of every layer: kernel, tile, what it costs, and where things lie in L1. */
void plan_view_tiles(struct text *text, const struct plan *plan);

/* Where every tensor lives, and how every layer is cut into steps. */
void plan_view_decision(struct text *text, const struct plan *plan);

/* The steps with their ranges and times, and the transfers, in queue order. */
void plan_view_schedule(struct text *text, const struct plan *plan);

/* What lies where in L2, and in RAM. */
void plan_view_places(struct text *text, const struct plan *plan);

/* The table of transfers, a part of the schedule. */
void plan_view_transfers(struct text *text, const struct plan *plan);

#endif
