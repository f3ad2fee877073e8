/* Of layers that read all channels and whose tiles yet have a part of an input for their output's channels:
 * DORY_TRANSPOSITION, whose tiles have of the input what their output is of it, and DORY_MATRIX_PRODUCT. */
#ifndef DORY_TRANSPOSITION_H
#define DORY_TRANSPOSITION_H

#include "dory/layer.h"

/* The dimension of the output (0: rows, 1: columns, 2: channels) that a dimension of the input is: two bits of `axes`. */
static inline unsigned dory_axis(const struct dory_layer *layer, unsigned dimension)
{
    return layer->transposition.axes >> 2 * dimension & 3u;
}

/* True where tiles of other output channels have another input in L1. */
static inline bool dory_loads_by_channels(const struct dory_layer *layer)
{
    return !dory_reads_all_channels(layer) || layer->operation == DORY_TRANSPOSITION ||
           layer->operation == DORY_MATRIX_PRODUCT;
}

#endif
