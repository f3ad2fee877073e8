/* Models as users bring them, and what is wrong with tensors, constants and files. */
#include "message_cases.h"

/* ---- models as users bring them ---- */

void recurrent(void) { onnx_add_node(model, "LSTM", "x", "y"); }

void post_processing(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "ArgMax", "c", "y");
}

void split(void) { onnx_add_node(model, "Split", "x", "y z"); }
void control_flow(void) { onnx_add_node(model, "If", "x", "y"); }
void scaled_up(void) { onnx_add_node(model, "Resize", "x", "y"); }
void gelu(void) { onnx_add_node(model, "Erf", "x", "y"); }

void float_bias(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_floats(model, "b", 1, SHAPE(4), (const float[]){1, 2, 3, 4.5F});
    onnx_add_node(model, "Conv", "x w b", "y");
}

void normalised_image(void)
{
    onnx_add_scalar(model, "mean", 0.485);
    onnx_add_node(model, "Sub", "x mean", "centred");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "centred w", "y");
}

void external_data(void)
{
    add_conv();
    Onnx__TensorProto *weights = onnx_builder_model(model)->graph->initializer[0];
    weights->has_data_location = 1;
    weights->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

void volume(void)
{
    onnx_add_input(model, "z", 5, SHAPE(1, 4, 6, 6, 6));
    add_weights(5, SHAPE(2, 4, 3, 3, 3));
    onnx_add_node(model, "Conv", "z w", "y");
}

void input_of_one_dimension(void)
{
    onnx_add_input(model, "z", 1, SHAPE(8));
    onnx_add_node(model, "Relu", "z", "y");
}

void too_wide_input(void)
{
    onnx_add_input(model, "z", 4, SHAPE(1, 1, 1, 70000));
    onnx_add_node(model, "Relu", "z", "y");
}

void cycle(void)
{
    onnx_add_node(model, "Relu", "later", "y");
    onnx_add_node(model, "Add", "x y", "later");
}

void unknown_tensors(void) { onnx_add_node(model, "Add", "nowhere neither", "y"); }
void output_of_no_node(void) { onnx_add_node(model, "Relu", "x", "z"); }

void tensor_made_twice(void)
{
    onnx_add_node(model, "Relu", "x", "y");
    onnx_add_node(model, "Floor", "x", "y");
}

void cropping_pads(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Pad", "x", "y"), "pads", 8, SHAPE(0, 0, -1, 0, 0, 0, 0, 0));
}

void computed_pads(void) { onnx_add_node(model, "Pad", "x x", "y"); }

void clip_bounds_swapped(void)
{
    onnx_node *clip = onnx_add_node(model, "Clip", "x", "y");
    onnx_set_float(model, clip, "min", 5);
    onnx_set_float(model, clip, "max", 4);
}

void quotient_by_tensor(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Div", "k x", "y");
}

void squeezed_channels(void) { onnx_set_integers(model, onnx_add_node(model, "Squeeze", "x", "y"), "axes", 1, SHAPE(1)); }

void odd_requantisation(void)
{
    onnx_node *add = onnx_add_node(model, "Add", "x x", "y");
    onnx_set_integer(model, add, "in1_mul", 3);
    onnx_set_integer(model, add, "in1_shift", 99);
}

void flattened_from_axis_2(void) { onnx_set_integer(model, onnx_add_node(model, "Flatten", "x", "y"), "axis", 2); }

void overflowing_constants(void)
{
    onnx_add_int64(model, "k", 0, NULL, SHAPE(INT64_MAX));
    onnx_add_node(model, "Mul", "x k", "a");
    onnx_add_node(model, "Mul", "a k", "y");
}

/* ---- constants and shapes where tensors are expected, and the other way round ---- */

void constant_minus_tensor(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Sub", "k x", "y");
}

void clip_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Clip", "k", "y");
}

void relu_of_a_shape(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_node(model, "Relu", "shape", "y");
}

void computed_clip_bound(void) { onnx_add_node(model, "Clip", "x x", "y"); }

void computed_bias(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w x", "y");
}

void convolution_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "flat w", "y");
}

void pool_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_set_integers(model, onnx_add_node(model, "MaxPool", "flat", "y"), "kernel_shape", 1, SHAPE(2));
}

void global_pool_of_a_flat_tensor(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_add_node(model, "GlobalAveragePool", "flat", "y");
}

void matrix_of_three_dimensions(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(3, SHAPE(1, 144, 2));
    onnx_add_node(model, "MatMul", "flat w", "y");
}

void constant_of_text(void)
{
    onnx_set_text(model, onnx_add_node(model, "Constant", "", "k"), "value_string", "three");
    onnx_add_node(model, "Mul", "x k", "y");
}

