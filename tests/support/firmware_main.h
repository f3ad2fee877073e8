/* What programs of tests that run networks on a machine share: its memories and cores. */
#ifndef DORY_TEST_FIRMWARE_MAIN_H
#define DORY_TEST_FIRMWARE_MAIN_H

#include "dory/hal.h"
#include "dory/network.h"

/* Takes as much L1 and L2 as `buffers` says, calls `run`, and logs its status. Returns what main returns. */
static inline int firmware_main(struct dory_buffers buffers, int (*run)(struct dory_buffers *buffers))
{
    int status = hal_l3_open(NULL, NULL);
    if (status == DORY_OK)
        status = hal_cluster_open(hal_cluster_maximum_cores());
    if (status == DORY_OK)
        status = hal_memory_reserve(HAL_L1, buffers.l1_bytes, &buffers.l1);
    if (status == DORY_OK)
        status = hal_memory_reserve(HAL_L2, buffers.l2_bytes, &buffers.l2);
    if (status == DORY_OK)
        status = run(&buffers);
    hal_log(dory_strerror(status));
    hal_log("\n");
    hal_cluster_close();
    hal_l3_close();
    return status != DORY_OK;
}

#endif
