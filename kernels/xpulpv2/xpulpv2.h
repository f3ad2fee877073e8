/* The kernels for GAP8. Each takes what the predicate of its description in kernels/contract/xpulpv2.c admits. */
#ifndef DORY_XPULPV2_H
#define DORY_XPULPV2_H

#include "dory/layer.h"

dory_kernel_function dory_xpulpv2_convolution;
dory_kernel_function dory_xpulpv2_convolution_gather;
dory_kernel_function dory_xpulpv2_linear;
dory_kernel_function dory_xpulpv2_depthwise_3x3_stride_1;
dory_kernel_function dory_xpulpv2_depthwise_3x3_stride_2;
dory_kernel_function dory_xpulpv2_depthwise;
dory_kernel_function dory_xpulpv2_addition;
dory_kernel_function dory_xpulpv2_pool;

#endif
