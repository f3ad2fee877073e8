/* A layer of a generated network, and the kernels' view of it: struct dory_layer is what all tiles share (shape, kernel,
 * tile, L1 map, normalisation), struct dory_tile one of them that lies in L1. Networks are in dory/network.h.
 *
 * Dimensions are height, width, channels in that order. An *element* is one activation value of 2, 4, 8, 16 or 32 bits.
 */
#ifndef DORY_LAYER_H
#define DORY_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "dory/repeat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dory_layer;
struct dory_norm;
struct dory_lstm;

/* ---- one tile in L1 ---------------------------------------------------------------------------------------- */

/* All pointers are into L1, but those of operands in place. The tile loop has already laid the border (border_value, or the
 * lowest value for a maximum) round the input, so a kernel sees a convolution without padding:
 * output pixel (y, x) reads input rows y * stride_height + ky * dilation_height, columns likewise.
 *
 * An input in place has no border. It starts with the first row of the tensor that the tile reads, and input_rows and
 * input_columns are rows and columns of the tensor. A kernel that takes it so knows its border, where it can have one:
 * see dory_border_of(). In CHW it starts with row 0, so that planes have all rows.
 *
 * Input:  [input_rows][input_columns][input_channels] elements (HWC), contiguous.
 * Output: [rows][columns][channels] elements (HWC), contiguous. Every byte of it is written, and nothing else.
 * Weights: the blocks of this tile, contiguous, as the engine's format has them (dory/engine.h). Where input channels are
 * tiled, a block is its chunk here, followed by the constants in the last chunk only.
 * Elements below 8 bits are packed along the channels, first element in the low bits; a pixel starts on a whole byte.
 *
 * Where the layer has the input in CHW: [input_channels][input_rows][input_columns] bytes. Rows of border are there, columns
 * of border are not: the kernel knows them (border_value), and a tile has all columns of the input.
 * Where it has the output in CHW: [channels][rows][columns] bytes.
 */
struct dory_tile {
    const void *input;
    const void *second_input; /* addition, multiplication, concatenation and matrix product only */
    const void *weights;      /* or the layer's table */
    void *output;
    int32_t *accumulators; /* [rows * columns][channels rounded up to a block]; null where input channels are not tiled */
    void *scratch;         /* dory_kernel_scratch_bytes() bytes for this tile, shared by all cores */
    uint16_t rows;         /* of the output */
    uint16_t columns;
    uint16_t channels;
    uint16_t input_rows; /* with border, unless it is in place */
    uint16_t input_columns;
    uint16_t input_channels;          /* of a concatenation: of the first input; both are there with all channels */
    uint16_t first_channel;           /* of the output, in the layer */
    uint16_t first_row, first_column; /* DORY_LSTM: first_row is the number of the step to be computed */
    uint8_t first_chunk; /* the first (last) slice of input channels: start from zero (normalise and write output) */
    uint8_t last_chunk;
};

/* The input rectangle that exists; the rest of the tile is border. In tile coordinates, ends exclusive. */
struct dory_valid {
    uint16_t top, bottom, left, right;
};

/* Computes this core's share of a tile. The shares of all `cores` calls together are the whole tile and do not
 * overlap; no synchronisation is needed between them inside the call. A kernel that has a second part (dory_second_part)
 * leaves in scratch what that part makes the output of: it has the same arguments, and is called when all cores are through
 * with the first one; that of an LSTM likewise for each step. */
typedef void dory_kernel_function(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores);

/* ---- one layer --------------------------------------------------------------------------------------------- */

