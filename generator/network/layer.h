/* A layer of a network: what it computes, in exact integers. This is the one place that says so: the golden interpreter
 * (interpret.c) executes it, the range pass proves bounds on it, and everything behind must preserve it bit for bit.
 *
 * A fully connected layer is a convolution whose kernel covers the whole input tensor (kernel = input height x width, no
 * padding): so flattening needs no reordering of weights, they are always
 * [output channel][input channel / groups][kernel row][kernel column].
 */
#ifndef DORYGEN_LAYER_H
#define DORYGEN_LAYER_H

#include "base/support.h"
#include "network/tensor.h"

enum layer_kind {
    LAYER_CONVOLUTION,
    LAYER_MAXIMUM_POOL,
    LAYER_AVERAGE_POOL,
    LAYER_ADDITION,
    LAYER_CONCATENATION,
    LAYER_MULTIPLICATION,     /* accumulator = stage(input 0) * stage(input 1) */
    LAYER_TABLE,              /* output = table[input]: any function of one element */
    LAYER_COPY,               /* moves elements: pads, slices, transposes, repeats, spreads; see struct layer_map */
    LAYER_INTERPOLATION,      /* weighted sums of rows and columns: see struct layer_taps */
    LAYER_SOFTMAX,            /* over the channels of each pixel: see exponentials */
    LAYER_LARGEST,            /* the channel of each pixel's largest element, the first of equal ones */
    LAYER_NORM,               /* over the channels of each pixel: see struct norm */
    LAYER_MATRIX_PRODUCT,     /* of two inputs, row by row: see input_stages */
    LAYER_SQUARED_DIFFERENCE, /* accumulator = (stage(input 0) + stage(input 1))^2; one of the stages negates */
    LAYER_LSTM                /* of the steps of the first input, from the state that is the second: see struct lstm */
};

/* LAYER_COPY: output element (row, column, channel) is input element rows[row] + columns[column] + channels[channel], a
 * position in HWC order; where one of the three is negative, padding_value. */
struct layer_map {
    const int32_t *rows, *columns, *channels;
};

/* LAYER_INTERPOLATION: for each row of the output row_pairs times two rows of the input with their weights, likewise for
 * each column. No weight is negative, and those of a row or column have the same sum everywhere. Two neighbours of a
 * position take one pair; windows that leave the image, whose elements inside are averaged, take more. */
struct layer_tap {
    int32_t positions[2], weights[2];
};
struct layer_taps {
    const struct layer_tap *rows, *columns;
    int row_pairs, column_pairs;
};

/* LAYER_NORM: each pixel's elements, n of them, are normalised; S is their sum.
 *     is_centred: d = n * x - S, V = the sum of d * d over n, which is n * (sum of x * x) - S * S
 *     else:       d = x - zero_point, V = the sum of d * d
 *     accumulator = floor((floor(d * factor * 2^(left_shift - e) * M / 2^32) + term) / 2^shift)
 * M * 2^-31 * 2^-e is multiplier * 2^-31 / sqrt(V + epsilon / 2^fraction_bits) as 32-bit arithmetic finds it:
 * interpret_norm.c. So a pixel has one root, and an element one rounding that counts. Behind it is a stage that clips.
 * Where there are `roots`, M is that of the second input's element of the pixel, and e is 0.
 *
 * NORM_DIVIDED: as integer networks define it. All divisions truncate, and m is the mean where is_centred, else 0:
 *     d = x - zero_point - m,  r = floor(sqrt(floor(the sum of d * d / n) + 1))
 *     accumulator = floor((d * factor / r + term) / 2^shift) + 128, modulo 256 where is_centred
 *
 * NORM_TWICE: the L2 norm of TensorFlow Lite Micro. m and e are 1 / sqrt(V) by fixed_inverse_root, d = x - zero_point:
 *     accumulator = fixed_scale(d, m, e + 7) + 128 */
enum norm_form { NORM_BY_ROOT, NORM_DIVIDED, NORM_TWICE };

struct norm_constants {
    int32_t factor, term;
};

struct norm {
    enum norm_form arithmetic;
    bool is_centred;
    int zero_point;
    int64_t epsilon;
    int fraction_bits; /* even */
    int32_t multiplier;
    int left_shift, shift;
    int run;   /* so many channels that follow each other have the same constants; divides them */
    int count; /* a multiple of the runs of a pixel */
    const struct norm_constants *constants; /* of run i of pixel p: [(p * runs of a pixel + i) % count] */
    const int32_t *roots;                   /* 256, of a second input that has one channel, bytes; null: there is none */
};

