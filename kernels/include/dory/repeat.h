/* What a second input with fewer elements than the output repeats; flags of dory_layer.second_repeats. */
#ifndef DORY_REPEAT_H
#define DORY_REPEAT_H

enum dory_repeat {
    DORY_REPEATS_PIXEL = 1,  /* it has 1x1 pixels, an element for each channel */
    DORY_REPEATS_CHANNEL = 2 /* it has one channel, an element for each pixel */
};

#endif
