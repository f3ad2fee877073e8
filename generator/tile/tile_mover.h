/* What copies between L2 and L1 take, and who makes them. Internal to this room. */
#ifndef DORYGEN_TILE_MOVER_H
#define DORYGEN_TILE_MOVER_H

#include "tile/tile.h"

static inline uint64_t maximum(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Of some copies: how many, and the commands that they take behind their first. */
struct tally {
    uint64_t copies, commands;
};

/* Who copies, and how much has been. */
struct mover {
    const struct target *target;
    struct tile_rates rates;
    uint64_t moved_bytes;
    struct tally tally; /* of the copies since it was taken last */
};

/* Of a tensor in HWC. */
struct rectangle {
    uint32_t rows, columns, channels; /* copied */
    uint32_t width;                   /* of the tensor */
    uint32_t window_channels;         /* of a pixel in L2 */
    uint32_t pitch;                   /* columns of a row in L1 */
    uint32_t bits;
};

/* That has copied nothing yet. */
struct mover tile_mover_of(const struct tile_problem *problem);

/* What its copies since it was asked last came to. */
static inline struct tally tile_take_tally(struct mover *mover)
{
    struct tally tally = mover->tally;
    mover->tally = (struct tally){0};
    return tally;
}

/* Cycles of one copy, in runs of equal length, from L2 (`read`) or to it. */
uint64_t tile_copy_cycles(struct mover *mover, uint64_t bytes, uint64_t runs, bool read);

/* Of planes: one run each, or all of them one; rows of border between them are read like others, see tile_copies.c. */
uint64_t tile_planes_cycles(struct mover *mover, uint32_t channels, uint32_t run_bytes, uint32_t plane_bytes, bool read);

/* Of a rectangle, which may be empty. */
uint64_t tile_rectangle_cycles(struct mover *mover, const struct rectangle *r, bool read);

#endif
