/* The scalar stages of additions and pools in 32-bit arithmetic, where nothing can overflow. */
#ifndef DORY_XPULPV2_STAGE_H
#define DORY_XPULPV2_STAGE_H

#include <stdbool.h>

#include "dory/layer.h"
#include "normalise.h"
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

/* Of elements of so many bits, at most 16. */
static inline struct dory_range dory_element_range(uint32_t bits, bool is_signed)
{
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? (struct dory_range){-half, half - 1} : (struct dory_range){0, 2 * half - 1};
}

/* The layer's last stages, for accumulators in a range: first `first`, then `second` where there is one, then the clip
 * of the output. Without a second stage that one only clips. False: not in 32 bits. */
bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range);

/* The same for an accumulator, in 64 bits: any stages, or thresholds. */
int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator);

/* One scale for a layer in the form DORY_NORMALISE_HIGH: see struct dory_stages. */
struct dory_high {
    struct dory_normaliser normaliser;
    int32_t multiplier, addend, shift;
    uint32_t least;    /* the minimum, four times */
    bool is_unrounded; /* floor */
    bool is_byte;      /* rounds to other than even, and to bytes without a sign: what is done four at a time */
};

/* `left_shift` is that of the sums that are given, where it has not been done. */
void dory_high_start(struct dory_high *high, const struct dory_layer *layer, uint32_t left_shift);

static inline int32_t dory_high_apply(const struct dory_high *high, int32_t sum, int32_t bias)
{
    int32_t value = dory_scale_highly(&high->normaliser, sum, bias, high->multiplier, high->addend, high->shift);
    return p_min(p_max(value, high->normaliser.minimum), high->normaliser.maximum);
}

/* From the accumulators of a layer, whatever its form, to elements. */
struct dory_scalar_finish {
    const struct dory_layer *layer;
    bool is_high, is_narrow;
    bool is_plain;  /* an accumulator is the element, for all in the range */
    bool is_linear; /* one product, one shift and one clip: stage[0] to the bounds below */
    int32_t minimum, maximum;
    struct dory_narrow_stage stage[2];
    struct dory_high high;
    int32_t bias; /* with it */
};

/* For accumulators in a range. */
void dory_scalar_finish_start(struct dory_scalar_finish *finish, const struct dory_layer *layer, struct dory_range range);

/* A multiple of 4 of them, in place. */
void dory_scalar_finish_all(const struct dory_scalar_finish *finish, int32_t *accumulator, uint32_t count);

static inline int32_t dory_scalar_finish_apply(const struct dory_scalar_finish *finish, int32_t value)
{
    if (finish->is_high) {
        return dory_high_apply(&finish->high, value, finish->bias);
    }
    if (!finish->is_narrow) {
        return dory_stages_apply(finish->layer, value);
    }
    return dory_narrow_stage_apply(&finish->stage[1], dory_narrow_stage_apply(&finish->stage[0], value));
}

#if defined(DORY_XPULPV2)

/* The end of four elements, from shifted sums in x0 to x3 on: AWAY takes away from those below zero, which y0 to y3 tell. */
#define DORY_HIGH(x)          "mulh %[" x "], %[" x "], %[multiplier]\n"
#define DORY_HIGH_AWAY(x, y)  "slt %[" y "], %[" x "], x0\n" DORY_HIGH(x) P_MSU("%[" x "]", "%[" y "]", "%[away]")
#define DORY_HIGH_SHIFT(x)    P_ADDNR("%[" x "]", "%[addend]", "%[shift]")
#define DORY_HIGH_CLIP(x)     P_CLIPUR("%[" x "]", "%[" x "]", "%[maximum]")
#define DORY_FOUR(step)       step("x0") step("x1") step("x2") step("x3")
#define DORY_FOUR_PAIRS(step) step("x0", "y0") step("x1", "y1") step("x2", "y2") step("x3", "y3")

/* Four elements that are clipped from above, in 4 instructions; `label` stands before the last one. */
#define DORY_CLIPPED_STORE(label)                                                                                           \
    PV_PACKLO_B("%[x0]", "%[x1]", "%[x0]")                                                                                  \
    PV_PACKHI_B("%[x0]", "%[x3]", "%[x2]") PV_MAXU_B("%[x0]", "%[x0]", "%[least]") label P_SW_NEXT("%[x0]", "%[output]")

/* 12 instructions. */
#define DORY_HIGH_STORE(label) DORY_FOUR(DORY_HIGH_SHIFT) DORY_FOUR(DORY_HIGH_CLIP) DORY_CLIPPED_STORE(label)

#define DORY_LOAD_BYTE_OF_BOTH(x, y)                                                                                        \
    P_LBU_STEP("%[" x "]", "%[one]", "%[first]") P_LBU_STEP("%[" y "]", "%[one]", "%[second]")

#endif

#endif
