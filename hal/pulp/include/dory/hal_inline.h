/* The HAL calls that are made for every tile, inlined: a barrier is one instruction, a DMA copy a few stores.
 * Included by dory/hal.h where the target defines DORY_HAL_INLINE, and then calls of the names of that header are calls of
 * these functions; inline.c holds the real ones for other callers. Contract: dory/hal.h. */
#ifndef DORY_HAL_INLINE_H
#define DORY_HAL_INLINE_H

#include "dory/hal.h"
#include "dory/pulp_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PULP_INLINE static inline __attribute__((always_inline))

/* In L1: what the FC tells the cluster, and the other way round. */
struct pulp_team {
    void (*entry)(void *argument);
    void *argument;
    uint32_t cores;
    uint32_t stack_overflow; /* set by any core whose guard was written */
    uint32_t l3_open;
    uint32_t l3_posted;             /* number of the transfer that was queued last; the cluster counts */
    volatile uint32_t l3_completed; /* number of the last one that is complete; the FC counts */
    uint32_t l3_waited;             /* the highest that the cluster has waited for */
    volatile uint32_t driver_met;   /* meetings that the driver, the FC, has come to */
    uint32_t core_met[PULP_CORES];  /* and each core */
    volatile uint8_t ready[PULP_CORES];
};
extern struct pulp_team pulp_team;

/* dma.c: any copy, cut into commands; the FC's wait, which serves L3 meanwhile. */
int pulp_dma_copy_in_pieces(const struct hal_dma_copy *copy);
void pulp_fc_dma_wait(hal_dma_ticket ticket);

/* cluster.c: a driver's run. */
void pulp_fc_meet(void);
void pulp_notify(void);
void pulp_await_notice(void);
void pulp_tell_fc_of_meeting(uint32_t number);

/* cluster.c: hal_cycles on the FC, which must not touch the timer of a cluster without power. */
uint32_t pulp_fc_cycles(void);

/* Software events to the cores. */
enum {
    PULP_EVENT_DISPATCH = 0, /* run pulp_team.entry */
    PULP_EVENT_L3 = 1,       /* pulp_team.l3_completed has changed */
    PULP_EVENT_DRIVER = 2    /* pulp_team.driver_met has changed */
};

/* Between two calls of the application a core's event mask holds the barrier's event only: a barrier would end early
 * on any other event of the mask. */
PULP_INLINE void pulp_cluster_sleep_until(unsigned event)
{
    PULP_CLUSTER_EVENTS->mask = 1u << event;
    pulp_event_load(&PULP_CLUSTER_EVENTS->wait_clear);
    PULP_CLUSTER_EVENTS->mask = 1u << PULP_EVENT_BARRIER;
}

PULP_INLINE uint32_t pulp_mchan_command(enum hal_direction direction, uint32_t bytes)
{
    uint32_t command = bytes | PULP_MCHAN_INCREMENT | PULP_MCHAN_EVENT;
    return direction == HAL_TO_LOCAL ? command | PULP_MCHAN_TO_LOCAL : command;
}

/* A file that defines DORY_HAL_ON_CORES makes the calls below on cores alone, one that defines DORY_HAL_ON_DRIVER on the FC,
 * hal_is_driver and hal_is_core apart: they need not ask who calls. */
#if defined(DORY_HAL_ON_CORES)
PULP_INLINE int pulp_fc_calls(void) { return 0; }
#elif defined(DORY_HAL_ON_DRIVER)
PULP_INLINE int pulp_fc_calls(void) { return 1; }
#else
PULP_INLINE int pulp_fc_calls(void) { return pulp_is_fc(); }
#endif

/* The caller's own port. */
PULP_INLINE volatile struct pulp_mchan *pulp_mchan(void) { return pulp_fc_calls() ? PULP_FC_MCHAN : PULP_MCHAN; }

/* One contiguous run of 1 to PULP_MCHAN_LIMIT bytes. */
PULP_INLINE void pulp_mchan_copy_1d(void *local, void *external, enum hal_direction direction, uint32_t bytes)
{
    volatile struct pulp_mchan *mchan = pulp_mchan();
    mchan->queue = pulp_mchan_command(direction, bytes);
    mchan->queue = (uint32_t)(uintptr_t)local;
    mchan->queue = (uint32_t)(uintptr_t)external;
}

/* Runs of run_bytes with a stride on the external side, contiguous on the local one; at most PULP_MCHAN_LIMIT bytes in
 * all. */
PULP_INLINE void pulp_mchan_copy_2d(void *local, void *external, enum hal_direction direction, uint32_t bytes,
                                    uint32_t run_bytes, uint32_t external_stride)
{
    volatile struct pulp_mchan *mchan = pulp_mchan();
    mchan->queue = pulp_mchan_command(direction, bytes) | PULP_MCHAN_2D;
    mchan->queue = (uint32_t)(uintptr_t)local;
    mchan->queue = (uint32_t)(uintptr_t)external;
    pulp_mchan_shape(&mchan->queue, run_bytes, external_stride);
}

