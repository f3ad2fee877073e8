/* The tiles of a layer, one behind the other, as the firmware's own cursor places them: what prices, counts or prepares
 * tiles goes this way. */
#ifndef DORYGEN_TILE_WALK_H
#define DORYGEN_TILE_WALK_H

#include "placed_tile.h"
#include "tile_copies.h"

/* Where L2 and weights are for the firmware's functions, which add to addresses, as one must not to null. L1 is at 0. */
#define TILE_BASE ((uint8_t *)(uintptr_t)0x10000000)

struct tile_walk {
    const struct dory_layer *layer; /* with its tile */
    struct dory_placed_tile tile, before;
    struct dory_bordered bordered[2];
};

/* In front of the first tile of a layer, or of a turn of it: L1 holds nothing. */
void tile_walk_start(struct tile_walk *walk, const struct dory_layer *layer);

/* To the first tile of a step, and from there to each other one; false, and the walk stays, behind the last. */
void tile_walk_enter(struct tile_walk *walk, const struct dory_step *step);
bool tile_walk_next(struct tile_walk *walk);

/* Is this the first one? */
static inline bool tile_walk_is_first(const struct tile_walk *walk) { return walk->before.tile.rows == 0; }

/* The copies that load the tile, but those of inputs that lie in L1: bit i of `inputs_stay` is input i. */
void tile_walk_loads(const struct tile_walk *walk, unsigned inputs_stay, struct dory_copies *copies);

/* The copy that stores its results; false where it has none yet. */
bool tile_walk_store(const struct tile_walk *walk, struct dory_copies *copies);

#endif
