/* test_messages GOLDEN: what is said of models that cannot be imported, word for word. After a change of a message:
 * test_messages --print > tests/import/messages.txt, and read the difference. */
#include <stdio.h>

#include "loaded.h"

static struct onnx_builder *model; /* of the case that is being made */

/* ---- parts that cases share ---- */

static void begin(void)
{
    model = onnx_builder_make(9);
    onnx_add_input(model, "x", 4, SHAPE(1, 4, 6, 6));
}

static void add_weights(int rank, const int64_t *dimensions)
{
    static int64_t numbers[1000]; /* 0, 1, 2, ... 9, 0, 1, ... */
    for (int i = 0; i < 1000; i++)
        numbers[i] = i % 10;
    onnx_add_initialiser(model, "w", rank, dimensions, numbers);
}

static onnx_node *add_conv(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    return onnx_add_node(model, "Conv", "x w", "y");
}

static void add_flat_gemm_weights(int64_t inputs)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(2, SHAPE(inputs, 2));
}

static onnx_node *add_pool(const char *type)
{
    onnx_node *pool = onnx_add_node(model, type, "x", "y");
    onnx_set_integers(model, pool, "kernel_shape", 2, SHAPE(3, 3));
    return pool;
}

/* ---- cases: each leaves a model whose output is y ---- */

static void float_weights(void)
{
    float numbers[144] = {0.5F, 1, 0.25F};
    onnx_add_floats(model, "w", 4, SHAPE(4, 4, 3, 3), numbers);
    onnx_add_node(model, "Conv", "x w", "y");
}

static void large_weights(void)
{
    int64_t numbers[144] = {128, -129};
    onnx_add_initialiser(model, "w", 4, SHAPE(4, 4, 3, 3), numbers);
    onnx_add_node(model, "Conv", "x w", "y");
}

static void half_precision_weights(void)
{
    add_conv();
    onnx_builder_model(model)->graph->initializer[0]->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
}

static void float_multiplier(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_scalar(model, "k", 0.0039);
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "Mul", "c k", "y");
}

static void several_faults(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "a");
    onnx_add_node(model, "BatchNormalization", "a", "b");
    onnx_add_node(model, "LeakyRelu", "b", "c");
    onnx_add_node(model, "Conv", "c missing_weights", "d");
    onnx_add_floats(model, "missing_weights", 4, SHAPE(1, 4, 1, 1), (const float[]){0.1F, 0.2F, 0.3F, 0.4F});
    onnx_add_node(model, "TopK", "d", "y");
}

static void foreign_domain(void) { onnx_add_node(model, "MaxPool", "x", "y")->domain = (char *)(uintptr_t) "com.acme"; }
static void quantized(void) { onnx_add_node(model, "QuantizeLinear", "x", "y"); }

static void groups(void)
{
    add_weights(4, SHAPE(4, 2, 3, 3));
    onnx_set_integer(model, onnx_add_node(model, "Conv", "x w", "y"), "group", 3);
}

static void wrong_channels(void)
{
    add_weights(4, SHAPE(4, 3, 3, 3));
    onnx_add_node(model, "Conv", "x w", "y");
}

static void kernel_too_large(void)
{
    add_weights(4, SHAPE(1, 4, 7, 7));
    onnx_add_node(model, "Conv", "x w", "y");
}

static void kernel_shape_differs(void) { onnx_set_integers(model, add_conv(), "kernel_shape", 2, SHAPE(5, 5)); }
static void stride_zero(void) { onnx_set_integers(model, add_conv(), "strides", 2, SHAPE(0, 1)); }
static void three_strides(void) { onnx_set_integers(model, add_conv(), "strides", 3, SHAPE(1, 1, 1)); }
static void negative_padding(void) { onnx_set_integers(model, add_conv(), "pads", 4, SHAPE(0, -1, 0, 0)); }
static void unknown_automatic_padding(void) { onnx_set_text(model, add_conv(), "auto_pad", "MIRROR"); }
static void strange_weight_bits(void) { onnx_set_integer(model, add_conv(), "weight_bits", 5); }

static void bias_of_wrong_size(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_initialiser(model, "b", 1, SHAPE(3), SHAPE(1, 2, 3));
    onnx_add_node(model, "Conv", "x w b", "y");
}

