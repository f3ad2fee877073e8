/* Depth-wise 3x3: how a core's scratch is divided. Pure functions, compiled into the planner, too. */
#ifndef DORY_MVE_PLANES_H
#define DORY_MVE_PLANES_H

#include "dory/layer.h"

/* One channel of some rows of input, in two planes: the second one begins two columns further on, so that any even column
 * is on a word of one of them. Behind them the sums of all outputs of a band. */
struct dory_mve_planes {
    uint32_t band_rows;   /* of the output */
    uint32_t columns;     /* of input, with border */
    uint32_t row_bytes;   /* of a plane */
    uint32_t plane_bytes; /* room for the input's rows of a band, and for what is read and written behind them */
    uint32_t sums;
};

#define DORY_MVE_PLANE_BYTES 832 /* so many rows as fit; a compromise: those on the border of two bands are laid twice */

static inline struct dory_mve_planes dory_mve_planes_of(const struct dory_layer *layer, uint32_t rows, uint32_t columns)
{
    struct dory_mve_planes planes = {.columns = dory_input_extent(columns, 3, layer->stride_width, 1)};
    planes.row_bytes = dory_round_up(planes.columns + 4, 4);
    uint32_t most = DORY_MVE_PLANE_BYTES / planes.row_bytes, bands = most > 2 ? (most - 3) / layer->stride_height + 1 : 1;
    planes.band_rows = dory_minimum(rows, bands > 2 ? bands / 2 * 2 : 2); /* computed by twos */
    uint32_t input_rows = dory_input_extent(planes.band_rows, 3, layer->stride_height, 1);
    planes.plane_bytes = dory_round_up((input_rows + 3) * planes.row_bytes + 16, 16);
    planes.sums = dory_round_up(dory_round_up(planes.band_rows, 2) * columns, 4);
    return planes;
}

static inline uint32_t dory_mve_planes_core_bytes(const struct dory_mve_planes *planes)
{
    return 2 * planes->plane_bytes + 4 * planes->sums;
}

#endif
