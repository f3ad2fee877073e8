/* From sums to elements, four lanes at a time. */
#ifndef DORY_MVE_LANES_H
#define DORY_MVE_LANES_H

#include "helium.h"
#include "scale.h"

/* The scale of four lanes. Lanes of the output are clipped, which costs two instructions of twelve. */
struct dory_lanes_scale {
    int32x4_t multiplier, addend, shift; /* to the left: negative */
    int32x4_t minimum, maximum;
    int32_t left_shift, away;
};

/* What is the layer's of it: all, of a shared one. */
static inline __attribute__((always_inline)) struct dory_lanes_scale dory_lanes_scale_of(const struct dory_scale *scale)
{
    struct dory_lanes_scale lanes;
    lanes.multiplier = vdupq_n_s32((int32_t)scale->multiplier);
    lanes.addend = vdupq_n_s32(scale->addend);
    lanes.shift = vdupq_n_s32(-(int32_t)scale->shift);
    lanes.minimum = vdupq_n_s32(scale->minimum);
    lanes.maximum = vdupq_n_s32(scale->maximum);
    lanes.left_shift = (int32_t)scale->left_shift;
    lanes.away = (int32_t)scale->away;
    return lanes;
}

/* Adds what is the channels', whose constants these are; not with a shared scale. */
static inline __attribute__((always_inline)) void dory_read_lanes(enum dory_finish kind, const uint8_t *constants,
                                                                  struct dory_lanes_scale *scale)
{
    const int32_t *words = (const int32_t *)(const void *)constants;
    if (kind == DORY_FINISH_32) {
        scale->multiplier = vldrwq_s32(words);
        scale->addend = vldrwq_s32(words + 4);
    } else {
        scale->multiplier = vldrwq_s32(words + 4);
        scale->addend = vldrwq_s32(words + 8);
        scale->shift = vnegq_s32(vldrwq_s32(words + 12));
    }
}

/* Of one of four channels, whose constants these are. */
static inline void dory_read_lane(enum dory_finish kind, const uint8_t *constants, uint32_t lane, struct dory_scale *scale)
{
    constants += 4 * lane + (kind == DORY_FINISH_32 ? 0 : 16);
    scale->multiplier = dory_word_at(constants);
    scale->addend = (int32_t)dory_word_at(constants + 16);
    if (kind != DORY_FINISH_32) {
        scale->shift = dory_word_at(constants + 32) & 31;
    }
}

/* Kinds up to DORY_FINISH_32. See dory_finish_sum(). */
static inline __attribute__((always_inline)) int32x4_t dory_finish_lanes(enum dory_finish kind,
                                                                         const struct dory_lanes_scale *scale, int32x4_t sum)
{
    int32x4_t value;
    if (kind == DORY_FINISH_32) {
        value = vaddq_s32(vmulq_s32(sum, scale->multiplier), scale->addend);
    } else {
        int32x4_t shifted = vshlq_r_s32(sum, scale->left_shift), high = vmulhq_s32(shifted, scale->multiplier);
        value = vaddq_s32(high, scale->addend);
        if (kind == DORY_FINISH_HIGH_AWAY) {
            value = vmlaq_n_s32(value, vshrq_n_s32(shifted, 31), scale->away);
        } else if (kind == DORY_FINISH_HIGH_EVEN) {
            value = vaddq_s32(value, vandq_s32(vshlq_s32(high, scale->shift), vdupq_n_s32(1)));
        }
    }
    return vmaxq_s32(vminq_s32(vshlq_s32(value, scale->shift), scale->maximum), scale->minimum);
}

#endif
