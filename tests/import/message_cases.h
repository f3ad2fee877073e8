/* Models that are refused: each case leaves one whose output is y. */
#ifndef DORY_TEST_MESSAGE_CASES_H
#define DORY_TEST_MESSAGE_CASES_H

#include "loaded.h"

extern struct onnx_builder *model; /* of the case that is being made */

/* Parts that cases share. begin: a model with an input x. */
void begin(void);
void add_weights(int rank, const int64_t *dimensions);
onnx_node *add_conv(void);
void add_flat_gemm_weights(int64_t inputs);
onnx_node *add_pool(const char *type);

/* In the order of messages.txt. */
#define MESSAGE_CASES(CASE)                                                                                                 \
    CASE(float_weights)                                                                                                     \
    CASE(large_weights)                                                                                                     \
    CASE(half_precision_weights)                                                                                            \
    CASE(float_multiplier)                                                                                                  \
    CASE(several_faults)                                                                                                    \
    CASE(foreign_domain)                                                                                                    \
    CASE(quantized)                                                                                                         \
    CASE(groups)                                                                                                            \
    CASE(wrong_channels)                                                                                                    \
    CASE(kernel_too_large)                                                                                                  \
    CASE(kernel_shape_differs)                                                                                              \
    CASE(stride_zero)                                                                                                       \
    CASE(three_strides)                                                                                                     \
    CASE(negative_padding)                                                                                                  \
    CASE(unknown_automatic_padding)                                                                                         \
    CASE(strange_weight_bits)                                                                                               \
    CASE(bias_of_wrong_size)                                                                                                \
    CASE(convolution_of_two_tensors)                                                                                        \
    CASE(convolution_without_weights)                                                                                       \
    CASE(gemm_not_flat)                                                                                                     \
    CASE(gemm_of_wrong_size)                                                                                                \
    CASE(gemm_attributes)                                                                                                   \
    CASE(average_excludes_padding)                                                                                          \
    CASE(average_rounds_up)                                                                                                 \
    CASE(pool_without_kernel)                                                                                               \
    CASE(pool_sees_padding_only)                                                                                            \
    CASE(mirror_padding)                                                                                                    \
    CASE(padded_channels)                                                                                                   \
    CASE(different_shapes)                                                                                                  \
    CASE(constant_of_wrong_shape)                                                                                           \
    CASE(product_of_tensors)                                                                                                \
    CASE(divisor_zero)                                                                                                      \
    CASE(divisor_by_channel)                                                                                                \
    CASE(clip_at_fraction)                                                                                                  \
    CASE(narrow_cast)                                                                                                       \
    CASE(concatenation_of_rows)                                                                                             \
    CASE(concatenation_with_constant)                                                                                       \
    CASE(concatenation_of_shapes)                                                                                           \
    CASE(transposition)                                                                                                     \
    CASE(no_permutation)                                                                                                    \
    CASE(reshape_moves_elements)                                                                                            \
    CASE(reshape_to_other_count)                                                                                            \
    CASE(layer_behind_head)                                                                                                 \
    CASE(no_layer)                                                                                                          \
    CASE(dynamic_input)                                                                                                     \
    CASE(mask_of_dropout)                                                                                                   \
    CASE(recurrent)                                                                                                         \
    CASE(post_processing)                                                                                                   \
    CASE(split)                                                                                                             \
    CASE(control_flow)                                                                                                      \
    CASE(scaled_up)                                                                                                         \
    CASE(gelu)                                                                                                              \
    CASE(float_bias)                                                                                                        \
    CASE(normalised_image)                                                                                                  \
    CASE(external_data)                                                                                                     \
    CASE(volume)                                                                                                            \
    CASE(input_of_one_dimension)                                                                                            \
    CASE(too_wide_input)                                                                                                    \
    CASE(cycle)                                                                                                             \
    CASE(unknown_tensors)                                                                                                   \
    CASE(output_of_no_node)                                                                                                 \
    CASE(tensor_made_twice)                                                                                                 \
    CASE(cropping_pads)                                                                                                     \
    CASE(computed_pads)                                                                                                     \
    CASE(clip_bounds_swapped)                                                                                               \
    CASE(quotient_by_tensor)                                                                                                \
    CASE(squeezed_channels)                                                                                                 \
    CASE(odd_requantisation)                                                                                                \
    CASE(flattened_from_axis_2)                                                                                             \
    CASE(overflowing_constants)                                                                                             \
    CASE(constant_minus_tensor)                                                                                             \
    CASE(clip_of_a_constant)                                                                                                \
    CASE(relu_of_a_shape)                                                                                                   \
    CASE(computed_clip_bound)                                                                                               \
    CASE(computed_bias)                                                                                                     \
    CASE(convolution_of_a_flat_tensor)                                                                                      \
    CASE(pool_of_a_flat_tensor)                                                                                             \
    CASE(global_pool_of_a_flat_tensor)                                                                                      \
    CASE(matrix_of_three_dimensions)                                                                                        \
    CASE(constant_of_text)                                                                                                  \
    CASE(flatten_of_a_constant)                                                                                             \
    CASE(transpose_of_a_constant)                                                                                           \
    CASE(sigmoid_of_a_shape)                                                                                                \
    CASE(reshape_to_one_dimension)                                                                                          \
    CASE(reshape_by_a_negative_extent)                                                                                      \
    CASE(reshape_by_the_network)                                                                                            \
    CASE(unsqueeze_without_axes)                                                                                            \
    CASE(gather_behind_the_end)                                                                                             \
    CASE(fraction_of_groups)                                                                                                \
    CASE(padded_with_a_half)                                                                                                \
    CASE(padded_with_a_large_number)                                                                                        \
    CASE(padded_with_a_tensor)                                                                                              \
    CASE(requant_shift_without_divisor)                                                                                     \
    CASE(requant_shift_without_levels)                                                                                      \
    CASE(requant_shift_of_one_level)                                                                                        \
    CASE(requant_shift_by_zero)                                                                                             \
    CASE(requant_shift_of_other_channels)                                                                                   \
    CASE(half_without_division)                                                                                             \
    CASE(zero_point_of_an_integer_convolution)                                                                              \
    CASE(padded_axes)                                                                                                       \
    CASE(padded_flat)                                                                                                       \
    CASE(padded_without_end)                                                                                                \
    CASE(initialisers_of_one_name)                                                                                          \
    CASE(constant_of_nine_dimensions)                                                                                       \
    CASE(too_many_joined)

#define DECLARE_CASE(function) void function(void);
MESSAGE_CASES(DECLARE_CASE)

#endif
