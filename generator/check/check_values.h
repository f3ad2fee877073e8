/* Do two networks compute the same, whatever their inputs? Every element of both is given a number that stands for how it
 * comes of the inputs; elements with the same number have the same value for all inputs. So it is proven that a network
 * whose slices and gathers came early (network.h, `imported`) is the one that was imported, by arithmetic of its own.
 */
#ifndef DORYGEN_CHECK_VALUES_H
#define DORYGEN_CHECK_VALUES_H

#include "base/support.h"
#include "network/network.h"

/* False after an error was reported. True for a network that is as it was imported. */
bool values_check(const struct network *network, struct diagnostics *diagnostics);

#endif