static void convolution_of_two_tensors(void) { onnx_add_node(model, "Conv", "x x", "y"); }
static void convolution_without_weights(void) { onnx_add_node(model, "Conv", "x", "y"); }

static void gemm_not_flat(void)
{
    add_weights(2, SHAPE(144, 2));
    onnx_add_node(model, "Gemm", "x w", "y");
}

static void gemm_of_wrong_size(void)
{
    add_flat_gemm_weights(100);
    onnx_add_node(model, "Gemm", "flat w", "y");
}

static void gemm_attributes(void)
{
    add_flat_gemm_weights(144);
    onnx_add_initialiser(model, "b", 1, SHAPE(2), SHAPE(1, 2));
    onnx_node *gemm = onnx_add_node(model, "Gemm", "flat w b", "y");
    onnx_set_float(model, gemm, "alpha", 2);
    onnx_set_float(model, gemm, "beta", 0.5F);
    onnx_set_integer(model, gemm, "transA", 1);
}

static void average_excludes_padding(void)
{
    onnx_set_integers(model, add_pool("AveragePool"), "pads", 4, SHAPE(1, 1, 1, 1));
}

static void average_rounds_up(void)
{
    onnx_node *pool = add_pool("AveragePool");
    onnx_set_integers(model, pool, "strides", 2, SHAPE(2, 2));
    onnx_set_integer(model, pool, "ceil_mode", 1);
}

static void pool_without_kernel(void) { onnx_add_node(model, "MaxPool", "x", "y"); }
static void pool_sees_padding_only(void) { onnx_set_integers(model, add_pool("MaxPool"), "pads", 4, SHAPE(3, 0, 0, 0)); }

static void mirror_padding(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "p");
    onnx_set_text(model, pad, "mode", "reflect");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "p w", "y");
}

static void padded_channels(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Pad", "x", "y"), "pads", 8, SHAPE(0, 1, 0, 0, 0, 0, 0, 0));
}

static void different_shapes(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "Add", "c x", "y");
}

static void constant_of_wrong_shape(void)
{
    onnx_add_initialiser(model, "k", 1, SHAPE(6), SHAPE(1, 2, 3, 4, 5, 6)); /* one a column, not a channel */
    onnx_add_node(model, "Mul", "x k", "y");
}

static void product_of_tensors(void) { onnx_add_node(model, "Mul", "x x", "y"); }

static void divisor_zero(void)
{
    onnx_add_scalar(model, "d", 0);
    onnx_add_node(model, "Div", "x d", "y");
}

static void divisor_by_channel(void)
{
    onnx_add_initialiser(model, "d", 4, SHAPE(1, 4, 1, 1), SHAPE(1, 2, 4, 8));
    onnx_add_node(model, "Div", "x d", "y");
}

static void clip_at_fraction(void) { onnx_set_float(model, onnx_add_node(model, "Clip", "x", "y"), "max", 0.996F); }

static void narrow_cast(void)
{
    onnx_set_integer(model, onnx_add_node(model, "Cast", "x", "y"), "to", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8);
}

static void concatenation_of_rows(void) { onnx_set_integer(model, onnx_add_node(model, "Concat", "x x", "y"), "axis", 2); }

static void concatenation_with_constant(void)
{
    add_weights(4, SHAPE(1, 4, 6, 6));
    onnx_set_integer(model, onnx_add_node(model, "Concat", "x w", "y"), "axis", 1);
}

static void concatenation_of_shapes(void)
{
    onnx_set_integers(model, onnx_add_node(model, "MaxPool", "x", "half"), "kernel_shape", 2, SHAPE(2, 2));
    onnx_set_integer(model, onnx_add_node(model, "Concat", "x half", "y"), "axis", 1);
}

static void transposition(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "x", "y"), "perm", 4, SHAPE(0, 2, 3, 1));
}

static void no_permutation(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "x", "y"), "perm", 4, SHAPE(0, 1, 1, 3));
}

static void reshape_moves_elements(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(4), SHAPE(1, 9, 4, 4));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

static void reshape_to_other_count(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(2), SHAPE(1, 100));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

static void layer_behind_head(void)
{
    onnx_add_node(model, "Sigmoid", "x", "s");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "s w", "y");
}

static void no_layer(void) { onnx_add_node(model, "Identity", "x", "y"); }

static void dynamic_input(void)
{
    onnx_add_input(model, "z", 4, SHAPE(1, 4, -1, 6));
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "z w", "y");
}

