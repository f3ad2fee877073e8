/* From one sum to its element: the arithmetic behind finish.h, which descriptions of kernels do not need. */
#ifndef DORY_ARMV7EM_SCALE_H
#define DORY_ARMV7EM_SCALE_H

#include "dory/normalise.h"
#include "finish.h"
#include "instructions.h"

/* The scale of one channel, as registers have it. */
struct dory_scale {
    uint32_t multiplier;
    int32_t addend, low, high; /* bounds of sums: CLAMPED */
    uint32_t shift, left_shift, reciprocal;
    uint32_t away; /* what is taken off a sum below zero */
    int32_t minimum, maximum;
};

/* What is the layer's of it: all, of a shared one. */
static inline struct dory_scale dory_layer_scale_of(const struct dory_layer *layer)
{
    return (struct dory_scale){.multiplier = (uint32_t)layer->multiplier,
                               .addend = (int32_t)layer->addend,
                               .shift = layer->shift & 31u,
                               .left_shift = layer->left_shift & 31u,
                               .reciprocal = layer->reciprocal,
                               .away = 1u << (layer->left_shift & 31) >> 1,
                               .minimum = layer->minimum,
                               .maximum = layer->maximum};
}

/* The one scale of a pool, an addition or a multiplication with DORY_NORMALISE_HIGH. */
static inline struct dory_scale dory_stage_scale_of(const struct dory_layer *layer)
{
    struct dory_scale scale = dory_layer_scale_of(layer);
    scale.multiplier = (uint32_t)layer->stages->first.multiplier;
    scale.addend = (int32_t)layer->stages->first.addend;
    scale.shift = dory_exponent((uint64_t)layer->stages->first.divisor) & 31;
    return scale;
}

/* Adds what is a channel's, whose constants these are; not with a shared scale. */
static inline __attribute__((always_inline)) void dory_read_scale(enum dory_finish kind, const uint8_t *constants,
                                                                  struct dory_scale *scale)
{
    if (kind == DORY_FINISH_32) {
        scale->multiplier = dory_word_at(constants);
        scale->addend = (int32_t)dory_word_at(constants + 4);
    } else if (kind >= DORY_FINISH_CLAMPED) {
        scale->low = (int32_t)dory_word_at(constants);
        scale->high = (int32_t)dory_word_at(constants + 4);
        scale->multiplier = dory_word_at(constants + 8);
        scale->addend = (int32_t)dory_word_at(constants + 12);
    } else {
        scale->multiplier = dory_word_at(constants + 4);
        scale->addend = (int32_t)dory_word_at(constants + 8);
        scale->shift = dory_word_at(constants + 12) & 31;
    }
}

/* An element, of a kind other than _ANY. See enum dory_normalisation; sums have their bias. */
static inline __attribute__((always_inline)) uint32_t dory_finish_sum(enum dory_finish kind, bool clips,
                                                                      const struct dory_scale *scale, int32_t sum)
{
    int32_t value;
    if (kind == DORY_FINISH_32) {
        value = (int32_t)((uint32_t)sum * scale->multiplier + (uint32_t)scale->addend) >> scale->shift;
    } else if (kind >= DORY_FINISH_CLAMPED) {
        uint32_t clamped = (uint32_t)(sum < scale->low ? scale->low : sum > scale->high ? scale->high : sum);
        uint32_t product = clamped * scale->multiplier + (uint32_t)scale->addend;
        if (kind == DORY_FINISH_CLAMPED_DIVIDED) {
            product = (uint32_t)((uint64_t)product * scale->reciprocal >> 32);
        }
        return product >> scale->shift;
    } else {
        int32_t shifted = (int32_t)((uint32_t)sum << scale->left_shift);
        if (kind == DORY_FINISH_HIGH_EVEN) {
            int32_t high = dory_smmla((uint32_t)shifted, scale->multiplier, 0);
            value = (int32_t)((uint32_t)high + (uint32_t)scale->addend + ((uint32_t)(high >> scale->shift) & 1));
        } else {
            value = dory_smmla((uint32_t)shifted, scale->multiplier, scale->addend);
            if (kind == DORY_FINISH_HIGH_AWAY) {
                value = (int32_t)((uint32_t)value - (scale->away & (uint32_t)(shifted >> 31)));
            }
        }
        value >>= scale->shift;
    }
    return clips ? (uint32_t)(value < scale->minimum   ? scale->minimum
                              : value > scale->maximum ? scale->maximum
                                                       : value)
                 : dory_byte_of(value);
}

#endif