enum dory_operation {
    DORY_CONVOLUTION, /* every output channel reads every input channel; fully connected: 1x1 on 1x1 pixels */
    DORY_DEPTHWISE,   /* output channel c reads input channel c */
    DORY_MAXIMUM_POOL,
    DORY_AVERAGE_POOL,   /* accumulator = sum over the whole kernel, border counted as border_value */
    DORY_ADDITION,       /* accumulator = stage(input 0) + stage(input 1) */
    DORY_GROUPED,        /* output channel c reads the group_channels input channels of group c / group_outputs */
    DORY_CONCATENATION,  /* accumulator = stage(input 0), and behind its channels stage(input 1) */
    DORY_COPY,           /* moves bytes: see `map` */
    DORY_TABLE,          /* output byte = table[input byte]: one table, or of the only input channel one for each output's */
    DORY_SOFTMAX,        /* of the bytes of each pixel: see `exponentials` */
    DORY_MULTIPLICATION, /* accumulator = stage(input 0) * stage(input 1) */
    DORY_INTERPOLATION,  /* accumulator = weighted sum of rows and columns: see `taps` */
    DORY_LARGEST,        /* element of 8, 16 or 32 bits = the channel of a pixel's largest byte, the first of equal ones */
    DORY_TRANSPOSITION,  /* moves bytes: the dimensions in another order, see `axes` */
    DORY_NORM,           /* of the bytes of each pixel: see dory/norm.h */

    /* Both factors are activations. Output element (y, x, c): the accumulator is the sum over all channels k of
     * stage(input 0 at (y, x, k)) * stage(input 1 at (y, c, k)); stages only add a number of 16 bits, less the zero point.
     * So rows are heads; and the second input has a pixel for each output channel, and lies in L1 as
     * [rows][channels][input_channels] elements. The accumulator is normalised as a convolution's is, by one set of
     * constants (dory/matrix_product.h), or by thresholds. */
    DORY_MATRIX_PRODUCT,

    DORY_SQUARED_DIFFERENCE, /* accumulator = (term of input 0 + term of input 1)^2: see `terms` */
    DORY_QUOTIENT,           /* accumulator = high word of (term of input 0 * term of input 1): see `terms` */

    /* Steps of bytes of the first input, from the state that is the second: see dory/lstm.h. Both inputs and the output are
     * a pixel each, and a tile has all of them. The kernel computes a step, and is called for one after the other. */
    DORY_LSTM,

    DORY_CONSTANT /* of one pixel of bytes: its weights are the elements, whatever the only element of the input is */
};

/* How an accumulator becomes an output element:  y = clip(floor((multiplier * accumulator + addend) / divisor)).
 * Convolutions have a multiplier and addend per output channel, beside its weights; pools and additions have one
 * for the layer, below. */
enum dory_normalisation {
    DORY_NORMALISE_NONE,   /* y = clip(accumulator + addend): int32 addend only, e.g. int32 logits */
    DORY_NORMALISE_32,     /* divisor = 2^shift; multiplier * accumulator + addend is proven to fit int32 */
    DORY_NORMALISE_64,     /* divisor = 2^shift; int64 arithmetic */
    DORY_NORMALISE_DIVIDE, /* any divisor; int64 arithmetic, floor division */

    /* 32-bit arithmetic where the product exceeds 32 bits: the accumulator is first clamped to where the output saturates.
     *     u = multiplier * clamp(accumulator, low, high) + addend    unsigned, modulo 2^32, and proven to be less
     *     y = reciprocal == 0 ? u >> shift : (u * reciprocal >> 32) >> shift
     * No clip is left to do. The most frequent form of real networks, whose divisors are 2^n and 2^n - 1. */
    DORY_NORMALISE_CLAMPED,

    /* More bits, for two products instead of one; to bytes without a sign, convolutions only:
     *     x = clamp(accumulator + bias, 0, limit)
     *     y = (high * x + ((low * x + addend) >> shift) - correction) >> 24
     * unsigned, and proven to be less than 2^32. The shift is what the low 5 bits of the addend say, so that it is the
     * channel's own and takes no register. The correction is that of enum dory_rounding, FLOOR or AWAY. No clip is left to
     * do. All that is floor((M * x + addend) / 2^(24 + shift)) with M = high * 2^shift + low. */
    DORY_NORMALISE_SPLIT,

