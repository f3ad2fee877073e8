/* Weights in sixteens: the format of kernels/mve. Blocks of four output channels; the last one is filled up with zeros.
 *
 * Convolution: of each sixteen elements of a window in the order row, column, channel, 16 bytes of each of the four
 * channels; zeros fill up the last sixteen. Depth-wise, 3x3: of each channel three rows of three weights and a zero.
 *
 * Behind the weights of a block, its constants: 4 x { int32 start }, then those of kernels/quads; in the forms of words,
 * HIGH, SHARED and 32, all four channels' first word, then all four's second one and so on. A sum starts from there:
 * it is of products with elements without a sign as 128 less, and `start` has 128 times the sum of all weights, and the bias
 * of the forms that have one (dory_has_bias() in kernels/armv7em/finish.h), whose own is not read. */
#ifndef DORY_MVE_SIXTEENS_H
#define DORY_MVE_SIXTEENS_H

#include "dory/layer.h"

#define DORY_STARTS_BYTES 16

/* Elements of a window, filled up. */
static inline uint32_t dory_sixteens_elements(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_round_up((uint32_t)layer->kernel_height * layer->kernel_width * input_channels, 16);
}

struct dory_weights_format;
extern const struct dory_weights_format dory_sixteens;

#endif
