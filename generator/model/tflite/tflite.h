/* A TFLite model as it stands in the file: tensors, and operators in the order in which they run. Everything that can be
 * wrong with the file itself is found while reading (read_tflite.c); whoever walks the model may rely on what is said here.
 * Field numbers and the values of enums are those of TensorFlow's public schema, version 3.
 */
#ifndef DORYGEN_TFLITE_H
#define DORYGEN_TFLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/support.h"

#define TFLITE_MAXIMUM_RANK 8
#define TFLITE_RECIPE       "docs/from-tensorflow.md" /* what messages send people to */
#define NO_TENSOR           (-1)

/* Any other number is possible, too. */
enum tflite_type {
    TFLITE_FLOAT32 = 0,
    TFLITE_FLOAT16 = 1,
    TFLITE_INT32 = 2,
    TFLITE_UINT8 = 3,
    TFLITE_INT64 = 4,
    TFLITE_BOOL = 6,
    TFLITE_INT16 = 7,
    TFLITE_INT8 = 9,
    TFLITE_FLOAT64 = 10,
    TFLITE_INT4 = 17
};

enum tflite_code {
    TFLITE_ADD = 0,
    TFLITE_AVERAGE_POOL_2D = 1,
    TFLITE_CONCATENATION = 2,
    TFLITE_CONV_2D = 3,
    TFLITE_DEPTHWISE_CONV_2D = 4,
    TFLITE_DEPTH_TO_SPACE = 5,
    TFLITE_DEQUANTIZE = 6,
    TFLITE_FULLY_CONNECTED = 9,
    TFLITE_L2_NORMALIZATION = 11,
    TFLITE_LOGISTIC = 14,
    TFLITE_MAX_POOL_2D = 17,
    TFLITE_MUL = 18,
    TFLITE_RELU = 19,
    TFLITE_RELU_N1_TO_1 = 20,
    TFLITE_RELU6 = 21,
    TFLITE_RESHAPE = 22,
    TFLITE_RESIZE_BILINEAR = 23,
    TFLITE_SOFTMAX = 25,
    TFLITE_SPACE_TO_DEPTH = 26,
    TFLITE_TANH = 28,
    TFLITE_CUSTOM = 32,
    TFLITE_PAD = 34,
    TFLITE_GATHER = 36,
    TFLITE_BATCH_TO_SPACE_ND = 37,
    TFLITE_SPACE_TO_BATCH_ND = 38,
    TFLITE_TRANSPOSE = 39,
    TFLITE_MEAN = 40,
    TFLITE_SUB = 41,
    TFLITE_DIV = 42,
    TFLITE_SQUEEZE = 43,
    TFLITE_STRIDED_SLICE = 45,
    TFLITE_EXP = 47,
    TFLITE_SPLIT = 49,
    TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM = 44,
    TFLITE_LOG_SOFTMAX = 50,
    TFLITE_CAST = 53,
    TFLITE_PRELU = 54,
    TFLITE_MAXIMUM = 55,
    TFLITE_ARG_MAX = 56,
    TFLITE_MINIMUM = 57,
    TFLITE_LESS = 58,
    TFLITE_NEG = 59,
    TFLITE_PADV2 = 60,
    TFLITE_GREATER = 61,
    TFLITE_GREATER_EQUAL = 62,
    TFLITE_LESS_EQUAL = 63,
    TFLITE_SELECT = 64,
    TFLITE_SLICE = 65,
    TFLITE_SIN = 66,
    TFLITE_TRANSPOSE_CONV = 67,
    TFLITE_TILE = 69,
    TFLITE_EXPAND_DIMS = 70,
    TFLITE_EQUAL = 71,
    TFLITE_NOT_EQUAL = 72,
    TFLITE_LOG = 73,
    TFLITE_SUM = 74,
    TFLITE_SQRT = 75,
    TFLITE_RSQRT = 76,
    TFLITE_SHAPE = 77,
    TFLITE_REDUCE_PROD = 81,
    TFLITE_ARG_MIN = 79,
    TFLITE_REDUCE_MAX = 82,
    TFLITE_PACK = 83,
    TFLITE_REDUCE_MIN = 89,
    TFLITE_LOGICAL_OR = 84,
    TFLITE_LOGICAL_AND = 86,
    TFLITE_LOGICAL_NOT = 87,
    TFLITE_UNPACK = 88,
    TFLITE_FLOOR_DIV = 90,
    TFLITE_REDUCE_ANY = 91,
    TFLITE_REDUCE_ALL = 140,
    TFLITE_SQUARE = 92,
    TFLITE_FILL = 94,
    TFLITE_FLOOR_MOD = 95,
    TFLITE_RESIZE_NEAREST_NEIGHBOR = 97,
    TFLITE_LEAKY_RELU = 98,
    TFLITE_MIRROR_PAD = 100,
    TFLITE_SQUARED_DIFFERENCE = 99,
    TFLITE_ABS = 101,
    TFLITE_SPLIT_V = 102,
    TFLITE_REVERSE_V2 = 105,
    TFLITE_FLOOR = 8,
    TFLITE_CEIL = 104,
    TFLITE_GATHER_ND = 107,
    TFLITE_COS = 108,
    TFLITE_POW = 78,
    TFLITE_ROUND = 116,
    TFLITE_SIGN = 158,
    TFLITE_ELU = 111,
    TFLITE_QUANTIZE = 114,
    TFLITE_HARD_SWISH = 117,
    TFLITE_WHILE = 119,
    TFLITE_SELECT_V2 = 123,
    TFLITE_BATCH_MATMUL = 126,
    TFLITE_CALL_ONCE = 129,
    TFLITE_BROADCAST_TO = 130,
    TFLITE_BROADCAST_ARGS = 145,
    TFLITE_VAR_HANDLE = 142,
    TFLITE_READ_VARIABLE = 143,
    TFLITE_ASSIGN_VARIABLE = 144,
    TFLITE_GELU = 150,
    TFLITE_RELU_0_TO_1 = 152
};

