/* What a tiling takes at least, told from a few look-ups: what tile_search.c need not play. Internal to this room.
 *
 * Each is a lower bound of what tile_simulate returns for a layer that is not decided yet, and the later ones cost more to
 * tell. */
#ifndef DORYGEN_TILE_BOUNDS_H
#define DORYGEN_TILE_BOUNDS_H

#include "tile/tile.h"
#include "tile/tile_sizes.h"

/* What all tilings of a problem have in common. */
struct tile_bounds {
    const struct tile_problem *problem;
    uint64_t fixed_cycles;                   /* that no tiling avoids */
    uint64_t driver_cycles, overhead_cycles; /* of every tile, between two */
    struct extents step_rows, step_channels; /* of its steps */
    uint32_t most_rows, most_channels;       /* of a step */
    uint32_t least_channels;                 /* of what a step writes to */
    uint64_t drains; /* steps as large as the first, behind it, that start when all before them is stored */
};

struct tile_bounds tile_bounds_of(const struct tile_problem *problem, struct arena *arena);

/* How rows, columns and channels are divided into tiles. */
struct division {
    struct extents rows, columns, channels;
    uint64_t number;                     /* of rows and columns, from 1 on */
    uint64_t loaded_rows, loaded_pixels; /* in one pass over rows, and columns; 0: not counted yet */
};

/* A shape with what is known of it. */
struct tile_candidate {
    struct tiling tiling;
    uint64_t kernels, tiles; /* cycles of all kernels; tiles, chunks of input channels counted apart */
    struct division *division;
    uint64_t ends;   /* to load the first tile, and to store the last one */
    uint64_t drains; /* to store a step's last tile, and load the next one's first, with nothing to compute beside */
};

/* From its tiling to its ends and drains. */
void tile_find_ends(const struct tile_bounds *bounds, struct tile_candidate *candidate);

/* Cycles that all transfers of an operand take at least, without latencies, and how many tiles there are some with. */
struct transfer_bounds {
    uint64_t input, weights, output;
    uint64_t input_loads, weights_loads, stores;
};

struct transfer_bounds tile_transfer_bounds(const struct tile_bounds *bounds, const struct tile_candidate *candidate);

/* Of so many cycles of kernels in so many tiles, whatever is copied. */
uint64_t tile_kernels_bound(const struct tile_bounds *bounds, uint64_t kernels, uint64_t tiles);

/* Of a candidate and its buffers. */
uint64_t tile_buffers_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                            const struct transfer_bounds *transfers);

/* The same with what kernels wait for L1 because of the copies beside them. */
uint64_t tile_contention_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                               const struct transfer_bounds *transfers);

#endif
