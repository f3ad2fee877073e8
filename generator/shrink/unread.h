/* Which rows and columns of a network's tensors no layer reads. Internal to the room. */
#ifndef DORYGEN_UNREAD_H
#define DORYGEN_UNREAD_H

#include "base/support.h"
#include "network/network.h"

/* By axis, by tensor, by row or column: to be removed. Null where none is. */
bool **const *unread_find(const struct network *network, struct arena *arena);

#endif