enum tflite_padding { TFLITE_SAME = 0, TFLITE_VALID = 1 };

enum tflite_activation {
    TFLITE_NO_ACTIVATION = 0,
    TFLITE_FUSED_RELU = 1,
    TFLITE_FUSED_RELU_N1_TO_1 = 2,
    TFLITE_FUSED_RELU6 = 3,
    TFLITE_FUSED_TANH = 4
};

struct tflite_tensor {
    const char *name;
    int type; /* enum tflite_type, or another number */
    int rank;
    int dimensions[TFLITE_MAXIMUM_RANK];  /* at least 0 */
    bool is_unknown[TFLITE_MAXIMUM_RANK]; /* not fixed in the model: the dimension is but an example */
    bool is_variable, is_sparse;
    const unsigned char *data; /* of a constant, as long as dimensions and type say where the type is one of the list; else
                                * null. Part of the file's bytes */
    size_t data_bytes;

    int scale_count; /* 0: not quantised */
    const float *scales;
    const int64_t *zero_points; /* as many; all 0 where the file has none */
    int quantised_dimension;    /* with more than one scale */
};

/* What the operators' options say; 0 where an operator has no such option. */
struct tflite_options {
    int padding, activation;
    int stride_height, stride_width, kernel_height, kernel_width, dilation_height, dilation_width;
    int axis, weights_format, block_size, batch_dimensions;
    int border_mode;                                                          /* of MIRROR_PAD: 0 REFLECT, 1 SYMMETRIC */
    int begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask; /* of slices */
    int subgraph;                                                             /* that is called once */
    float beta, alpha, cell_clip, projection_clip;
    bool align_corners, half_pixel_centers, is_approximate, is_offset, keeps_dimensions;
    bool first_is_transposed, second_is_transposed; /* of BATCH_MATMUL */
    bool is_time_major;
};

struct tflite_operator {
    int code;          /* enum tflite_code, or another number */
    const char *name;  /* "CONV_2D"; of a custom operator, its own */
    const int *inputs; /* indices of tensors; NO_TENSOR: an optional input that is left out */
    int input_count;
    const int *outputs;
    int output_count;
    struct tflite_options options;
    const char *variable; /* of VAR_HANDLE: its name */
};

/* What a network keeps from one run to the next: it has it as an input and gives it as an output. */
struct tflite_state {
    const char *name;
    int input, output; /* positions in the model's lists of them */
    int first;         /* all elements before the first run */
};

/* Of UNIDIRECTIONAL_SEQUENCE_LSTM: its inputs by number; there may be fewer, and any but these may be left out. */
enum tflite_lstm_input {
    TFLITE_LSTM_WEIGHTS = 1,   /* four: of input, forget, cell and output gate */
    TFLITE_LSTM_RECURRENT = 5, /* likewise */
    TFLITE_LSTM_PEEPHOLE = 9,
    TFLITE_LSTM_BIASES = 12,
    TFLITE_LSTM_PROJECTION = 16,
    TFLITE_LSTM_STATES = 18, /* hidden elements, cells. They are no variables any more: the operator has three outputs, of
                              * which the last two are what these are behind it; cells are pairs of bytes, of UINT8 */
    TFLITE_LSTM_NORMS = 20,
    TFLITE_LSTM_INPUTS = 24
};

/* Constants, inputs of the model and outputs of operators are tensors apart, each has one origin; and what an operator
 * reads has one that is before it. No operator reads or assigns variables: they became inputs and outputs. */
struct tflite_model {
    struct tflite_tensor *tensors;
    int tensor_count;
    struct tflite_operator *operators;
    int operator_count;
    int *inputs, *outputs; /* indices of tensors; those in `inputs` differ */
    int input_count, output_count;
    struct tflite_state *states;
    int state_count;
};

/* By the file identifier. */
bool tflite_is_model(const void *bytes, size_t length);

/* Null after an error was reported. Constants stay in `bytes`. */
struct tflite_model *tflite_read_memory(const void *bytes, size_t length, struct arena *arena,
                                        struct diagnostics *diagnostics);

/* "INT8"; "type 42" for what this knows no name of. */
const char *tflite_type_name(int type, struct arena *arena);
size_t tflite_type_bytes(int type); /* 0: not one of the list */
const char *tflite_code_name(int code, struct arena *arena);

#endif