PULP_INLINE unsigned pulp_core_id(void) { return pulp_hart() & 31; }

PULP_INLINE unsigned pulp_core_count(void) { return pulp_team.cores; }

PULP_INLINE void pulp_barrier(void) { pulp_event_load(&PULP_CLUSTER_EVENTS->barrier[0].trigger_wait_clear); }

/* The driver comes to a meeting as soon as it has prepared it, most often before the cores do: then they need not wait for
 * more than one another. */
PULP_INLINE void pulp_meet(void)
{
    if (pulp_fc_calls()) {
        pulp_fc_meet();
        return;
    }
    unsigned core = pulp_core_id();
    uint32_t number = ++pulp_team.core_met[core];
    pulp_barrier();
    if (core == 0)
        pulp_tell_fc_of_meeting(number);
    while (pulp_team.driver_met < number)
        pulp_cluster_sleep_until(PULP_EVENT_DRIVER);
    __asm__ volatile("" : : : "memory");
}

/* A ticket is one of MCHAN's 16 counters; reading the queue allocates one. MCHAN books a core's commands to the
 * counter that this core allocated last. */
PULP_INLINE int pulp_dma_open(hal_dma_ticket *ticket)
{
    *ticket = (hal_dma_ticket)pulp_mchan()->queue;
    return DORY_OK;
}

/* What one command can do is decided here, with the caller's constants in view. */
PULP_INLINE int pulp_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    (void)ticket;
    uint32_t bytes = copy->runs * copy->run_bytes;
    int local_is_contiguous = copy->runs == 1 || copy->local_run_stride == copy->run_bytes;
    int external_is_contiguous = copy->runs == 1 || copy->external_run_stride == copy->run_bytes;
    __asm__ volatile("" : : : "memory"); /* what is to be copied has been stored */
    if (copy->planes == 1 && bytes <= PULP_MCHAN_LIMIT && local_is_contiguous && external_is_contiguous) {
        pulp_mchan_copy_1d(copy->local, copy->external, copy->direction, bytes);
    } else if (copy->planes == 1 && bytes <= PULP_MCHAN_LIMIT && local_is_contiguous &&
               copy->external_run_stride <= PULP_MCHAN_LIMIT) {
        pulp_mchan_copy_2d(copy->local, copy->external, copy->direction, bytes, copy->run_bytes, copy->external_run_stride);
    } else {
        struct hal_dma_copy general = *copy; /* so that the caller's struct need not be in memory for the cases above */
        return pulp_dma_copy_in_pieces(&general);
    }
    return DORY_OK;
}

PULP_INLINE int pulp_dma_wait(hal_dma_ticket ticket)
{
    uint32_t bit = 1u << ticket;
    if (pulp_fc_calls()) {
        pulp_fc_dma_wait(ticket);
        return DORY_OK;
    }
    while (PULP_MCHAN->status & bit) /* the event may be that of another ticket of this core */
        pulp_cluster_sleep_until(PULP_EVENT_DMA);
    PULP_MCHAN->status = bit;
    __asm__ volatile("" : : : "memory");
    return DORY_OK;
}

#ifdef DORY_HAL_ON_DRIVER /* while it drives, the cluster is open */
PULP_INLINE uint32_t pulp_cycles(void) { return PULP_CLUSTER_TIMER->count_low; }
#else
PULP_INLINE uint32_t pulp_cycles(void) { return pulp_fc_calls() ? pulp_fc_cycles() : PULP_CLUSTER_TIMER->count_low; }
#endif

#ifdef DORY_HAL_INLINE
#define hal_cycles(...)       pulp_cycles(__VA_ARGS__)
#define hal_core_id(...)      pulp_core_id(__VA_ARGS__)
#define hal_core_count(...)   pulp_core_count(__VA_ARGS__)
#define hal_barrier(...)      pulp_barrier(__VA_ARGS__)
#define hal_meet(...)         pulp_meet(__VA_ARGS__)
#define hal_notify(...)       pulp_notify(__VA_ARGS__)
#define hal_await_notice(...) pulp_await_notice(__VA_ARGS__)
#define hal_is_driver(...)    pulp_is_fc(__VA_ARGS__)
#define hal_is_core(...)      (!pulp_is_fc(__VA_ARGS__))
#define hal_dma_open(...)     pulp_dma_open(__VA_ARGS__)
#define hal_dma_copy(...)     pulp_dma_copy(__VA_ARGS__)
#define hal_dma_wait(...)     pulp_dma_wait(__VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