/* LAYER_LSTM: all in 8 bits but for gates and cells, which have 16, as TensorFlow Lite Micro computes it. Both inputs and
 * the output are a pixel each: x is `steps` times `inputs` elements; a state is the `units` hidden elements and as many
 * cells of two bytes, the low one first; the output is the hidden elements of each step, and behind them the last cells. At
 * each step, from hidden elements h, cells c, and for each unit:
 *
 *     gate g = function(sat(sat(scale(addend + sum of weights * x)) + sat(scale(addend + sum of recurrent weights * h))))
 *     c = clip(sat(forget(gate FORGET * c)) + sat(input(gate INPUT * gate CELL)))    between cell_minimum and _maximum
 *     h = clip(output(tanh(c) * gate OUTPUT) + zero_point)                           to a byte
 *
 * sat saturates to 16 bits. A scale is x * multiplier * 2^(exponent - 31), rounded twice (ROUND_TWICE). Arguments of
 * functions have 12 bits behind the point, cells cell_bits; results have 15: interpret_lstm.c. */
enum lstm_gate { LSTM_INPUT, LSTM_FORGET, LSTM_CELL, LSTM_OUTPUT, LSTM_GATES };

struct lstm_scale {
    int32_t multiplier;
    int exponent;
};

/* Of what a gate reads: x, or h. A zero point is in the addends. */
struct lstm_product {
    const int8_t *weights;  /* [units][elements read] */
    const int32_t *addends; /* one a unit */
    struct lstm_scale scale;
};

struct lstm {
    int steps, inputs, units;
    struct lstm_product products[LSTM_GATES][2];
    struct lstm_scale forget, input, output;
    int zero_point; /* of hidden elements */
    int cell_bits;  /* 0 to 15 */
    int cell_minimum, cell_maximum;
};

/* An accumulator of LAYER_SOFTMAX is at most 2^SOFTMAX_BITS, which stands for 1. */
#define SOFTMAX_BITS 30

/* How a stage rounds; m, a, e are multiplier, addend and exponent of the channel. All rational arithmetic is exact. */
enum rounding {
    /* floor((m * x + a) / divisor): integer networks, as NEMO and Quantlab make them. No exponents; zero_point is 0. */
    ROUND_FLOOR,
    /* TensorFlow Lite Micro's MultiplyByQuantizedMultiplier, which rounds twice. m has 31 bits, divisor is 1:
     *     h = floor(((x + a) * 2^(left_shift + max(e, 0)) * m + 2^30) / 2^31)
     *     h / 2^max(-e, 0), halves away from zero, + zero_point
     * Of a negative m what -m gives, with the other sign: what is subtracted. */
    ROUND_TWICE,
    /* (x * 2^left_shift + a) * m * 2^e / divisor, halves to even, + zero_point: ONNX's QuantizeLinear, its scales taken as
     * the exact binary fractions that they are */
    ROUND_HALF_EVEN,
    /* the same with halves away from zero: TensorFlow Lite Micro's average pool */
    ROUND_HALF_AWAY,
    /* the square root of what ROUND_HALF_EVEN rounds, 0 below zero, rounded likewise: a length, of its sum of squares */
    ROUND_ROOT
};

/* y = clip(rounded rational function of x, minimum, maximum): monotone in x. `count` is 1 (the same for all channels) or the
 * number of channels, 0: no stage. divisor >= 1; only ROUND_FLOOR and ROUND_TWICE have negative multipliers. */
struct stage {
    int count;
    enum rounding rounding;
    const int64_t *multiplier;
    const int64_t *addend;
    const int *exponent; /* null: all 0 */
    int left_shift;      /* 0 for ROUND_FLOOR */
    int64_t divisor;
    int64_t zero_point;
    bool has_clip; /* without it there is no bound at all */
    int64_t minimum, maximum;
};

#define MAXIMUM_STAGES 2

struct layer {
    const char *name; /* of the ONNX node that gave it its kind, or its first output where the node has no name */
    enum layer_kind kind;
    int inputs[2]; /* tensor indices; the second: see layer_has_two_inputs(), else -1 */
    int output;    /* tensor index */

    /* convolutions and pools */
    int kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    int padding_top, padding_left, padding_bottom, padding_right;
    int padding_value;     /* of the elements outside the image: the input's zero point. Maximum pools leave them out */
    int groups;            /* divides input and output channels; the number of both: depth-wise */
    int weight_bits;       /* 2, 4, 8 */
    const int8_t *weights; /* convolutions: [output channels][input channels / groups][kernel_height][kernel_width] */

    const uint8_t *table; /* LAYER_TABLE: 256 elements of the output, by the input's bits as an unsigned number */
    struct layer_map map;
    struct layer_taps taps;
    /* LAYER_SOFTMAX: 256 numbers, by how far an element is below the largest of its pixel; none larger than the first, and
     * that times the number of channels below 2^32 */
    const uint32_t *exponentials;
    int group_channels; /* LAYER_SOFTMAX, of exponentials that are powers of two: channels that are added at once. The sum
                         * before them is divided first as exponentials of elements are by which the largest element rises,
                         * and rounded down to multiples of the last of them; 0: all at once */
    /* TensorFlow Lite Micro's softmax: exponentials are 31-bit fractions, the first one 2^31 - 1; the accumulator is their
     * quotient and the sum of them all as its fixed point arithmetic divides, in 256ths and at most 255. No stages. */
    bool is_fixed_point;
    const struct norm *norm; /* LAYER_NORM */
    const struct lstm *lstm; /* LAYER_LSTM */
    /* LAYER_MULTIPLICATION, instead of stages: 256 factors of each input, by its element, a byte. The accumulator is the
     * high word of their product, floor(a * b / 2^32). Else null. */
    const int32_t *factors[2];

