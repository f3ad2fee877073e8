/* What copies between L2 and L1 take, and who makes them. Internal to this room. */
#ifndef DORYGEN_TILE_MOVER_H
#define DORYGEN_TILE_MOVER_H

#include "tile/tile.h"
#include "tile/tile_walk.h"

static inline uint64_t maximum(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Who copies. */
struct mover {
    const struct target *target;
    struct tile_rates rates;
};

/* That has copied nothing yet. */
struct mover tile_mover_of(const struct tile_problem *problem);

static inline uint64_t tile_copy_bytes(const struct hal_dma_copy *copy)
{
    return (uint64_t)copy->run_bytes * copy->runs * copy->planes;
}

/* Cycles of one copy. */
uint64_t tile_copy_cycles(const struct mover *mover, const struct hal_dma_copy *copy);

/* Of the cores, to lay the border of a tile that has one. */
uint64_t tile_border_cycles(const struct tile_problem *problem, const struct dory_placed_tile *placed);

#endif
