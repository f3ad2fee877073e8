/* What the parts of the decision share: homes.c, local_search.c, lessons.c, optimise.c. Internal to them. */
#ifndef DORYGEN_OPTIMISER_H
#define DORYGEN_OPTIMISER_H

#include "plan/model.h"
#include "plan/planner.h"

struct optimiser {
    struct planner *planner;
    const struct network *network;
    struct tensor_life *lives;
    uint32_t *live; /* bytes of tensors in L2, by layer */
    enum spill *spill;
    bool in_comfort;      /* homes are chosen so that layers run well, not just at all */
    bool ports_may_spill; /* inputs and outputs of the network: only where one must, and tensors are few */
    uint64_t effort, most_effort;
    /* the best decision so far */
    struct choice *best_choices;
    enum plan_home *best_homes;
    uint64_t best_cycles; /* UINT64_MAX: none */
    int best_tries;       /* of schedule_fit */
    /* the last one that settle has seen */
    struct choice *settled_choices;
    enum plan_home *settled_homes;
};

/* ---- homes.c ---- */

/* Counts `live` by the homes as they are. */
void count_live(struct optimiser *optimiser);

/* What a candidate takes if nothing is read before its layer starts (alone), or as much as is of use. */
uint64_t candidate_guess(const struct candidate *candidate, bool alone);

/* Tensors to RAM as long as some layer could not run otherwise, those first that free the most bytes for their traffic. */
void choose_homes(struct optimiser *optimiser);

/* Which homes are left to the model; after choose_homes has said what must be in RAM. */
void choose_spills(struct optimiser *optimiser);

/* ---- local_search.c ---- */

/* A first decision, of which all others have to be faster. */
void search_locally(struct optimiser *optimiser);

/* Where windows of neighbouring layers do not fit side by side, one of the two gets smaller ones. */
bool repair(struct optimiser *optimiser, bool alone);

/* Other candidates, layer by layer, as long as the network gets faster. */
void improve(struct optimiser *optimiser);

/* Keeps the decision if it is faster than all before, with offsets for all buffers. */
void settle(struct optimiser *optimiser);

/* ---- lessons.c ---- */

/* A pick is not to come again; where weights are all that is brought, what makes it slow is not to come again either. */
void teach(struct optimiser *optimiser, struct model *model, const struct candidate *const *pick);

#endif
