/* Plans made wrong in one way each: for the test of the check pass. */
#ifndef TESTS_PLAN_CORRUPTIONS_H
#define TESTS_PLAN_CORRUPTIONS_H

#include "plan/plan.h"

struct corruption {
    const char *name;

    /* Changes a plan; false where this plan has nothing of the kind. `choice` picks the place. */
    bool (*apply)(struct plan *plan, uint32_t choice);
    bool may_do_no_harm; /* weights read a second time are there already */
};

#define CORRUPTION(function)                                                                                                \
    {                                                                                                                       \
        .name = #function, .apply = function                                                                                \
    }

/* Each ends with one that has no name. */
extern const struct corruption corruptions_of_steps[], corruptions_of_layers[], corruptions_of_blocks[];

struct plan_step *chosen_step(struct plan *plan, uint32_t choice);
struct plan_layer *chosen_layer(struct plan *plan, uint32_t choice);

#endif
