/* What a tool that computes integers in float32 makes of a layer: the same where all sums are below 2^24. Above, they are
 * rounded, and an element may come out one beside what the integers give. */
#ifndef DORYGEN_FLOAT_ROUNDING_H
#define DORYGEN_FLOAT_ROUNDING_H

#include "base/support.h"
#include "network/network.h"

struct float_rounding {
    bool is_explained; /* all elements are what float32 may give */
    int64_t largest;   /* sum of the layer, normalised but not divided, by its amount: beyond 2^24 in these cases */
};

/* `tensors`: the values that the layer reads; `found`: what another tool has for its output. False after an error was
 * reported. */
bool float_rounding_explains(const struct network *network, int layer, int64_t *const *tensors, const int64_t *found,
                             struct float_rounding *rounding, struct arena *arena, struct diagnostics *diagnostics);

#endif
