/* Bounds of the sums of a convolution, from its weights as they are: the one place that says which accumulators a channel
 * can have. The range pass proves tensors with it, and describe/requantise.c that the chip's arithmetic is right for all of
 * them. */
#ifndef DORYGEN_ACCUMULATOR_H
#define DORYGEN_ACCUMULATOR_H

#include "network/network.h"
#include "network/stage.h"

struct accumulator_range {
    wide minimum, maximum;                 /* of the whole sum, the bias not counted */
    wide partial_minimum, partial_maximum; /* of parts of it too, in whatever order they are added: 0 is among them */
};

struct accumulator_range accumulator_range(const struct network *network, const struct layer *layer, int channel);

/* The values that an element of the layer's input 0 or 1 can have, those of its border included. The type's, where nothing
 * was proven. */
void accumulator_input(const struct network *network, const struct layer *layer, int input, int64_t *minimum,
                       int64_t *maximum);

#endif
