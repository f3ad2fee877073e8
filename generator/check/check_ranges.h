/* What every channel of a network can be, by plain arithmetic and without asking the range pass. Internal to the room. */
#ifndef DORYGEN_CHECK_RANGES_H
#define DORYGEN_CHECK_RANGES_H

#include "base/support.h"
#include "network/network.h"

/* By tensor, by channel. Of a softmax, a norm and of the number of the largest channel: what the range pass says of the
 * tensor. */
struct sum_range **check_channel_ranges(const struct network *network, struct arena *arena);

#endif
