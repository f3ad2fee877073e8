/* Cores compute: from one meeting to the next what the driver has prepared, see driver.h. */
#ifndef DORY_CORE_LOOP_H
#define DORY_CORE_LOOP_H

#include "driver.h"

/* A core that does not drive: all layers. */
void dory_run_core(const struct dory_run *run);

/* A core that drives, too. Behind dory_driver_open. */
void dory_run_driving_core(struct dory_driver *driver);

#endif
