/* The scalar stages of additions and pools in 32-bit arithmetic, where nothing can overflow.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_STAGE_H
#define DORY_XPULPV2_STAGE_H

#include "dory/layer.h"
#include "narrow_stage.h"
#include "normalise.h"
#include "xpulp.h"

/* Keeps the compiler from a second division for the remainder. */
static inline int32_t dory_quotient_signed(int32_t dividend, int32_t divisor)
{
    int32_t quotient = dividend / divisor;
    __asm__("" : "+r"(quotient));
    return quotient;
}

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

/* The same for an accumulator, in 64 bits: any stages, or thresholds. */
int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator);

/* One scale for a layer in the form DORY_NORMALISE_HIGH: see struct dory_stages. */
struct dory_high {
    struct dory_normaliser normaliser;
    int32_t multiplier, addend, shift;
    uint32_t least;    /* the minimum, four times */
    bool is_unrounded; /* floor */
    bool is_even;      /* halves to even */
    bool is_byte;      /* to bytes without a sign: what is done four at a time */
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

/* The end of four elements, from shifted sums in x0 to x3 on: AWAY takes away from those below zero, which y0 to y3 tell;
 * EVEN adds one to odd ones. */
#define DORY_HIGH(x)         "mulh %[" x "], %[" x "], %[multiplier]\n"
#define DORY_HIGH_AWAY(x, y) "slt %[" y "], %[" x "], x0\n" DORY_HIGH(x) P_MSU("%[" x "]", "%[" y "]", "%[away]")
#define DORY_EVEN(x, y)                                                                                                     \
    "sra %[" y "], %[" x "], %[shift]\n"                                                                                    \
    "andi %[" y "], %[" y "], 1\n"                                                                                          \
    "add %[" x "], %[" x "], %[" y "]\n"
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
