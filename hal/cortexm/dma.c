/* Copies between the parts of the memory: by the core, unless the firmware has functions for its DMA controller. */
#include <string.h>

#include "check.h"
#include "internal.h"

static bool is_open[HAL_DMA_TICKETS]; /* by ticket - 1 */
static hal_dma_ticket last;           /* that was opened */

/* In words, at any addresses: picolibc's memcpy for these cores copies byte by byte. The empty statement keeps the compiler
 * from making a call to it of the loop. */
static void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t words[4];
    for (; bytes >= sizeof words; bytes -= sizeof words, to += sizeof words, from += sizeof words) {
        memcpy(words, from, sizeof words);
        memcpy(to, words, sizeof words);
        __asm__ volatile("" ::: "memory");
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
        __asm__ volatile("");
    }
}

static void copy_run(const struct hal_dma_copy *copy, uint32_t plane, uint32_t run)
{
    uint8_t *local = (uint8_t *)copy->local + plane * copy->local_plane_stride + run * copy->local_run_stride;
    uint8_t *external = (uint8_t *)copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride;
    if (copy->direction == HAL_TO_LOCAL)
        copy_bytes(local, external, copy->run_bytes);
    else
        copy_bytes(external, local, copy->run_bytes);
}

__attribute__((weak)) int hal_cortexm_copy(const struct hal_dma_copy *copy)
{
    for (uint32_t plane = 0; plane < copy->planes; plane++)
        for (uint32_t run = 0; run < copy->runs; run++)
            copy_run(copy, plane, run);
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
