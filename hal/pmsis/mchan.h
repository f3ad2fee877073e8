/* MCHAN, the cluster's DMA: a core's port of it, or the FC's. A counter stands for the copies that were started since the
 * caller took it; sizes as in dma.c. */
#ifndef DORY_PMSIS_MCHAN_H
#define DORY_PMSIS_MCHAN_H

#include "internal.h"

#ifdef __riscv
#include "dory/pulp_registers.h"

static inline volatile struct pulp_mchan *mchan_port(void) { return pi_is_fc() ? PULP_FC_MCHAN : PULP_MCHAN; }

static inline uint32_t mchan_take(void) { return mchan_port()->queue; }

static inline uint32_t mchan_command(uint32_t bytes, bool to_local)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* what is to be copied has been stored */
    return bytes | PULP_MCHAN_INCREMENT | (to_local ? PULP_MCHAN_TO_LOCAL : 0);
}

static inline void mchan_copy(uint32_t external, uint32_t local, uint32_t bytes, bool to_local)
{
    volatile struct pulp_mchan *port = mchan_port();
    port->queue = mchan_command(bytes, to_local);
    port->queue = local;
    port->queue = external;
}

static inline void mchan_copy_2d(uint32_t external, uint32_t local, uint32_t bytes, uint32_t stride, uint32_t run_bytes,
                                 bool to_local)
{
    volatile struct pulp_mchan *port = mchan_port();
    port->queue = mchan_command(bytes, to_local) | PULP_MCHAN_2D;
    port->queue = local;
    port->queue = external;
    port->queue = stride << 16 | run_bytes;
}

/* Waits, and gives the counter back. There is no event for the FC; and a core's is an SDK's. */
static inline void mchan_wait(uint32_t counter)
{
    volatile struct pulp_mchan *port = mchan_port();
    uint32_t bit = 1u << counter;
    while (port->status & bit)
        ;
    port->status = bit;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
#else /* tests/pmsis */
uint32_t mchan_take(void);
void mchan_copy(uint32_t external, uint32_t local, uint32_t bytes, bool to_local);
void mchan_copy_2d(uint32_t external, uint32_t local, uint32_t bytes, uint32_t stride, uint32_t run_bytes, bool to_local);
void mchan_wait(uint32_t counter);
#endif

#endif