    /* additions: x0' = input_stages[0](x0), x1' likewise, accumulator = x0' + x1'. A stage of count 0 changes nothing.
     * Multiplications: the product. Of both, a second input of 1x1 pixels has one element a channel for all pixels, one of
     * one channel has one element a pixel for all channels.
     * Concatenations: the accumulator has the channels of x0', then those of x1'
     * Matrix products: that of (row, column, channel) is the sum over all k of x0'(row, column, k) * x1'(row, channel, k);
     * the second input has a column for each channel of the output */
    struct stage input_stages[2];

    /* output = stages[n-1](... stages[0](accumulator)). No stage: the accumulator itself, as 32-bit integers.
     * Accumulator of a convolution: sum of weight * x; its bias is in stages[0].addend, already multiplied.
     * Of an average pool: the sum over the whole kernel, padding counted as zero (the division by the kernel's area is
     * in the stage). Of a maximum pool: the maximum, padding left out. Of a copy: the element. Of an interpolation: the sum
     * of row's weight * column's weight * x over all pairs of them. Of a softmax: floor(e * 2^SOFTMAX_BITS / sum), e being
     * the element's exponential and the sum that over the pixel's channels. */
    struct stage stages[MAXIMUM_STAGES];
    int stage_count;
    bool is_intermediate; /* of what was one operation in the model: an output without a clip is neither saturated nor taken
                           * for logits, it has the bits that it needs */
    int output_bits;      /* of an element of the output, as the model asks for: 2, 4, 8; 0: as the range pass finds best */

    /* filled by the range pass: proven bounds of the accumulator before stages[0]; of a convolution those of each output
     * channel, too, and whether 32 bits hold all parts of them, in whatever order they are added */
    int64_t accumulator_minimum, accumulator_maximum;
    const struct sum_range *sums;
    bool sums_fit_32_bits;
};

/* A layer with one input and a window of one element, without padding, weights and normalisation: likewise. */
static inline struct layer layer_plain(const char *name, enum layer_kind kind, int input)
{
    return (struct layer){
        .name = name,
        .kind = kind,
        .inputs = {input, -1},
        .kernel_height = 1,
        .kernel_width = 1,
        .stride_height = 1,
        .stride_width = 1,
        .dilation_height = 1,
        .dilation_width = 1,
        .groups = 1,
        .weight_bits = 8,
    };
}

/* Positions for a layer_map: `first`, and each other `step` behind the one before. */
static inline int32_t *positions_in_steps(int count, int32_t first, int32_t step, struct arena *arena)
{
    int32_t *positions = arena_array(arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        positions[i] = first + i * step;
    return positions;
}

static inline bool layer_is_padded(const struct layer *layer)
{
    return layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right;
}

static inline bool layer_has_two_inputs(const struct layer *layer)
{
    return layer->kind == LAYER_ADDITION || layer->kind == LAYER_CONCATENATION || layer->kind == LAYER_MULTIPLICATION ||
           layer->kind == LAYER_MATRIX_PRODUCT || layer->kind == LAYER_SQUARED_DIFFERENCE || layer->kind == LAYER_LSTM ||
           (layer->kind == LAYER_NORM && layer->norm->roots);
}

static inline int layer_input_count(const struct layer *layer) { return layer_has_two_inputs(layer) ? 2 : 1; }

/* How the second input of an addition or a multiplication is repeated until it is as large as the first. */
struct operand_repeat {
    bool fits, pixel, channel;
};

static inline struct operand_repeat layer_second_repeats(const struct tensor *first, const struct tensor *second)
{
    bool same_pixels = first->height == second->height && first->width == second->width;
    bool pixel = !same_pixels && second->height == 1 && second->width == 1;
    bool channel = second->channels == 1 && first->channels != 1;
    return (struct operand_repeat){(same_pixels || pixel) && (channel || first->channels == second->channels), pixel,
                                   channel};
}

/* The tensor that is an operand: 0 and 1 are inputs, 2 is the output; -1: the layer has no such. */
static inline int layer_operand(const struct layer *layer, int operand)
{
    return operand == 2 ? layer->output : operand < layer_input_count(layer) ? layer->inputs[operand] : -1;
}

static inline bool layer_reads(const struct layer *layer, int tensor)
{
    return layer->inputs[0] == tensor || layer_operand(layer, 1) == tensor;
}

/* Multiplications and additions of a convolution, each of whose outputs reads `channels` of the input at every place of the
 * kernel. */
static inline uint64_t convolution_macs(uint64_t outputs, uint64_t channels, uint64_t kernel_height, uint64_t kernel_width)
{
    return outputs * channels * kernel_height * kernel_width;
}

#endif
