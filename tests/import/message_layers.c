/* Models with layers that cannot be. */
#include "message_cases.h"

struct onnx_builder *model;

void begin(void)
{
    model = onnx_builder_make(9);
    onnx_add_input(model, "x", 4, SHAPE(1, 4, 6, 6));
}

void add_weights(int rank, const int64_t *dimensions)
{
    static int64_t numbers[1000]; /* 0, 1, 2, ... 9, 0, 1, ... */
    for (int i = 0; i < 1000; i++)
        numbers[i] = i % 10;
    onnx_add_initialiser(model, "w", rank, dimensions, numbers);
}

onnx_node *add_conv(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    return onnx_add_node(model, "Conv", "x w", "y");
}

void add_flat_gemm_weights(int64_t inputs)
{
    onnx_add_node(model, "Flatten", "x", "flat");
    add_weights(2, SHAPE(inputs, 2));
}

onnx_node *add_pool(const char *type)
{
    onnx_node *pool = onnx_add_node(model, type, "x", "y");
    onnx_set_integers(model, pool, "kernel_shape", 2, SHAPE(3, 3));
    return pool;
}

/* ---- cases: each leaves a model whose output is y ---- */

void float_weights(void)
{
    float numbers[144] = {0.5F, 1, 0.25F};
    onnx_add_floats(model, "w", 4, SHAPE(4, 4, 3, 3), numbers);
    onnx_add_node(model, "Conv", "x w", "y");
}

void large_weights(void)
{
    int64_t numbers[144] = {128, -129};
    onnx_add_initialiser(model, "w", 4, SHAPE(4, 4, 3, 3), numbers);
    onnx_add_node(model, "Conv", "x w", "y");
}

void half_precision_weights(void)
{
    add_conv();
    onnx_builder_model(model)->graph->initializer[0]->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

void float_multiplier(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_scalar(model, "k", 0.0039);
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "Mul", "c k", "y");
}

void several_faults(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "a");
    onnx_add_node(model, "BatchNormalization", "a", "b");
    onnx_add_node(model, "LeakyRelu", "b", "c");
    onnx_add_node(model, "Conv", "c missing_weights", "d");
    onnx_add_floats(model, "missing_weights", 4, SHAPE(1, 4, 1, 1), (const float[]){0.1F, 0.2F, 0.3F, 0.4F});
    onnx_add_node(model, "TopK", "d", "y");
}

void foreign_domain(void) { onnx_add_node(model, "MaxPool", "x", "y")->domain = (char *)(uintptr_t) "com.acme"; }
void quantized(void) { onnx_add_node(model, "QuantizeLinear", "x", "y"); }

void groups(void)
{
    add_weights(4, SHAPE(4, 2, 3, 3));
    onnx_set_integer(model, onnx_add_node(model, "Conv", "x w", "y"), "group", 3);
}

void wrong_channels(void)
{
    add_weights(4, SHAPE(4, 3, 3, 3));
    onnx_add_node(model, "Conv", "x w", "y");
}

void kernel_too_large(void)
{
    add_weights(4, SHAPE(1, 4, 7, 7));
    onnx_add_node(model, "Conv", "x w", "y");
}

void kernel_shape_differs(void) { onnx_set_integers(model, add_conv(), "kernel_shape", 2, SHAPE(5, 5)); }
void stride_zero(void) { onnx_set_integers(model, add_conv(), "strides", 2, SHAPE(0, 1)); }
void three_strides(void) { onnx_set_integers(model, add_conv(), "strides", 3, SHAPE(1, 1, 1)); }
void negative_padding(void) { onnx_set_integers(model, add_conv(), "pads", 4, SHAPE(0, -1, 0, 0)); }
void unknown_automatic_padding(void) { onnx_set_text(model, add_conv(), "auto_pad", "MIRROR"); }
void strange_weight_bits(void) { onnx_set_integer(model, add_conv(), "weight_bits", 5); }

void bias_of_wrong_size(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_initialiser(model, "b", 1, SHAPE(3), SHAPE(1, 2, 3));
    onnx_add_node(model, "Conv", "x w b", "y");
}

void convolution_of_two_tensors(void) { onnx_add_node(model, "Conv", "x x", "y"); }
void convolution_without_weights(void) { onnx_add_node(model, "Conv", "x", "y"); }

void gemm_not_flat(void)
{
    add_weights(2, SHAPE(144, 2));
    onnx_add_node(model, "Gemm", "x w", "y");
}