    /* The exact product of an accumulator and a scale, of which the high half is enough. All in 32 bits, two's complement,
     * and proven not to overflow; `>>` is arithmetic:
     *     a = accumulator + bias
     *     v = high 32 bits of the signed 64-bit product (a << left_shift) * multiplier
     *     y = clip((v + addend + correction) >> shift)          with the channel's shift, 0 to 31
     * The correction is that of enum dory_rounding. For one scale of a whole layer see struct dory_stages. */
    DORY_NORMALISE_HIGH,

    /* The same with one scale for the layer, whose `multiplier`, `addend` and `shift` are the layer's members: a channel has
     * its bias and nothing else. Convolutions only; where a channel has few outputs, its constants take longer to read than
     * its sums. */
    DORY_NORMALISE_SHARED,

    /* y = how many of 255 thresholds, which ascend, are not above the accumulator: any monotone function whose values are
     * bytes without a sign. Not for convolutions. See `thresholds`. */
    DORY_NORMALISE_THRESHOLDS
};

/* The correction of DORY_NORMALISE_HIGH, _SHARED and _SPLIT. What else rounding takes is in the addend. */
enum dory_rounding {
    DORY_ROUND_FLOOR, /* 0 */
    DORY_ROUND_AWAY,  /* -(1 << (left_shift - 1)) where a < 0: rounded to 31 bits first, then half away from zero, as
                         TensorFlow Lite Micro does; left_shift is at least 1. SPLIT: the channel's `step` where x is less
                         than its `zero` */
    DORY_ROUND_EVEN   /* (v >> shift) & 1: with half - 1 in the addend, half to even */
};

/* A scalar y = clip(floor((multiplier * x + addend) / divisor)). */
struct dory_stage {
    int64_t multiplier;
    int64_t addend;
    int64_t divisor;
    int32_t minimum;
    int32_t maximum;
};

/* What a pool, an addition, a multiplication or a concatenation computes. With DORY_NORMALISE_HIGH, `first` has its
 * constants: multiplier, addend and the divisor 2^shift; bounds are the layer's. The bias is that of input[0].addend for a
 * pool and an interpolation. A multiplication has it in its factors: input[0] and input[1] have an addend of 16 bits and
 * nothing else. An addition has it in its tables, see `terms`, and no stages in front. There is no second stage. */
struct dory_stages {
    struct dory_stage input[2]; /* additions, concatenations: before all else (bounds INT32_MIN, INT32_MAX: no clip) */
    struct dory_stage first;    /* from accumulator to output, clipped to its bounds */
    struct dory_stage second;   /* after it, where has_second: a ReLU behind an addition */
    uint8_t has_second;
};

/* Of a tile: its output's and, for a convolution, its input's. Numbers of channels are multiples of 4, or all. */
struct dory_tile_shape {
    uint16_t rows, columns, channels, input_channels;
};

enum dory_tile_order {
    DORY_CHANNELS_OUTER, /* for channels, for rows, for columns: weights are loaded once */
    DORY_SPACE_OUTER     /* for rows, for columns, for channels: the input is loaded once */
};

/* How a tensor lies in L2, and its tiles in L1. CHW: 8-bit elements, and tiles that are as wide as the tensor. */
enum dory_layout {
    DORY_HWC, /* [height][width][channels] */
    DORY_CHW  /* [channels][height][width]: between a producer that writes four pixels of a channel as easily as four
                 channels of a pixel, and a depth-wise consumer that wants the pixels of a channel side by side */
};

#define DORY_NO_BUFFER UINT32_MAX /* an L1 offset that is not used */

/* An L1 offset of an operand that is *in place*: no tile of it is copied, kernels take it where it lies. That is for weights
 * and tables memory that cores read, such as flash, and for inputs and outputs L2, which has these tensors whole. */
#define DORY_IN_PLACE (UINT32_MAX - 1)

/* The start of the L1 arena is the tile loop's: two structs dory_layer, what to do, and the copies that a core makes. */
#define DORY_L1_RUNTIME_BYTES 992

