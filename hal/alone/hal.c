/* One core that is given memory and has nothing else: what `dory export` puts under a network in place of a machine's HAL,
 * with core_driver.c. It keeps nothing from call to call, so that any number of runs may be under way at a time, each on an
 * arena of its own. */
#include "copy.h"

/* ---- one core, the caller's ---- */

int hal_cluster_is_busy(void) { return 0; }

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    entry(argument);
    return DORY_OK;
}

unsigned hal_core_id(void) { return 0; }
unsigned hal_core_count(void) { return 1; }
void hal_barrier(void) {}
uint32_t hal_cycles(void) { return 0; }

/* ---- copies, complete when they return ---- */

int hal_dma_open(hal_dma_ticket *ticket)
{
    *ticket = 1;
    return DORY_OK;
}

int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    (void)ticket;
    copy_by_core(copy);
    return DORY_OK;
}

int hal_dma_wait(hal_dma_ticket ticket)
{
    (void)ticket;
    return DORY_OK;
}

/* ---- no memory beside it: a plan that is exported has no transfers ---- */

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    (void)copy;
    *ticket = 0;
    return DORY_ERROR_L3;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    (void)ticket;
    return DORY_ERROR_L3;
}
