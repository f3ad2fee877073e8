/* The scalar stages of additions, concatenations and pools where 32 bits are enough for them: for the kernels, and for the
 * planner, who has to know which of their ways they will take.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_NARROW_STAGE_H
#define DORY_XPULPV2_NARROW_STAGE_H

#include <stdbool.h>

#include "dory/layer.h"
#include "xpulp.h"

/* y = clip((multiplier * x + addend) >> shift), or with a floor division where shift is DORY_DIVIDES. */
struct dory_narrow_stage {
    int32_t multiplier, addend, shift, minimum, maximum, divisor;
};
#define DORY_DIVIDES (-1)

/* A stage that neither divides nor clips. */
static inline bool dory_stage_is_linear(const struct dory_narrow_stage *stage)
{
    return stage->shift != DORY_DIVIDES && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

static inline bool dory_only_clips(const struct dory_narrow_stage *stage)
{
    return stage->multiplier == 1 && stage->addend == 0 && stage->shift == 0;
}

static inline bool dory_changes_nothing(const struct dory_narrow_stage *stage)
{
    return dory_only_clips(stage) && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

/* The values that a stage may meet or give. */
struct dory_range {
    int64_t least, most;
};

static inline bool dory_fits_32(int64_t value) { return (int32_t)value == value; }

/* False where 32 bits are not enough for some x in the range. The range becomes that of the results. */
bool dory_narrow_stage_of(struct dory_narrow_stage *narrow, const struct dory_stage *stage, struct dory_range *range);

/* Of elements of so many bits, at most 16. */
static inline struct dory_range dory_element_range(uint32_t bits, bool is_signed)
{
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? (struct dory_range){-half, half - 1} : (struct dory_range){0, 2 * half - 1};
}

/* The layer's last stages, for accumulators in a range: first `first`, then `second` where there is one, then the clip
 * of the output. Without a second stage that one only clips. False: not in 32 bits. */
bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range);

/* The stages of an addition, inputs' and sum's. False: not in 32 bits. */
bool dory_narrow_addition_of(struct dory_narrow_stage input[2], struct dory_narrow_stage sum[2],
                             const struct dory_layer *layer);

static inline bool dory_is_small_factor(int64_t value) { return value >= -(1 << 20) && value <= 1 << 20; }

/* Whether low words are enough for all that an addition of bytes adds up and multiplies: the generator has proven so, or
 * nothing is multiplied and all numbers are small, as those of the larger of two elements. Inputs are only scaled. */
static inline bool dory_sum_has_32_bits(const struct dory_layer *layer)
{
    const struct dory_stage *a = &layer->stages->input[0], *b = &layer->stages->input[1], *sum = &layer->stages->first;
    if (layer->normalisation != DORY_NORMALISE_NONE) {
        return layer->normalisation == DORY_NORMALISE_32;
    }
    return sum->multiplier == 1 && sum->divisor == 1 && dory_is_small_factor(a->multiplier) &&
           dory_is_small_factor(b->multiplier) && dory_is_small_factor(a->addend) && dory_is_small_factor(b->addend) &&
           dory_is_small_factor(sum->addend);
}

/* Whether an addition (first * x + second * y) >> shift, clipped from 0 on, is done in bytes and halfwords: both factors are
 * bytes, their sum is a halfword, which the cores shift by up to 15, and what is left of it has no sign. NEMO's additions.
 */
static inline bool dory_adds_in_halves(uint32_t first, uint32_t second, uint32_t shift)
{
    uint32_t most = 255 * (first + second);
    return first <= UINT8_MAX && second <= UINT8_MAX && most <= UINT16_MAX && shift < 16 && most >> shift <= INT16_MAX;
}

/* The stages of a concatenation: `end` is what elements of either input run through last. */
bool dory_narrow_concatenation_of(struct dory_narrow_stage input[2], struct dory_narrow_stage end[2],
                                  const struct dory_layer *layer);

#endif
