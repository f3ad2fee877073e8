/* Pass `describe`: the firmware's view of a layer, and above all its arithmetic. */
#ifndef DORYGEN_DESCRIBE_H
#define DORYGEN_DESCRIBE_H

#include "base/support.h"
#include "describe/requantise.h"
#include "dory/layer.h"
#include "network/network.h"

/* A layer, exactly. Which form of requantisation a convolution gets is asked of the engine that is to compute it
 * (choose/form.h). */
struct described_layer {
    /* shape, bits, clip, stages, and without weights the form; tile, L1 map and blob sizes are 0 */
    struct dory_layer record;
    const struct requantise_problem *sums; /* of a convolution: what its sums become; null for all else */
    const struct dory_layer
        *tables; /* of a convolution or pool of single bytes: the same as tables, or as a constant; else null */
    const struct requantisation *requantisation; /* of all else: how it is known to be right; null: nothing to be said */
};

/* Of a network that is proven (network/range.h). False after an error was reported. */
bool describe_layer(const struct network *network, int layer, struct described_layer *described, struct arena *arena,
                    struct diagnostics *diagnostics);

/* Turns a layer whose tensors have one column so that they are rows, which lie in memory alike. */
void describe_rows_of_columns(struct dory_layer *record);

#endif