void flatten_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Flatten", "k", "y");
}

void transpose_of_a_constant(void)
{
    onnx_add_scalar(model, "k", 3);
    onnx_add_node(model, "Transpose", "k", "y");
}

void sigmoid_of_a_shape(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_node(model, "Sigmoid", "shape", "y");
}

void reshape_to_one_dimension(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(1), SHAPE(144));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

void reshape_by_a_negative_extent(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(2), SHAPE(-3, 48));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

void reshape_by_the_network(void) { onnx_add_node(model, "Reshape", "x x", "y"); }
void unsqueeze_without_axes(void) { onnx_add_node(model, "Unsqueeze", "x", "y"); }

void gather_behind_the_end(void)
{
    onnx_add_node(model, "Shape", "x", "shape");
    onnx_add_int64(model, "index", 0, NULL, SHAPE(4));
    onnx_add_node(model, "Gather", "shape index", "extent");
    onnx_add_node(model, "Reshape", "x extent", "y");
}

void fraction_of_groups(void) { onnx_set_float(model, add_conv(), "group", 1.5F); }

/* ---- padding ---- */

void padded_with_a_half(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "y");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_set_float(model, pad, "value", 0.5F);
}

void padded_with_a_large_number(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "y");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_set_integer(model, pad, "value", 100000);
}

void padded_with_a_tensor(void)
{
    onnx_add_int64(model, "pads", 1, SHAPE(8), SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_add_node(model, "Pad", "x pads x", "y");
}

static onnx_node *add_requant_shift(const char *inputs)
{
    onnx_add_int64(model, "one", 0, NULL, SHAPE(1));
    onnx_add_int64(model, "five", 1, SHAPE(5), SHAPE(1, 2, 3, 4, 5));
    onnx_node *node = onnx_add_node(model, "RequantShift", inputs, "y");
    onnx_set_integer(model, node, "signed", 1);
    return node;
}

void requant_shift_without_divisor(void) { onnx_set_integer(model, add_requant_shift("x one one"), "n_levels_out", 256); }

void requant_shift_without_levels(void) { onnx_set_integer(model, add_requant_shift("x one one"), "div", 256); }

void requant_shift_of_one_level(void)
{
    onnx_node *node = add_requant_shift("x one one");
    onnx_set_integer(model, node, "div", 256);
    onnx_set_integer(model, node, "n_levels", 1);
}

void requant_shift_by_zero(void)
{
    onnx_node *node = add_requant_shift("x one one");
    onnx_set_integer(model, node, "div", 0);
    onnx_set_integer(model, node, "n_levels", 256);
}

void requant_shift_of_other_channels(void)
{
    onnx_node *node = add_requant_shift("x five one");
    onnx_set_integer(model, node, "div", 256);
    onnx_set_integer(model, node, "n_levels", 256);
}

void half_without_division(void)
{
    onnx_add_scalar(model, "half", 0.5);
    onnx_add_node(model, "Relu", "x", "r");
    onnx_add_node(model, "Add", "r half", "y");
}

void zero_point_of_an_integer_convolution(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_int64(model, "zero", 0, NULL, SHAPE(3));
    onnx_add_node(model, "ConvInteger", "x w zero", "y");
}

void padded_axes(void)
{
    onnx_add_int64(model, "pads", 1, SHAPE(8), SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_add_int64(model, "axes", 1, SHAPE(2), SHAPE(2, 3));
    onnx_add_node(model, "Pad", "x pads - axes", "y");
}

void padded_flat(void)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    onnx_set_integers(model, onnx_add_node(model, "Pad", "flat", "y"), "pads", 4, SHAPE(0, 1, 0, 1));
}

void padded_without_end(void)
{
    for (int i = 0; i < 2; i++)
        onnx_set_integers(model, onnx_add_node(model, "Pad", i ? "p" : "x", i ? "y" : "p"), "pads", 8,
                          SHAPE(0, 0, 0, 40000, 0, 0, 0, 0));
}

/* ---- files that are no well-formed graphs ---- */

void initialisers_of_one_name(void)
{
    add_conv();
    add_weights(4, SHAPE(4, 4, 3, 3));
}

void constant_of_nine_dimensions(void)
{
    add_weights(9, SHAPE(4, 4, 3, 3, 1, 1, 1, 1, 1));
    onnx_add_node(model, "Conv", "x w", "y");
}

void too_many_joined(void)
{
    char inputs[200] = "x";
    for (int i = 0; i < 64; i++)
        strcat(inputs, " x");
    onnx_set_integer(model, onnx_add_node(model, "Concat", inputs, "y"), "axis", 1);
}
