/* The table of operators: what the importer walks by, what its messages list, and what `dory ops` prints. */
#include "import/operators.h"

#include <string.h>

/* ---- supported ---- */

const struct operator operators[] = {
    {"Add", import_add, "residual addition; with a constant: part of a normalisation, or a bias",
     "tensors of equal shape; Quantlab's attributes for requantised inputs are read; between Div and Floor also halves"},
    {"AveragePool", import_average_pool, "average pool", "zero padding counts; no windows that leave the image"},
    {"Cast", import_cast, "nothing", "to float, double, int32, int64"},
    {"Clip", import_clip, "bounds of the layer in front", "integers"},
    {"Concat", import_concat, "of tensors along channels, of shapes, or of what Gather took from one output", ""},
    {"Constant", import_constant, "", ""},
    {"Conv", import_convolution, "convolution",
     "constant integer weights of 8, 4 or 2 bits; any kernel, stride, dilation, padding, auto_pad; groups"},
    {"ConvInteger", import_integer_convolution, "convolution", "as Conv, in an integer network; zero points 0"},
    {"Div", import_divide, "part of a normalisation", "one positive integer; any, not only powers of two"},
    {"Dropout", import_identity, "nothing", "its mask must not be used"},
    {"Flatten", import_flatten, "nothing; the weights behind it are reordered", "in front of Gemm or MatMul"},
    {"Floor", import_floor, "nothing: division floors", ""},
    {"Gather", import_gather, "", "of a shape, or to split the final output"},
    {"Gemm", import_gemm, "fully connected layer", "alpha = beta = 1, transA = 0"},
    {"GlobalAveragePool", import_global_pool, "average pool", ""},
    {"GlobalMaxPool", import_global_pool, "maximum pool", ""},
    {"Identity", import_identity, "nothing", ""},
    {"LogSoftmax", import_head, "left to the application, with a note", "last"},
    {"MatMul", import_matrix_product, "fully connected layer", "constant second operand"},
    {"MatMulInteger", import_integer_product, "fully connected layer", "as MatMul, in an integer network; zero points 0"},
    {"MaxPool", import_maximum_pool, "maximum pool", "padding is left out of the maximum"},
    {"Mul", import_multiply, "part of a normalisation", "by a constant: one number, or one a channel"},
    {"Pad", import_pad, "padding of what follows", "one constant, height and width"},
    {"Relu", import_relu, "lower bound of the layer in front", ""},
    {"RequantShift", import_requant_shift, "normalisation, rounding and bounds",
     "QuantLib's: multipliers and addends, one or one a channel; one divisor"},
    {"Reshape", import_reshape, "nothing", "in front of Gemm or MatMul, without moving elements"},
    {"Shape", import_shape, "", "for Reshape"},
    {"Sigmoid", import_head, "left to the application, with a note", "last"},
    {"Softmax", import_head, "left to the application, with a note", "last"},
    {"Squeeze", import_squeeze, "nothing", ""},
    {"Sub", import_subtract, "part of a normalisation", "of a constant"},
    {"Transpose", import_transpose, "nothing", "moves dimensions of size 1 only"},
    {"Unsqueeze", import_unsqueeze, "nothing", ""},
};
const int operator_count = sizeof operators / sizeof *operators;

/* QuantLib writes its operators under whichever of these its exporter was registered with; none is ONNX's. */
bool operator_is_quantlib(const struct node *node)
{
    static const char *const domains[] = {"PACTOps", "ai.onnx.contrib"};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (!strcmp(node->domain, domains[i]))
            return true;
    return false;
}

bool operator_is_in_domain(const struct node *node)
{
    return !*node->domain || (!strcmp(node->type, "RequantShift") && operator_is_quantlib(node));
}

const struct operator* operator_find(const char *type)
{
    for (int i = 0; i < operator_count; i++)
        if (!strcmp(operators[i].type, type))
            return &operators[i];
    return NULL;
}

/* ---- not supported ---- */

const struct operator_advice operator_advices[] = {
    {"BatchNormalization", true,
     "the batch normalisation was not made integer; in NEMO export after net.id_stage(), in Quantlab after the integerise "
     "passes"},
    {"LeakyRelu", true, "use a ReLU"},
    {"PRelu", true, "use a ReLU"},
    {"HardSwish", true, "use a ReLU"},
    {"HardSigmoid", true, "use a ReLU"},
    {"Elu", true, "use a ReLU"},
    {"Tanh", true, "use a ReLU"},
    {"Round", true, "integer networks round down; export with NEMO or Quantlab"},
    {"Ceil", true, "integer networks round down; export with NEMO or Quantlab"},
    {"ReduceMean", false, "average with AdaptiveAvgPool2d or AvgPool2d instead of mean()"},
    {"LayerNormalization", false, "train with batch normalisation, which becomes integer"},
    {"InstanceNormalization", false, "train with batch normalisation, which becomes integer"},
    {"LSTM", false,
     "there is no kernel for recurrent layers; litert-torch unrolls them into layers that are quantised, and writes TFLite"},
    {"GRU", false,
     "there is no kernel for recurrent layers; litert-torch unrolls them into layers that are quantised, and writes TFLite"},
    {"RNN", false,
     "there is no kernel for recurrent layers; litert-torch unrolls them into layers that are quantised, and writes TFLite"},
    {"Attention", false,
     "export with opset_version=20, of which attention is MatMul and Softmax, which quantisers cover; or write it out "
     "before you quantise: onnx.inliner.inline_selected_functions(model, [('', 'Attention')], "
     "inline_schema_functions=True)"},
    {"LogSoftmax", false,
     "leave it in floating point, as quantize_static does by itself: behind the last quantised tensor it is the "
     "application's"},
    {"CumSum", false,
     "write it as a product with a constant: torch.matmul(x, torch.triu(torch.ones(n, n))), whose result is quantised"},
    {"LpPool", false, "write it as an average of squares: x * x, AveragePool, Mul, Sqrt, which quantisers cover"},
    {"GlobalLpPool", false, "write it as a sum of squares: x * x, ReduceSum, Sqrt, which quantisers cover"},
    {"ArgMax", false, "leave it to the application: export the model up to the tensor in front"},
    {"TopK", false, "leave it to the application: export the model up to the tensor in front"},
    {"NonMaxSuppression", false, "leave it to the application: export the model up to the tensor in front"},
    {"If", false, "the graph must be the same for every input; export by tracing, with fixed shapes"},
    {"Loop", false, "the graph must be the same for every input; export by tracing, with fixed shapes"},
    {"Exp", true, "floating-point arithmetic; only a head behind the last layer may have it, as Softmax or Sigmoid"},
    {"Pow", true, "floating-point arithmetic is left in the model; export integers with NEMO or Quantlab"},
    {"Sqrt", true, "floating-point arithmetic is left in the model; export integers with NEMO or Quantlab"},
    {"Erf", true, "use a ReLU instead of a GELU"},
};

const int operator_advice_count = sizeof operator_advices / sizeof *operator_advices;

const struct operator_advice *operator_find_advice(const char *type)
{
    for (int i = 0; i < operator_advice_count; i++)
        if (!strcmp(operator_advices[i].type, type))
            return &operator_advices[i];
    return NULL;
}