/* Offsets in bytes from the start of the L1 arena. [1] equals [0] where one buffer is enough: the operand is loaded once in
 * the layer. It may also be so where an operand is loaded anew, to save memory: then load, compute and store do not overlap.
 * second_input goes to the buffer of the same index as input. */
struct dory_l1_map {
    uint32_t input[2];
    uint32_t second_input[2];
    uint32_t weights[2];
    uint32_t output[2];
    uint32_t accumulators;
    uint32_t scratch;
};

struct dory_layer {
    dory_kernel_function *kernel;

    uint8_t operation;     /* enum dory_operation */
    uint8_t normalisation; /* enum dory_normalisation */
    uint8_t shift;         /* log2 of the divisor, for DORY_NORMALISE_32 and _64; see there for _CLAMPED and _SHARED */
    uint8_t tile_order;    /* enum dory_tile_order */
    uint8_t input_bits, second_input_bits, output_bits, weight_bits; /* of an element: 2, 4, 8, 16 or 32 */
    uint8_t input_is_signed, second_input_is_signed, output_is_signed;
    uint8_t input_layout, output_layout; /* enum dory_layout; an input in CHW is the only one */
    uint8_t pixel_ways;     /* a hint: work is split in pixel_ways x (cores / pixel_ways) parts; 0: the kernel decides */
    union {                 /* by one name in tables of members */
        uint8_t left_shift; /* for DORY_NORMALISE_HIGH and _SHARED */
        uint8_t axes;       /* for DORY_TRANSPOSITION, see dory_axis */
    };
    uint8_t rounding;           /* enum dory_rounding, for DORY_NORMALISE_HIGH, _SHARED and _SPLIT */
    union {                     /* by operation */
        uint8_t second_repeats; /* DORY_ADDITION, _MULTIPLICATION, _QUOTIENT, _SQUARED_DIFFERENCE, _NORM: enum dory_repeat */
        uint8_t block_shift;    /* with weights: log2 of dory_block_channels() */
    };
    uint8_t row_divisor; /* DORY_COPY with a map, DORY_INTERPOLATION: the window of output row y starts at input row
                            floor(y * stride_height / row_divisor) - padding_top; 0 for all others, which is as 1 */

    /* the whole layer */
    uint16_t input_height, input_width, input_channels;
    uint16_t output_height, output_width, output_channels;
    uint16_t kernel_height, kernel_width;
    uint16_t stride_height, stride_width;
    uint16_t dilation_height, dilation_width;
    uint16_t padding_top, padding_left; /* bottom and right follow from the shapes */
    int16_t border_value; /* of input outside of the image: the zero point; 0 for 16 or 32 bits; the lowest for a maximum */

    struct dory_tile_shape tile; /* the largest; others are what is left of a step */

    /* DORY_GROUPED: input and output channels of a group. DORY_INTERPOLATION: pairs of taps that a row (a column) of the
     * output has. DORY_NORM, DORY_LSTM: words of `norm` or `lstm`; units of an LSTM. DORY_MATRIX_PRODUCT: so many rows that
     * follow each other share a row of the second input, and no tile has rows of two such; 0: each has its own. By one name each in
     * tables of members, for all of the struct lies in L1. */
    union {
        uint16_t group_channels, row_pairs, norm_words, sharing_rows;
    };
    union {
        uint16_t group_outputs, column_pairs, units;
    };

    /* weights in flash, as the engine's format has them, in bytes; 0 without weights */
    uint32_t block_bytes; /* of dory_block_channels() output channels, with their constants */
    uint32_t chunk_bytes; /* of it, the weights of one full slice of tile.input_channels */

    union {                  /* by one name each in tables of members */
        uint32_t reciprocal; /* for DORY_NORMALISE_CLAMPED */
        int32_t multiplier;  /* for DORY_NORMALISE_SHARED */
    };
    int32_t minimum, maximum; /* clip bounds of the output; INT32_MIN and INT32_MAX: no clip */

