/* Proves that a network without its dead channels computes what the whole one does. */
#ifndef DORYGEN_CHECK_CHANNELS_H
#define DORYGEN_CHECK_CHANNELS_H

#include "base/support.h"
#include "network/network.h"

/* Layer by layer, by plain arithmetic: what is left out is one value or not read, and every bias has what it adds. True for
 * a network that has all its channels. False after an error was reported, which is a fault of dory. */
bool channels_check(const struct network *network, struct diagnostics *diagnostics);

#endif
