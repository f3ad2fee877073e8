/* What all who run a network do: the driver moves tiles, the cores compute them. */
#ifndef DORY_TILE_LOOP_H
#define DORY_TILE_LOOP_H

#include "driver.h"

/* Cores and driver. Runs all layers; `driver->run` is set. */
void dory_run_tiles(struct dory_driver *driver);

#endif
