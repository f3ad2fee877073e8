/* Which channels of a network are dead. Internal to the room. */
#ifndef DORYGEN_DEAD_H
#define DORYGEN_DEAD_H

#include "base/support.h"
#include "network/network.h"

/* By tensor, by channel: to be removed. Null where none is. The ranges of channels are proven. */
bool **dead_find(const struct network *network, struct arena *arena);

#endif
