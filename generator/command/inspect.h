/* What a person wants to see of a network. */
#ifndef DORYGEN_INSPECT_H
#define DORYGEN_INSPECT_H

#include "base/support.h"
#include "network/network.h"

/* Its layers, with what is proven about their values so far. */
void network_print(FILE *stream, struct arena *arena, const struct network *network);

#endif
