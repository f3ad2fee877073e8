/* The list of the kernels for GAP8, in order of preference where their cycles are equal. A kernel NAME is the function
 * dory_xpulpv2_NAME and its description dory_xpulpv2_NAME_description, which lies beside it in a file ..description.c: the
 * firmware has the function, the planner has the description, whose predicate says what the function takes.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_H
#define DORY_XPULPV2_H

#include "dory/contract.h"
#include "dory/layer.h"

/* Kernels for depth-wise layers 3x3, one for each kind of normalisation. */
#define DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, name)                                                                      \
    KERNEL(name)                                                                                                            \
    KERNEL(name##_clamped)                                                                                                  \
    KERNEL(name##_split)                                                                                                    \
    KERNEL(name##_high_away)

#define DORY_XPULPV2_KERNELS(KERNEL)                                                                                        \
    KERNEL(narrow_8)                                                                                                        \
    KERNEL(narrow_8_clamped)                                                                                                \
    KERNEL(narrow_8_split)                                                                                                  \
    KERNEL(narrow_16)                                                                                                       \
    KERNEL(narrow_16_clamped)                                                                                               \
    KERNEL(narrow_16_split)                                                                                                 \
    KERNEL(narrow_24)                                                                                                       \
    KERNEL(narrow_24_clamped)                                                                                               \
    KERNEL(narrow_24_split)                                                                                                 \
    KERNEL(narrow_32)                                                                                                       \
    KERNEL(narrow_gather_12_clamped)                                                                                        \
    KERNEL(narrow_gather_28)                                                                                                \
    KERNEL(narrow_gather_28_split)                                                                                          \
    KERNEL(convolution)                                                                                                     \
    KERNEL(convolution_clamped)                                                                                             \
    KERNEL(convolution_split)                                                                                               \
    KERNEL(convolution_high)                                                                                                \
    KERNEL(linear)                                                                                                          \
    KERNEL(linear_clamped)                                                                                                  \
    KERNEL(linear_split)                                                                                                    \
    KERNEL(linear_high)                                                                                                     \
    KERNEL(linear_shared)                                                                                                   \
    KERNEL(linear_few)                                                                                                      \
    KERNEL(linear_few_clamped)                                                                                              \
    KERNEL(linear_few_split)                                                                                                \
    KERNEL(linear_few_high)                                                                                                 \
    KERNEL(linear_few_shared)                                                                                               \
    KERNEL(convolution_row)                                                                                                 \
    KERNEL(convolution_row_clamped)                                                                                         \
    KERNEL(convolution_row_split)                                                                                           \
    KERNEL(convolution_row_high)                                                                                            \
    KERNEL(convolution_gather)                                                                                              \
    KERNEL(convolution_gather_clamped)                                                                                      \
    KERNEL(convolution_gather_split)                                                                                        \
    KERNEL(convolution_gather_high)                                                                                         \
    KERNEL(packed_convolution_8)                                                                                            \
    KERNEL(packed_convolution_4)                                                                                            \
    KERNEL(packed_convolution_2)                                                                                            \
    KERNEL(packed_linear_4)                                                                                                 \
    KERNEL(packed_linear_2)                                                                                                 \
    KERNEL(packed_gather_8)                                                                                                 \
    KERNEL(packed_gather_4)                                                                                                 \
    KERNEL(packed_gather_2)                                                                                                 \
    KERNEL(convolution_any_8)                                                                                               \
    KERNEL(convolution_any_4)                                                                                               \
    KERNEL(convolution_any_2)                                                                                               \
    KERNEL(grouped)                                                                                                         \
    KERNEL(grouped_clamped)                                                                                                 \
    KERNEL(grouped_split)                                                                                                   \
    KERNEL(grouped_high)                                                                                                    \
    KERNEL(packed_grouped_8)                                                                                                \
    KERNEL(packed_grouped_4)                                                                                                \
    KERNEL(packed_grouped_2)                                                                                                \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_stride_1)                                                        \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_stride_2)                                                        \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_1)                                                    \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_1_half)                                               \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_1_one)                                                \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2)                                                    \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2_half)                                               \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2_one)                                                \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2_right)                                              \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2_right_half)                                         \
    DORY_XPULPV2_DEPTHWISE_3X3_KINDS(KERNEL, depthwise_3x3_chw_stride_2_right_one)                                          \
    KERNEL(line_direct)                                                                                                     \
    KERNEL(line_clamped)                                                                                                    \
    KERNEL(line_split)                                                                                                      \
    KERNEL(line_split_away)                                                                                                 \
    KERNEL(line_high_away)                                                                                                  \
    KERNEL(line_high_even)                                                                                                  \
    KERNEL(line)                                                                                                            \
    KERNEL(depthwise_direct)                                                                                                \
    KERNEL(depthwise_clamped)                                                                                               \
    KERNEL(depthwise_split)                                                                                                 \
    KERNEL(depthwise_split_away)                                                                                            \
    KERNEL(depthwise_high_away)                                                                                             \
    KERNEL(depthwise_high_even)                                                                                             \
    KERNEL(depthwise)                                                                                                       \
    KERNEL(depthwise_single)                                                                                                \
    KERNEL(depthwise_scalar)                                                                                                \
    KERNEL(addition)                                                                                                        \
    KERNEL(addition_any)                                                                                                    \
    KERNEL(addition_wide)                                                                                                   \
    KERNEL(multiplication)                                                                                                  \
    KERNEL(multiplication_wide)                                                                                             \
    KERNEL(table)                                                                                                           \
    KERNEL(tables)                                                                                                          \
    KERNEL(pool_maximum)                                                                                                    \
    KERNEL(pool_average)                                                                                                    \
    KERNEL(pool_any)                                                                                                        \
    KERNEL(copy)                                                                                                            \
    KERNEL(constant)                                                                                                        \
    KERNEL(transposition)                                                                                                   \
    KERNEL(concatenation)                                                                                                   \
    KERNEL(concatenation_any)                                                                                               \
    KERNEL(interpolation)                                                                                                   \
    KERNEL(softmax)                                                                                                         \
    KERNEL(softmax_exact)                                                                                                   \
    KERNEL(largest)                                                                                                         \
    KERNEL(norm)                                                                                                            \
    KERNEL(lstm)                                                                                                            \
    KERNEL(matrix_dots)                                                                                                     \
    KERNEL(matrix_dots_clamped)                                                                                             \
    KERNEL(matrix_dots_split)                                                                                               \
    KERNEL(matrix_dots_high)                                                                                                \
    KERNEL(matrix_product)                                                                                                  \
    KERNEL(matrix_product_clamped)                                                                                          \
    KERNEL(matrix_product_split)                                                                                            \
    KERNEL(matrix_product_high)                                                                                             \
    KERNEL(squared_difference)                                                                                              \
    KERNEL(quotient)

/* The second parts of those that have two. */
#define DORY_XPULPV2_FINISHES(FINISH)                                                                                       \
    FINISH(finish_linear_few)                                                                                               \
    FINISH(finish_linear_few_clamped)                                                                                       \
    FINISH(finish_linear_few_split)                                                                                         \
    FINISH(finish_linear_few_high)                                                                                          \
    FINISH(finish_linear_few_shared)                                                                                        \
    FINISH(finish_matrix_product)                                                                                           \
    FINISH(finish_matrix_product_clamped)                                                                                   \
    FINISH(finish_matrix_product_split)                                                                                     \
    FINISH(finish_matrix_product_high)

#define DORY_DECLARE_KERNEL(name)                                                                                           \
    dory_kernel_function dory_xpulpv2_##name;                                                                               \
    extern const struct dory_kernel_description dory_xpulpv2_##name##_description;
DORY_XPULPV2_KERNELS(DORY_DECLARE_KERNEL)
#undef DORY_DECLARE_KERNEL

#define DORY_DECLARE_FINISH(name) dory_kernel_function dory_xpulpv2_##name;
DORY_XPULPV2_FINISHES(DORY_DECLARE_FINISH)
#undef DORY_DECLARE_FINISH

#endif
