/* From a plan to what the firmware executes: the structs of dory/network.h with their pointers set. The emitter prints
 * them, tests run them in the same process. */
#ifndef DORYGEN_ASSEMBLE_H
#define DORYGEN_ASSEMBLE_H

#include "plan/plan.h"

struct assembled {
    struct dory_network network; /* points to the arrays below */
    struct dory_layer *layers;   /* kernels are null: the plan knows them by name only */
    struct dory_step *steps;
    struct dory_transfer *transfers;
    struct dory_port *inputs, *outputs;
};

/* layout.c: fills flash_image. */
bool layout_weights(struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

/* dory_flash_hash_step over little-endian words, whatever this machine's are; zeros fill the last one. */
uint32_t layout_hash(const uint8_t *bytes, size_t count);

/* After layout_weights. */
void plan_assemble(const struct plan *plan, struct assembled *assembled, struct arena *arena);

/* Where a whole tensor lies: an offset in the L2 arena, or in RAM. */
struct place {
    uint32_t offset;
    bool in_ram;
};
struct place plan_place(const struct plan *plan, int tensor);

#endif
