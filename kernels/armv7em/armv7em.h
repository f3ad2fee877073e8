/* The kernels for Armv7E-M, and Armv8-M with DSP instructions (Cortex-M4, M7, M33), in order of preference where their
 * instructions are equal in number. A kernel NAME is the function dory_armv7em_NAME; its description is in the list of
 * armv7em_description.c. Weights lie in quads (kernels/quads). */
#ifndef DORY_ARMV7EM_H
#define DORY_ARMV7EM_H

#include "dory/contract.h"
#include "dory/layer.h"

#define DORY_ARMV7EM_KERNELS(KERNEL)                                                                                        \
    KERNEL(linear)                                                                                                          \
    KERNEL(convolution)                                                                                                     \
    KERNEL(depthwise)                                                                                                       \
    KERNEL(grouped)                                                                                                         \
    KERNEL(addition)                                                                                                        \
    KERNEL(multiplication)                                                                                                  \
    KERNEL(multiplication_floor)                                                                                            \
    KERNEL(squared_difference)                                                                                              \
    KERNEL(quotient)                                                                                                        \
    KERNEL(matrix_product)                                                                                                  \
    KERNEL(table)                                                                                                           \
    KERNEL(pool)                                                                                                            \
    KERNEL(constant)                                                                                                        \
    KERNEL(copy)                                                                                                            \
    KERNEL(concatenation)                                                                                                   \
    KERNEL(interpolation)                                                                                                   \
    KERNEL(softmax)                                                                                                         \
    KERNEL(softmax_exact)                                                                                                   \
    KERNEL(norm)                                                                                                            \
    KERNEL(lstm)

#define DORY_ARMV7EM_FUNCTION(name) dory_kernel_function dory_armv7em_##name;
DORY_ARMV7EM_KERNELS(DORY_ARMV7EM_FUNCTION)
#undef DORY_ARMV7EM_FUNCTION

#endif
