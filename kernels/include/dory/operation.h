/* What a layer computes, and what not all operations have. enum dory_operation says which member of two unions is live: the
 * numbers of struct dory_layer, one struct an operation, and union dory_constants.
 *
 * They are two because each layer of a network has both: pointers between numbers would leave gaps. */
#ifndef DORY_OPERATION_H
#define DORY_OPERATION_H

#include <stdint.h>

#include "dory/repeat.h"

enum dory_operation {
    DORY_CONVOLUTION, /* every output channel reads every input channel; fully connected: 1x1 on 1x1 pixels */
    DORY_DEPTHWISE,   /* output channel c reads input channel c */
    DORY_MAXIMUM_POOL,
    DORY_AVERAGE_POOL,   /* accumulator = sum over the whole kernel, border counted as border_value */
    DORY_ADDITION,       /* accumulator = stage(input 0) + stage(input 1), or of terms */
    DORY_GROUPED,        /* output channel c reads the input channels of group c / outputs */
    DORY_CONCATENATION,  /* accumulator = stage(input 0), and behind its channels stage(input 1) */
    DORY_COPY,           /* moves bytes, by a map */
    DORY_TABLE,          /* output byte = table[input byte] */
    DORY_SOFTMAX,        /* of the bytes of each pixel */
    DORY_MULTIPLICATION, /* accumulator = stage(input 0) * stage(input 1) */
    DORY_INTERPOLATION,  /* accumulator = weighted sum of rows and columns */
    DORY_LARGEST,        /* element of 8, 16 or 32 bits = the channel of a pixel's largest byte, the first of equal ones */
    DORY_TRANSPOSITION,  /* moves bytes: the dimensions in another order */
    DORY_NORM,           /* of the bytes of each pixel: dory/norm.h */

    /* Both factors are activations. Output element (y, x, c): the accumulator is the sum over all channels k of
     * stage(input 0 at (y, x, k)) * stage(input 1 at (y, c, k)); stages only add a number of 16 bits, less the zero point.
     * So rows are heads; and the second input has a pixel for each output channel, and lies in L1 as
     * [rows][channels][input_channels] elements. The accumulator is normalised as a convolution's is, by one set of
     * constants (dory/matrix_product.h), or by thresholds. */
    DORY_MATRIX_PRODUCT,

    DORY_SQUARED_DIFFERENCE, /* accumulator = (term of input 0 + term of input 1)^2 */
    DORY_QUOTIENT,           /* accumulator = high word of (term of input 0 * term of input 1) */

    /* Steps of bytes of the first input, from the state that is the second: dory/lstm.h. Both inputs and the output are
     * a pixel each, and a tile has all of them. The kernel computes a step, and is called for one after the other. */
    DORY_LSTM,

    DORY_CONSTANT /* of one pixel of bytes: its weights are the elements, whatever the only element of the input is */
};

/* ---- numbers ---- */

/* DORY_CONVOLUTION, DORY_DEPTHWISE, DORY_ADDITION: columns in L1 between rows of the output, for the border of the next
 * layer, which takes the tile where it lies. 0 unless the layer is one tile, in HWC, whose kernel leaves gaps. */
struct dory_rows {
    uint16_t output_gap;
    uint16_t sum_gap; /* that of the addition behind a convolution that adds: dory_layer.stages */
};

/* DORY_GROUPED: input and output channels of a group. */
struct dory_groups {
    uint16_t channels, outputs;
};

/* DORY_TRANSPOSITION: see dory_axis(). */
struct dory_axes {
    uint8_t axes;
};

/* DORY_INTERPOLATION: pairs of taps that a row (a column) of the output has. */
struct dory_pairs {
    uint16_t row_pairs, column_pairs;
};

/* DORY_NORM, DORY_LSTM: words of the constants; units of an LSTM. */
struct dory_units {
    uint16_t words, units;
};

/* DORY_MATRIX_PRODUCT: so many rows that follow each other share a row of the second input, and no tile has rows of two
 * such; 0: each has its own. From a pixel of the output to the next one in L2, as pixel_bytes of struct dory_layer: where
 * they are parts of larger pixels, see dory_joins_rows(). */
struct dory_product_rows {
    uint16_t sharing_rows, pixel_bytes;
};

/* DORY_SOFTMAX with thresholds: channels of a group. The first group's sum is of exponentials by the distance to its own
 * largest element; before each other group is added, dory_lower_sum() brings the sum to the largest so far. 0: one group. */
struct dory_softmax_groups {
    uint16_t group_channels;
};

/* DORY_COPY with a map: of so many first channels each is the next one of the channel's before, none negative. */
struct dory_map_channels {
    uint16_t run;
};

/* ---- constants ---- */

/* What a layer reads beside its inputs and weights: in L2, or in memory that cores read. dory_table_bytes() of them lie in
 * L1 while the layer runs, where a convolution's tile has its weights. */
union dory_constants {
    /* DORY_COPY, whose tiles have all columns and channels of their window's rows where there is a map: output element
     * (row, column, channel) is input element map[row] + map[output_height + column]
     * + map[output_height + output_width + channel], a position in HWC order; where one is negative it is border_value.
     * Null: a window of one element with stride and padding says the same of rows and columns, and channels stay. */
    const int32_t *map;

    /* DORY_TABLE: 256 bytes, one table, or of the only input channel one for each output channel. At a multiple of 4.
     * DORY_CONSTANT: the elements, for the planner; a generated network has them in its weights alone. */
    const uint8_t *table;

    /* 256 words for each input, by its byte.
     * DORY_ADDITION with DORY_NORMALISE_HIGH: their sum is a << left_shift; each has its input's scale and zero point in it,
     * and the shift. With DORY_NORMALISE_CHANNELS, 4 words a channel follow: dory_channel_scale().
     * DORY_SQUARED_DIFFERENCE, always with _HIGH: their sum has 16 bits and is squared; left_shift is that of the square.
     * DORY_QUOTIENT: its product, see there. */
    const int32_t *terms;

    /* DORY_SOFTMAX: 256 fractions of 31 bits, by how far an element is below its pixel's largest; the output is 256 times
     * the element's, divided by the sum of all, at most 255, in TensorFlow Lite Micro's fixed point arithmetic.
     * With DORY_NORMALISE_THRESHOLDS, 256 whole numbers, whose sum over a pixel is less than 2^32: the accumulator is
     * floor(element's * 2^30 / sum of all), and the thresholds are behind them. In groups all are powers of two. */
    const uint32_t *exponentials;

    /* DORY_INTERPOLATION, whose tiles have all columns of their window's rows: the thresholds where it has any, which alone
     * lie in L1; then for each row of the output row_pairs times, then for each column column_pairs times, two rows
     * (columns) of the input and the weights of both. The accumulator is the sum of row's weight * column's weight * element
     * over all of them. */
    const int32_t *taps;

    const struct dory_norm *norm; /* DORY_NORM: dory/norm.h */
    const struct dory_lstm *lstm; /* DORY_LSTM: dory/lstm.h; cores read it in L2 if it is too large for L1 */

    /* All others with DORY_NORMALISE_THRESHOLDS: 255, and one that is not used. */
    const int32_t *thresholds;

    /* DORY_MULTIPLICATION with DORY_NORMALISE_CHANNELS: 4 words a channel. */
    const int32_t *scales;

    const void *any; /* for those who only pass it on */
};

#endif
