/* Pass `shrink`: removes dead channels, and rows and columns that no layer reads. A channel is dead where all its elements
 * are proven to be one value, which is then added to the biases of the layers that read it, or where no layer reads it.
 *
 * Inputs and outputs of the network keep all of them. docs/dead-channels.md says which layers lose some. */
#ifndef DORYGEN_SHRINK_H
#define DORYGEN_SHRINK_H

#include "base/support.h"
#include "network/network.h"
#include "network/range.h"

/* The network without its dead channels and unread pixels, proven by channel, whose `whole` is the network given. The
 * network itself where it has none, or where a bias could not take the value of one. After range_prove with the same
 * options, which may be null. */
struct network *shrink_network(struct network *network, const struct range_options *options, struct arena *arena);

#endif
