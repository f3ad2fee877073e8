/* Layers that the chip computes as layers of another kind, because only those have the arithmetic. */
#ifndef DORYGEN_LOWER_H
#define DORYGEN_LOWER_H

#include "base/support.h"
#include "network/network.h"

/* An average pool is a depth-wise convolution with weights of 1. It becomes one where its rounding is no floor: twice, or to
 * even where there are halves. Pools have one requantisation for all channels, in floors; convolutions have all forms. */
void lower_average_pools(struct network *network, struct arena *arena);

#endif
