/* Copies between the parts of the memory: by the core, unless the firmware has functions for its DMA controller. */
#include "check.h"
#include "copy.h"
#include "internal.h"

static bool is_open[HAL_DMA_TICKETS]; /* by ticket - 1 */
static hal_dma_ticket last;           /* that was opened */

__attribute__((weak)) int hal_cortexm_copy(const struct hal_dma_copy *copy)
{
    copy_by_core(copy);
    return DORY_OK;
}

__attribute__((weak)) int hal_cortexm_copy_wait(void) { return DORY_OK; }

static bool is_ticket(hal_dma_ticket ticket) { return ticket >= 1 && ticket <= HAL_DMA_TICKETS && is_open[ticket - 1]; }

int hal_dma_open(hal_dma_ticket *ticket)
{
    if (!ticket)
        return DORY_ERROR_ARGUMENT;
    if (!cortexm_is_running())
        return DORY_ERROR_DMA; /* as on machines whose FC has no DMA */
    for (int i = 0; i < HAL_DMA_TICKETS; i++) {
        if (!is_open[i]) {
            is_open[i] = true;
            *ticket = last = i + 1;
            return DORY_OK;
        }
    }
    return DORY_ERROR_DMA;
}

int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    int status = check_dma_copy(copy);
    if (status != DORY_OK)
        return status;
    return is_ticket(ticket) && ticket == last ? hal_cortexm_copy(copy) : DORY_ERROR_DMA;
}

int hal_dma_wait(hal_dma_ticket ticket)
{
    if (!is_ticket(ticket))
        return DORY_ERROR_DMA;
    is_open[ticket - 1] = false;
    return hal_cortexm_copy_wait();
}

int cortexm_dma_end_of_run(void)
{
    int status = DORY_OK;
    for (int i = 0; i < HAL_DMA_TICKETS; i++) {
        if (is_open[i]) {
            hal_log("dory hal: the core never waited for a DMA ticket that it opened\n");
            status = DORY_ERROR_DMA;
        }
        is_open[i] = false;
    }
    if (status != DORY_OK)
        hal_cortexm_copy_wait(); /* nothing may be under way any more */
    return status;
}
