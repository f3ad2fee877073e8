/* The software pipeline inside a layer: load tile n+1 and store tile n-1 by DMA while all cores compute tile n
 * (DORY paper, Listing 1). One loop serves every kind of layer; what differs is in the kernel. */
#ifndef DORY_TILE_LOOP_H
#define DORY_TILE_LOOP_H

#include <stdbool.h>

#include "dory/run.h"

/* One run of a network, shared by all cores. Only the driver core writes it while the cluster runs. */
struct dory_run {
    const struct dory_network *network;
    const struct dory_buffers *buffers;
    volatile int status; /* the first error; the others are consequences */
    uint16_t transfers_started;
    hal_l3_ticket ticket_base;          /* transfer i has ticket ticket_base + i + 1, or is complete */
    struct dory_layer_profile *profile; /* of this layer, or null */
};

/* The core that drives DMA and L3. Kernels give the last core the smallest share when work does not divide. */
static inline bool dory_is_driver(void) { return hal_core_id() == hal_core_count() - 1; }

void dory_run_fail(struct dory_run *run, int status);

/* Driver. Queues the transfers before `end` that have not been; then waits for those before `awaited`. */
void dory_start_transfers(struct dory_run *run, unsigned end);
void dory_await_transfers(struct dory_run *run, unsigned end);

/* All cores. Runs the steps of one layer; every result is in L2 when it returns, and all cores have passed a barrier. */
void dory_run_layer(struct dory_run *run, const struct dory_step *steps, unsigned step_count);

#endif
