/* The steps of a run, which an application may wait for in one call or in several. */
#ifndef DORY_PHASES_H
#define DORY_PHASES_H

#include "tile_loop.h"

/* FC. Is this network, with these buffers, such that a run can begin? 0 or a status; nothing has been written then. */
int dory_run_check(const struct dory_network *network, const struct dory_buffers *buffers);

/* FC, after that. Brings the inputs, and sets up the driver. */
int dory_run_begin(struct dory_driver *driver, const struct dory_network *network, const struct dory_buffers *buffers,
                   const void *const *inputs);

/* Cores and driver; the argument is a struct dory_driver. */
void dory_run_entry(void *driver);

/* FC, after the cluster's work has ended with `status`. Takes the outputs; returns the run's status. */
int dory_run_end(const struct dory_driver *driver, int status, void *const *outputs);

#endif
