/* The part of check_channels.h about rows and columns. */
#ifndef DORYGEN_CHECK_PIXELS_H
#define DORYGEN_CHECK_PIXELS_H

#include "base/support.h"
#include "network/network.h"

/* Are the rows and columns of a tensor some of those of the whole network's, in their order, and all of a port? */
bool pixels_are_part(const struct network *network, int tensor);

/* Has the layer all rows and columns that those of its output need, each in its place? Of copies: not looked at. */
bool pixels_suffice(const struct network *network, int layer);

/* Does the copy take every element of its output from where the whole network takes it? */
bool copy_is_same(const struct network *network, int layer, struct arena *arena);

#endif
