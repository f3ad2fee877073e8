/* The table of operators: what the import walks by, what `dory ops` prints, and what docs/operators.md says. */
#include "import/tflite/tflite_import.h"
#include "import/tflite/tflite_network.h"

static const struct {
    int code;
    tflite_handler *handler;
    const char *becomes, *limits; /* for people */
} operators[] = {
    {TFLITE_ABS, tflite_absolute, "a table", ""},
    {TFLITE_ADD, tflite_add, "addition", "shapes that broadcast"},
    {TFLITE_ARG_MAX, tflite_arg_max, "the channel of the largest element", "last, along any axis"},
    {TFLITE_ARG_MIN, tflite_arg_max, "the channel of the smallest element", "last, along any axis"},
    {TFLITE_AVERAGE_POOL_2D, tflite_average_pool, "average pool, or weighted sums where windows leave the image", ""},
    {TFLITE_BATCH_MATMUL, tflite_multiply_matrices, "matrix product", "of 8 bits; either side transposed"},
    {TFLITE_BATCH_TO_SPACE_ND, tflite_batches, "the dilation of a convolution", "behind SPACE_TO_BATCH_ND"},
    {TFLITE_BROADCAST_TO, tflite_broadcast, "nothing, or a copy", ""},
    {TFLITE_CONCATENATION, tflite_concatenate, "concatenation", "of equal scales"},
    {TFLITE_CONV_2D, tflite_convolution, "convolution", "constant INT8 weights; groups, dilations"},
    {TFLITE_DEPTHWISE_CONV_2D, tflite_depthwise, "depth-wise convolution", "any multiplier"},
    {TFLITE_DEPTH_TO_SPACE, tflite_depth_to_space, "nothing, or a copy", ""},
    {TFLITE_DEQUANTIZE, tflite_dequantise, "an output, or part of a table",
     "float operators behind it are left to the application"},
    {TFLITE_DIV, tflite_divide, "quotient; with a constant of one element a table", "shapes that broadcast"},
    {TFLITE_ELU, tflite_function, "a table", ""},
    {TFLITE_EQUAL, tflite_compare, "a table, or additions and a multiplication", "for a SELECT; shapes that broadcast"},
    {TFLITE_EXP, tflite_function, "a table", ""},
    {TFLITE_EXPAND_DIMS, tflite_reshape, "nothing", ""},
    {TFLITE_FILL, tflite_fill, "a copy of nothing but a border", "a constant INT8"},
    {TFLITE_FULLY_CONNECTED, tflite_fully_connected, "fully connected layer; of two tensors a matrix product",
     "INT8 weights"},
    {TFLITE_GATHER, tflite_gather, "a copy, or an input of looked up rows", "constant indices, or constant rows"},
    {TFLITE_GATHER_ND, tflite_gather_nd, "a copy", "constant indices"},
    {TFLITE_GELU, tflite_function, "a table", ""},
    {TFLITE_GREATER, tflite_compare, "a table, or an addition", "for a SELECT; shapes that broadcast"},
    {TFLITE_GREATER_EQUAL, tflite_compare, "a table, or an addition", "for a SELECT; shapes that broadcast"},
    {TFLITE_HARD_SWISH, tflite_hard_swish, "a table", ""},
    {TFLITE_L2_NORMALIZATION, tflite_l2_norm, "a norm",
     "of the last dimension, into a scale of 1/128; in floating point any"},
    {TFLITE_LEAKY_RELU, tflite_leaky_relu, "a table", ""},
    {TFLITE_LESS, tflite_compare, "a table, or an addition", "for a SELECT; shapes that broadcast"},
    {TFLITE_LESS_EQUAL, tflite_compare, "a table, or an addition", "for a SELECT; shapes that broadcast"},
    {TFLITE_LOG, tflite_function, "a table", ""},
    {TFLITE_LOGISTIC, tflite_logistic, "a table", "an output of scale 1/256"},
    {TFLITE_LOG_SOFTMAX, tflite_log_softmax, "left to the application, with a note", "last"},
    {TFLITE_LOGICAL_AND, tflite_logic, "a multiplication", "for a SELECT; shapes that broadcast"},
    {TFLITE_LOGICAL_NOT, tflite_logic, "a table", "for a SELECT"},
    {TFLITE_LOGICAL_OR, tflite_logic, "an addition", "for a SELECT; shapes that broadcast"},
    {TFLITE_MAXIMUM, tflite_choose, "two additions; with a constant of one element a table",
     "equal scales; shapes that broadcast"},
    {TFLITE_MAX_POOL_2D, tflite_maximum_pool, "maximum pool", ""},
    {TFLITE_MEAN, tflite_mean, "average pool; over the channels a convolution", ""},
    {TFLITE_MINIMUM, tflite_choose, "two additions; with a constant of one element a table",
     "equal scales; shapes that broadcast"},
    {TFLITE_MIRROR_PAD, tflite_mirror_pad, "a copy", ""},
    {TFLITE_MUL, tflite_multiply, "multiplication; with a constant: a depth-wise convolution", "shapes that broadcast"},
    {TFLITE_NOT_EQUAL, tflite_compare, "a table, or additions and a multiplication", "for a SELECT; shapes that broadcast"},
    {TFLITE_PACK, tflite_pack, "concatenation", "of equal scales"},
    {TFLITE_PAD, tflite_pad, "padding of what follows, or a layer", "height, width and channels"},
    {TFLITE_PADV2, tflite_pad, "padding of what follows, or a layer", "height, width and channels"},
    {TFLITE_PRELU, tflite_prelu, "a depth-wise convolution, tables, an addition",
     "slopes: one, one a channel, or one an element"},
    {TFLITE_QUANTIZE, tflite_quantise, "an input, or a table", "of INT8 and UINT8; of FLOAT32 in front of the network"},
    {TFLITE_REDUCE_ALL, tflite_reduce_minimum, "maximum pool, between tables", "for a SELECT"},
    {TFLITE_REDUCE_ANY, tflite_reduce_maximum, "maximum pool", "for a SELECT"},
    {TFLITE_REDUCE_MAX, tflite_reduce_maximum, "maximum pool", ""},
    {TFLITE_REDUCE_MIN, tflite_reduce_minimum, "maximum pool, between tables", ""},
    {TFLITE_RELU, tflite_relu, "a table", ""},
    {TFLITE_RELU6, tflite_relu6, "a table", "equal scales"},
    {TFLITE_RELU_0_TO_1, tflite_relu, "a table", ""},
    {TFLITE_RELU_N1_TO_1, tflite_relu, "a table", ""},
    {TFLITE_RESHAPE, tflite_reshape, "nothing, or a copy", ""},
    {TFLITE_RESIZE_BILINEAR, tflite_resize_bilinear, "interpolation", ""},
    {TFLITE_RESIZE_NEAREST_NEIGHBOR, tflite_resize_nearest, "a copy", ""},
    {TFLITE_REVERSE_V2, tflite_reverse, "a copy", ""},
    {TFLITE_RSQRT, tflite_inverse_root, "a table", ""},
    {TFLITE_SELECT, tflite_select, "a table, or products and an addition", "equal scales; shapes that broadcast"},
    {TFLITE_SELECT_V2, tflite_select, "a table, or products and an addition", "equal scales; shapes that broadcast"},
    {TFLITE_SLICE, tflite_slice, "a copy", "constant bounds"},
    {TFLITE_SOFTMAX, tflite_softmax, "softmax", "over the channels, up to 4095"},
    {TFLITE_SPACE_TO_BATCH_ND, tflite_batches, "the dilation of a convolution", "in front of one of stride 1"},
    {TFLITE_SPACE_TO_DEPTH, tflite_space_to_depth, "nothing, or a copy", ""},
    {TFLITE_SPLIT, tflite_split, "copies", "equal parts"},
    {TFLITE_SPLIT_V, tflite_split, "copies", "constant sizes"},
    {TFLITE_SQRT, tflite_square_root, "a table", ""},
    {TFLITE_SQUARED_DIFFERENCE, tflite_add, "squared difference", "shapes that broadcast"},
    {TFLITE_SQUEEZE, tflite_reshape, "nothing", ""},
    {TFLITE_STRIDED_SLICE, tflite_strided_slice, "a copy", "constant bounds"},
    {TFLITE_SUB, tflite_add, "addition", "shapes that broadcast"},
    {TFLITE_SUM, tflite_sum, "average pool without the division", ""},
    {TFLITE_TANH, tflite_tanh, "a table", "an output of scale 1/128"},
    {TFLITE_TILE, tflite_tile, "nothing, or a copy", ""},
    {TFLITE_TRANSPOSE, tflite_transpose, "nothing, or a copy", ""},
    {TFLITE_TRANSPOSE_CONV, tflite_transposed_convolution, "zeros between the elements, then a convolution",
     "constant INT8 weights"},
    {TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, tflite_lstm, "LSTM; its state is an input and an output",
     "INT8 with cells of INT16; a batch of 1"},
    {TFLITE_UNPACK, tflite_unpack, "copies", ""},
};
const int tflite_operator_count = sizeof operators / sizeof *operators;

struct tflite_description tflite_describe_operator(int index, struct arena *arena)
{
    return (struct tflite_description){tflite_code_name(operators[index].code, arena), operators[index].becomes,
                                       operators[index].limits};
}

tflite_handler *tflite_find_handler(int code)
{
    for (int i = 0; i < tflite_operator_count; i++)
        if (operators[i].code == code)
            return operators[i].handler;
    return NULL;
}

bool tflite_may_leave_out(int code)
{
    switch (code) {
    case TFLITE_CONV_2D:
    case TFLITE_DEPTHWISE_CONV_2D:
    case TFLITE_TRANSPOSE_CONV:
    case TFLITE_FULLY_CONNECTED:
    case TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM: return true;
    default: return !tflite_find_handler(code);
    }
}
