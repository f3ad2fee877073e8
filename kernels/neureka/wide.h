/* The form WIDE: the engine writes z = (accumulator * multiplier) >> 16, where no sum limits the product to 32 bits, and the
 * cores y = clip((z + addend) >> shift), or of layers that round away from zero
 *
 *     y = clip((z - (z < zero ? step : 0) + addend) >> shift)
 *
 * Three or five instructions an element where the form that the planner solved for has up to nine. Each channel's constants
 * are proven equal to that form for all accumulators that its weights can make. A channel for which there are none has the
 * multiplier 2^16, and the cores make its elements of sums. */
#ifndef DORY_NEUREKA_WIDE_H
#define DORY_NEUREKA_WIDE_H

#include "dory/engine.h"

/* Of a channel. */
struct dory_neureka_wide {
    uint32_t multiplier;
    int32_t addend;
    uint32_t shift;
    int32_t zero;
    uint32_t step;
};

/* Of a layer that dory_neureka_may_be_wide(). False where no such constants were found. */
bool dory_neureka_widen(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                        struct dory_neureka_wide *wide);

#endif
