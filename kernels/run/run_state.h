/* One run of a network, and its queue of transfers between L3 and L2. */
#ifndef DORY_RUN_STATE_H
#define DORY_RUN_STATE_H

#include "dory/run.h"

/* Only the driver writes it while the cluster runs; cores read is_cancelled meanwhile. */
struct dory_run {
    const struct dory_network *network;
    const struct dory_buffers *buffers;
    int status;            /* the first error; the others are consequences */
    uint32_t is_cancelled; /* by the application, while the driver is at work */
    uint16_t transfers_started, transfers_complete;
    hal_l3_ticket ticket_base; /* transfer i has ticket ticket_base + i + 1, or is complete */
    uint32_t l3_wait_cycles;   /* since the last meeting, where the run is profiled */
};

/* Remembers the first status that is not DORY_OK. Inline: a call costs the FC a line of its cache. */
static inline void dory_run_fail(struct dory_run *run, int status)
{
    if (status != DORY_OK && run->status == DORY_OK) {
        run->status = status;
    }
}

/* By the application. */
static inline bool dory_run_is_cancelled(const struct dory_run *run)
{
    return __atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED) != 0;
}

/* Driver. Should the run end before its time? */
static inline bool dory_run_ends(struct dory_run *run)
{
    if (dory_run_is_cancelled(run)) {
        dory_run_fail(run, DORY_ERROR_CANCELLED);
    }
    return run->status != DORY_OK;
}

/* Driver. Queues some of the transfers before `end` that have not been: to queue one takes the FC 200 cycles, and the cores
 * may be waiting for it. To be called once a tile. */
void dory_start_some_transfers(struct dory_run *run, unsigned end);

/* Driver. Queues the transfers before `end` that have not been; then waits for those before `end`. */
void dory_start_transfers(struct dory_run *run, unsigned end);
void dory_await_transfers(struct dory_run *run, unsigned end);

/* Driver. Waits already, while the cores work, for the transfers before `end`, if all of them have been queued: others may
 * have to wait for what the cores do. */
void dory_await_started_transfers(struct dory_run *run, unsigned end);

#endif
