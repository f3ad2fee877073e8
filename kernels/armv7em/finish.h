/* From sums to elements: what convolutions, linear and depth-wise layers do behind their inner products. */
#ifndef DORY_ARMV7EM_FINISH_H
#define DORY_ARMV7EM_FINISH_H

#include "dory/normalise.h"

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
