/* The HAL calls that are made for every tile, inlined: a barrier is one instruction, a DMA copy a few stores.
 * Included by dory/hal.h where the target defines DORY_HAL_INLINE, and then calls of the names of that header are calls of
 * these functions; inline.c holds the real ones for other callers. Contract: dory/hal.h. */
#ifndef DORY_HAL_INLINE_H
#define DORY_HAL_INLINE_H

#include "dory/gap8_registers.h"
#include "dory/hal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAP8_INLINE static inline __attribute__((always_inline))

/* In L1: what the FC tells the cluster, and the other way round. */
struct gap8_team {
    void (*entry)(void *argument);
    void *argument;
    uint32_t cores;
    uint32_t stack_overflow; /* set by any core whose guard was written */
    uint32_t l3_open;
    uint32_t l3_posted;             /* number of the transfer that was queued last; the cluster counts */
    volatile uint32_t l3_completed; /* number of the last one that is complete; the FC counts */
    uint32_t l3_waited;             /* the highest that the cluster has waited for */
    volatile uint32_t driver_met;   /* meetings that the driver, the FC, has come to */
    uint32_t core_met[GAP8_CORES];  /* and each core */
    volatile uint8_t ready[GAP8_CORES];
};
extern struct gap8_team gap8_team;

/* dma.c: any copy, cut into commands; the FC's wait, which serves L3 meanwhile. */
int gap8_dma_copy_in_pieces(const struct hal_dma_copy *copy);
void gap8_fc_dma_wait(hal_dma_ticket ticket);

/* cluster.c: a driver's run. */
void gap8_fc_meet(void);
void gap8_notify(void);
void gap8_await_notice(void);
void gap8_tell_fc_of_meeting(uint32_t number);

/* cluster.c: hal_cycles on the FC, which must not touch the timer of a cluster without power. */
uint32_t gap8_fc_cycles(void);

/* Software events to the cores. */
enum {
    GAP8_EVENT_DISPATCH = 0, /* run gap8_team.entry */
    GAP8_EVENT_L3 = 1,       /* gap8_team.l3_completed has changed */
    GAP8_EVENT_DRIVER = 2    /* gap8_team.driver_met has changed */
};

/* Between two calls of the application a core's event mask holds the barrier's event only: a barrier would end early
 * on any other event of the mask. */
GAP8_INLINE void gap8_cluster_sleep_until(unsigned event)
{
    GAP8_CLUSTER_EVENTS->mask = 1u << event;
    gap8_event_load(&GAP8_CLUSTER_EVENTS->wait_clear);
    GAP8_CLUSTER_EVENTS->mask = 1u << GAP8_EVENT_BARRIER;
}

GAP8_INLINE uint32_t gap8_mchan_command(enum hal_direction direction, uint32_t bytes)
{
    uint32_t command = bytes | GAP8_MCHAN_INCREMENT | GAP8_MCHAN_EVENT;
    return direction == HAL_TO_LOCAL ? command | GAP8_MCHAN_TO_LOCAL : command;
}

/* A file that defines DORY_HAL_ON_CORES makes the calls below on cores alone, one that defines DORY_HAL_ON_DRIVER on the FC,
 * hal_is_driver and hal_is_core apart: they need not ask who calls. */
#if defined(DORY_HAL_ON_CORES)
GAP8_INLINE int gap8_fc_calls(void) { return 0; }
#elif defined(DORY_HAL_ON_DRIVER)
GAP8_INLINE int gap8_fc_calls(void) { return 1; }
#else
GAP8_INLINE int gap8_fc_calls(void) { return gap8_is_fc(); }
#endif

/* The caller's own port. */
GAP8_INLINE volatile struct gap8_mchan *gap8_mchan(void) { return gap8_fc_calls() ? GAP8_FC_MCHAN : GAP8_MCHAN; }

/* One contiguous run of 1 to GAP8_MCHAN_LIMIT bytes. */
GAP8_INLINE void gap8_mchan_copy_1d(void *local, void *external, enum hal_direction direction, uint32_t bytes)
{
    volatile struct gap8_mchan *mchan = gap8_mchan();
    mchan->queue = gap8_mchan_command(direction, bytes);
    mchan->queue = (uint32_t)(uintptr_t)local;
    mchan->queue = (uint32_t)(uintptr_t)external;
}

/* Runs of run_bytes with a stride on the external side, contiguous on the local one; at most GAP8_MCHAN_LIMIT bytes in
 * all, run length and stride at most GAP8_MCHAN_2D_LIMIT. */
GAP8_INLINE void gap8_mchan_copy_2d(void *local, void *external, enum hal_direction direction, uint32_t bytes,
                                    uint32_t run_bytes, uint32_t external_stride)
{
    volatile struct gap8_mchan *mchan = gap8_mchan();
    mchan->queue = gap8_mchan_command(direction, bytes) | GAP8_MCHAN_2D;
    mchan->queue = (uint32_t)(uintptr_t)local;
    mchan->queue = (uint32_t)(uintptr_t)external;
    mchan->queue = external_stride << 16 | run_bytes;
}

