/* From an accumulator to an output element, in portable C. The arithmetic of design section 7: floor everywhere. */
#ifndef DORY_NORMALISE_H
#define DORY_NORMALISE_H

#include <string.h>

#include "dory/layer.h"

/* log2 of a power of two. On a 32-bit core the compiler's own is a call with a table of 256 bytes. */
static inline uint32_t dory_exponent(uint64_t power)
{
    uint32_t high = (uint32_t)(power >> 32), word = (uint32_t)power | high;
    return (uint32_t)(high != 0) << 5 | (uint32_t)((word & 0xFFFF0000u) != 0) << 4 |
           (uint32_t)((word & 0xFF00FF00u) != 0) << 3 | (uint32_t)((word & 0xF0F0F0F0u) != 0) << 2 |
           (uint32_t)((word & 0xCCCCCCCCu) != 0) << 1 | (uint32_t)((word & 0xAAAAAAAAu) != 0);
}

/* Bit by bit: quotients are short, and the library's division of 64 bits is a kilobyte of code and some 400 cycles. */
static inline uint64_t dory_divide_by_bits(uint64_t dividend, uint64_t divisor)
{
    uint64_t multiple = divisor, quotient = 0;
    while (multiple <= dividend >> 1) {
        multiple <<= 1;
    }
    for (; multiple >= divisor; multiple >>= 1) {
        quotient <<= 1;
        if (dividend >= multiple) {
            dividend -= multiple;
            quotient |= 1;
        }
    }
    return quotient;
}

/* floor(numerator / divisor) for divisor > 0; ~x / d and x / d lie on either side of a floor. Not inlined, as a division of
 * the library is not. */
static __attribute__((noinline, unused)) int64_t dory_floor_divide(int64_t numerator, int64_t divisor)
{
    if ((divisor & (divisor - 1)) == 0) {
        return numerator >> dory_exponent((uint64_t)divisor);
    }
    uint64_t quotient = dory_divide_by_bits((uint64_t)(numerator < 0 ? ~numerator : numerator), (uint64_t)divisor);
    return (int64_t)(numerator < 0 ? ~quotient : quotient);
}

static inline int32_t dory_clip(int64_t value, int32_t minimum, int32_t maximum)
{
    return (int32_t)(value < minimum ? minimum : value > maximum ? maximum : value);
}

/* How many of 255 ascending thresholds are not above the accumulator: see DORY_NORMALISE_THRESHOLDS. */
static inline uint32_t dory_count_thresholds(const int32_t *thresholds, int32_t accumulator)
{
    uint32_t count = 0;
    for (uint32_t step = DORY_THRESHOLDS / 2; step != 0; step /= 2) {
        if (thresholds[count + step - 1] <= accumulator) {
            count += step;
        }
    }
    return count;
}

static inline int64_t dory_stage_apply(const struct dory_stage *stage, int64_t value)
{
    int64_t scaled = stage->multiplier * value + stage->addend;
    if (stage->divisor != 1) {
        scaled = dory_floor_divide(scaled, stage->divisor);
    }
    return dory_clip(scaled, stage->minimum, stage->maximum);
}

/* floor((multiplier * accumulator + addend) / divisor), clipped: see DORY_NORMALISE_CLAMPED. */
static inline int32_t dory_normalise_clamped(const struct dory_layer *layer, const uint8_t *constants, int32_t accumulator)
{
    int32_t bounds[2];
    uint32_t factors[2];
    memcpy(bounds, constants, sizeof bounds);
    memcpy(factors, constants + sizeof bounds, sizeof factors);
    uint32_t value = (uint32_t)dory_clip(accumulator, bounds[0], bounds[1]) * factors[0] + factors[1];
    if (layer->reciprocal != 0) {
        value = (uint32_t)((uint64_t)value * layer->reciprocal >> 32);
    }
    return (int32_t)(value >> layer->shift);
}

/* See DORY_NORMALISE_SPLIT. */
static inline int32_t dory_normalise_split(const struct dory_layer *layer, const uint8_t *constants, int32_t accumulator)
{
    bool away = layer->rounding == DORY_ROUND_AWAY;
    uint32_t constant[7] = {0}; /* bias, limit, low, addend, high, zero, step */
    memcpy(constant, constants, away ? 28 : 20);
    int32_t biased = (int32_t)((uint32_t)accumulator + constant[0]);
    uint32_t x = (uint32_t)dory_clip(biased, 0, (int32_t)constant[1]);
    uint32_t sum = constant[4] * x + ((constant[2] * x + constant[3]) >> (constant[3] & 31));
    return (int32_t)((sum - ((int32_t)x < (int32_t)constant[5] ? constant[6] : 0)) >> 24);
}

