/* What the files of this folder share. */
#ifndef DORY_PMSIS_INTERNAL_H
#define DORY_PMSIS_INTERNAL_H

#include <stdbool.h>

#include "dory/hal.h"
#include "pmsis.h"

/* cluster.c */
struct pi_device *pmsis_cluster(void); /* null while it is closed */
bool pmsis_is_running(void);           /* a function, on the cluster */
bool pmsis_refuses(void);              /* is the caller the FC's application, while something goes on beside it? */

/* dma.c; 0 or DORY_ERROR_DMA where a core left a ticket open */
int pmsis_dma_end_of_run(void);

/* memory.c; L1 loses its content with the cluster's power */
void pmsis_release_l1(void);

/* Between fabric controller and cluster, which share no cache: order is all that is needed. One side writes. The cores do
 * what they do in order, so only the compiler must be held; a fence instruction stops the controller for good on gvsoc. */
#ifdef __riscv
static inline uint32_t load(const volatile uint32_t *counter)
{
    uint32_t value = *counter;
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    return value;
}
static inline void store(volatile uint32_t *counter, uint32_t value)
{
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *counter = value;
}
#else
static inline uint32_t load(const volatile uint32_t *counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
static inline void store(volatile uint32_t *counter, uint32_t value) { __atomic_store_n(counter, value, __ATOMIC_RELEASE); }
#endif

#endif
