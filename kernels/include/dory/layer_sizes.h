/* What follows from a layer: sets of operations, blocks of weights, bytes of tables, rows of input. Pure functions that
 * generator and firmware share; layer.h includes them. */
#ifndef DORY_LAYER_SIZES_H
#define DORY_LAYER_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "dory/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Columns in L1 between rows of the output. */
static inline uint32_t dory_output_gap(const struct dory_layer *layer)
{
    return layer->operation <= DORY_DEPTHWISE || layer->operation == DORY_ADDITION ? layer->rows.output_gap : 0;
}

/* What cores compute once all are through with a tile's first part: an LSTM's next step, or a kernel's second part. Null for
 * nearly all. */
static inline dory_kernel_function *dory_second_part(const struct dory_layer *layer)
{
    bool has = layer->operation <= DORY_DEPTHWISE ||
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
    uint32_t sharing = layer->matrix_product.sharing_rows;
    return layer->operation == DORY_MATRIX_PRODUCT && sharing ? row / sharing : row;
}

/* How many of them `rows` rows of a tile have. */
static inline uint32_t dory_second_rows(const struct dory_layer *layer, uint32_t rows)
{
    return layer->operation == DORY_MATRIX_PRODUCT && layer->matrix_product.sharing_rows ? 1 : rows;
}

/* Rows of a matrix product that lie side by side in each pixel of its output, in L2, and those of a tile in L1: there it is
 * [columns][rows][channels]. */
static inline bool dory_joins_rows(const struct dory_layer *layer)
{
    return layer->operation == DORY_MATRIX_PRODUCT &&
           layer->matrix_product.pixel_bytes > dory_element_bytes(layer->output_channels, layer->output_bits);
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
        return 3u * layer->lstm.units;
    }
    uint32_t behind = input == 1 && layer->operation == DORY_CONCATENATION ? (uint32_t)layer->output_channels : 0;
    return behind ? behind - layer->input_channels : dory_repeats_channel(layer, input) ? 1 : layer->input_channels;
}

#define DORY_THRESHOLDS 256 /* words of a table of thresholds */
#define DORY_TERMS      512 /* words of both tables of terms */

/* An addition by tables of both inputs' terms. */
static inline bool dory_adds_terms(const struct dory_layer *layer)
{
    return layer->operation == DORY_ADDITION &&
           (layer->normalisation == DORY_NORMALISE_HIGH || layer->normalisation == DORY_NORMALISE_CHANNELS);
}

/* DORY_NORMALISE_CHANNELS: the bias, multiplier, addend and shift of a channel, of the layer's list of words: behind an
 * addition's terms. Of other layers, that list has none. */
static inline uint32_t dory_channel_scale(const struct dory_layer *layer, uint32_t channel)
{
    return (layer->operation == DORY_ADDITION ? DORY_TERMS : 0) + 4 * channel;
}

/* What an LSTM may take of L1; if it is more its constants stay in L2, where cores read them for each step. */
#define DORY_LSTM_LOCAL_BYTES 61440

static inline uint32_t dory_lstm_table_bytes(const struct dory_layer *layer)
{
    uint32_t bytes = layer->lstm.words * 4u,
             others = layer->input_channels + layer->output_channels + 3u * layer->lstm.units;
    return bytes + others <= DORY_LSTM_LOCAL_BYTES ? bytes : 0;
}

/* Of a softmax: all that is there, unless fewer elements are looked up than would be copied. */
static inline uint32_t dory_softmax_table_bytes(const struct dory_layer *layer)
{
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    bool pays = (uint32_t)layer->output_height * layer->output_width * layer->output_channels >= 1024;
    return pays ? 1024 + (has_thresholds ? DORY_THRESHOLDS * 4 : 0) : 0;
}

/* Bytes of the layer's constants that every tile of it reads from L1, thresholds of others than interpolations apart. */
static inline uint32_t dory_table_bytes(const struct dory_layer *layer)
{
    bool high = layer->normalisation == DORY_NORMALISE_HIGH;
    return layer->normalisation == DORY_NORMALISE_CHANNELS ? 4 * dory_channel_scale(layer, layer->output_channels)
           : layer->operation == DORY_ADDITION && high     ? 4 * DORY_TERMS
           : layer->operation == DORY_TABLE              ? (layer->input_channels == 1 ? 256u * layer->output_channels : 256)
           : layer->operation == DORY_SQUARED_DIFFERENCE ? 2048
           : layer->operation == DORY_QUOTIENT           ? 2048
           : layer->operation == DORY_NORM               ? layer->norm.words * 4u
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
