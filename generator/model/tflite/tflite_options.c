#include "model/tflite/tflite_options.h"

#include <string.h>

/* Where options come from: of an operator, its kind of options, and a field with its width (0: a float). */
#define OPTION(code, kind, field, bytes, member, otherwise)                                                                 \
    {                                                                                                                       \
        code, kind, field, bytes, offsetof(struct tflite_options, member), otherwise                                        \
    }
static const struct option {
    int code, kind, field, bytes;
    size_t offset;
    int otherwise;
} options[] = {
    OPTION(TFLITE_CONV_2D, 1, 0, 1, padding, 0),
    OPTION(TFLITE_CONV_2D, 1, 1, 4, stride_width, 0),
    OPTION(TFLITE_CONV_2D, 1, 2, 4, stride_height, 0),
    OPTION(TFLITE_CONV_2D, 1, 3, 1, activation, 0),
    OPTION(TFLITE_CONV_2D, 1, 4, 4, dilation_width, 1),
    OPTION(TFLITE_CONV_2D, 1, 5, 4, dilation_height, 1),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 0, 1, padding, 0),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 1, 4, stride_width, 0),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 2, 4, stride_height, 0),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 4, 1, activation, 0),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 5, 4, dilation_width, 1),
    OPTION(TFLITE_DEPTHWISE_CONV_2D, 2, 6, 4, dilation_height, 1),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 0, 1, padding, 0),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 1, 4, stride_width, 0),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 2, 4, stride_height, 0),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 3, 4, kernel_width, 0),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 4, 4, kernel_height, 0),
    OPTION(TFLITE_AVERAGE_POOL_2D, 5, 5, 1, activation, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 0, 1, padding, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 1, 4, stride_width, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 2, 4, stride_height, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 3, 4, kernel_width, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 4, 4, kernel_height, 0),
    OPTION(TFLITE_MAX_POOL_2D, 5, 5, 1, activation, 0),
    OPTION(TFLITE_FULLY_CONNECTED, 8, 0, 1, activation, 0),
    OPTION(TFLITE_FULLY_CONNECTED, 8, 1, 1, weights_format, 0),
    OPTION(TFLITE_SOFTMAX, 9, 0, 0, beta, 0),
    OPTION(TFLITE_CONCATENATION, 10, 0, 4, axis, 0),
    OPTION(TFLITE_CONCATENATION, 10, 1, 1, activation, 0),
    OPTION(TFLITE_ADD, 11, 0, 1, activation, 0),
    OPTION(TFLITE_L2_NORMALIZATION, 12, 0, 1, activation, 0),
    OPTION(TFLITE_RESIZE_BILINEAR, 15, 2, 1, align_corners, 0),
    OPTION(TFLITE_RESIZE_BILINEAR, 15, 3, 1, half_pixel_centers, 0),
    OPTION(TFLITE_MUL, 21, 0, 1, activation, 0),
    OPTION(TFLITE_SUB, 28, 0, 1, activation, 0),
    OPTION(TFLITE_DIV, 29, 0, 1, activation, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 0, 4, begin_mask, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 1, 4, end_mask, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 2, 4, ellipsis_mask, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 3, 4, new_axis_mask, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 4, 4, shrink_axis_mask, 0),
    OPTION(TFLITE_STRIDED_SLICE, 32, 5, 1, is_offset, 0),
    OPTION(TFLITE_GATHER, 23, 0, 4, axis, 0),
    OPTION(TFLITE_GATHER, 23, 1, 4, batch_dimensions, 0),
    OPTION(TFLITE_MEAN, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_SUM, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_REDUCE_ALL, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_REDUCE_ANY, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_REDUCE_MAX, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_REDUCE_MIN, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_REDUCE_PROD, 27, 0, 1, keeps_dimensions, 0),
    OPTION(TFLITE_TRANSPOSE_CONV, 49, 0, 1, padding, 0),
    OPTION(TFLITE_TRANSPOSE_CONV, 49, 1, 4, stride_width, 0),
    OPTION(TFLITE_TRANSPOSE_CONV, 49, 2, 4, stride_height, 0),
    OPTION(TFLITE_TRANSPOSE_CONV, 49, 3, 1, activation, 0),
    OPTION(TFLITE_RESIZE_NEAREST_NEIGHBOR, 74, 0, 1, align_corners, 0),
    OPTION(TFLITE_RESIZE_NEAREST_NEIGHBOR, 74, 1, 1, half_pixel_centers, 0),
    OPTION(TFLITE_LEAKY_RELU, 75, 0, 0, alpha, 0),
    OPTION(TFLITE_SPACE_TO_DEPTH, 19, 0, 4, block_size, 0),
    OPTION(TFLITE_DEPTH_TO_SPACE, 94, 0, 4, block_size, 0),
    OPTION(TFLITE_DIV, 29, 0, 1, activation, 0),
    OPTION(TFLITE_PACK, 59, 1, 4, axis, 0),
    OPTION(TFLITE_UNPACK, 64, 1, 4, axis, 0),
    OPTION(TFLITE_MIRROR_PAD, 77, 0, 1, border_mode, 0),
    OPTION(TFLITE_GELU, 116, 0, 1, is_approximate, 0),
    OPTION(TFLITE_BATCH_MATMUL, 101, 0, 1, first_is_transposed, 0),
    OPTION(TFLITE_BATCH_MATMUL, 101, 1, 1, second_is_transposed, 0),
    OPTION(TFLITE_CALL_ONCE, 103, 0, 4, subgraph, 0),
    OPTION(TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, 71, 0, 1, activation, 0),
    OPTION(TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, 71, 1, 0, cell_clip, 0),
    OPTION(TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, 71, 2, 0, projection_clip, 0),
    OPTION(TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, 71, 3, 1, is_time_major, 0),
};

static void read_option(struct flat_file *file, struct flat_table table, const struct option *option,
                        struct tflite_options *result)
{
    unsigned char *to = (unsigned char *)result + option->offset;
    bool is_bool = option->offset >= offsetof(struct tflite_options, align_corners);
    if (option->bytes == 0) {
        float number = flat_float(file, table, option->field, (float)option->otherwise);
        memcpy(to, &number, sizeof number);
        return;
    }
    int number = (int)flat_integer(file, table, option->field, option->bytes, option->otherwise);
    if (is_bool)
        *(bool *)to = number != 0;
    else
        memcpy(to, &number, sizeof number);
}

int tflite_read_options(struct flat_file *file, struct flat_table table, int kind, struct tflite_operator *operation)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].code != operation->code)
            continue;
        if (kind != 0 && kind != options[i].kind)
            return options[i].kind;
        read_option(file, table, &options[i], &operation->options);
    }
    return 0;
}