static void mask_of_dropout(void)
{
    onnx_add_node(model, "Dropout", "x", "kept mask");
    onnx_add_node(model, "Identity", "mask", "y");
}

/* ---- models as users bring them ---- */

static void recurrent(void) { onnx_add_node(model, "LSTM", "x", "y"); }

static void post_processing(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "ArgMax", "c", "y");
}

static void split(void) { onnx_add_node(model, "Split", "x", "y z"); }
static void control_flow(void) { onnx_add_node(model, "If", "x", "y"); }
static void scaled_up(void) { onnx_add_node(model, "Resize", "x", "y"); }
static void gelu(void) { onnx_add_node(model, "Erf", "x", "y"); }

static void float_bias(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_floats(model, "b", 1, SHAPE(4), (const float[]){1, 2, 3, 4.5F});
    onnx_add_node(model, "Conv", "x w b", "y");
}

static void normalised_image(void)
{
    onnx_add_scalar(model, "mean", 0.485);
    onnx_add_node(model, "Sub", "x mean", "centred");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "centred w", "y");
}

static void external_data(void)
{
    add_conv();
    Onnx__TensorProto *weights = onnx_builder_model(model)->graph->initializer[0];
    weights->has_data_location = 1;
    weights->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static void volume(void)
{
    onnx_add_input(model, "z", 5, SHAPE(1, 4, 6, 6, 6));
    add_weights(5, SHAPE(2, 4, 3, 3, 3));
    onnx_add_node(model, "Conv", "z w", "y");
}

static void input_of_one_dimension(void)
{
    onnx_add_input(model, "z", 1, SHAPE(8));
    onnx_add_node(model, "Relu", "z", "y");
}

static void too_wide_input(void)
{
    onnx_add_input(model, "z", 4, SHAPE(1, 1, 1, 70000));
    onnx_add_node(model, "Relu", "z", "y");
}

static void tensor_of_later_node(void)
{
    onnx_add_node(model, "Relu", "later", "y");
    onnx_add_node(model, "Relu", "x", "later");
}

static void unknown_tensor(void) { onnx_add_node(model, "Relu", "nowhere", "y"); }
static void output_of_no_node(void) { onnx_add_node(model, "Relu", "x", "z"); }

static void tensor_made_twice(void)
{
    onnx_add_node(model, "Relu", "x", "y");
    onnx_add_node(model, "Floor", "x", "y");
}

static void cropping_pads(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Pad", "x", "y"), "pads", 8, SHAPE(0, 0, -1, 0, 0, 0, 0, 0));
}

static void computed_pads(void) { onnx_add_node(model, "Pad", "x x", "y"); }

static void clip_bounds_swapped(void)
{
    onnx_node *clip = onnx_add_node(model, "Clip", "x", "y");
    onnx_set_float(model, clip, "min", 5);
    onnx_set_float(model, clip, "max", 4);
}

static void quotient_by_tensor(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Div", "k x", "y");
}

static void squeezed_channels(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Squeeze", "x", "y"), "axes", 1, SHAPE(1));
}

static void odd_requantisation(void)
{
    onnx_node *add = onnx_add_node(model, "Add", "x x", "y");
    onnx_set_integer(model, add, "in1_mul", 3);
    onnx_set_integer(model, add, "in1_shift", 99);
}

static void flattened_from_axis_2(void) { onnx_set_integer(model, onnx_add_node(model, "Flatten", "x", "y"), "axis", 2); }

static void overflowing_constants(void)
{
    onnx_add_int64(model, "k", 0, NULL, SHAPE(INT64_MAX));
    onnx_add_node(model, "Mul", "x k", "a");
    onnx_add_node(model, "Mul", "a k", "y");
}

/* ---- constants and shapes where tensors are expected, and the other way round ---- */

static void constant_minus_tensor(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Sub", "k x", "y");
}

static void clip_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Clip", "k", "y");
}

static void relu_of_a_shape(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_node(model, "Relu", "shape", "y");
}

static void computed_clip_bound(void) { onnx_add_node(model, "Clip", "x x", "y"); }

static void computed_bias(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w x", "y");
}

static void convolution_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "flat w", "y");
}

static void pool_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_set_integers(model, onnx_add_node(model, "MaxPool", "flat", "y"), "kernel_shape", 1, SHAPE(2));
}

