/* A layer of a generated network: struct dory_layer, which its kernel gets with every tile. Networks are in dory/network.h.
 *
 * operation.h        what a layer computes, and what only some operations have
 * requantisation.h   how an accumulator becomes an element of the output
 * kernel.h           one tile in L1, and what a kernel is
 * layer_sizes.h      what follows from a layer: bytes, rows, blocks
 *
 * Dimensions are height, width, channels in that order. An *element* is one activation value of 2, 4, 8, 16 or 32 bits.
 */
#ifndef DORY_LAYER_H
#define DORY_LAYER_H

#include <stdint.h>

#include "dory/kernel.h"
#include "dory/operation.h"
#include "dory/requantisation.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    uint8_t left_shift;    /* for DORY_NORMALISE_HIGH and _SHARED */
    uint8_t rounding;      /* enum dory_rounding, for DORY_NORMALISE_HIGH, _SHARED and _SPLIT */
    uint8_t tile_order;    /* enum dory_tile_order */
    uint8_t input_bits, second_input_bits, output_bits, weight_bits; /* of an element: 2, 4, 8, 16 or 32 */
    uint8_t input_is_signed, second_input_is_signed, output_is_signed;
    uint8_t input_layout, output_layout; /* enum dory_layout; an input in CHW is the only one */
    uint8_t pixel_ways; /* a hint: work is split in pixel_ways x (cores / pixel_ways) parts; 0: the kernel decides */
    union {
        uint8_t second_repeats; /* enum dory_repeat: what a second input with fewer elements repeats */
        uint8_t block_shift;    /* with weights: log2 of dory_block_channels() */
    };
    uint8_t row_divisor; /* DORY_COPY with a map, DORY_INTERPOLATION: the window of output row y starts at input row
                            floor(y * stride_height / row_divisor) - padding_top; 0 for all others, which is as 1 */

    /* the whole layer */
    uint16_t input_height, input_width, input_channels;
    uint16_t output_height, output_width, output_channels;
    uint16_t kernel_height, kernel_width;
    uint16_t stride_height, stride_width;
    union {
        uint16_t dilation_height;
        uint16_t pixel_bytes; /* DORY_MATRIX_PRODUCT, which has no window: from a pixel of the input to the next one in L2.
                                 More than its channels take where it is a part of larger pixels; its rows are parts behind
                                 one another there, of the same pixels */
    };
    union {
        uint16_t dilation_width;
        uint16_t second_pixel_bytes; /* likewise */
    };
    int16_t padding_top;   /* negative, of DORY_COPY: so many rows in front of the first window are not read */
    uint16_t padding_left; /* bottom and right follow from the shapes */
    int16_t border_value;  /* of input outside of the image: the zero point; 0 for 16 or 32 bits; the lowest for a maximum */

    struct dory_tile_shape tile; /* the largest; others are what is left of a step */

    union { /* by operation, see operation.h */
        struct dory_rows rows;
        struct dory_groups grouped;
        struct dory_axes transposition;
        struct dory_pairs interpolation;
        struct dory_units norm, lstm;
        struct dory_product_rows matrix_product;
        struct dory_softmax_groups softmax;
        struct dory_map_channels map_channels;
    };

    /* weights in flash, as the engine's format has them, in bytes; 0 without weights */
    uint32_t block_bytes; /* of dory_block_channels() output channels, with their constants */
    uint32_t chunk_bytes; /* of it, the weights of one full slice of tile.input_channels */

    union {                  /* by normalisation */
        uint32_t reciprocal; /* DORY_NORMALISE_CLAMPED */
        int32_t multiplier;  /* DORY_NORMALISE_SHARED */
    };
    int32_t minimum, maximum; /* clip bounds of the output; INT32_MIN and INT32_MAX: no clip */

    const struct dory_stages *stages; /* null for convolutions, but for those that can add: see struct dory_stages */

    union {
        union dory_constants constants; /* by operation, see operation.h */
        dory_kernel_function *finish;   /* of a convolution, depth-wise or not, and of a matrix product without thresholds:
                                           the kernel's second part; null for nearly all */
    };

    union {              /* by normalisation; here, where no pointer size leaves a gap */
        int64_t divisor; /* DORY_NORMALISE_DIVIDE */
        int64_t addend;  /* DORY_NORMALISE_SHARED, of 32 bits */
    };

    struct dory_l1_map l1;
};

#ifdef __cplusplus
}
#endif

#include "dory/layer_sizes.h"

#endif
