/* What the files of this folder share. */
#ifndef DORY_PMSIS_INTERNAL_H
#define DORY_PMSIS_INTERNAL_H

#include <stdbool.h>

#include "pmsis.h" /* first: see hal.h */

#include "dory/hal.h"

/* cluster.c */
struct pi_device *pmsis_cluster(void); /* null while it is closed */
bool pmsis_is_running(void);           /* a function, on the cluster */
bool pmsis_refuses(void);              /* is the caller the FC's application, while something goes on beside it? */

/* The parts of a run that the FC waits for, or goes on beside. */
int pmsis_prepare_run(struct pi_cluster_task *task, void (*entry)(void *argument), void *argument);
int pmsis_begin_run(struct pi_cluster_task *task, pi_task_t *end); /* sends the task, and `end` at its end */
void pmsis_end_run(void);                                          /* when it has ended */

/* What the cores read for every tile lies in L1, which the FC reaches, too: L2 is far. */
struct pmsis_team {
    uint32_t cores;
    uint32_t fc_drives;
    volatile uint32_t driver_met; /* meetings that the FC has come to */
    volatile uint32_t cores_met;  /* and the cores, as core 0 counts */
    volatile uint32_t slept_at;   /* the meeting at which the FC has gone to sleep last */
    volatile uint32_t woken_at;   /* and that at which core 0 has woken it last */
    volatile uint32_t passed;     /* meetings of which core 0 has decided that */
    volatile uint32_t notices;    /* given, by one core at a time */
    uint32_t notices_awaited;
};
extern struct pmsis_team pmsis_team;

/* driver.c; on the FC: is it the driver of what runs? */
bool pmsis_fc_drives(void);

/* l3.c: around a run whose cores may start transfers; none are on their way then. */
void pmsis_l3_before_run(void);
void pmsis_l3_after_run(void);

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
static inline void wait_a_moment(void) {}
#else
#include <sched.h>
static inline void wait_a_moment(void) { sched_yield(); } /* cores that are threads may have fewer processors */
static inline uint32_t load(const volatile uint32_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }
static inline void store(volatile uint32_t *counter, uint32_t value) { __atomic_store_n(counter, value, __ATOMIC_SEQ_CST); }
#endif

#endif
