/* From a plan to what the firmware executes: the structs of dory/layer.h with their pointers set. The emitter prints
 * them, tests run them in the same process. */
#ifndef DORYGEN_ASSEMBLE_H
#define DORYGEN_ASSEMBLE_H

#include "plan.h"

struct assembled {
    struct dory_network network; /* points to the arrays below */
    struct dory_layer *layers;   /* kernels are null: the plan knows them by name only */
    struct dory_step *steps;
    struct dory_transfer *transfers;
};

/* After layout_weights. False after an error was reported: the network has not one input and one output. */
bool plan_assemble(const struct plan *plan, struct assembled *assembled, struct arena *arena,
                   struct diagnostics *diagnostics);

/* Where a whole tensor lies: an offset in the L2 arena, or in RAM. */
struct place {
    uint32_t offset;
    bool in_ram;
};
struct place plan_place(const struct plan *plan, int tensor);

#endif