static void global_pool_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_add_node(model, "GlobalAveragePool", "flat", "y");
}

static void matrix_of_three_dimensions(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(3, SHAPE(1, 144, 2));
    onnx_add_node(model, "MatMul", "flat w", "y");
}

static void constant_of_text(void)
{
    onnx_set_text(model, onnx_add_node(model, "Constant", "", "k"), "value_string", "three");
    onnx_add_node(model, "Mul", "x k", "y");
}

static void flatten_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Flatten", "k", "y");
}

static void transpose_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Transpose", "k", "y");
}

static void sigmoid_of_a_shape(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_node(model, "Sigmoid", "shape", "y");
}

static void reshape_to_one_dimension(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(1), SHAPE(144));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

static void reshape_by_a_negative_extent(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(2), SHAPE(-3, 48));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

static void reshape_by_the_network(void) { onnx_add_node(model, "Reshape", "x x", "y"); }
static void unsqueeze_without_axes(void) { onnx_add_node(model, "Unsqueeze", "x", "y"); }

static void gather_behind_the_end(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_int64(model, "index", 0, NULL, SHAPE(4));
    onnx_add_node(model, "Gather", "shape index", "extent");
    onnx_add_node(model, "Reshape", "x extent", "y");
}

static void fraction_of_groups(void) { onnx_set_float(model, add_conv(), "group", 1.5F); }

/* ---- padding ---- */

static void padded_with_ones(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "y");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_set_float(model, pad, "value", 1);
}

static void padded_with_an_integer_one(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "y");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_set_integer(model, pad, "value", 1);
}

