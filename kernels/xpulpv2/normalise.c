#include "normalise.h"

static inline int32_t clip(int32_t value, int32_t minimum, int32_t maximum) { return p_min(p_max(value, minimum), maximum); }

/* floor(scaled / 2^shift), of which bits 32 and up only say on which side of all bounds it is. */
static inline int32_t shift_and_clip(const struct dory_normaliser *normaliser, int64_t scaled)
{
    int64_t value = scaled >> normaliser->shift;
    if ((int32_t)value != value) {
        return value < 0 ? normaliser->minimum : normaliser->maximum;
    }
    return clip((int32_t)value, normaliser->minimum, normaliser->maximum);
}

static inline int64_t load_64(const uint8_t *address)
{
    return (int64_t)((uint64_t)dory_load_word(address + 4) << 32 | dory_load_word(address));
}

/* A multiplier of 32 bits and a shift by 1 to 31, as layers have that overflow 32 bits only in the product. In words, for
 * the compiler's 64-bit shift takes any amount: 25 cycles an element, of which mulh takes 5. */
static void normalise_64_narrowly(const struct dory_normaliser *normaliser, int32_t multiplier, int64_t addend, int32_t *sum,
                                  uint32_t stride, const int32_t *end)
{
    int32_t shift = normaliser->shift, minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        int64_t scaled = (int64_t)multiplier * *sum + addend;
        int32_t high = (int32_t)(scaled >> 32);
        int32_t value = (int32_t)((uint32_t)scaled >> shift | (uint32_t)high << (32 - shift));
        if (high >> shift != value >> 31) { /* beyond 32 bits: on which side of all bounds it is, is what counts */
            value = high < 0 ? INT32_MIN : INT32_MAX;
        }
        *sum = clip(value, minimum, maximum);
    }
}

static void normalise_64(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         const int32_t *end)
{
    int64_t multiplier = load_64(constants), addend = load_64(constants + 8);
    if ((int32_t)multiplier == multiplier && normaliser->shift > 0 && normaliser->shift < 32) {
        normalise_64_narrowly(normaliser, (int32_t)multiplier, addend, sum, stride, end);
        return;
    }
    for (; sum < end; sum += stride) {
        *sum = shift_and_clip(normaliser, multiplier * *sum + addend);
    }
}

static void normalise_32(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         const int32_t *end)
{
    uint32_t multiplier = dory_load_word(constants);
    int32_t addend = (int32_t)dory_load_word(constants + 4);
    int32_t shift = normaliser->shift, minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        *sum = clip(p_addnr((int32_t)((uint32_t)*sum * multiplier), addend, shift), minimum, maximum);
    }
}

static void normalise_clamped(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                              uint32_t stride, const int32_t *end)
{
    int32_t low = (int32_t)dory_load_word(constants), high = (int32_t)dory_load_word(constants + 4);
    uint32_t multiplier = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    uint32_t shift = (uint32_t)normaliser->shift, reciprocal = normaliser->reciprocal;
    for (; sum < end; sum += stride) {
        uint32_t value = (uint32_t)clip(*sum, low, high) * multiplier + addend;
        if (reciprocal != 0) {
            value = (uint32_t)((uint64_t)value * reciprocal >> 32);
        }
        *sum = (int32_t)(value >> shift);
    }
}

static void normalise_split(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                            uint32_t stride, const int32_t *end)
{
    uint32_t bias = dory_load_word(constants), low = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    int32_t limit = (int32_t)dory_load_word(constants + 4), high = (int32_t)dory_load_word(constants + 16), zero = 0;
    uint32_t step = 0;
    if (normaliser->layer->rounding == DORY_ROUND_AWAY) {
        zero = (int32_t)dory_load_word(constants + 20);
        step = dory_load_word(constants + 24);
    }
    for (; sum < end; sum += stride) {
        int32_t x = p_clipur((int32_t)((uint32_t)*sum + bias), limit);
        uint32_t fine = p_addunr((uint32_t)x * low, addend, addend);
        uint32_t both = (uint32_t)p_mac((int32_t)fine, x, high) - (x < zero ? step : 0);
        *sum = (int32_t)(both >> 24);
    }
}

static void normalise_high(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                           const int32_t *end)
{
    const struct dory_normaliser kept = *normaliser; /* in registers, whatever is stored through `sum` */
    int32_t bias = (int32_t)dory_load_word(constants), multiplier = (int32_t)dory_load_word(constants + 4);
    int32_t addend = (int32_t)dory_load_word(constants + 8), shift = (int32_t)dory_load_word(constants + 12);
    for (; sum < end; sum += stride) {
        *sum = clip(dory_scale_highly(&kept, *sum, bias, multiplier, addend, shift), kept.minimum, kept.maximum);
    }
}

static void normalise_by_one_scale(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                                   uint32_t stride, const int32_t *end)
{
    for (; sum < end; sum += stride) {
        *sum = dory_normalise_by_one_scale(normaliser, *sum, constants);
    }
}

/* ---- division ---- */

/* The divisor's leading 16 bits, whose reciprocal gives quotients of up to 15 bits that are at most one off. */
static void prepare_division(struct dory_normaliser *normaliser, uint64_t divisor)
{
    int32_t shift = 0;
    uint32_t leading;
    for (; divisor >> 32 != 0; divisor >>= 16) {
        shift += 16;
    }
    for (leading = (uint32_t)divisor; leading >> 16 != 0; leading >>= 1) {
        shift++;
    }
    normaliser->shift = shift;
    normaliser->reciprocal = UINT32_MAX / leading;
}

