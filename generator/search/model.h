/* The choice for the whole network as a mixed integer program, by branch and bound over GLPK's simplex. Behind this
 * interface another solver can take its place. Internal to the planner.
 *
 * A model knows less than a schedule does: data arrive like water, not in transfers that need all their bytes at once. So
 * no schedule of a pick takes fewer cycles than the model says, and what it excludes none can do. A pick whose
 * schedule has been made is excluded, and the model solved again. */
#ifndef DORYGEN_MODEL_H
#define DORYGEN_MODEL_H

#include "choose/decision.h"

enum spill { SPILL_NEVER, SPILL_FREE, SPILL_ALWAYS }; /* may a tensor live in RAM? */

struct model;

/* In a decision's layouts; `spill` by tensor. Null where some layer has no candidates. */
struct model *model_make(const struct decision *decision, const enum spill *spill, struct arena *arena);
void model_free(struct model *model);

int model_columns(const struct model *model);

enum model_answer {
    MODEL_PICKED, /* one that takes fewer than `below` cycles */
    MODEL_NONE,   /* there is none */
    MODEL_OPEN,   /* none was found within the limits */
};

/* Picks a candidate a layer. `bound`: no pick that is not excluded takes fewer cycles. `nodes` of the search tree that may
 * be looked at; less those that were. It goes on where the call before ended, so `below` must not grow. */
enum model_answer model_solve(struct model *model, uint64_t below, const struct candidate **pick, uint64_t *bound,
                              int *nodes);

/* These candidates, together, are not to be picked again. */
void model_exclude(struct model *model, const struct candidate *const *pick);

#endif