static void padded_with_a_tensor(void)
{
    onnx_add_int64(model, "pads", 1, SHAPE(8), SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_add_node(model, "Pad", "x pads x", "y");
}

static void padded_axes(void)
{
    onnx_add_int64(model, "pads", 1, SHAPE(8), SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_add_int64(model, "axes", 1, SHAPE(2), SHAPE(2, 3));
    onnx_add_node(model, "Pad", "x pads - axes", "y");
}

static void padded_flat(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_set_integers(model, onnx_add_node(model, "Pad", "flat", "y"), "pads", 4, SHAPE(0, 1, 0, 1));
}

static void padded_without_end(void)
{
    for (int i = 0; i < 2; i++)
        onnx_set_integers(model, onnx_add_node(model, "Pad", i ? "p" : "x", i ? "y" : "p"), "pads", 8,
                          SHAPE(0, 0, 0, 40000, 0, 0, 0, 0));
}

/* ---- files that are no well-formed graphs ---- */

static void initialisers_of_one_name(void)
{
    add_conv();
    add_weights(4, SHAPE(4, 4, 3, 3));
}

static void constant_of_nine_dimensions(void)
{
    add_weights(9, SHAPE(4, 4, 3, 3, 1, 1, 1, 1, 1));
    onnx_add_node(model, "Conv", "x w", "y");
}

static void too_many_joined(void)
{
    char inputs[200] = "x";
    for (int i = 0; i < 64; i++)
        strcat(inputs, " x");
    onnx_set_integer(model, onnx_add_node(model, "Concat", inputs, "y"), "axis", 1);
}

static const struct {
    const char *name;
    void (*make)(void);
} cases[] = {
#define CASE(function)                                                                                                      \
    {                                                                                                                       \
#function, function                                                                                                 \
    }
    CASE(float_weights),
    CASE(large_weights),
    CASE(half_precision_weights),
    CASE(float_multiplier),
    CASE(several_faults),
    CASE(foreign_domain),
    CASE(quantized),
    CASE(groups),
    CASE(wrong_channels),
    CASE(kernel_too_large),
    CASE(kernel_shape_differs),
    CASE(stride_zero),
    CASE(three_strides),
    CASE(negative_padding),
    CASE(unknown_automatic_padding),
    CASE(strange_weight_bits),
    CASE(bias_of_wrong_size),
    CASE(convolution_of_two_tensors),
    CASE(convolution_without_weights),
    CASE(gemm_not_flat),
    CASE(gemm_of_wrong_size),
    CASE(gemm_attributes),
    CASE(average_excludes_padding),
    CASE(average_rounds_up),
    CASE(pool_without_kernel),
    CASE(pool_sees_padding_only),
    CASE(mirror_padding),
    CASE(padded_channels),
    CASE(different_shapes),
    CASE(constant_of_wrong_shape),
    CASE(product_of_tensors),
    CASE(divisor_zero),
    CASE(divisor_by_channel),
    CASE(clip_at_fraction),
    CASE(narrow_cast),
    CASE(concatenation_of_rows),
    CASE(concatenation_with_constant),
    CASE(concatenation_of_shapes),
    CASE(transposition),
    CASE(no_permutation),
    CASE(reshape_moves_elements),
    CASE(reshape_to_other_count),
    CASE(layer_behind_head),
    CASE(no_layer),
    CASE(dynamic_input),
    CASE(mask_of_dropout),
    CASE(recurrent),
    CASE(post_processing),
    CASE(split),
    CASE(control_flow),
    CASE(scaled_up),
    CASE(gelu),
    CASE(float_bias),
    CASE(normalised_image),
    CASE(external_data),
    CASE(volume),
    CASE(input_of_one_dimension),
    CASE(too_wide_input),
    CASE(tensor_of_later_node),
    CASE(unknown_tensor),
    CASE(output_of_no_node),
    CASE(tensor_made_twice),
    CASE(cropping_pads),
    CASE(computed_pads),
    CASE(clip_bounds_swapped),
    CASE(quotient_by_tensor),
    CASE(squeezed_channels),
    CASE(odd_requantisation),
    CASE(flattened_from_axis_2),
    CASE(overflowing_constants),
    CASE(constant_minus_tensor),
    CASE(clip_of_a_constant),
    CASE(relu_of_a_shape),
    CASE(computed_clip_bound),
    CASE(computed_bias),
    CASE(convolution_of_a_flat_tensor),
    CASE(pool_of_a_flat_tensor),
    CASE(global_pool_of_a_flat_tensor),
    CASE(matrix_of_three_dimensions),
    CASE(constant_of_text),
    CASE(flatten_of_a_constant),
    CASE(transpose_of_a_constant),
    CASE(sigmoid_of_a_shape),
    CASE(reshape_to_one_dimension),
    CASE(reshape_by_a_negative_extent),
    CASE(reshape_by_the_network),
    CASE(unsqueeze_without_axes),
    CASE(gather_behind_the_end),
    CASE(fraction_of_groups),
    CASE(padded_with_ones),
    CASE(padded_with_an_integer_one),
    CASE(padded_with_a_tensor),
    CASE(padded_axes),
    CASE(padded_flat),
    CASE(padded_without_end),
    CASE(initialisers_of_one_name),
    CASE(constant_of_nine_dimensions),
    CASE(too_many_joined),
};

/* ---- the comparison ---- */

/* Prints all messages; false if a broken model was accepted. */
static bool print_all(FILE *stream)
{
    bool all_refused = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        begin();
        cases[i].make();
        onnx_add_output(model, "y");
        load_built(&loaded, model);
        fprintf(stream, "== %s\n", cases[i].name);
        diagnostics_print(&loaded.diagnostics, stream);
        if (loaded.network)
            fprintf(stderr, "%s: the model was accepted\n", cases[i].name);
        all_refused &= loaded.network == NULL;
        arena_free(&loaded.arena);
    }
    return all_refused;
}

static bool compare(FILE *golden, FILE *actual)
{
    static char expected[4096], found[4096], name[4096];
    bool is_equal = true;
    for (;;) {
        bool more_expected = fgets(expected, sizeof expected, golden), more_found = fgets(found, sizeof found, actual);
        if (!more_expected && !more_found)
            return is_equal;
        if (found[0] == '=')
            memcpy(name, found, sizeof name);
        if (more_expected != more_found || strcmp(expected, found) != 0) {
            fprintf(stderr, "%sexpected: %sfound:    %s", name, more_expected ? expected : "(end)\n",
                    more_found ? found : "(end)\n");
            is_equal = false;
        }
        if (more_expected != more_found)
            return false;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!strcmp(argv[1], "--print"))
        return print_all(stdout) ? 0 : 1;
    FILE *golden = fopen(argv[1], "r"), *actual = tmpfile();
    if (!golden || !actual) {
        fprintf(stderr, "cannot open %s\n", argv[1]);
        return 1;
    }
    bool is_good = print_all(actual);
    rewind(actual);
    is_good &= compare(golden, actual);
    fclose(golden);
    fclose(actual);
    return is_good ? 0 : 1;
}
