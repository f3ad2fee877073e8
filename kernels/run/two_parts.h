/* Tiles of the kernels that have two parts, or many: an LSTM's steps. */
#ifndef DORY_TWO_PARTS_H
#define DORY_TWO_PARTS_H

#include "dory/layer.h"

/* All cores, of which those below `cores` compute. Apart from the loops over tiles: few layers have two parts, and a line
 * more in those loops costs each of the others a line of the cores' cache. */
__attribute__((cold)) void dory_compute_in_two_parts(const struct dory_layer *layer, const struct dory_tile *tile,
                                                     unsigned core, unsigned cores);

#endif