    const struct dory_stages *stages; /* null for convolutions */

    union {
        /* DORY_COPY, whose tiles have all columns and channels of their window's rows where there is a map: output element
         * (row, column, channel) is input element map[row] + map[output_height + column]
         * + map[output_height + output_width + channel], a position in HWC order; where one is negative it is border_value.
         * Null: a window of one element with stride and padding says the same of rows and columns, and channels stay. */
        const int32_t *map;

        /* DORY_TABLE: 256 bytes a table. The tile loop lays them where a convolution's tile has its weights, as it does with
         * the next. DORY_CONSTANT: the elements, for the planner; a generated network has them in its weights alone. */
        const uint8_t *table; /* at a multiple of 4 */

        /* DORY_ADDITION with DORY_NORMALISE_HIGH: 256 words for each input, whose sum is a << left_shift: each has its
         * input's scale and zero point in it, and the shift. DORY_SQUARED_DIFFERENCE, always with _HIGH: 256 words for each
         * input, whose sum has 16 bits and is squared; left_shift is that of the square. DORY_QUOTIENT: 256 words for each
         * input. */
        const int32_t *terms;

        /* DORY_SOFTMAX: 256 fractions of 31 bits, by how far an element is below its pixel's largest; the output is 256
         * times the element's, divided by the sum of all, at most 255, in TensorFlow Lite Micro's fixed point arithmetic.
         * With DORY_NORMALISE_THRESHOLDS, 256 whole numbers, whose sum over a pixel is less than 2^32: the accumulator is
         * floor(element's * 2^30 / sum of all), and the thresholds are behind them. The tile loop may lay all of it where a
         * convolution's tile has its weights (dory_table_bytes). */
        const uint32_t *exponentials;

        /* DORY_NORM: in L2; the tile loop lays it where a convolution's tile has its weights. */
        const struct dory_norm *norm;

        /* DORY_LSTM: likewise, unless it is so large that cores read it in L2 (dory_table_bytes). */
        const struct dory_lstm *lstm;

        /* DORY_INTERPOLATION, whose tiles have all columns of their window's rows: the thresholds where it has any, which
         * the tile loop lays where a convolution's tile has its weights; then for each row of the output row_pairs times,
         * then for each column column_pairs times, two rows (columns) of the input and the weights of both. The accumulator
         * is the sum of row's weight * column's weight * element over all of them. */
        const int32_t *taps;

        /* DORY_CONVOLUTION and DORY_MATRIX_PRODUCT: the kernel's second part; null for nearly all. */
        dory_kernel_function *finish;

        /* All others with DORY_NORMALISE_THRESHOLDS: 255, and one that is not used. */
        const int32_t *thresholds;
    };

    union {              /* here, where no pointer size leaves a gap */
        int64_t divisor; /* for DORY_NORMALISE_DIVIDE */
        int64_t addend;  /* for DORY_NORMALISE_SHARED, of 32 bits */
    };

    struct dory_l1_map l1;
};

/* ---- pure helpers, shared by generator and firmware -------------------------------------------------------- */
static inline uint32_t dory_minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t dory_round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
static inline uint32_t dory_divide_up(uint32_t value, uint32_t divisor) { return (value + divisor - 1) / divisor; }

/* True where a layer has weights. */
static inline bool dory_has_weights(const struct dory_layer *layer)
{
    const uint32_t those = 1u << DORY_CONVOLUTION | 1u << DORY_DEPTHWISE | 1u << DORY_GROUPED | 1u << DORY_CONSTANT;
    return those >> layer->operation & 1;
}

/* Output channels of a block of weights. Tiles and steps begin at a multiple of so many; without weights at one of 4, as
 * elements of any bits then begin at a whole byte. Those of an LSTM are not cut. */
