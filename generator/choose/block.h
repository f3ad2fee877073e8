/* Layers that take turns. */
#ifndef DORYGEN_BLOCK_H
#define DORYGEN_BLOCK_H

#include "choose/decision.h"

#define MAXIMUM_IN_BLOCK 12 /* layers */

/* What a cut of several layers consists of. */
struct block {
    int first, layers;
    struct cut *const *members; /* by layer: its own steps and tile */
    const struct block_step {
        int member, part;
    } * order;                           /* by step of the block: which one of which layer */
    const int *first_steps, *last_steps; /* by layer, of the block's */
    const uint32_t *ring_rows;           /* by layer, of its output; 0: it is no ring */
};

/* True where layers `first` to `last` can take turns: what lies between them is read by none but them. */
bool block_is_possible(const struct problem *problem, int first, int last);

/* The memorised cut of these layers, the last of which computes so many rows at a turn, with tensors where the decision has
 * them, all inner ones being rings; null: there is none, for no tile fits, or rings and weights take more than so many
 * bytes. */
struct cut *block_get(const struct decision *decision, int first, int last, uint32_t rows, uint32_t bytes);

/* The times of a block's cut with these steps, which differ from its own in those that drain. */
void block_play(const struct cut *cut, const struct dory_step *steps, struct cut_times *times);

#endif
