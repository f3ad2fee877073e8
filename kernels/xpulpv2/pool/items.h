/* How pools of any elements are divided: for the kernel, and for the planner.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_POOL_ITEMS_H
#define DORY_XPULPV2_POOL_ITEMS_H

#include <stdbool.h>

#include "dory/layer.h"

/* Channels of a pixel that are done at once: sixteen where the kernel has a way for them, which is where maxima are passed
 * on (`is_plain`) and where sums fit 16 bits, and there are as many for every core to have some; else four. */
static inline uint32_t dory_pool_item_channels(const struct dory_layer *layer, bool is_plain, uint32_t pixels,
                                               uint32_t channels, unsigned cores)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width, bits = layer->input_bits;
    bool sums = layer->operation == DORY_AVERAGE_POOL && bits <= 8 && taps * ((1u << bits) - 1) <= UINT16_MAX;
    return (is_plain || sums) && pixels * dory_divide_up(channels, 16) >= cores ? 16 : 4;
}

#endif
