/* From which layer to which a tensor is needed. */
#ifndef DORYGEN_LIVES_H
#define DORYGEN_LIVES_H

#include "network/network.h"

/* Layers in which a tensor is needed: an observer looks at a layer's output when the next layer is about to start, even if
 * nobody reads it. */
struct tensor_life {
    int first, last;
    int readers;
};

/* Of all tensors. */
void tensor_lives(const struct network *network, struct tensor_life *lives);

#endif
