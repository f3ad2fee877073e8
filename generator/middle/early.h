/* Parts that are taken early: where a slice or a gather reads a part of a tensor, the layers in front compute only that.
 *
 * A copy that takes a part goes in front of the layer that computes what it reads: as it is, in front of a layer that
 * computes each element from the same element of its inputs; as rows and columns, in front of one that computes each pixel
 * from one pixel (1x1 convolutions, norms, softmax, the rows of a matrix product). So it goes on until it meets the
 * network's input, or a layer that needs more. Of a convolution whose channels are read by several copies, as those of
 * query, key and value are, one that reads few pixels gets its channels from a convolution of its own; so does one that
 * reads some channels of all pixels, if the convolution has one tap.
 */
#ifndef DORYGEN_EARLY_H
#define DORYGEN_EARLY_H

#include "base/support.h"
#include "network/network.h"

/* Whether anything moved. Layers and tensors that nobody reads any more are left without a reader. */
bool middle_take_early(struct network *network, struct arena *arena);

/* A convolution with some of its output channels, in this order; its tensors are the caller's. middle/early_split.c. */
struct layer middle_some_channels(const struct network *network, const struct layer *layer, const int *channels, int count,
                                  struct arena *arena);

#endif
