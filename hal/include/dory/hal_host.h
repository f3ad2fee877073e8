/* What only the host HAL has: control over its memories and its timing, faults on demand, and counters. For tests.
 *
 * The host HAL is a strict reader of the contract in hal.h. A transfer happens either *early*, when it is started, or
 * *late*, when it is waited for, as a seeded generator decides; both are legal, so firmware must be right with both.
 * A destination is filled with HAL_HOST_POISON when a late transfer is started. At the wait, a source or destination
 * that changed in flight is reported. Under AddressSanitizer a destination in flight is not accessible at all, under
 * ThreadSanitizer a missing barrier is a race: HAL calls themselves order nothing between cores, only hal_barrier and
 * hal_meet do, and hal_notify the driver behind a core.
 *
 * A violation is written to stderr, names the transfer, is counted, and makes the call return DORY_ERROR_DMA or
 * DORY_ERROR_L3. A barrier that can never complete aborts the process with a message.
 */
#ifndef DORY_HAL_HOST_H
#define DORY_HAL_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "dory/hal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HAL_HOST_MAXIMUM_CORES 16
#define HAL_HOST_POISON        0xDB /* in the destination of a late transfer */
#define HAL_HOST_FRESH         0xC5 /* in memory just reserved */

enum hal_host_timing { HAL_HOST_MIXED, HAL_HOST_LATE, HAL_HOST_EARLY };

/* Who is the driver of hal_cluster_drive: on chips it is the one or the other. Mixed: the seed decides, run by run. */
enum hal_host_driver { HAL_HOST_DRIVER_MIXED, HAL_HOST_DRIVER_LAST_CORE, HAL_HOST_DRIVER_FABRIC_CONTROLLER };

struct hal_host_options {
    uint64_t seed; /* of the choice between late and early; without configuration: DORY_HAL_SEED, or 1 */
    enum hal_host_driver driver;
    enum hal_host_timing timing;
    size_t l1_bytes; /* sizes of the memories; 0: those of DORY_TARGET_DESCRIPTION, else GAP8's 64 KiB, 512 KiB and 8 MiB */
    size_t l2_bytes;
    size_t ram_bytes;
    unsigned barrier_timeout_milliseconds; /* until a barrier gives up and aborts; 0: 60 s */
    unsigned patience_milliseconds;        /* until a wait gives up on a transfer that never ends; 0: 1 s */
    int quiet;                             /* violations are counted and returned, but not written to stderr */
};

/* Sets everything up anew: memories, reservations, counters, faults. Cluster and L3 must be closed. Null: defaults.
 * Memory that was registered, and the flash, stay. */
int hal_host_configure(const struct hal_host_options *options);

/* Ordinary memory of a test that shall count as L1 or L2: transfers may touch it. Its size is not limited. */
int hal_host_register_memory(enum hal_memory memory, void *address, size_t bytes);
int hal_host_unregister_memory(void *address);

/* The flash's content from now on; not copied. A null pointer: again the images linked into this program. */
void hal_host_set_flash(const void *content, size_t bytes);

/* The RAM's content, ram_bytes of it, for tests to look at while no transfer is in flight. */
uint8_t *hal_host_ram(void);

/* ---- faults ------------------------------------------------------------------------------------------------ */

enum hal_host_call {
    HAL_HOST_MEMORY_RESERVE, /* DORY_ERROR_MEMORY */
    HAL_HOST_CLUSTER_OPEN,   /* DORY_ERROR_CLUSTER */
    HAL_HOST_CLUSTER_RUN,    /* DORY_ERROR_CLUSTER, nothing runs */
    HAL_HOST_CLUSTER_CLOSE,  /* DORY_ERROR_STACK, but closed */
    HAL_HOST_DMA_OPEN,       /* DORY_ERROR_DMA, no ticket */
    HAL_HOST_DMA_COPY,       /* DORY_ERROR_DMA, no copy */
    HAL_HOST_DMA_WAIT,       /* DORY_ERROR_DMA, the ticket's bytes never arrive; it is closed */
    HAL_HOST_L3_OPEN,        /* DORY_ERROR_L3 */
    HAL_HOST_L3_START,       /* DORY_ERROR_L3, no transfer */
    HAL_HOST_L3_TRANSFER,    /* started well, but its bytes never arrive: DORY_ERROR_L3 from the wait that covers it */
    HAL_HOST_L3_WAIT,        /* DORY_ERROR_L3; all up to the ticket is over, its bytes never arrive unless it was early */
    HAL_HOST_L3_CLOSE,       /* DORY_ERROR_L3, but closed */
    HAL_HOST_DMA_STALL,      /* the ticket's copies never end: after patience_milliseconds, as HAL_HOST_DMA_WAIT */
    HAL_HOST_L3_STALL,       /* the transfer never ends: after patience_milliseconds, as HAL_HOST_L3_TRANSFER */
    HAL_HOST_DMA_DELAY,      /* no fault: the ticket's copies take half of patience_milliseconds more */
    HAL_HOST_L3_DELAY,       /* no fault: the transfer takes as much more */
    HAL_HOST_CALLS
};

/* The nth call (of stalls and delays: ticket or transfer) of this kind from now on fails, once; 1 is the next, 0 takes the
 * order back. */
void hal_host_fail(enum hal_host_call call, uint64_t nth);

/* Name of a kind of call, for messages. */
const char *hal_host_call_name(enum hal_host_call call);

/* ---- counters ---------------------------------------------------------------------------------------------- */

struct hal_host_counters {
    uint64_t calls[HAL_HOST_CALLS]; /* with those that failed; L3_TRANSFER: transfers queued */
    uint64_t faults;                /* injected and met */
    uint64_t violations;            /* of the contract */
    uint64_t late, early;           /* transfers */
    uint64_t dma_bytes_to_local, dma_bytes_from_local;
    uint64_t flash_bytes_read, ram_bytes_read, ram_bytes_written;
    size_t l1_bytes_reserved;
};

void hal_host_get_counters(struct hal_host_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
