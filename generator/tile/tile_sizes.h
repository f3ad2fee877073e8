/* Which sizes of tiles are looked at, and how often which extent then occurs along a dimension. Internal to tile_search.c.
 */
#ifndef DORYGEN_TILE_SIZES_H
#define DORYGEN_TILE_SIZES_H

#include "base/support.h"

#define MAXIMUM_EXTENTS 4

struct extents {
    uint32_t count, tiles;
    uint32_t extent[MAXIMUM_EXTENTS], times[MAXIMUM_EXTENTS];
};

/* A dimension of `size`, cut by steps into parts of `part` and those by tiles into `tile`. */
struct extents tile_extents(uint32_t size, uint32_t part, uint32_t tile);

struct tile_size {
    uint32_t size; /* of a tile; 0: behind the last one */
    struct extents extents;
};

/* The sizes from `part` down to `least`: all of them, multiples of 4 but for the first, or only those that come of halving.
 */
enum tile_sizes { ALL_SIZES, ALL_FOURS, HALVED_SIZES, HALVED_FOURS };
const struct tile_size *tile_sizes(enum tile_sizes kind, uint32_t size, uint32_t part, uint32_t least, struct arena *arena);

#endif
