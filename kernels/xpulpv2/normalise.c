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

static void add_and_clip(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         const int32_t *end)
{
    uint32_t addend = dory_load_word(constants);
    int32_t minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        *sum = clip((int32_t)((uint32_t)*sum + addend), minimum, maximum);
    }
}

void dory_normalise_lane(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane, int32_t *sum,
                         uint32_t stride, uint32_t count)
{
    const int32_t *end = sum + stride * count;
    switch (normaliser->kind) {
    case DORY_NORMALISE_NONE: add_and_clip(normaliser, constants + 4 * lane, sum, stride, end); break;
    case DORY_NORMALISE_32: normalise_32(normaliser, constants + 8 * lane, sum, stride, end); break;
    case DORY_NORMALISE_CLAMPED: normalise_clamped(normaliser, constants + 16 * lane, sum, stride, end); break;
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
