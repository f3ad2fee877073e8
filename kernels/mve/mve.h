/* The kernels for cores with vector instructions (Cortex-M55, M85). A kernel NAME is the function dory_mve_NAME; its
 * description is in the list of mve_description.c. Weights lie as sixteens.h has them. */
#ifndef DORY_MVE_H
#define DORY_MVE_H

#include "dory/contract.h"
#include "dory/layer.h"

#define DORY_MVE_KERNELS(KERNEL)                                                                                            \
    KERNEL(linear)                                                                                                          \
    KERNEL(convolution)                                                                                                     \
    KERNEL(depthwise)                                                                                                       \
    KERNEL(addition)

#define DORY_MVE_FUNCTION(name) dory_kernel_function dory_mve_##name;
DORY_MVE_KERNELS(DORY_MVE_FUNCTION)
#undef DORY_MVE_FUNCTION

#endif