GAP8_INLINE unsigned gap8_core_id(void) { return gap8_hart() & 31; }

GAP8_INLINE unsigned gap8_core_count(void) { return gap8_team.cores; }

GAP8_INLINE void gap8_barrier(void) { gap8_event_load(&GAP8_CLUSTER_EVENTS->barrier[0].trigger_wait_clear); }

/* The driver comes to a meeting as soon as it has prepared it, most often before the cores do: then they need not wait for
 * more than one another. */
GAP8_INLINE void gap8_meet(void)
{
    if (gap8_fc_calls()) {
        gap8_fc_meet();
        return;
    }
    unsigned core = gap8_core_id();
    uint32_t number = ++gap8_team.core_met[core];
    gap8_barrier();
    if (core == 0)
        gap8_tell_fc_of_meeting(number);
    while (gap8_team.driver_met < number)
        gap8_cluster_sleep_until(GAP8_EVENT_DRIVER);
    __asm__ volatile("" : : : "memory");
}

/* A ticket is one of MCHAN's 16 counters; reading the queue allocates one. MCHAN books a core's commands to the
 * counter that this core allocated last. */
GAP8_INLINE int gap8_dma_open(hal_dma_ticket *ticket)
{
    *ticket = (hal_dma_ticket)gap8_mchan()->queue;
    return DORY_OK;
}

/* What one command can do is decided here, with the caller's constants in view. */
GAP8_INLINE int gap8_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    (void)ticket;
    uint32_t bytes = copy->runs * copy->run_bytes;
    int local_is_contiguous = copy->runs == 1 || copy->local_run_stride == copy->run_bytes;
    int external_is_contiguous = copy->runs == 1 || copy->external_run_stride == copy->run_bytes;
    __asm__ volatile("" : : : "memory"); /* what is to be copied has been stored */
    if (copy->planes == 1 && bytes <= GAP8_MCHAN_LIMIT && local_is_contiguous && external_is_contiguous) {
        gap8_mchan_copy_1d(copy->local, copy->external, copy->direction, bytes);
    } else if (copy->planes == 1 && bytes <= GAP8_MCHAN_LIMIT && local_is_contiguous &&
               copy->external_run_stride <= GAP8_MCHAN_LIMIT) {
        gap8_mchan_copy_2d(copy->local, copy->external, copy->direction, bytes, copy->run_bytes, copy->external_run_stride);
    } else {
        struct hal_dma_copy general = *copy; /* so that the caller's struct need not be in memory for the cases above */
        return gap8_dma_copy_in_pieces(&general);
    }
    return DORY_OK;
}

GAP8_INLINE int gap8_dma_wait(hal_dma_ticket ticket)
{
    uint32_t bit = 1u << ticket;
    if (gap8_fc_calls()) {
        gap8_fc_dma_wait(ticket);
        return DORY_OK;
    }
    while (GAP8_MCHAN->status & bit) /* the event may be that of another ticket of this core */
        gap8_cluster_sleep_until(GAP8_EVENT_DMA);
    GAP8_MCHAN->status = bit;
    __asm__ volatile("" : : : "memory");
    return DORY_OK;
}

#ifdef DORY_HAL_ON_DRIVER /* while it drives, the cluster is open */
GAP8_INLINE uint32_t gap8_cycles(void) { return GAP8_CLUSTER_TIMER->count_low; }
#else
GAP8_INLINE uint32_t gap8_cycles(void) { return gap8_fc_calls() ? gap8_fc_cycles() : GAP8_CLUSTER_TIMER->count_low; }
#endif

#ifdef DORY_HAL_INLINE
#define hal_cycles(...)       gap8_cycles(__VA_ARGS__)
#define hal_core_id(...)      gap8_core_id(__VA_ARGS__)
#define hal_core_count(...)   gap8_core_count(__VA_ARGS__)
#define hal_barrier(...)      gap8_barrier(__VA_ARGS__)
#define hal_meet(...)         gap8_meet(__VA_ARGS__)
#define hal_notify(...)       gap8_notify(__VA_ARGS__)
#define hal_await_notice(...) gap8_await_notice(__VA_ARGS__)
#define hal_is_driver(...)    gap8_is_fc(__VA_ARGS__)
#define hal_is_core(...)      (!gap8_is_fc(__VA_ARGS__))
#define hal_dma_open(...)     gap8_dma_open(__VA_ARGS__)
#define hal_dma_copy(...)     gap8_dma_copy(__VA_ARGS__)
#define hal_dma_wait(...)     gap8_dma_wait(__VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
