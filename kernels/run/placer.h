/* Places tiles as the driver goes. Reached through the network alone, so that a program all of whose networks have a table
 * of tiles is without that code. */
#ifndef DORY_PLACER_H
#define DORY_PLACER_H

#include <stdbool.h>

#include "shared.h"

struct dory_driver;
struct dory_placed_tile;

struct dory_placer {
    /* Fill in the driver's `next`: the first tile of the network, and the one behind `now`. False where there is none. */
    bool (*place_first)(struct dory_driver *driver);
    bool (*place_next)(struct dory_driver *driver);

    /* The copies of `next`: its weights alone, and all, without weights that have come already. */
    void (*describe_weights)(struct dory_driver *driver, struct hal_dma_copy *copy);
    void (*describe_loads)(struct dory_driver *driver, struct dory_copies *copies);

    /* What stores the results of a tile; false where it has none yet. */
    bool (*describe_store)(struct dory_driver *driver, struct dory_copies *copies, const struct dory_placed_tile *of);

    /* What the cores do before they compute `next`: border and table. */
    void (*describe_work)(struct dory_driver *driver, struct dory_work *work);
};

#endif
