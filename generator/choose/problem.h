/* The problem: what is given (network, memories, kernels), and what follows from it before anything is decided. */
#ifndef DORYGEN_PROBLEM_H
#define DORYGEN_PROBLEM_H

#include "choose/form.h"
#include "choose/plan_options.h"
#include "plan/lives.h"
#include "plan/plan.h"
#include "tile/tile.h"

#define MAXIMUM_KERNELS 8
#define LAYER_VARIANTS  5 /* input and output, each in HWC or CHW; by pixels */

/* Const once it is made, but for what is found out about it later: that is kept behind its pointers, to spare time. No
 * answer depends on it. */
struct problem {
    /* given by those who have it made */
    const struct network *network;
    const struct target *target;
    const struct plan_options *options;
    const bool *resident;    /* by layer: its weights are in memory before a run starts; null: none are */
    struct cut_memory *cuts; /* of plans before; null: none */
    struct arena *arena;     /* of the search: freed when the plan is made */
    /* what follows */
    unsigned cores;
    uint32_t l1_bytes, l2_bytes; /* of the arenas, the latter at most: with the least tables */
    uint32_t least_table_bytes;  /* 0: tables are not in L2 */
    uint32_t fixed_table_bytes;  /* of them, what neither steps nor transfers take */
    uint32_t resident_bytes;     /* of L2, for resident weights, or shared ones: not in l2_bytes */
    int *owners; /* by layer: the first one of those that share its weights; NO_LAYER: none; null: nobody does */
    struct tensor_life *lives;   /* by tensor */
    uint32_t *tensor_bytes;      /* by tensor, aligned; 0 of a view */
    struct formed_layer *layers; /* by layer: with its tensors in HWC */
    /* found out so far */
    struct planned_layer **variants; /* by layer and layouts of its tensors; null: nobody has asked for it yet */
    struct known_block **blocks;     /* by first layer: those that have been made, or have been found not to be possible */
    struct place_memory *placements;
    struct cut *within; /* of any layer in a block that another one starts: no steps of its own */
};

/* A layer with its tensors in some layouts, and what is known of it. Equal ones share it: networks repeat themselves. */
struct planned_layer {
    const struct problem *problem;
    int layer;                                                          /* the first one that was asked for */
    struct dory_layer record;                                           /* described */
    const struct dory_weights_format *weights;                          /* of its engine */
    bool brings_weights;                                                /* from the flash, in a run */
    const struct dory_kernel_description *kernels[MAXIMUM_KERNELS + 1]; /* those that support it, null-terminated */
    struct cycle_table *cycles[MAXIMUM_KERNELS];
    struct cut *cuts;
    struct cut *members;   /* of blocks, as one layer's cut */
    struct cut **lists[8]; /* of cut_list, by set of operands in RAM; null: not made yet */
    int list_counts[8];
    struct candidate *fronts[8]; /* of candidate_front, likewise */
    int front_counts[8], first_counts[8];
    uint32_t least_l1_bytes;    /* of its smallest tile */
    uint32_t least_l2_bytes[8]; /* of its smallest cut, plus 1; likewise. 0: not known yet */
};

/* From what is given to all that follows. What the plan will hold is made in `kept`. False after an error was reported. */
bool problem_make(struct problem *problem, struct arena *kept, struct diagnostics *diagnostics);

/* The layer with its first input and its output in these layouts; without kernels where it cannot have them so. */
struct planned_layer *layer_variant(const struct problem *problem, int layer, enum dory_layout input,
                                    enum dory_layout output);

/* The layer with each pixel of its tensors as a row of its own, so that a part of a row can be a stripe: of a matrix
 * product, some rows of a head's queries. Null where pixels of the output need more than that pixel of the first input. */
struct planned_layer *layer_by_pixels(const struct problem *problem, int layer);

/* Bytes of a tensor in memory. */
uint32_t tensor_bytes(const struct tensor *tensor);

/* ---- weights_bytes.c ---- */

/* Of a layer's weights that come from the flash in a run, as if of 8 bits. Whether they come from there. */
uint64_t layer_brought_bytes(const struct problem *problem, int layer);
bool layer_brings_weights(const struct problem *problem, int layer);

/* Takes off l2_bytes what resident weights need there, with the mark behind them, or shared ones. False after an error was
 * reported: there is not so much. */
bool resident_reserve(struct problem *problem, struct diagnostics *diagnostics);

/* ---- shared_weights.c ---- */

/* Has two layers with the same weights, of a size worth to be shared? */
bool network_repeats_weights(const struct network *network);

/* Where the options ask for it, and there are any. */
void find_owners(struct problem *problem);
bool layer_shares_weights(const struct problem *problem, int layer);

#endif
