/* A tile as the generator has placed it, for the driver, instead of placed_tile.h and tile_copies.h. */
#ifndef DORY_PREPARED_TILE_H
#define DORY_PREPARED_TILE_H

#include "dory/prepared.h"
#include "tile_copies.h"

/* Where offsets count from. */
struct dory_bases {
    uint8_t *l1, *l2;
    const uint8_t *weights;
};

/* Fills in what the driver wants to know of a placed tile, but for its step. */
void dory_take_tile(struct dory_placed_tile *placed, const struct dory_prepared_tile *prepared, uint8_t *l1);

/* As dory_describe_weights, _loads and _store; without weights where they have come already. */
void dory_take_weights(struct hal_dma_copy *copy, const struct dory_prepared_tile *prepared, const struct dory_bases *bases);
void dory_take_loads(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_bases *bases);
bool dory_take_store(struct dory_copies *copies, const struct dory_prepared_tile *prepared, const struct dory_bases *bases);

#endif