void dory_prepare_normaliser(struct dory_normaliser *normaliser, const struct dory_layer *layer)
{
    if (layer->normalisation == DORY_NORMALISE_DIVIDE) {
        prepare_division(normaliser, (uint64_t)layer->divisor);
        return;
    }
    normaliser->direct = (int8_t)dory_direct_of(layer);
    normaliser->direct_shift = layer->left_shift;
    normaliser->away = layer->rounding == DORY_ROUND_AWAY ? 1 << layer->left_shift >> 1 : 0;
    normaliser->even = layer->rounding == DORY_ROUND_EVEN;
}

/* scaled >> shift for a shift by less than 32, or the nearest 32-bit integer. */
static inline int32_t shift_to_32(int64_t scaled, int32_t shift)
{
    int32_t high = (int32_t)(scaled >> 32);
    int32_t value = (int32_t)((uint32_t)scaled >> shift | (uint32_t)high << 1 << (31 - shift));
    return high >> shift == value >> 31 ? value : high < 0 ? INT32_MIN : INT32_MAX;
}

/* floor(scaled / divisor), clipped to bounds of at most 14 bits, for divisors from 2 to 2^30: an estimate, then one step of
 * correction. The estimate's dividend lacks bits below the divisor's leading ones, less than 2^-15 of the quotient; the
 * reciprocal is too small by less than 1, half a quotient for a dividend of 31 bits; and floor. Then the rest has 32 bits;
 * if it has not because the estimate was clipped, a step either way does not leave the bound. */
static void normalise_divide_narrowly(const struct dory_normaliser *normaliser, int32_t multiplier, int64_t addend,
                                      int32_t *sum, uint32_t stride, const int32_t *end)
{
    int32_t shift = normaliser->shift, factor = (int32_t)normaliser->reciprocal;
    int32_t divisor = (int32_t)normaliser->layer->divisor, minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        int64_t scaled = (int64_t)multiplier * *sum + addend;
        int32_t estimate = (int32_t)((int64_t)shift_to_32(scaled, shift) * factor >> 32);
        int32_t quotient = clip(estimate, minimum - 1, maximum + 1);
        int32_t rest = (int32_t)((uint32_t)scaled - (uint32_t)quotient * (uint32_t)divisor);
        quotient += (rest >= divisor) + (rest >> 31);
        *sum = clip(quotient, minimum, maximum);
    }
}

/* The same for any bounds and divisors, bit by bit; ~x / d and x / d lie on either side of a floor. */
static int32_t divide_by_bits(const struct dory_normaliser *normaliser, int64_t scaled)
{
    uint64_t divisor = (uint64_t)normaliser->layer->divisor;
    uint64_t magnitude = (uint64_t)(scaled < 0 ? ~scaled : scaled), rest = magnitude >> 31;
    uint32_t quotient = 0;
    if (rest >= divisor) {
        return scaled < 0 ? normaliser->minimum : normaliser->maximum;
    }
    for (uint32_t bit = 31; bit-- > 0;) {
        rest = rest << 1 | (magnitude >> bit & 1);
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    return clip((int32_t)(scaled < 0 ? ~quotient : quotient), normaliser->minimum, normaliser->maximum);
}

static void normalise_divide(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                             uint32_t stride, const int32_t *end)
{
    int64_t multiplier = load_64(constants), addend = load_64(constants + 8), divisor = normaliser->layer->divisor;
    if ((int32_t)multiplier == multiplier && divisor >= 2 && divisor <= 1 << 30 && normaliser->minimum > -(1 << 14) &&
        normaliser->maximum < 1 << 14) {
        normalise_divide_narrowly(normaliser, (int32_t)multiplier, addend, sum, stride, end);
        return;
    }
    for (; sum < end; sum += stride) {
        *sum = divide_by_bits(normaliser, multiplier * *sum + addend);
    }
}

static void add_and_clip(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         const int32_t *end)
{
    uint32_t addend = dory_load_word(constants);
    int32_t minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        *sum = clip((int32_t)((uint32_t)*sum + addend), minimum, maximum);
    }
}

void dory_normalise_lane_clamped(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                                 int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_clamped(normaliser, constants + 16 * lane, sum, stride, sum + stride * count);
}

void dory_normalise_lane_split(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                               int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_split(normaliser, constants + dory_constants_bytes(normaliser->layer) / 4 * lane, sum, stride,
                    sum + stride * count);
}

void dory_normalise_lane_high(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                              int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_high(normaliser, constants + 16 * lane, sum, stride, sum + stride * count);
}

void dory_normalise_lane_shared(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                                int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_by_one_scale(normaliser, constants + 4 * lane, sum, stride, sum + stride * count);
}

void dory_normalise_lane(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane, int32_t *sum,
                         uint32_t stride, uint32_t count)
{
    const int32_t *end = sum + stride * count;
    switch (normaliser->kind) {
    case DORY_NORMALISE_NONE: add_and_clip(normaliser, constants + 4 * lane, sum, stride, end); break;
    case DORY_NORMALISE_32: normalise_32(normaliser, constants + 8 * lane, sum, stride, end); break;
    case DORY_NORMALISE_CLAMPED: dory_normalise_lane_clamped(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_SPLIT: dory_normalise_lane_split(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_HIGH: dory_normalise_lane_high(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_SHARED: dory_normalise_lane_shared(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_DIVIDE: normalise_divide(normaliser, constants + 16 * lane, sum, stride, end); break;
    default: normalise_64(normaliser, constants + 16 * lane, sum, stride, end); break;
    }
}

void dory_store_elements(uint8_t *output, const int32_t element[4], uint32_t lanes, uint32_t element_bytes)
{
    if (element_bytes == 4) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            dory_store_word(output + 4 * lane, (uint32_t)element[lane]);
        }
    } else if (lanes == 4) {
        dory_store_word(output, dory_pack_bytes(element));
    } else {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            output[lane] = (uint8_t)element[lane];
        }
    }
}
