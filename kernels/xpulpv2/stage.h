/* The scalar stages of additions and pools in 32-bit arithmetic, where nothing can overflow. */
#ifndef DORY_XPULPV2_STAGE_H
#define DORY_XPULPV2_STAGE_H

#include <stdbool.h>

#include "dory/layer.h"
#include "xpulp.h"

/* y = clip((multiplier * x + addend) >> shift), or with a floor division where shift is DORY_DIVIDES. */
struct dory_narrow_stage {
    int32_t multiplier, addend, shift, minimum, maximum, divisor;
};
#define DORY_DIVIDES (-1)

/* Keeps the compiler from a second division for the remainder. */
static inline int32_t dory_quotient_signed(int32_t dividend, int32_t divisor)
{
    int32_t quotient = dividend / divisor;
    __asm__("" : "+r"(quotient));
    return quotient;
}

/* The values that a stage may meet or give. */
struct dory_range {
    int64_t least, most;
};

static inline bool dory_fits_32(int64_t value) { return (int32_t)value == value; }

/* False where 32 bits are not enough for some x in the range. The range becomes that of the results. */
bool dory_narrow_stage_of(struct dory_narrow_stage *narrow, const struct dory_stage *stage, struct dory_range *range);

static inline int32_t dory_narrow_stage_apply(const struct dory_narrow_stage *stage, int32_t x)
{
    int32_t value = stage->multiplier * x;
    if (stage->shift != DORY_DIVIDES) {
        value = p_addnr(value, stage->addend, stage->shift);
    } else { /* about 40 cycles */
        int32_t sum = value + stage->addend, quotient = dory_quotient_signed(sum, stage->divisor);
        value = quotient - (sum - quotient * stage->divisor < 0);
    }
    return p_min(p_max(value, stage->minimum), stage->maximum);
}

/* Of a tile's bytes. */
static inline struct dory_range dory_byte_range(bool is_signed)
{
    return is_signed ? (struct dory_range){-128, 127} : (struct dory_range){0, 255};
}

/* The layer's last stages, for accumulators in a range: first `first`, then `second` where there is one, then the clip
 * of the output. Without a second stage that one only clips. False: not in 32 bits. */
bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range);

/* The same for an accumulator, in 64 bits: any stages. */
int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator);

#endif
