/* The accumulators of a convolution, for interpret.c. */
#ifndef DORYGEN_INTERPRET_CONVOLUTION_H
#define DORYGEN_INTERPRET_CONVOLUTION_H

#include "network/network.h"

/* y: sums of weight * x, without any stage. False if one could exceed 64 bits. */
bool interpret_convolution(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                           const int64_t *x, int64_t *y);

#endif
