/* Random networks whose tensors have scales and zero points, as TFLite's and QDQ's front ends make them. */
#ifndef DORY_TEST_RANDOM_QUANTISED_H
#define DORY_TEST_RANDOM_QUANTISED_H

#include "random_network.h"

/* Two to eight layers with any strides, paddings, groups and branches; rounded twice, or halves to even. */
struct network *random_quantised(struct random *random, struct arena *arena);

/* Residual blocks: convolutions, of which the last is added to what the first reads, or to another convolution of that. */
struct network *random_sums(struct random *random, struct arena *arena);

#endif
