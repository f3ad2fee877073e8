/* Pass `describe`: the firmware's view of a layer, and above all its arithmetic. */
#ifndef DORYGEN_DESCRIBE_H
#define DORYGEN_DESCRIBE_H

#include "base/support.h"
#include "describe/requantise.h"
#include "dory/layer.h"
#include "network/network.h"

/* Of a network that is proven (network/range.h): shape, bits, normalisation, clip, stages; tile, L1 map and blob sizes are
 * zero. And how a convolution is requantised, with its constants; null for all else. False after an error was reported. */
bool describe_layer(const struct network *network, int layer, struct dory_layer *record,
                    const struct requantisation **requantisation, struct arena *arena, struct diagnostics *diagnostics);

/* Turns a layer whose tensors have one column so that they are rows, which lie in memory alike. */
void describe_rows_of_columns(struct dory_layer *record);

#endif
