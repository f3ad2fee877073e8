/* From sums to elements: what convolutions, linear and depth-wise layers do behind their inner products. */
#ifndef DORY_ARMV7EM_FINISH_H
#define DORY_ARMV7EM_FINISH_H

#include "dory/normalise.h"
#include "instructions.h"

/* The forms of requantisation that have code of their own; the others go through dory_normalise(). */
enum dory_finish {
    DORY_FINISH_HIGH, /* by rounding; _SHARED, too, whose scale is the layer's */
    DORY_FINISH_HIGH_AWAY,
    DORY_FINISH_HIGH_EVEN,
    DORY_FINISH_32,
    DORY_FINISH_CLAMPED,
    DORY_FINISH_CLAMPED_DIVIDED,
    DORY_FINISH_ANY,
    DORY_FINISHES
};

/* The scale of one channel, as registers have it. */
struct dory_scale {
    uint32_t multiplier;
    int32_t addend, low, high; /* bounds of sums: CLAMPED */
    uint32_t shift, left_shift, reciprocal;
    uint32_t away; /* what is taken off a sum below zero */
    int32_t minimum, maximum;
    bool clips; /* to other bounds than those of a byte without a sign */
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

/* What the sums of a channel start from: the bias, where `kind` has one. */
static inline int32_t dory_start_of(enum dory_finish kind, const uint8_t *constants)
{
    return kind <= DORY_FINISH_HIGH_EVEN ? (int32_t)dory_word_at(constants) : 0;
}

/* Of a channel whose constants these are. */
static inline struct dory_scale dory_scale_of(enum dory_finish kind, const struct dory_layer *layer,
                                              const uint8_t *constants)
{
    struct dory_scale scale = {.minimum = layer->minimum, .maximum = layer->maximum};
    scale.clips = layer->minimum != 0 || layer->maximum != 255;
    scale.shift = layer->shift;
    if (kind == DORY_FINISH_32) {
        scale.multiplier = dory_word_at(constants);
        scale.addend = (int32_t)dory_word_at(constants + 4);
    } else if (kind >= DORY_FINISH_CLAMPED) {
        scale.low = (int32_t)dory_word_at(constants);
        scale.high = (int32_t)dory_word_at(constants + 4);
        scale.multiplier = dory_word_at(constants + 8);
        scale.addend = (int32_t)dory_word_at(constants + 12);
        scale.reciprocal = layer->reciprocal;
    } else {
        bool shared = layer->normalisation == DORY_NORMALISE_SHARED;
        scale.multiplier = shared ? (uint32_t)layer->multiplier : dory_word_at(constants + 4);
        scale.addend = shared ? (int32_t)layer->addend : (int32_t)dory_word_at(constants + 8);
        scale.shift = (shared ? layer->shift : dory_word_at(constants + 12)) & 31;
        scale.left_shift = layer->left_shift & 31;
        scale.away = 1u << scale.left_shift >> 1;
    }
    return scale;
}

/* An element, of a kind other than _ANY. See enum dory_normalisation; sums have their bias. `clips` is that of the scale,
 * where the caller knows it when it is compiled. */
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

/* Of a tile's elements: bytes from the first sum's on. Elements have 8 or 32 bits. */
struct dory_finished {
    uint8_t *output;
    uint32_t pixel_bytes; /* from pixel to pixel of the output */
    uint32_t channels;    /* that are there; fewer than a block's at the end of the last quad */
};

/* Finishes two channels of four pixels, {pixel 0: channel 0, 1; pixel 1: ...}. */
typedef void dory_finish_pair_function(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[8],
                                       struct dory_finished to);

/* Finishes four channels of one pixel. */
typedef void dory_finish_quad_function(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[4],
                                       struct dory_finished to);

/* Finishes a row of `count` pixels of one channel. `lane` is that among the constants. */
typedef void dory_finish_row_function(const struct dory_layer *layer, const uint8_t *constants, const int32_t *sums,
                                      uint32_t count, struct dory_finished to);

struct dory_finish_functions {
    dory_finish_pair_function *pair;
    dory_finish_quad_function *quad;
    dory_finish_row_function *row;
};

const struct dory_finish_functions *dory_finish_functions_of(const struct dory_layer *layer);

#endif
