/* Cycles of products of four pixels and four channels, which all convolutions are made of. */
#ifndef DORY_XPULPV2_CONVOLUTION_DESCRIPTION_H
#define DORY_XPULPV2_CONVOLUTION_DESCRIPTION_H

#include "description.h"

/* Cycles for what is behind the sums of 16 elements, for every way that is not direct. */
uint64_t dory_long_finish_cycles(const struct dory_layer *layer);

/* The product of runs of `run_bytes` bytes; `source_cycles` is what it takes to lay four pixels ready. */
uint64_t dory_product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t run_bytes, uint32_t runs, uint64_t source_cycles);

/* Of the kernels that read pixels where they lie, and of those that gather them. */
uint64_t dory_convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);
uint64_t dory_gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);
uint32_t dory_gather_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);

#endif
