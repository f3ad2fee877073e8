/* Copies that take more than one MCHAN command: three dimensions, strides on the L1 side, strides beyond 16 bits, and, where
 * L1 has room for that, more bytes than a command's size field can say. */
#include "dory/hal.h"
#include "dory/hal_inline.h"
#include "internal.h"

/* Runs that follow one another without a gap on both sides are one run. */
static void join_runs(struct hal_dma_copy *copy)
{
    if (copy->runs > 1 && copy->external_run_stride == copy->run_bytes && copy->local_run_stride == copy->run_bytes) {
        copy->run_bytes *= copy->runs;
        copy->runs = 1;
    }
}

/* Planes are taken for further runs where one stride describes both. */
static void join_planes(struct hal_dma_copy *copy)
{
    if (copy->planes == 1)
        return;
    if (copy->runs == 1) {
        copy->external_run_stride = copy->external_plane_stride;
        copy->local_run_stride = copy->local_plane_stride;
    } else if (copy->external_plane_stride != copy->runs * copy->external_run_stride ||
               copy->local_plane_stride != copy->runs * copy->local_run_stride) {
        return;
    }
    copy->runs *= copy->planes;
    copy->planes = 1;
}

static int fits_2d(const struct hal_dma_copy *copy)
{
    return copy->local_run_stride == copy->run_bytes && copy->external_run_stride <= PULP_MCHAN_LIMIT;
}

/* One 2-D command a plane. The loop is all that a tile of many rows pays for. */
static void copy_planes_2d(const struct hal_dma_copy *copy)
{
    uint32_t command = pulp_mchan_command(copy->direction, copy->runs * copy->run_bytes) | PULP_MCHAN_2D;
    uint32_t run_bytes = copy->run_bytes, stride = copy->external_run_stride;
    uint32_t local = (uint32_t)(uintptr_t)copy->local, external = (uint32_t)(uintptr_t)copy->external;
    uint32_t local_stride = copy->local_plane_stride, external_stride = copy->external_plane_stride;
    volatile struct pulp_mchan *mchan = pulp_mchan();
    for (uint32_t plane = copy->planes; plane > 0; plane--) {
        mchan->queue = command;
        mchan->queue = local;
        mchan->queue = external;
        pulp_mchan_shape(&mchan->queue, run_bytes, stride);
        if (pulp_beside.is_inside && pulp_beside.is_by_interrupt)
            pulp_beside_pause(); /* each waits until the DMA has room for it */
        local += local_stride;
        external += external_stride;
    }
}

/* One 1-D command a run. */
static void copy_runs_1d(const struct hal_dma_copy *copy)
{
    uint8_t *plane_local = copy->local, *plane_external = copy->external;
    for (uint32_t plane = 0; plane < copy->planes; plane++) {
        uint8_t *local = plane_local, *external = plane_external;
        for (uint32_t run = 0; run < copy->runs; run++) {
            pulp_mchan_copy_1d(local, external, copy->direction, copy->run_bytes);
            local += copy->local_run_stride;
            external += copy->external_run_stride;
        }
        plane_local += copy->local_plane_stride;
        plane_external += copy->external_plane_stride;
    }
}

static void copy_commands(const struct hal_dma_copy *copy)
{
    if (fits_2d(copy))
        copy_planes_2d(copy);
    else
        copy_runs_1d(copy);
}

#if PULP_MCHAN_LIMIT < PULP_L1_BYTES - 1
static void copy_what_fits(const struct hal_dma_copy *copy);

/* Two copies, of which the first has so many bytes of each run and so many of the runs. */
static void copy_parts(const struct hal_dma_copy *copy, uint32_t run_bytes, uint32_t runs)
{
    struct hal_dma_copy first = *copy, second = *copy;
    int splits_runs = run_bytes == copy->run_bytes;
    first.run_bytes = run_bytes;
    first.runs = runs;
    second.run_bytes -= splits_runs ? 0 : run_bytes;
    second.runs -= splits_runs ? runs : 0;
    second.local = (uint8_t *)copy->local + (splits_runs ? runs * copy->local_run_stride : run_bytes);
    second.external = (uint8_t *)copy->external + (splits_runs ? runs * copy->external_run_stride : run_bytes);
    copy_what_fits(&first);
    copy_what_fits(&second);
}

static void copy_what_fits(const struct hal_dma_copy *copy)
{
    if (copy->run_bytes > PULP_MCHAN_LIMIT)
        copy_parts(copy, copy->run_bytes / 8 * 4, copy->runs);
    else if (copy->runs > 1 && copy->runs * copy->run_bytes > PULP_MCHAN_LIMIT)
        copy_parts(copy, copy->run_bytes, copy->runs / 2);
    else
        copy_commands(copy);
}
#else
#define copy_what_fits copy_commands /* one command fills L1 */
#endif

int pulp_dma_copy_in_pieces(const struct hal_dma_copy *copy)
{
    struct hal_dma_copy joined = *copy;
    join_runs(&joined);
    join_planes(&joined);
    join_runs(&joined);
    if (joined.run_bytes < 1 || joined.run_bytes >= PULP_L1_BYTES)
        return DORY_ERROR_DMA;
    copy_what_fits(&joined);
    return DORY_OK;
}

/* MCHAN has no event for the FC, whose own work comes first anyway: the next bursts of L3. A driver beside the application
 * lets it go on until the cores come to the next meeting: by then the copies beside which they compute are mostly complete.
 */
void pulp_fc_dma_wait(hal_dma_ticket ticket)
{
    uint32_t bit = 1u << ticket;
    while (PULP_FC_MCHAN->status & bit) {
        pulp_l3_serve();
        if (pulp_beside.is_inside && !pulp_beside.is_waited && !pulp_cores_have_met())
            pulp_beside_yield(PULP_EVENTS_OF_A_RUN);
    }
    PULP_FC_MCHAN->status = bit;
    __asm__ volatile("" : : : "memory");
}
