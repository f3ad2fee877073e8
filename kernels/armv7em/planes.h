/* Depth-wise layers: how a core's scratch is divided. Pure functions, compiled into the planner, too. */
#ifndef DORY_ARMV7EM_PLANES_H
#define DORY_ARMV7EM_PLANES_H

#include "dory/layer.h"

/* Four channels of some rows of input, transposed to a plane each; behind the planes the weights of one channel as pairs of
 * halves, and the sums of a row. A word may be read from any byte of a row. */
struct dory_planes {
    uint32_t band_rows;   /* of the output */
    uint32_t row_bytes;   /* of a plane */
    uint32_t plane_bytes; /* room for the input's rows of a band */
    uint32_t pairs;       /* words of weights */
    uint32_t columns;     /* words of sums */
};

#define DORY_PLANES_BYTES                                                                                                   \
    3072 /* of input rows, so many as fit; a compromise: those on the border of two bands are laid twice */

static inline struct dory_planes dory_planes_of(const struct dory_layer *layer, uint32_t rows, uint32_t columns)
{
    uint32_t input_columns = dory_input_extent(columns, layer->kernel_width, layer->stride_width, 1);
    struct dory_planes planes = {.row_bytes = dory_round_up(input_columns + 3, 4), .columns = columns};
    uint32_t most = DORY_PLANES_BYTES / (4 * planes.row_bytes),
             behind = (layer->kernel_height - 1u) * layer->dilation_height;
    uint32_t bands = most > behind ? (most - behind - 1) / layer->stride_height + 1 : 1;
    planes.band_rows = dory_minimum(rows, bands > 2 ? bands / 2 * 2 : 2); /* computed by twos */
    planes.plane_bytes =
        dory_input_extent(planes.band_rows, layer->kernel_height, layer->stride_height, layer->dilation_height) *
        planes.row_bytes;
    planes.pairs = layer->kernel_height * dory_round_up(layer->kernel_width, 4) / 2;
    return planes;
}

static inline uint32_t dory_planes_core_bytes(const struct dory_planes *planes)
{
    return 4 * (planes->plane_bytes + planes->pairs + planes->columns);
}

#endif
