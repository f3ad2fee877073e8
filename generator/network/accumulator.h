/* Bounds of the sums of a convolution, from its weights as they are: the one place that says which accumulators a channel
 * can have. It is part of the range pass, which proves tensors with it; describe/requantise.c proves that the chip's
 * arithmetic is right for all of them. */
#ifndef DORYGEN_ACCUMULATOR_H
#define DORYGEN_ACCUMULATOR_H

#include "base/support.h"
#include "network/network.h"
#include "network/stage.h"

/* The sums of a convolution, the bias not counted, into the layer; what 64 bits do not hold is cut off there. */
void accumulator_prove(const struct network *network, struct layer *layer, struct arena *arena);

/* The values that an element of the layer's input 0 or 1 can have, those of its border included. The type's, where nothing
 * was proven. */
void accumulator_input(const struct network *network, const struct layer *layer, int input, int64_t *minimum,
                       int64_t *maximum);

#endif
