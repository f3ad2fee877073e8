/* Pass `range`: proven bounds of every tensor and accumulator. */
#ifndef DORYGEN_RANGE_H
#define DORYGEN_RANGE_H

#include "base/support.h"
#include "network/network.h"

struct range_options {
    bool exact_add;           /* keep the output of an unclipped addition that can leave 8 bits in 16 bits */
    bool fast_requantisation; /* copied to the network */
    bool by_channel;          /* of a network with a `whole`: channel_ranges of every tensor, and sums from these */
};

/* Bounds of all tensors and accumulators, written into the network; saturates or widens unclipped additions, with a
 * warning. Tensors of a network that has a `whole` keep the element types that they have there, so that its inputs and
 * outputs stay what they are. `options` may be null. False after an error was reported. */
bool range_prove(struct network *network, const struct range_options *options, struct arena *arena,
                 struct diagnostics *diagnostics);

#endif
