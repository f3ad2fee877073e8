/* Copies between L2 and L1. A command of MCHAN is contiguous in L1 and has runs of one length and stride in L2; anything
 * else is taken apart.
 *
 * PMSIS has DMA commands for the cluster only, and its FreeRTOS cuts large ones by interrupts of core 0. The chip's
 * registers serve the FC, too, whose port is another. So a ticket is what it is there: one of sixteen counters, shared with
 * whoever else uses the DMA, to which a port books the commands that follow its allocation. */
#include "mchan.h"

#include "check.h"

#define LARGEST     0xFFFF /* bytes of a command */
#define LARGEST_RUN 0x7FFF /* bytes of a run and of a stride of a 2-D command */
#define COUNTERS    16

static uint32_t address_of(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

static void copy_1d(const struct hal_dma_copy *copy, uint32_t external, uint32_t local, uint32_t bytes)
{
    mchan_copy(external, local, bytes, copy->direction == HAL_TO_LOCAL);
}

static void copy_2d(const struct hal_dma_copy *copy, uint32_t external, uint32_t local)
{
    mchan_copy_2d(external, local, copy->runs * copy->run_bytes, copy->external_run_stride, copy->run_bytes,
                  copy->direction == HAL_TO_LOCAL);
}

static void copy_run(const struct hal_dma_copy *copy, uint32_t external, uint32_t local)
{
    for (uint32_t done = 0, bytes; done < copy->run_bytes; done += bytes) {
        bytes = copy->run_bytes - done < LARGEST ? copy->run_bytes - done : LARGEST;
        copy_1d(copy, external + done, local + done, bytes);
    }
}

static bool fits_2d(const struct hal_dma_copy *copy)
{
    return copy->runs > 1 && copy->local_run_stride == copy->run_bytes && copy->run_bytes <= LARGEST_RUN &&
           copy->external_run_stride <= LARGEST_RUN && (uint64_t)copy->runs * copy->run_bytes <= LARGEST;
}

static void copy_plane(const struct hal_dma_copy *copy, uint32_t external, uint32_t local)
{
    if (fits_2d(copy)) {
        copy_2d(copy, external, local);
        return;
    }
    for (uint32_t run = 0; run < copy->runs; run++)
        copy_run(copy, external + run * copy->external_run_stride, local + run * copy->local_run_stride);
}

/* Runs that follow one another without a gap on both sides are one run. */
static void join_runs(struct hal_dma_copy *copy)
{
    if (copy->runs > 1 && copy->external_run_stride == copy->run_bytes && copy->local_run_stride == copy->run_bytes) {
        copy->run_bytes *= copy->runs;
        copy->runs = 1;
    }
}

/* Not inlined: what most copies do not need is not to lie between the lines that they do. */
static __attribute__((noinline)) void copy_in_pieces(const struct hal_dma_copy *copy)
{
    struct hal_dma_copy joined = *copy;
    join_runs(&joined);
    for (uint32_t plane = 0; plane < joined.planes; plane++)
        copy_plane(&joined, address_of(joined.external) + plane * joined.external_plane_stride,
                   address_of(joined.local) + plane * joined.local_plane_stride);
}

/* ---- the calls ----------------------------------------------------------------------------------------------- */

/* An application on the FC has no DMA. */
int hal_dma_open(hal_dma_ticket *ticket)
{
    if (!ticket)
        return DORY_ERROR_ARGUMENT;
    if (pi_is_fc() && !pmsis_fc_drives())
        return DORY_ERROR_DMA;
    *ticket = (hal_dma_ticket)mchan_take();
    return DORY_OK;
}

int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    int status = check_dma_copy(copy);
    if (status != DORY_OK)
        return status;
    if ((uint32_t)ticket >= COUNTERS)
        return DORY_ERROR_DMA;
    if (copy->planes == 1 && copy->runs == 1 && copy->run_bytes <= LARGEST)
        copy_1d(copy, address_of(copy->external), address_of(copy->local), copy->run_bytes);
    else if (copy->planes == 1 && fits_2d(copy))
        copy_2d(copy, address_of(copy->external), address_of(copy->local));
    else
        copy_in_pieces(copy);
    return DORY_OK;
}

int hal_dma_wait(hal_dma_ticket ticket)
{
    if ((uint32_t)ticket >= COUNTERS)
        return DORY_ERROR_DMA;
    mchan_wait((uint32_t)ticket);
    return DORY_OK;
}
