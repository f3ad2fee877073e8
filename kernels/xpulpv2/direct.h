/* Which normalisations are done between registers, and how. Pure, compiled into the planner, too.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DIRECT_H
#define DORY_XPULPV2_DIRECT_H

#include <stdbool.h>

#include "dory/layer.h"

enum dory_direct {
    DORY_NOT_DIRECT,

    /* y = clip((multiplier * sum + addend) >> shift) to [0, maximum]: 3 instructions an element. */
    DORY_DIRECT,

    /* DORY_NORMALISE_CLAMPED, divisor 2^n: u = multiplier * clamp(sum) + addend, y = u >> n, 4 instructions. */
    DORY_DIRECT_CLAMPED,

    /* DORY_NORMALISE_CLAMPED, any other divisor: 6 instructions, of which the high half of a product takes 5 cycles. NEMO's
     * are 2^n - 1. The planner takes DORY_DIRECT_CLAMPED with other constants where that is equal, a line that rises between
     * the same two sums at each of 255 steps. Over s sums a multiplier of 24 places is off by up to s / 2^25; a sum more is
     * 256 / s, and the narrowest of 510 distances from a sum to its step some 500th of it. So a line can be expected up to
     * about 2^12.5 sums between the first step and the last, and is a matter of luck beyond. */
    DORY_DIRECT_CLAMPED_DIVIDED,

    /* DORY_NORMALISE_SPLIT: add, p.clipur, mul, p.adduNr and p.mac, 5 instructions, and half a one more to pack high bytes
     * than low ones; slt and p.msu more where it rounds away from zero. */
    DORY_DIRECT_SPLIT,
    DORY_DIRECT_SPLIT_AWAY,

    /* DORY_NORMALISE_SHARED, of linear layers alone: no other kernel has a way of its own for it. */
    DORY_BY_ONE_SCALE,

    /* DORY_NORMALISE_HIGH that rounds down: add, sll, mulh (5 cycles), p.addNr and the clip, 9 cycles; the one that rounds
     * away from zero: slt and p.msu more; and the one that rounds halves to even: sra, andi and add more. Any clip to bytes
     * from 0 on.
     * Negative, for one branch tells them from all others. */
    DORY_DIRECT_HIGH_EVEN = -3,
    DORY_DIRECT_HIGH = -2,
    DORY_DIRECT_HIGH_AWAY = -1
};

/* A multiplier of DORY_NORMALISE_HIGH of which the high half is a shift by two, as tables of terms have it. */
#define DORY_QUARTER (1 << 30)

/* DORY_NORMALISE_DIVIDE where an estimate and a correction make the quotient; others are made bit by bit, see normalise.c.
 */
static inline bool dory_divides_narrowly(const struct dory_layer *layer)
{
    return layer->divisor >= 2 && layer->divisor <= 1 << 30 && layer->minimum >= -(1 << 16) && layer->maximum <= 1 << 16;
}

/* Half to even matters at exact ties only, which few scales have: others are found to be equal to a form that rounds down.
 */
static inline enum dory_direct dory_direct_high_of(const struct dory_layer *layer)
{
    if (layer->output_bits > 8 || layer->minimum < 0 || layer->maximum < layer->minimum) {
        return DORY_NOT_DIRECT;
    }
    return layer->rounding == DORY_ROUND_EVEN   ? DORY_DIRECT_HIGH_EVEN
           : layer->rounding == DORY_ROUND_AWAY ? DORY_DIRECT_HIGH_AWAY
                                                : DORY_DIRECT_HIGH;
}

/* Each for layers of one normalisation. */
static inline enum dory_direct dory_direct_32_of(const struct dory_layer *layer)
{
    bool bytes = layer->output_bits <= 8 && layer->minimum == 0 && layer->maximum >= 0;
    return layer->normalisation == DORY_NORMALISE_32 && bytes ? DORY_DIRECT : DORY_NOT_DIRECT;
}

static inline enum dory_direct dory_direct_clamped_of(const struct dory_layer *layer)
{
    if (layer->output_bits > 8 || layer->minimum != 0 || layer->maximum < 0) {
        return DORY_NOT_DIRECT;
    }
    return layer->reciprocal == 0 ? DORY_DIRECT_CLAMPED : DORY_DIRECT_CLAMPED_DIVIDED;
}

/* Of all normalisations but DORY_NORMALISE_HIGH and _SPLIT, for which it is none. */
static inline enum dory_direct dory_direct_low_of(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_CLAMPED ? dory_direct_clamped_of(layer) : dory_direct_32_of(layer);
}

static inline enum dory_direct dory_direct_split_of(const struct dory_layer *layer)
{
    return layer->output_bits > 8               ? DORY_NOT_DIRECT
           : layer->rounding == DORY_ROUND_AWAY ? DORY_DIRECT_SPLIT_AWAY
                                                : DORY_DIRECT_SPLIT;
}

static inline enum dory_direct dory_direct_of(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_HIGH    ? dory_direct_high_of(layer)
           : layer->normalisation == DORY_NORMALISE_SPLIT ? dory_direct_split_of(layer)
                                                          : dory_direct_low_of(layer);
}

/* How products of blocks finish: of signed inputs only the shortest way is worth the code. */
static inline enum dory_direct dory_product_direct_of(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_direct_of(layer);
    return kind == DORY_DIRECT || !layer->input_is_signed ? kind : DORY_NOT_DIRECT;
}

/* The same where elements or weights have fewer than 8 bits: the split kinds and halves to even take the long way. */
static inline enum dory_direct dory_packed_direct_of(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_product_direct_of(layer);
    return kind == DORY_DIRECT_SPLIT || kind == DORY_DIRECT_SPLIT_AWAY || kind == DORY_DIRECT_HIGH_EVEN ? DORY_NOT_DIRECT
                                                                                                        : kind;
}

#endif
