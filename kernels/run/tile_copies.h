/* From a tile's place in its tensors to copies between L2 and L1. */
#ifndef DORY_TILE_COPIES_H
#define DORY_TILE_COPIES_H

#include "dory/hal.h"
#include "placed_tile.h"

/* The copies of one tile. */
struct dory_copies {
    struct hal_dma_copy store, loads[3];
    uint8_t store_buffer, store_count, load_count;
};

/* Fills in what loads the tile's weights, which it has. */
void dory_describe_weights(struct hal_dma_copy *copy, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                           const uint8_t *weights);

/* Fill in what loads the tile's operands from the arena in L2, weights from `weights`, and what stores its results there;
 * none and false where there are none yet, as before the last chunk of input channels, or none to store. */
void dory_describe_loads(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                         uint8_t *l2, const uint8_t *weights);
bool dory_describe_store(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                         uint8_t *l2);

#endif
