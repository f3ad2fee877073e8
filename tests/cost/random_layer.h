/* Random layers of the sizes that networks for microcontrollers have. The same seed gives the same layer. */
#ifndef DORY_TEST_RANDOM_LAYER_H
#define DORY_TEST_RANDOM_LAYER_H

#include "dory/cost.h"

/* Convolutions (pointwise, 3x3, 5x5), depth-wise ones, linear layers, pools, additions; 400 kB of tensors at most. */
struct dory_cost_layer random_cost_layer(uint64_t seed);

#endif
