/* From sums to elements: what convolutions, linear and depth-wise layers do behind their inner products. */
#ifndef DORY_ARMV7EM_FINISH_H
#define DORY_ARMV7EM_FINISH_H

#include "dory/normalise.h"
#include "instructions.h"

/* The forms of requantisation that have code of their own; the others go through dory_normalise(). */
enum dory_finish {
    DORY_FINISH_HIGH, /* by rounding, in the order of enum dory_rounding; _SHARED, too, whose scale is the layer's */
    DORY_FINISH_HIGH_AWAY,
    DORY_FINISH_HIGH_EVEN,
    DORY_FINISH_32,
    DORY_FINISH_CLAMPED,
    DORY_FINISH_CLAMPED_DIVIDED,
    DORY_FINISH_ANY,
    DORY_FINISHES
};

/* How a layer finishes. */
static inline enum dory_finish dory_finish_of(const struct dory_layer *layer)
{
    if (layer->output_bits != 8) {
        return DORY_FINISH_ANY;
    }
    switch (layer->normalisation) {
    case DORY_NORMALISE_HIGH:
    case DORY_NORMALISE_SHARED: return (enum dory_finish)(DORY_FINISH_HIGH + layer->rounding);
    case DORY_NORMALISE_32: return DORY_FINISH_32;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? DORY_FINISH_CLAMPED_DIVIDED : DORY_FINISH_CLAMPED;
    default: return DORY_FINISH_ANY;
    }
}

/* Whether sums of a kind start from a bias, which is a channel's first constant. */
static inline bool dory_has_bias(enum dory_finish kind) { return kind <= DORY_FINISH_HIGH_EVEN; }

/* Bytes without a sign, which nothing else clips. */
static inline bool dory_clips(const struct dory_layer *layer) { return layer->minimum != 0 || layer->maximum != 255; }

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

/* Sums of some channels of some pixels, pixel after pixel, and where their elements go. These have 8 or 32 bits. */
struct dory_sums {
    const int32_t *sums;
    uint8_t *output;
    uint32_t pixel_bytes;      /* from pixel to pixel of the output */
    uint32_t channels;         /* that are finished, at least one */
    uint32_t pixels, in_pixel; /* sums of one pixel, of which there may be more than channels */
};

/* Finishes blocks of sums. `constants` are the first channel's. */
typedef void dory_finish_function(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block);

dory_finish_function *dory_finish_function_of(const struct dory_layer *layer);

#endif
