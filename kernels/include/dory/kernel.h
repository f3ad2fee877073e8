/* One tile in L1, and the function that computes its output: what a kernel is. */
#ifndef DORY_KERNEL_H
#define DORY_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dory_layer;

/* All pointers are into L1, but those of operands in place. The tile loop has already laid the border (border_value, or the
 * lowest value for a maximum) round the input, so a kernel sees a convolution without padding:
 * output pixel (y, x) reads input rows y * stride_height + ky * dilation_height, columns likewise.
 *
 * An input in place has no border. It starts with the first row of the tensor that the tile reads, and input_rows and
 * input_columns are rows and columns of the tensor. A kernel that takes it so knows its border, where it can have one:
 * see dory_border_of(). In CHW it starts with row 0, so that planes have all rows.
 *
 * Input:  [input_rows][input_columns][input_channels] elements (HWC), contiguous.
 * Output: [rows][columns][channels] elements (HWC), contiguous, but for the columns of output_gap behind each row, where the
 * kernel leaves gaps (dory/contract.h). Every byte of it is written, and nothing else.
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
    const void *second_input; /* addition, multiplication, concatenation, matrix product; a convolution that adds it */
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

#ifdef __cplusplus
}
#endif

#endif
