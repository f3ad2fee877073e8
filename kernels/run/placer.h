/* Places tiles as the driver goes. */
#ifndef DORY_PLACER_H
#define DORY_PLACER_H

#include <stdbool.h>

#include "shared.h"

struct dory_driver;
struct dory_placed_tile;

/* Fill in the driver's `next`: the first tile of the next layer, and the one behind `now`. False where there is none. */
bool dory_place_first(struct dory_driver *driver);
bool dory_place_next(struct dory_driver *driver);

/* The copies of `next`: its weights alone, and all, without weights that have come already. */
void dory_place_weights(struct dory_driver *driver, struct hal_dma_copy *copy);
void dory_place_loads(struct dory_driver *driver, struct dory_copies *copies);

/* What stores the results of a tile; false where it has none yet. */
bool dory_place_store(struct dory_driver *driver, struct dory_copies *copies, const struct dory_placed_tile *of);

/* What the cores do before they compute `next`: border and table. */
void dory_place_work(struct dory_driver *driver, struct dory_work *work);

#endif
