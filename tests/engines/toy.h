/* An engine that shares nothing with the others but the contract: weights in the model's own order, blocks of other numbers
 * of channels for each kind of layer, one form of requantisation (as TensorFlow Lite Micro rounds), three kernels. */
#ifndef DORY_TEST_TOY_H
#define DORY_TEST_TOY_H

#include "dory/engine.h"

extern const struct dory_engine toy_engine;

dory_kernel_function toy_convolution;
dory_kernel_function toy_depthwise;
dory_kernel_function toy_linear;

#endif
