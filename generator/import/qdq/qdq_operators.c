/* The operators between DequantizeLinear and QuantizeLinear: what the walk goes by, and what `dory ops` prints. */
#include "import/qdq/operators/handlers.h"

#include <string.h>

#define NORM  "a norm"
#define TABLE "a table, with what else acts on single elements"

const struct qdq_operator qdq_operators[] = {
    {"Abs", qdq_unary, TABLE, ""},
    {"Acos", qdq_unary, TABLE, ""},
    {"Acosh", qdq_unary, TABLE, ""},
    {"Add", qdq_binary, "addition; with a constant: bias, or part of a table", "shapes that broadcast"},
    {"And", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"ArgMax", qdq_arg_maximum, "the channel of the largest element", "last, one dimension"},
    {"ArgMin", qdq_arg_maximum, "the channel of the smallest element", "last, one dimension"},
    {"Asin", qdq_unary, TABLE, ""},
    {"Asinh", qdq_unary, TABLE, ""},
    {"Atan", qdq_unary, TABLE, ""},
    {"Atanh", qdq_unary, TABLE, ""},
    {"AveragePool", qdq_average_pool, "average pool, or weighted sums where windows leave the image", ""},
    {"BatchNormalization", qdq_batch_normalization, "depth-wise convolution", "constant parameters"},
    {"Cast", qdq_cast, "nothing", "to float"},
    {"Ceil", qdq_unary, TABLE, ""},
    {"Celu", qdq_unary, TABLE, ""},
    {"Clip", qdq_clip, "bounds of the layer in front, or a table", ""},
    {"Concat", qdq_concatenation, "concatenation, behind tables where scales differ", "of equal shapes but along the axis"},
    {"Conv", qdq_convolution, "convolution", "constant weights of 8 bits or less; groups, dilations, auto_pad"},
    {"ConvTranspose", qdq_transposed_convolution, "zeros between the elements, then a convolution", ""},
    {"Cos", qdq_unary, TABLE, ""},
    {"Cosh", qdq_unary, TABLE, ""},
    {"DepthToSpace", qdq_blocks, "nothing, or a copy", ""},
    {"DequantizeLinear", qdq_dequantize_linear, "scale and zero point of a tensor",
     "per tensor; of weights and in front of depth-wise convolutions also per channel"},
    {"Div", qdq_binary, "quotient, or products with the reciprocal's bytes; or part of a table", "shapes that broadcast"},
    {"Dropout", qdq_identity, "nothing", "its mask must not be used"},
    {"Einsum", qdq_einsum, "as MatMul, or as Mul, between copies where needed", "two factors, as bhid,bhjd->bhij"},
    {"Elu", qdq_unary, TABLE, ""},
    {"Equal", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"Erf", qdq_unary, TABLE, ""},
    {"Exp", qdq_unary, TABLE, ""},
    {"Expand", qdq_expand, "nothing, or a copy", "a constant shape"},
    {"Flatten", qdq_flatten, "nothing; the weights behind it are reordered", ""},
    {"Floor", qdq_unary, TABLE, ""},
    {"Gather", qdq_gather, "a copy, or an input of looked up rows", "constant indices, or constant rows"},
    {"GatherElements", qdq_gather_elements, "a copy", "constant indices"},
    {"GatherND", qdq_gather_nd, "a copy", "constant indices"},
    {"Gelu", qdq_unary, TABLE, ""},
    {"Gemm", qdq_gemm, "fully connected layer", "alpha not 0"},
    {"GlobalAveragePool", qdq_global_average, "average pool", ""},
    {"GlobalMaxPool", qdq_global_maximum, "maximum pool", ""},
    {"Greater", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"GreaterOrEqual", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"GroupNormalization", qdq_group_norm, NORM, "constant scale and bias"},
    {"HardSigmoid", qdq_unary, TABLE, ""},
    {"HardSwish", qdq_unary, TABLE, ""},
    {"Identity", qdq_identity, "nothing", ""},
    {"InstanceNormalization", qdq_instance_norm, NORM, "constant scale and bias"},
    {"IsNaN", qdq_unary, "part of a table", "for a Where"},
    {"LayerNormalization", qdq_layer_norm, NORM, "constant scale and bias; its first output"},
    {"LeakyRelu", qdq_unary, TABLE "; of sums the layer twice, and the larger", ""},
    {"Less", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"LessOrEqual", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"Log", qdq_unary, TABLE, ""},
    {"LpNormalization", qdq_lp_norm, NORM, "p = 2"},
    {"MatMul", qdq_matrix_product, "fully connected layer, or a 1x1 convolution; of two tensors a matrix product", ""},
    {"Max", qdq_binary, "two additions; with a number part of a table", "shapes that broadcast"},
    {"MaxPool", qdq_maximum_pool, "maximum pool", ""},
    {"Mean", qdq_sum_all, "additions, and a division", "shapes that broadcast"},
    {"Min", qdq_binary, "two additions; with a number part of a table", "shapes that broadcast"},
    {"Mish", qdq_unary, TABLE, ""},
    {"Mul", qdq_binary, "multiplication; with constants: a table, or a depth-wise convolution", "shapes that broadcast"},
    {"Neg", qdq_unary, TABLE, ""},
    {"Not", qdq_unary, "part of a table", "for a Where"},
    {"Or", qdq_binary, "part of a table, or an addition of ranks", "for a Where; shapes that broadcast"},
    {"PRelu", qdq_binary, "a table; of several slopes a depth-wise convolution, tables, an addition; of sums as LeakyRelu",
     "constant slopes"},
    {"Pad", qdq_pad, "a copy with a border", "constant, edge, reflect, wrap"},
    {"Pow", qdq_binary, "part of a table", "a constant power"},
    {"QuantizeLinear", qdq_quantize_linear, "the rounding of the layer in front, or a table", "to INT8 or UINT8"},
    {"Reciprocal", qdq_unary, TABLE, ""},
    {"RMSNormalization", qdq_layer_norm, NORM, "constant scale"},
    {"ReduceL2", qdq_reduce, "a norm with the division behind it, or a product and its root", ""},
    {"ReduceMax", qdq_reduce, "maximum pool", ""},
    {"ReduceMean", qdq_reduce, "average pool; over the channels a convolution", ""},
    {"ReduceMin", qdq_reduce, "maximum pool, between tables", ""},
    {"ReduceSum", qdq_reduce, "as ReduceMean, without the division", ""},
    {"ReduceSumSquare", qdq_reduce, NORM, "with what makes it a norm behind it"},
    {"Relu", qdq_unary, "bound of the layer in front, or a table", ""},
    {"Reshape", qdq_reshape, "nothing, or a copy", "that splits and joins dimensions"},
    {"Resize", qdq_resize, "a copy (nearest), interpolation (linear)", "height and width, constant scales or sizes"},
    {"Round", qdq_unary, TABLE, ""},
    {"Selu", qdq_unary, TABLE, ""},
    {"Sigmoid", qdq_unary, TABLE, ""},
    {"Sign", qdq_unary, TABLE, ""},
    {"Sin", qdq_unary, TABLE, ""},
    {"Sinh", qdq_unary, TABLE, ""},
    {"Slice", qdq_slice, "a copy", "constant bounds"},
    {"Softmax", qdq_softmax, "softmax", "one dimension, quantised behind"},
    {"Softplus", qdq_unary, TABLE, ""},
    {"Softsign", qdq_unary, TABLE, ""},
    {"SpaceToDepth", qdq_blocks, "nothing, or a copy", ""},
    {"Split", qdq_split, "copies", "constant sizes"},
    {"Sqrt", qdq_unary, TABLE, ""},
    {"Squeeze", qdq_squeeze, "nothing", ""},
    {"Sub", qdq_binary, "addition; with a constant: bias, or part of a table", "shapes that broadcast"},
    {"Sum", qdq_sum_all, "additions, rounded once", "shapes that broadcast"},
    {"Swish", qdq_unary, TABLE, ""},
    {"Tan", qdq_unary, TABLE, ""},
    {"Tanh", qdq_unary, TABLE, ""},
    {"ThresholdedRelu", qdq_unary, TABLE, ""},
    {"Tile", qdq_tile, "nothing, or a copy", "constant repeats"},
    {"Transpose", qdq_transpose, "nothing, or a copy", ""},
    {"Unsqueeze", qdq_unsqueeze, "nothing", ""},
    {"Upsample", qdq_resize, "as Resize", ""},
    {"Where", qdq_where, "part of a table, or additions of bytes", "shapes that broadcast"},
};
const int qdq_operator_count = sizeof qdq_operators / sizeof *qdq_operators;

/* onnxruntime writes these in its own domain, too, with ONNX's meaning. */
static bool is_known_domain(const struct node *node)
{
    static const char *const types[] = {"QuantizeLinear", "DequantizeLinear", "Gelu"};
    for (size_t i = 0; !strcmp(node->domain, "com.microsoft") && i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i], node->type))
            return true;
    return !*node->domain;
}

const struct qdq_operator *qdq_operator_find(const struct node *node)
{
    for (int i = 0; is_known_domain(node) && i < qdq_operator_count; i++)
        if (!strcmp(qdq_operators[i].type, node->type))
            return &qdq_operators[i];
    return NULL;
}
