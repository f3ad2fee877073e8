/* What the descriptions of the depth-wise kernels share.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DEPTHWISE_DESCRIPTION_H
#define DORY_XPULPV2_DEPTHWISE_DESCRIPTION_H

#include "../description.h"
#include "../direct.h"
#include "../scratch.h"

static inline bool dory_is_dense_depthwise(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE && dory_has_bytes(layer) && layer->output_bits >= 8 &&
           layer->dilation_height == 1 && layer->dilation_width == 1;
}

/* One output pixel, and channels in whole words: a kernel of its own takes these (single.c), and no other. */
static inline bool dory_is_single_depthwise(const struct dory_layer *layer)
{
    return dory_is_dense_depthwise(layer) && layer->output_height == 1 && layer->output_width == 1 &&
           layer->input_channels % 4 == 0;
}

static inline bool dory_is_plain_depthwise(const struct dory_layer *layer)
{
    return dory_is_dense_depthwise(layer) && !dory_is_single_depthwise(layer);
}

/* What the kernels along one dimension take, and no other. */
static inline bool dory_is_line(const struct dory_layer *layer)
{
    return dory_is_plain_depthwise(layer) && (layer->kernel_height == 1 || layer->kernel_width == 1);
}

/* What the kernels of any size take, and but for 3x3 no other. */
bool dory_has_depthwise_any(const struct dory_layer *layer);

/* What a kernel 3x3 takes of this stride, whose sums end in this kind, with an input in HWC or CHW. */
bool dory_depthwise_3x3_supports(const struct dory_layer *layer, uint32_t stride, enum dory_direct kind);

/* The high kind that rounds away from zero can do without, and has any bounds; so has the one to even. None: the sums go
 * through memory. */
static inline enum dory_direct dory_depthwise_kind(const struct dory_layer *layer)
{
    bool is_high = layer->normalisation == DORY_NORMALISE_HIGH && layer->output_bits == 8;
    return is_high && layer->rounding == DORY_ROUND_EVEN ? DORY_DIRECT_HIGH_EVEN
           : is_high                                     ? DORY_DIRECT_HIGH_AWAY
                                                         : dory_direct_of(layer);
}

static inline bool dory_depthwise_takes_long_way(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_depthwise_kind(layer);
    return kind == DORY_NOT_DIRECT || kind == DORY_DIRECT_CLAMPED_DIVIDED;
}

/* Fours of a lane whose sums are in memory at once: what follows them is called for so many. */
enum { DORY_DEPTHWISE_LONG_FOURS = 8 };

/* Cycles of such a call, beside its fours. */
static inline uint32_t dory_depthwise_call_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE:
    case DORY_NORMALISE_32: return 88;
    case DORY_NORMALISE_CLAMPED: return 98;
    case DORY_NORMALISE_64: return 128;
    case DORY_NORMALISE_DIVIDE: return !dory_divides_narrowly(layer) ? 100 : dory_divides_quickly(layer) ? 165 : 200;
    default: return 110;
    }
}

/* Cycles of a four with it. */
static inline uint32_t dory_depthwise_long_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 98 : 88;
    case DORY_NORMALISE_64: return dory_multiplies_halves(layer) ? 74 : dory_shifts_narrowly(layer) ? 137 : 198;
    case DORY_NORMALISE_SPLIT: return 140;
    case DORY_NORMALISE_HIGH: return 138;
    case DORY_NORMALISE_SHARED: return 160;
    case DORY_NORMALISE_DIVIDE:
        return !dory_divides_narrowly(layer) ? 100 + 4 * dory_bitwise_division_cycles(layer)
               : dory_divides_quickly(layer) ? 114
                                             : 222;
    case DORY_NORMALISE_NONE: return 88;
    default: return 80;
    }
}

#endif
