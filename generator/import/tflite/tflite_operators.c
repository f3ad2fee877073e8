/* The table of operators: what the import walks by, and what `dory ops` prints. */
#include "import/tflite/tflite_import.h"
#include "import/tflite/tflite_network.h"

static const struct {
    int code;
    tflite_handler *handler;
} handlers[] = {
    {TFLITE_ADD, tflite_add},
    {TFLITE_ARG_MAX, tflite_arg_max},
    {TFLITE_AVERAGE_POOL_2D, tflite_average_pool},
    {TFLITE_CONCATENATION, tflite_concatenate},
    {TFLITE_CONV_2D, tflite_convolution},
    {TFLITE_DEPTHWISE_CONV_2D, tflite_depthwise},
    {TFLITE_DEQUANTIZE, tflite_dequantise},
    {TFLITE_EXPAND_DIMS, tflite_reshape},
    {TFLITE_FULLY_CONNECTED, tflite_fully_connected},
    {TFLITE_HARD_SWISH, tflite_hard_swish},
    {TFLITE_LEAKY_RELU, tflite_leaky_relu},
    {TFLITE_LOGISTIC, tflite_logistic},
    {TFLITE_MAXIMUM, tflite_choose},
    {TFLITE_MAX_POOL_2D, tflite_maximum_pool},
    {TFLITE_MEAN, tflite_mean},
    {TFLITE_MINIMUM, tflite_choose},
    {TFLITE_MUL, tflite_multiply},
    {TFLITE_PAD, tflite_pad},
    {TFLITE_PADV2, tflite_pad},
    {TFLITE_PRELU, tflite_prelu},
    {TFLITE_QUANTIZE, tflite_quantise},
    {TFLITE_REDUCE_MAX, tflite_reduce_maximum},
    {TFLITE_RELU, tflite_relu},
    {TFLITE_RELU6, tflite_relu6},
    {TFLITE_RELU_N1_TO_1, tflite_relu},
    {TFLITE_RESHAPE, tflite_reshape},
    {TFLITE_RESIZE_BILINEAR, tflite_resize_bilinear},
    {TFLITE_RESIZE_NEAREST_NEIGHBOR, tflite_resize_nearest},
    {TFLITE_SLICE, tflite_slice},
    {TFLITE_SOFTMAX, tflite_softmax},
    {TFLITE_SPLIT, tflite_split},
    {TFLITE_SPLIT_V, tflite_split},
    {TFLITE_SQUEEZE, tflite_reshape},
    {TFLITE_STRIDED_SLICE, tflite_slice},
    {TFLITE_SUB, tflite_add},
    {TFLITE_TANH, tflite_tanh},
    {TFLITE_TRANSPOSE, tflite_transpose},
    {TFLITE_TRANSPOSE_CONV, tflite_transposed_convolution},
};

const struct tflite_description tflite_descriptions[] = {
    {"ADD", "addition", "two tensors of the same shape, or one and a constant"},
    {"ARG_MAX", "the channel of the largest element", "last, over the channels"},
    {"AVERAGE_POOL_2D", "average pool, or weighted sums where windows leave the image", ""},
    {"CONCATENATION", "concatenation", "along height, width or channels, of equal scales"},
    {"CONV_2D", "convolution", "constant INT8 weights; groups, dilations"},
    {"DEPTHWISE_CONV_2D", "depth-wise convolution", "any multiplier"},
    {"DEQUANTIZE", "an output", "float operators behind it are left to the application"},
    {"EXPAND_DIMS", "nothing", ""},
    {"FULLY_CONNECTED", "fully connected layer", "constant INT8 weights"},
    {"HARD_SWISH", "a table", ""},
    {"LEAKY_RELU", "a table", ""},
    {"LOGISTIC", "a table", "an output of scale 1/256"},
    {"MAXIMUM", "two additions; with a constant of one element a table", "equal scales; the same shape, or a constant"},
    {"MAX_POOL_2D", "maximum pool", ""},
    {"MEAN", "average pool", "of height and width"},
    {"MINIMUM", "two additions; with a constant of one element a table", "equal scales; the same shape, or a constant"},
    {"MUL", "multiplication; with a constant: a depth-wise convolution",
     "the same shape, one factor a channel, or a constant"},
    {"PAD", "padding of what follows, or a layer", "height, width and channels"},
    {"PADV2", "padding of what follows, or a layer", "height, width and channels"},
    {"PRELU", "a depth-wise convolution, tables, an addition", "slopes: one, or one a channel"},
    {"QUANTIZE", "an input, or a table", "of INT8 and UINT8; of FLOAT32 in front of the network"},
    {"REDUCE_MAX", "maximum pool", "of height and width"},
    {"RELU", "a table", ""},
    {"RELU6", "a table", "equal scales"},
    {"RELU_N1_TO_1", "a table", ""},
    {"RESHAPE", "nothing, or a copy", ""},
    {"RESIZE_BILINEAR", "interpolation", ""},
    {"RESIZE_NEAREST_NEIGHBOR", "a copy", ""},
    {"SLICE", "a copy", "constant bounds"},
    {"SOFTMAX", "softmax", "over the channels, up to 4095"},
    {"SPLIT", "copies", "equal parts"},
    {"SPLIT_V", "copies", "constant sizes"},
    {"SQUEEZE", "nothing", ""},
    {"STRIDED_SLICE", "a copy", "constant bounds, positive strides, all dimensions kept"},
    {"SUB", "addition", "two tensors of the same shape, or one and a constant"},
    {"TANH", "a table", "an output of scale 1/128"},
    {"TRANSPOSE", "nothing, or a copy", ""},
    {"TRANSPOSE_CONV", "zeros between the elements, then a convolution", "constant INT8 weights"},
};
const int tflite_description_count = sizeof tflite_descriptions / sizeof *tflite_descriptions;
_Static_assert(sizeof handlers / sizeof *handlers == sizeof tflite_descriptions / sizeof *tflite_descriptions,
               "each operator is described");

tflite_handler *tflite_find_handler(int code)
{
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].code == code)
            return handlers[i].handler;
    return NULL;
}
