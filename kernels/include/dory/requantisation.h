/* How an accumulator becomes an element of the output: the forms, by enum dory_normalisation, and their scalar stages.
 * normalise.h computes them. */
#ifndef DORY_REQUANTISATION_H
#define DORY_REQUANTISATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
     * bytes without a sign. Not for convolutions. See dory_constants.thresholds. */
    DORY_NORMALISE_THRESHOLDS,

    /* HIGH with constants a channel, of an addition of terms or a multiplication: see dory_channel_scale(). */
    DORY_NORMALISE_CHANNELS
};

/* The correction of DORY_NORMALISE_HIGH, _CHANNELS, _SHARED and _SPLIT. What else rounding takes is in the addend. */
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
 * nothing else. An addition has it in its tables (dory_constants.terms), and no stages in front. There is no second stage.
 *
 * A convolution has stages where its kernel can make the elements of the next layer, an addition, at once: those of its own
 * times input[0].multiplier, the other input's times input[1].multiplier, in 32 bits that wrap; then `first`, whose
 * divisor is a shift here, makes an element of that. It does so of a tile with a second input (struct dory_prepared_tile).
 */
struct dory_stages {
    struct dory_stage input[2]; /* additions, concatenations: before all else (bounds INT32_MIN, INT32_MAX: no clip) */
    struct dory_stage first;    /* from accumulator to output, clipped to its bounds */
    struct dory_stage second;   /* after it, where has_second: a ReLU behind an addition */
    uint8_t has_second;
};

#ifdef __cplusplus
}
#endif

#endif
