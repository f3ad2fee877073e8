/* Cycles of products of four pixels and four channels, which all convolutions are made of.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_CONVOLUTION_DESCRIPTION_H
#define DORY_XPULPV2_CONVOLUTION_DESCRIPTION_H

#include "description.h"
#include "direct.h"

/* Cycles for what is behind the sums of 16 elements, for every way that is not direct. */
uint64_t dory_long_finish_cycles(const struct dory_layer *layer);

/* The same for four channels of a pixel. */
uint64_t dory_long_quad_cycles(const struct dory_layer *layer);

/* Of a division, in linear layers, for so many times four channels: what it starts with, and what is made bit by bit. */
uint64_t dory_linear_division_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint64_t blocks);

/* Of the long way, which goes channel by channel: what so many times four channels take less, where a pixel's last ones are
 * not all there. */
uint64_t dory_linear_missing_cycles(const struct dory_tile_shape *tile, uint64_t blocks);

/* What no convolution takes but those of any elements: 16 bits on either side. */
static inline bool dory_has_halves(const struct dory_layer *layer)
{
    return (layer->input_bits == 16 || layer->output_bits == 16) && layer->input_bits <= 16 &&
           2u * layer->input_channels <= UINT16_MAX;
}

/* Whether a layer has one of the kernels for pixels of few words (narrow/). */
bool dory_has_narrow(const struct dory_layer *layer);

/* Whether it has one of the kernels for few outputs (linear/few.h). */
bool dory_has_few_outputs(const struct dory_layer *layer);

/* More than a whole block, for one of so many pixels and channels; less where all blocks go the long way. */
int64_t dory_part_cycles(const struct dory_layer *layer, uint32_t pixels, uint32_t lanes);

/* The product of runs of `run_bytes` bytes; `source_cycles` is what it takes to lay four pixels ready. */
uint64_t dory_product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t run_bytes, uint32_t runs, uint64_t source_cycles);

/* Of the kernels that read pixels where they lie, and of those that gather them. */
uint64_t dory_convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);
uint64_t dory_gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);
uint32_t dory_gather_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores);

/* Of each kernel there is one for the kinds from `first` to `last`; the one for DORY_DIRECT takes all that is not direct,
 * too. */
static inline bool dory_is_kind(const struct dory_layer *layer, enum dory_direct first, enum dory_direct last)
{
    enum dory_direct kind = dory_product_direct_of(layer);
    return kind >= first && kind <= last;
}

#define DORY_DESCRIPTION_OF_KIND(kernel, takes, first, last, ...)                                                           \
    static bool kernel##_supports_kind(const struct dory_layer *layer)                                                      \
    {                                                                                                                       \
        return takes(layer) && dory_is_kind(layer, first, last);                                                            \
    }                                                                                                                       \
    const struct dory_kernel_description dory_xpulpv2_##kernel##_description = {                                            \
        .name = "dory_xpulpv2_" #kernel, .supports = kernel##_supports_kind, __VA_ARGS__};

/* A kernel and its kinds. */
#define DORY_DESCRIPTIONS_OF_KINDS(name, takes, ...)                                                                        \
    DORY_DESCRIPTION_OF_KIND(name, takes, DORY_NOT_DIRECT, DORY_DIRECT, __VA_ARGS__)                                        \
    DORY_DESCRIPTION_OF_KIND(name##_clamped, takes, DORY_DIRECT_CLAMPED, DORY_DIRECT_CLAMPED_DIVIDED, __VA_ARGS__)          \
    DORY_DESCRIPTION_OF_KIND(name##_split, takes, DORY_DIRECT_SPLIT, DORY_DIRECT_SPLIT_AWAY, __VA_ARGS__)                   \
    DORY_DESCRIPTION_OF_KIND(name##_high, takes, DORY_DIRECT_HIGH_EVEN, DORY_DIRECT_HIGH_AWAY, __VA_ARGS__)

#endif
