/* Copies that one MCHAN command cannot do: three dimensions, strides on both sides, more than 64 KiB. */
#include "dory/hal.h"
#include "dory/hal_inline.h"

/* The longest piece of a run: a multiple of the DMA's 8-byte beat. */
#define PIECE_BYTES (GAP8_MCHAN_LIMIT & ~7u)

static void copy_run(uint8_t *local, uint8_t *external, enum hal_direction direction, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
        gap8_mchan_copy_1d(local, external, direction, piece);
        local += piece;
        external += piece;
        bytes -= piece;
    }
}

/* Runs that are contiguous in L1 and evenly spaced in L2: as many a command as its size field allows. */
static void copy_runs_2d(const struct hal_dma_copy *copy, uint8_t *local, uint8_t *external)
{
    uint32_t runs_per_command = GAP8_MCHAN_LIMIT / copy->run_bytes;
    uint32_t left = copy->runs;
    while (left > 0) {
        uint32_t runs = left < runs_per_command ? left : runs_per_command;
        gap8_mchan_copy_2d(local, external, copy->direction, runs * copy->run_bytes, copy->run_bytes, copy->external_run_stride);
        local += runs * copy->run_bytes;
        external += runs * copy->external_run_stride;
        left -= runs;
    }
}

static void copy_plane(const struct hal_dma_copy *copy, uint8_t *local, uint8_t *external)
{
    int fits_2d = copy->run_bytes <= GAP8_MCHAN_2D_LIMIT && copy->external_run_stride <= GAP8_MCHAN_2D_LIMIT;
    if (copy->runs > 1 && fits_2d && copy->local_run_stride == copy->run_bytes) {
        copy_runs_2d(copy, local, external);
        return;
    }
    for (uint32_t run = 0; run < copy->runs; run++) {
        copy_run(local, external, copy->direction, copy->run_bytes);
        local += copy->local_run_stride;
        external += copy->external_run_stride;
    }
}

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

void gap8_dma_copy_in_pieces(const struct hal_dma_copy *copy)
{
    struct hal_dma_copy joined = *copy;
    join_runs(&joined);
    join_planes(&joined);
    join_runs(&joined);
    uint8_t *local = joined.local;
    uint8_t *external = joined.external;
    for (uint32_t plane = 0; plane < joined.planes; plane++) {
        copy_plane(&joined, local, external);
        local += joined.local_plane_stride;
        external += joined.external_plane_stride;
    }
}
