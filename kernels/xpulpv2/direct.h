/* Which normalisations are done between registers, and how. Pure, compiled into the planner, too. */
#ifndef DORY_XPULPV2_DIRECT_H
#define DORY_XPULPV2_DIRECT_H

#include "dory/layer.h"

enum dory_direct {
    DORY_NOT_DIRECT,

    /* y = clip((multiplier * sum + addend) >> shift) to [0, maximum]: 3 instructions an element. */
    DORY_DIRECT,

    /* DORY_NORMALISE_CLAMPED, divisor 2^n: u = multiplier * clamp(sum) + addend, y = u >> n, 4 instructions. */
    DORY_DIRECT_CLAMPED,

    /* DORY_NORMALISE_CLAMPED, divisor 2^n - 1: with v = u + 1, y = (v + (v >> n)) >> n, 6 instructions.
     * For u = q * (2^n - 1) + r is q * 2^n + (r - q), so u >> n is q, or q - 1 where r < q, and either way
     * u + (u >> n) + 1 lies in [q * 2^n, (q + 1) * 2^n) as long as q < 2^n. Taking v >> n for u >> n only matters at
     * u = k * 2^n - 1, where both give k. The sum is less than 256 * 2^n, hence n <= 24. */
    DORY_DIRECT_CLAMPED_LESS_ONE,

    /* DORY_NORMALISE_CLAMPED, any other divisor: 6 instructions, too, but the high half of a product takes 5 cycles. */
    DORY_DIRECT_CLAMPED_DIVIDED,

    /* DORY_NORMALISE_HIGH that rounds down: add, sll, mulh (5 cycles), p.addNr and the clip, 9 cycles; and the one that
     * rounds away from zero: slt and p.msu more. Any clip to bytes from 0 on.
     * Negative, for one branch tells them from all others. */
    DORY_DIRECT_HIGH = -2,
    DORY_DIRECT_HIGH_AWAY = -1
};

/* A multiplier of DORY_NORMALISE_HIGH of which the high half is a shift by two, as tables of terms have it. */
#define DORY_QUARTER (1 << 30)

/* The reciprocal of 2^n - 1 that goes with a shift of n - 1: 2^(31 + n) / (2^n - 1), rounded up. */
static inline int dory_divides_by_power_less_one(const struct dory_layer *layer)
{
    uint32_t n = layer->shift + 1u;
    return n >= 8 && n <= 24 && layer->reciprocal == 0x80000000u + (1u << (31 - n)) + 1;
}

/* Half to even is left to the long way: it matters at exact ties only, which few scales have. */
static inline enum dory_direct dory_direct_high_of(const struct dory_layer *layer)
{
    if (layer->output_bits > 8 || layer->minimum < 0 || layer->maximum < layer->minimum ||
        layer->rounding == DORY_ROUND_EVEN) {
        return DORY_NOT_DIRECT;
    }
    return layer->rounding == DORY_ROUND_AWAY ? DORY_DIRECT_HIGH_AWAY : DORY_DIRECT_HIGH;
}

/* Of all normalisations but DORY_NORMALISE_HIGH, for which it is none. */
static inline enum dory_direct dory_direct_low_of(const struct dory_layer *layer)
{
    if (layer->output_bits > 8 || layer->minimum != 0 || layer->maximum < 0) {
        return DORY_NOT_DIRECT;
    }
    if (layer->normalisation == DORY_NORMALISE_32) {
        return DORY_DIRECT;
    }
    if (layer->normalisation != DORY_NORMALISE_CLAMPED) {
        return DORY_NOT_DIRECT;
    }
    if (layer->reciprocal == 0) {
        return DORY_DIRECT_CLAMPED;
    }
    return dory_divides_by_power_less_one(layer) ? DORY_DIRECT_CLAMPED_LESS_ONE : DORY_DIRECT_CLAMPED_DIVIDED;
}

static inline enum dory_direct dory_direct_of(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_HIGH ? dory_direct_high_of(layer) : dory_direct_low_of(layer);
}

#endif
