/* The kernel contract: what the generator knows of a kernel. Compiled into the generator and into firmware tests;
 * the kernel's code itself is not needed. */
#ifndef DORY_CONTRACT_H
#define DORY_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dory/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operands that a kernel takes where they lie, in L2 or flash, see DORY_IN_PLACE: both inputs, or none; its weights, or the
 * layer's table. */
enum dory_in_place { DORY_INPUTS_IN_PLACE = 1, DORY_WEIGHTS_IN_PLACE = 2, DORY_OUTPUT_IN_PLACE = 4, DORY_ALL_IN_PLACE = 7 };

/* All functions get a layer whose shape, bits, normalisation and clip fields are set; its tile, L1 map and blob sizes
 * are not. They are pure and need no hardware. */
struct dory_kernel_description {
    const char *name;   /* the C identifier of its dory_kernel_function */
    const char *finish; /* of its second part; null for nearly all */
    bool (*supports)(const struct dory_layer *layer);

    /* Scratch that the kernel needs for such a tile on so many cores, bytes, 4-byte aligned. Null: none. */
    uint32_t (*scratch_bytes)(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);

    /* Predicted cycles of one call on all cores, until the slowest is done. */
    uint64_t (*cycles)(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);

    /* Of what a target says that copies beside a kernel take it, as they keep it from L1; 0: all, as a kernel that loads a
     * word in each three cycles. */
    unsigned contention_percent;

    bool can_tile_input_channels; /* partial sums in dory_tile.accumulators */
    uint8_t in_place;             /* set of enum dory_in_place: what it can take where it lies */
    bool needs_in_place;          /* it is for what lies there, and for nothing that is copied */
    bool copies_constants;        /* of weights in place: it brings those of a tile's blocks to L1 by the DMA itself */
    bool in_row_order;            /* on one core it computes row after row, and for none reads an input row above the first
                                   * that this one needs: what lies there may be overwritten with the output */
    bool knows_border;            /* of an input in place, see dory_border_of(); else it takes only those that have none */
    bool reads_chw;               /* the input lies in CHW, and never in HWC */
    bool writes_chw;              /* the output may lie in CHW, too; where it has 8 bits */
    bool joins_rows;              /* of a matrix product, see dory_joins_rows() */

    /* Of a convolution: whether its cores can make the elements of `addition`, whose input number `input` they compute, at
     * once, see struct dory_stages, which is filled then. Null: they cannot. */
    bool (*adds)(const struct dory_layer *layer, const struct dory_layer *addition, unsigned input,
                 struct dory_stages *stages);
    bool leaves_gaps; /* behind each row of a tile's output (output_gap), in HWC; where those and the rows are words */
};

/* A description: the kernel's identifier, its functions, and behind these the members that are not zero, as designators. */
#define DORY_KERNEL(kernel, its_supports, its_scratch_bytes, its_cycles, ...)                                               \
    {                                                                                                                       \
        .name = #kernel, .supports = its_supports, .scratch_bytes = its_scratch_bytes, .cycles = its_cycles, __VA_ARGS__    \
    }

/* Defines that of dory_KERNEL, with the same arguments. */
#define DORY_DESCRIBE(kernel, ...)                                                                                          \
    const struct dory_kernel_description dory_##kernel##_description = DORY_KERNEL(dory_##kernel, __VA_ARGS__);

static inline uint32_t dory_scratch_bytes(const struct dory_kernel_description *kernel, const struct dory_layer *layer,
                                          const struct dory_tile_shape *tile, unsigned cores)
{
    return kernel->scratch_bytes ? kernel->scratch_bytes(layer, tile, cores) : 0;
}

/* A set of enum dory_in_place: what a map of L1 leaves where it lies. */
uint8_t dory_operands_in_place(const struct dory_l1_map *map);

/* True where a kernel can compute a layer whose tensors lie as the layer says. */
bool dory_kernel_supports(const struct dory_kernel_description *kernel, const struct dory_layer *layer);

/* L1 bytes that the tile loop lays out for one input tile: the extent of rows and columns with border. */
uint32_t dory_input_tile_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned input);
uint32_t dory_output_tile_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile);
uint32_t dory_accumulator_bytes(const struct dory_layer *layer,
                                const struct dory_tile_shape *tile); /* 0: not tiled over input channels */

#ifdef __cplusplus
}
#endif

#endif
