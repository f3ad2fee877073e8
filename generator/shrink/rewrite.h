/* A network without the channels that were found dead, and without rows and columns that nobody reads. Internal to the
 * room. */
#ifndef DORYGEN_REWRITE_H
#define DORYGEN_REWRITE_H

#include "base/support.h"
#include "network/network.h"

/* Changes tensors and layers of a copy of `network->whole`, whose channels have ranges. Either of what dead_find and
 * unread_find have found may be null. False, and a network that is no
 * longer one, where a bias cannot take the value of a dead channel. */
bool rewrite_network(struct network *network, bool *const *dead, bool **const *unread, struct arena *arena);

#endif
