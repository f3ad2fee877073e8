/* The decision: for every tensor its place and layout, for every layer its cut, or the block that it is in. All else about a
 * plan follows from it. */
#ifndef DORYGEN_DECISION_H
#define DORYGEN_DECISION_H

#include "choose/cut.h"

/* Its lists are its own. Only moves change it, and they say so: all others have it const. */
struct decision {
    const struct problem *problem;
    enum memory_level *levels; /* by tensor */
    enum dory_layout *layouts; /* by tensor; those in CHW stay in L2 */
    struct choice *choices;    /* by layer; of those in a block, the first has it, the others have problem->within */
    uint32_t *live;            /* by layer: bytes of tensors in L2, as decision_place counts them */
};

/* All tensors in L2, in HWC; no cuts. */
struct decision decision_make(const struct problem *problem, struct arena *arena);

/* The same again, in other lists: new ones, or those of a decision about the same problem. */
struct decision decision_copy(const struct decision *decision, struct arena *arena);
void decision_set(struct decision *decision, const struct decision *from);

bool decision_is_same(const struct decision *a, const struct decision *b);
bool choice_is_same(const struct choice *a, const struct choice *b);

/* The best of several decisions, by some price. */
struct priced {
    struct decision decision;
    uint64_t price; /* UINT64_MAX: there is none */
};

/* Keeps a decision that has a better price. */
void keep_better(struct priced *best, const struct decision *decision, uint64_t price);

/* Where a tensor lives, and how it lies. */
void decision_place(struct decision *decision, int tensor, enum memory_level level, enum dory_layout layout);

/* ---- what it says of a layer ---- */

struct planned_layer *layer_of(const struct decision *decision, int layer); /* in its layouts */
uint8_t layer_ram(const struct decision *decision, int layer);              /* set of enum ram_operand */

/* The layer whose choice cuts this one, and its own cut. */
int block_start(const struct decision *decision, int layer);
struct cut *cut_of(const struct decision *decision, int layer);
bool is_in_block(const struct decision *decision, int layer);

#endif
