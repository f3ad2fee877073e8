/* Scales of elements in 64-bit arithmetic. Pure functions, compiled into the planner, too.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_WIDE_H
#define DORY_XPULPV2_WIDE_H

#include <stdbool.h>

#include "dory/normalise.h"

#define DORY_WIDE_BATCH 16u /* elements that are done at once */

/* DORY_WIDE_KEEPS: changes nothing. DORY_WIDE_ADDS: an addend, of elements that leave room for it. DORY_WIDE_SHIFTS_A_WORD:
 * by 32 bits at least, so that bounds are of 32 bits. */
enum dory_wide_scaling { DORY_WIDE_KEEPS, DORY_WIDE_ADDS, DORY_WIDE_SHIFTS_A_WORD, DORY_WIDE_SHIFTS, DORY_WIDE_DIVIDES };

struct dory_wide_scale {
    enum dory_wide_scaling scaling;
    int64_t multiplier, addend, divisor;
    uint32_t shift;
    int32_t minimum, maximum;
};

static inline uint64_t dory_wide_magnitude(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/* Shifts by a word where products and addend leave room for it; values have so many bits, without their sign. */
static inline void dory_wide_widen_shift(struct dory_wide_scale *scale, uint32_t bits)
{
    while (bits < 60 && scale->shift < 32 && dory_wide_magnitude(scale->multiplier) < UINT64_C(1) << (60 - bits) &&
           dory_wide_magnitude(scale->addend) < UINT64_C(1) << 60) {
        scale->multiplier *= 2;
        scale->addend *= 2;
        scale->shift++;
    }
    scale->scaling = scale->shift >= 32 ? DORY_WIDE_SHIFTS_A_WORD : DORY_WIDE_SHIFTS;
}

static inline struct dory_wide_scale dory_wide_scale_of(const struct dory_stage *stage, uint32_t bits)
{
    uint64_t divisor = (uint64_t)stage->divisor;
    bool is_unbounded = stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
    bool adds = stage->multiplier == 1 && divisor == 1 && is_unbounded;
    struct dory_wide_scale scale = {.scaling = DORY_WIDE_KEEPS,
                                    .multiplier = stage->multiplier,
                                    .addend = stage->addend,
                                    .divisor = stage->divisor,
                                    .shift = dory_exponent(divisor),
                                    .minimum = stage->minimum,
                                    .maximum = stage->maximum};
    if (adds && stage->addend == 0) {
        return scale;
    }
    if (adds && bits <= 16 && dory_wide_magnitude(stage->addend) < 1u << 30) {
        scale.scaling = DORY_WIDE_ADDS;
    } else if ((divisor & (divisor - 1)) != 0) {
        scale.scaling = DORY_WIDE_DIVIDES;
    } else {
        dory_wide_widen_shift(&scale, bits);
    }
    return scale;
}

#endif
