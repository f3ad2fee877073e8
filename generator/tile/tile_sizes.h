/* Which sizes of tiles are looked at, and how often which extent then occurs along a dimension. Internal to this room. */
#ifndef DORYGEN_TILE_SIZES_H
#define DORYGEN_TILE_SIZES_H

#include "tile/tile.h"

/* Some different sizes along a dimension, and how often each of them occurs: of steps, or of tiles. */
struct extents {
    uint32_t count, pieces; /* pieces: of all sizes together */
    uint32_t *extent, *times;
};

/* Of the steps of a layer along its rows, or its channels: those of the others are the same. */
struct extents tile_step_rows(const struct tile_problem *problem, struct arena *arena);
struct extents tile_step_channels(const struct tile_problem *problem, struct arena *arena);

/* Of a dimension that is cut by nothing but tiles. */
struct extents tile_whole(uint32_t size, struct arena *arena);

uint32_t tile_largest(const struct extents *extents);

/* Of tiles of at most `tile`, where steps are cut into them. */
struct extents tile_extents(const struct extents *steps, uint32_t tile, struct arena *arena);

struct tile_size {
    uint32_t size; /* of a tile; 0: behind the last one */
    struct extents extents;
};

/* The sizes from the largest step down to `least`: all of them, or only those that come of halving; multiples of the
 * granule, but for the first. */
enum tile_sizes { ALL_SIZES, HALVED_SIZES };
const struct tile_size *tile_sizes(enum tile_sizes kind, const struct extents *steps, uint32_t least, uint32_t granule,
                                   struct arena *arena);

#endif
