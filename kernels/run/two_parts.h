/* Tiles of the kernels that have two parts, or many: an LSTM's steps. */
#ifndef DORY_TWO_PARTS_H
#define DORY_TWO_PARTS_H

#include "dory/layer.h"

/* All cores, of which those below `cores` compute. Apart from the loops over tiles: few layers have two parts, and a line
 * more in those loops costs each of the others a line of the cores' cache. */
__attribute__((cold)) void dory_compute_in_two_parts(const struct dory_layer *layer, const struct dory_tile *tile,
                                                     unsigned core, unsigned cores);

/* Cores without an engine, whose loop has to fit their cache, are spared the question. */
#if defined(DORY_XPULPV2) && !defined(DORY_NEUREKA)
#define DORY_HAS_ENGINE false
#else
#define DORY_HAS_ENGINE true
#endif

/* An engine that reads weights where they lie copies their constants in the first part. */
static inline bool dory_is_for_engine(const struct dory_layer *layer)
{
    return DORY_HAS_ENGINE && dory_is_in_place(layer->l1.weights) && layer->operation != DORY_LSTM &&
           dory_second_part(layer);
}

#endif
