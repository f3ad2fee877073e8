/* A tensor of a network: integers by row, column and channel, what they stand for in the model, and what the application
 * does with those of an input or an output.
 */
#ifndef DORYGEN_TENSOR_H
#define DORYGEN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_LAYER (-1)

/* What the model computes of the real numbers of an input before it quantises them, in float32; numbers are one for all
 * elements, or one a channel, of REAL_CLIP a lower and an upper bound. */
enum real_operation {
    REAL_ADD,
    REAL_SUBTRACT,
    REAL_SUBTRACT_FROM, /* number - x */
    REAL_MULTIPLY,
    REAL_DIVIDE,
    REAL_DIVIDE_INTO, /* number / x */
    REAL_CLIP
};

struct real_step {
    enum real_operation operation;
    const float *numbers;
    int count;
};

/* Elements of an input, one behind the other in memory up to the next part, that the model quantises by themselves. */
struct input_part {
    size_t first;
    double scale;
    int zero_point;
};

/* Numbers of the model's, `columns` a row: the application looks rows up, of which the model's input says the indices. */
struct look_up {
    const char *name; /* of the table in the model */
    const float *numbers;
    int rows, columns;
    bool are_elements; /* the numbers: the model's own integers */
    int index_bytes;   /* the model's own */
};

/* What the model computes behind an output, in real numbers: of each pixel's elements how far they are below the logarithm
 * of their exponentials' sum, in steps of `scale` from `zero_point` in the model's type. */
struct log_softmax {
    double scale;
    int zero_point;
};

/* Sums, or elements, from one to the other. */
struct sum_range {
    int64_t minimum, maximum;
};

#define TENSOR_MAXIMUM_RANK 8         /* in a model */
#define MAXIMUM_DIMENSION   65535     /* what the firmware's 16-bit fields hold */
#define MAXIMUM_ELEMENTS    (1 << 26) /* of a tensor: keeps arithmetic on sizes in 32 bits */

/* Where the elements of a tensor lie that has no memory of its own: (row, column, channel) is element first + row * row_step
 * + column * column_step + channel * channel_step of tensor `of`, in HWC order, which is no such tensor itself. A layer
 * whose output is a view computes all of `of`; where channel_step is not 1, in CHW. */
struct tensor_view {
    int of;
    int32_t first, row_step, column_step, channel_step;
};

struct tensor {
    const char *name; /* as in the model */
    int height, width, channels;
    int bits; /* of an element in memory: 2, 4, 8, 16, 32 */
    bool is_signed;
    int64_t minimum, maximum; /* of its elements: declared for an input, proven by the range pass for others */
    int producer; /* index of the layer that computes it, or what it is a view of; NO_LAYER: an input of the network */
    const struct tensor_view *view;         /* of a network that is planned (plan/views.h); null: a tensor of its own */
    const struct sum_range *channel_ranges; /* the same of each channel, where the range pass is asked for that; else null */
    /* of a network with dead channels removed: the numbers that its channels have in `whole`; null: the same */
    const int *kept;
    const int *kept_rows, *kept_columns; /* likewise */

    /* What the elements stand for, where the model says it: real value = scale * (element - zero_point). Scale 0: it does
     * not say (NEMO, Quantlab). The model's own integer is element + model_offset: -128 where the model has int8, which dory
     * holds as uint8. */
    double scale;
    int zero_point;
    int model_offset;
    const double *channel_scales;  /* of 32-bit sums, one a channel: real value = scale * sum; else null */
    const struct real_step *steps; /* of an input: the application's, before it quantises */
    int step_count;
    const struct input_part *parts; /* of an input with several scales, which count in place of the one above; else null */
    int part_count;
    const struct look_up *look_up; /* of an input whose pixels are rows of a table; else null */
    bool is_of_whole_numbers; /* of an input: the model's own are integers of more than 8 bits, which stand for themselves */
    const struct log_softmax *log_softmax; /* of an output: the application's, behind it; else null */
    int model_rank;                        /* of an output: the shape that the model gives to it, for files; 0: not known */
    int model_dimensions[TENSOR_MAXIMUM_RANK];
    bool is_turned; /* the model's own tensor has its channels last where the network's others have them first, or first */
};

/* A tensor of bytes without a sign, which no layer computes: to be changed where it is another. */
static inline struct tensor tensor_plain(const char *name, int height, int width, int channels)
{
    return (struct tensor){
        .name = name,
        .height = height,
        .width = width,
        .channels = channels,
        .bits = 8,
        .maximum = 255,
        .producer = NO_LAYER,
    };
}

enum pixel_axis { AXIS_ROW, AXIS_COLUMN, AXES };

static inline int tensor_extent(const struct tensor *tensor, enum pixel_axis axis)
{
    return axis == AXIS_ROW ? tensor->height : tensor->width;
}

static inline size_t tensor_elements(const struct tensor *tensor)
{
    return (size_t)tensor->height * (size_t)tensor->width * (size_t)tensor->channels;
}

#endif
