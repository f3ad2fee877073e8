/* The portable kernels: every layer, every shape, any machine; the measure for all others. */
#ifndef DORY_REFERENCE_H
#define DORY_REFERENCE_H

#include "dory/layer.h"

dory_kernel_function dory_reference_convolution;
dory_kernel_function dory_reference_depthwise;
dory_kernel_function dory_reference_depthwise_chw;
dory_kernel_function dory_reference_pool; /* maximum and average */
dory_kernel_function dory_reference_addition;
dory_kernel_function dory_reference_multiplication;
dory_kernel_function dory_reference_grouped;
dory_kernel_function dory_reference_concatenation;
dory_kernel_function dory_reference_table;
dory_kernel_function dory_reference_softmax;
dory_kernel_function dory_reference_softmax_exact;
dory_kernel_function dory_reference_norm;
dory_kernel_function dory_reference_interpolation;
dory_kernel_function dory_reference_copy;
dory_kernel_function dory_reference_transposition;
dory_kernel_function dory_reference_largest;
dory_kernel_function dory_reference_matrix_product;

#endif
