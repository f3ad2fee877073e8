/* Layers that take turns. */
#ifndef DORYGEN_BLOCK_H
#define DORYGEN_BLOCK_H

#include "choose/decision.h"

#define MAXIMUM_IN_BLOCK 12 /* layers */

/* What the last layer of a block computes at a turn. */
struct stripe {
    uint32_t rows;
    bool by_pixels; /* of pixels, each of which is a row then: layer_by_pixels() */
};

/* What a cut of several layers consists of. */
struct block {
    int first, layers;
    bool by_pixels;
    struct cut *const *members; /* by layer: its own steps and tile */
    const struct block_step {
        int member, part;
    } * order;                           /* by step of the block: which one of which layer */
    const int *first_steps, *last_steps; /* by layer, of the block's */
    const uint32_t *ring_rows;           /* by layer, of its output; 0: it is no ring */
};

/* True where layers `first` to `last` can take turns: what lies between them is read by none but them. By pixels only where
 * rows are no stripes: they are heads, or there is one. */
bool block_is_possible(const struct problem *problem, int first, int last, bool by_pixels);

/* Rows that are cut into stripes, all alike: all of them, or by pixels those that share a row of a product's second one. */
uint32_t block_height(const struct problem *problem, int first, int last, bool by_pixels);

/* The memorised cut of these layers, the last of which computes such a stripe at a turn, with tensors where the decision has
 * them, all inner ones being rings; null: there is none, for no tile fits, or rings and weights take more than so many
 * bytes. */
struct cut *block_get(const struct decision *decision, int first, int last, struct stripe stripe, uint32_t bytes);

/* The times of a block's cut with these steps, which differ from its own in those that drain. */
void block_play(const struct cut *cut, const struct dory_step *steps, struct cut_times *times);

#endif