static inline uint32_t dory_block_channels(const struct dory_layer *layer)
{
    return dory_has_weights(layer)         ? 1u << layer->block_shift
           : layer->operation == DORY_LSTM ? dory_round_up(layer->output_channels, 4)
                                           : 4;
}

/* Blocks of so many channels, the last of which may have fewer. */
static inline uint32_t dory_blocks(const struct dory_layer *layer, uint32_t channels)
{
    return dory_divide_up(channels, dory_block_channels(layer));
}

/* Bytes of `elements` packed elements of `bits` bits. */
static inline uint32_t dory_element_bytes(uint32_t elements, uint32_t bits) { return (elements * bits + 7) / 8; }

/* Null where the layer's kernel has none. */
static inline dory_kernel_function *dory_second_part(const struct dory_layer *layer)
{
    bool has = layer->operation == DORY_CONVOLUTION ||
               (layer->operation == DORY_MATRIX_PRODUCT && layer->normalisation != DORY_NORMALISE_THRESHOLDS);
    return has ? layer->finish : layer->operation == DORY_LSTM ? layer->kernel : 0;
}

/* True where a tile needs other input channels than its output channels: all of them, or a slice (convolutions only). */
static inline bool dory_reads_all_channels(const struct dory_layer *layer)
{
    /* as a set, for the driver asks often, and its instructions come through a cache of 1 kB */
    const uint32_t those = 1u << DORY_CONVOLUTION | 1u << DORY_GROUPED | 1u << DORY_CONCATENATION | 1u << DORY_SOFTMAX |
                           1u << DORY_COPY | 1u << DORY_LARGEST | 1u << DORY_TRANSPOSITION | 1u << DORY_NORM |
                           1u << DORY_MATRIX_PRODUCT | 1u << DORY_LSTM | 1u << DORY_CONSTANT;
    return (those >> layer->operation & 1) || (layer->operation == DORY_TABLE && layer->input_channels == 1);
}

static inline bool dory_has_second_input(const struct dory_layer *layer)
{
    const uint32_t those = 1u << DORY_ADDITION | 1u << DORY_CONCATENATION | 1u << DORY_MULTIPLICATION |
                           1u << DORY_MATRIX_PRODUCT | 1u << DORY_SQUARED_DIFFERENCE | 1u << DORY_QUOTIENT | 1u << DORY_LSTM;
    return (those >> layer->operation & 1) || (layer->operation == DORY_NORM && layer->second_repeats);
}

/* The row of the second input for an output's row. */
static inline uint32_t dory_second_row(const struct dory_layer *layer, uint32_t row)
{
    return layer->operation == DORY_MATRIX_PRODUCT && layer->sharing_rows ? row / layer->sharing_rows : row;
}

/* How many of them `rows` rows of a tile have. */
static inline uint32_t dory_second_rows(const struct dory_layer *layer, uint32_t rows)
{
    return layer->operation == DORY_MATRIX_PRODUCT && layer->sharing_rows ? 1 : rows;
}

/* A second input that is one channel for all. */
static inline bool dory_repeats_channel(const struct dory_layer *layer, unsigned input)
{
    return input == 1 && (layer->second_repeats & DORY_REPEATS_CHANNEL) != 0;
}

/* Channels of an input as a whole. */
static inline uint32_t dory_input_channels(const struct dory_layer *layer, unsigned input)
{
    if (input == 1 && layer->operation == DORY_LSTM) {
        return 3u * layer->units;
    }
    uint32_t behind = input == 1 && layer->operation == DORY_CONCATENATION ? (uint32_t)layer->output_channels : 0;
    return behind ? behind - layer->input_channels : dory_repeats_channel(layer, input) ? 1 : layer->input_channels;
}

#define DORY_THRESHOLDS 256 /* words of a table of thresholds */

/* What an LSTM may take of L1; if it is more its constants stay in L2, where cores read them for each step. */
#define DORY_LSTM_LOCAL_BYTES 61440