void gemm_of_wrong_size(void)
{
    add_flat_gemm_weights(100);
    onnx_add_node(model, "Gemm", "flat w", "y");
}

void gemm_attributes(void)
{
    add_flat_gemm_weights(144);
    onnx_add_initialiser(model, "b", 1, SHAPE(2), SHAPE(1, 2));
    onnx_node *gemm = onnx_add_node(model, "Gemm", "flat w b", "y");
    onnx_set_float(model, gemm, "alpha", 2);
    onnx_set_float(model, gemm, "beta", 0.5F);
    onnx_set_integer(model, gemm, "transA", 1);
}

void average_excludes_padding(void) { onnx_set_integers(model, add_pool("AveragePool"), "pads", 4, SHAPE(1, 1, 1, 1)); }

void average_rounds_up(void)
{
    onnx_node *pool = add_pool("AveragePool");
    onnx_set_integers(model, pool, "strides", 2, SHAPE(2, 2));
    onnx_set_integer(model, pool, "ceil_mode", 1);
}

void pool_without_kernel(void) { onnx_add_node(model, "MaxPool", "x", "y"); }
void pool_sees_padding_only(void) { onnx_set_integers(model, add_pool("MaxPool"), "pads", 4, SHAPE(3, 0, 0, 0)); }

void mirror_padding(void)
{
    onnx_node *pad = onnx_add_node(model, "Pad", "x", "p");
    onnx_set_text(model, pad, "mode", "reflect");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "p w", "y");
}

void padded_channels(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Pad", "x", "y"), "pads", 8, SHAPE(0, 1, 0, 0, 0, 0, 0, 0));
}

void different_shapes(void)
{
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "x w", "c");
    onnx_add_node(model, "Add", "c x", "y");
}

void constant_of_wrong_shape(void)
{
    onnx_add_initialiser(model, "k", 1, SHAPE(6), SHAPE(1, 2, 3, 4, 5, 6)); /* one a column, not a channel */
    onnx_add_node(model, "Mul", "x k", "y");
}

void product_of_tensors(void) { onnx_add_node(model, "Mul", "x x", "y"); }

void divisor_zero(void)
{
    onnx_add_scalar(model, "d", 0);
    onnx_add_node(model, "Div", "x d", "y");
}

void divisor_by_channel(void)
{
    onnx_add_initialiser(model, "d", 4, SHAPE(1, 4, 1, 1), SHAPE(1, 2, 4, 8));
    onnx_add_node(model, "Div", "x d", "y");
}

void clip_at_fraction(void) { onnx_set_float(model, onnx_add_node(model, "Clip", "x", "y"), "max", 0.996F); }

void narrow_cast(void)
{
    onnx_set_integer(model, onnx_add_node(model, "Cast", "x", "y"), "to", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8);
}

void concatenation_of_rows(void) { onnx_set_integer(model, onnx_add_node(model, "Concat", "x x", "y"), "axis", 2); }

void concatenation_with_constant(void)
{
    add_weights(4, SHAPE(1, 4, 6, 6));
    onnx_set_integer(model, onnx_add_node(model, "Concat", "x w", "y"), "axis", 1);
}

void concatenation_of_shapes(void)
{
    onnx_set_integers(model, onnx_add_node(model, "MaxPool", "x", "half"), "kernel_shape", 2, SHAPE(2, 2));
    onnx_set_integer(model, onnx_add_node(model, "Concat", "x half", "y"), "axis", 1);
}

void transposition(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "x", "y"), "perm", 4, SHAPE(0, 2, 3, 1));
}

void no_permutation(void)
{
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "x", "y"), "perm", 4, SHAPE(0, 1, 1, 3));
}

void reshape_moves_elements(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(4), SHAPE(1, 9, 4, 4));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

void reshape_to_other_count(void)
{
    onnx_add_int64(model, "shape", 1, SHAPE(2), SHAPE(1, 100));
    onnx_add_node(model, "Reshape", "x shape", "y");
}

void layer_behind_head(void)
{
    onnx_add_node(model, "Sigmoid", "x", "s");
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "s w", "y");
}

void no_layer(void) { onnx_add_node(model, "Identity", "x", "y"); }

void dynamic_input(void)
{
    onnx_add_input(model, "z", 4, SHAPE(1, 4, -1, 6));
    add_weights(4, SHAPE(4, 4, 3, 3));
    onnx_add_node(model, "Conv", "z w", "y");
}

void mask_of_dropout(void)
{
    onnx_add_node(model, "Dropout", "x", "kept mask");
    onnx_add_node(model, "Identity", "mask", "y");
}
