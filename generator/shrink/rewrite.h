/* A network without the channels that were found dead. Internal to the room. */
#ifndef DORYGEN_REWRITE_H
#define DORYGEN_REWRITE_H

#include "base/support.h"
#include "network/network.h"

/* Changes tensors and layers of a copy of `network->whole`, whose channels have ranges. False, and a network that is no
 * longer one, where a bias cannot take the value of a dead channel. */
bool rewrite_network(struct network *network, bool *const *dead, struct arena *arena);

#endif
