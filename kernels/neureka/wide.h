/* The form WIDE: the engine writes z = (accumulator * multiplier) >> 16, where no sum limits the product to 32 bits, and the
 * cores y = clip((z + addend) >> shift). Three instructions an element where the form that the planner solved for has up to
 * nine. Each channel's constants are proven equal to that form for all accumulators that its weights can make. */
#ifndef DORY_NEUREKA_WIDE_H
#define DORY_NEUREKA_WIDE_H

#include "dory/engine.h"

/* Of a channel. */
struct dory_neureka_wide {
    uint32_t multiplier;
    int32_t addend;
    uint32_t shift;
};

/* Of a layer that dory_neureka_may_be_wide(). False where no such constants were found. */
bool dory_neureka_widen(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                        struct dory_neureka_wide *wide);

#endif