static inline uint32_t dory_lstm_table_bytes(const struct dory_layer *layer)
{
    uint32_t bytes = layer->norm_words * 4u, others = layer->input_channels + layer->output_channels + 3u * layer->units;
    return bytes + others <= DORY_LSTM_LOCAL_BYTES ? bytes : 0;
}

/* Of a softmax: all that is there, unless fewer elements are looked up than would be copied. */
static inline uint32_t dory_softmax_table_bytes(const struct dory_layer *layer)
{
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    bool pays = (uint32_t)layer->output_height * layer->output_width * layer->output_channels >= 1024;
    return pays ? 1024 + (has_thresholds ? DORY_THRESHOLDS * 4 : 0) : 0;
}

/* Bytes of what `table`, `terms`, `exponentials`, `taps`, `norm` or `lstm` point to that every tile of the layer reads from
 * L1. */
static inline uint32_t dory_table_bytes(const struct dory_layer *layer)
{
    bool high = layer->normalisation == DORY_NORMALISE_HIGH;
    return layer->operation == DORY_TABLE                ? (layer->input_channels == 1 ? 256u * layer->output_channels : 256)
           : layer->operation == DORY_ADDITION && high   ? 2048
           : layer->operation == DORY_SQUARED_DIFFERENCE ? 2048
           : layer->operation == DORY_QUOTIENT           ? 2048
           : layer->operation == DORY_NORM               ? layer->norm_words * 4u
           : layer->operation == DORY_LSTM               ? dory_lstm_table_bytes(layer)
           : layer->operation == DORY_SOFTMAX            ? dory_softmax_table_bytes(layer)
           : layer->operation == DORY_INTERPOLATION && !high ? DORY_THRESHOLDS * 4
                                                             : 0;
}

/* Bytes of normalisation constants of one channel. */
static inline uint32_t dory_channel_constants_bytes(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE:
    case DORY_NORMALISE_SHARED: return 4;
    case DORY_NORMALISE_32: return 8;
    case DORY_NORMALISE_SPLIT: return layer->rounding == DORY_ROUND_AWAY ? 28 : 20;
    default: return 16;
    }
}

/* Rows (or columns) of input, border included, that `outputs` output rows read. */
static inline uint32_t dory_input_extent(uint32_t outputs, uint32_t kernel, uint32_t stride, uint32_t dilation)
{
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

/* Rows of input, border included, of a tile with so many output rows. */
static inline uint32_t dory_input_rows(const struct dory_layer *layer, uint32_t rows)
{
    if (layer->row_divisor > 1) { /* wherever in the image they are */
        return dory_divide_up((rows - 1) * layer->stride_height, layer->row_divisor) + layer->kernel_height;
    }
    return dory_input_extent(rows, layer->kernel_height, layer->stride_height, layer->dilation_height);
}

/* The first of them, for output row `row` and those behind it; negative in the border. */
static inline int32_t dory_first_input_row(const struct dory_layer *layer, uint32_t row)
{
    uint32_t start = row * layer->stride_height;
    return (int32_t)(layer->row_divisor > 1 ? start / layer->row_divisor : start) - layer->padding_top;
}

/* True where kernels take an operand, such as l1.input, where it lies. */
static inline bool dory_is_in_place(const uint32_t offset[2]) { return offset[0] == DORY_IN_PLACE; }

/* Rows and columns of border above and left of what a tile has of its input: none where they lie in L1, which has the border
 * with it. For a kernel that knows its border: output pixel (y, x) reads row y * stride_height + ky * dilation_height - top
 * of the tile; one that is none of its input_rows is border, and columns likewise. */
struct dory_border_rows {
    uint32_t top, left;
};

static inline struct dory_border_rows dory_border_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    int32_t first = dory_first_input_row(layer, tile->first_row);
    struct dory_border_rows none = {0, 0}, border = {first < 0 ? (uint32_t)-first : 0, layer->padding_left};
    return dory_is_in_place(layer->l1.input) ? border : none;
}

#ifdef __cplusplus
}
#endif

#endif