/* The high half of a product: see DORY_NORMALISE_HIGH. `shifted` is a << left_shift. Unsigned where it must not matter that
 * something overflows, for after a failed transfer anything may come here. */
static inline int32_t dory_round_high(const struct dory_layer *layer, int32_t shifted, int32_t multiplier, int32_t addend,
                                      uint32_t shift)
{
    int32_t high = (int32_t)((int64_t)shifted * multiplier >> 32);
    uint32_t value = (uint32_t)high + (uint32_t)addend;
    shift &= 31;
    if (layer->rounding == DORY_ROUND_AWAY && shifted < 0) {
        value -= 1u << (layer->left_shift & 31) >> 1;
    } else if (layer->rounding == DORY_ROUND_EVEN) {
        value += (uint32_t)(high >> shift) & 1;
    }
    return dory_clip((int32_t)value >> shift, layer->minimum, layer->maximum);
}

static inline int32_t dory_normalise_high(const struct dory_layer *layer, const uint8_t *constants, int32_t accumulator)
{
    int32_t constant[4]; /* bias, multiplier, addend, shift */
    memcpy(constant, constants, sizeof constant);
    uint32_t shifted = ((uint32_t)accumulator + (uint32_t)constant[0]) << (layer->left_shift & 31);
    return dory_round_high(layer, (int32_t)shifted, constant[1], constant[2], (uint32_t)constant[3]);
}

/* See DORY_NORMALISE_SHARED. */
static inline int32_t dory_normalise_shared(const struct dory_layer *layer, const uint8_t *constants, int32_t accumulator)
{
    uint32_t bias;
    memcpy(&bias, constants, sizeof bias);
    uint32_t shifted = ((uint32_t)accumulator + bias) << (layer->left_shift & 31);
    return dory_round_high(layer, (int32_t)shifted, layer->multiplier, (int32_t)layer->addend, layer->shift);
}

/* log2 of a power of two. */
static inline uint32_t dory_log2(uint64_t power)
{
    uint32_t log2 = 0;
    while (power >>= 1) {
        log2++;
    }
    return log2;
}

/* The same with one scale for the layer, see struct dory_stages; the accumulator is shifted and has its bias. */
static inline int32_t dory_normalise_high_stages(const struct dory_layer *layer, int32_t shifted)
{
    const struct dory_stage *first = &layer->stages->first;
    return dory_round_high(layer, shifted, (int32_t)first->multiplier, (int32_t)first->addend,
                           dory_log2((uint64_t)first->divisor));
}

/* `constants` are those of some channels, one after the other (dory_write_constants() in dory/engine.h), `lane` is the
 * channel among them. */
static inline int32_t dory_normalise(const struct dory_layer *layer, const uint8_t *constants, unsigned lane,
                                     int32_t accumulator)
{
    int64_t wide[2];
    int32_t narrow[2];
    int64_t scaled;
    uint32_t product; /* proven to fit int32; unsigned because after a failed transfer anything may come here */
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE:
        memcpy(narrow, constants + 4 * lane, 4);
        return dory_clip((int64_t)accumulator + narrow[0], layer->minimum, layer->maximum);
    case DORY_NORMALISE_32:
        memcpy(narrow, constants + 8 * lane, 8);
        product = (uint32_t)narrow[0] * (uint32_t)accumulator + (uint32_t)narrow[1];
        return dory_clip((int32_t)product >> layer->shift, layer->minimum, layer->maximum);
    case DORY_NORMALISE_CLAMPED: return dory_normalise_clamped(layer, constants + 16 * lane, accumulator);
    case DORY_NORMALISE_SPLIT:
        return dory_normalise_split(layer, constants + dory_channel_constants_bytes(layer) * lane, accumulator);
    case DORY_NORMALISE_HIGH: return dory_normalise_high(layer, constants + 16 * lane, accumulator);
    case DORY_NORMALISE_SHARED: return dory_normalise_shared(layer, constants + 4 * lane, accumulator);
    default:
        memcpy(wide, constants + 16 * lane, 16);
        scaled = wide[0] * accumulator + wide[1];
        scaled =
            layer->normalisation == DORY_NORMALISE_64 ? scaled >> layer->shift : dory_floor_divide(scaled, layer->divisor);
        return dory_clip(scaled, layer->minimum, layer->maximum);
    }
}

#endif
