/* A layer as kernels see it, from nothing but its shape. */
#ifndef DORYGEN_DESCRIBE_COST_H
#define DORYGEN_DESCRIBE_COST_H

#include "dory/cost.h"
#include "dory/layer.h"

struct costed_layer {
    struct dory_layer record; /* constants are representative: cycles depend on their form alone */
    struct dory_stages stages;
    uint64_t macs;
};

/* False where no such layer can run on any machine; `reason` says why. `costed` must stay where it is. */
bool describe_cost(const struct dory_cost_layer *layer, struct costed_layer *costed, char reason[DORY_COST_TEXT_BYTES]);

#endif
