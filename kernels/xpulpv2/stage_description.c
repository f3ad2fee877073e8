#include "stage_description.h"

/* Of a stage: in 32 bits without and with a division, in 64 bits without any, by a power of two, by something else. A
 * division in 32 bits takes an instruction whose time is that of the zeros in front of the divisor. */
enum { NARROW = 11, DIVIDED = 8, WIDE = 50, WIDE_SHIFTED = 150, WIDE_DIVIDED = 310 };

/* The search for how many of the thresholds have been reached. */
enum { THRESHOLDS = 222 };

/* The same of an addition, whose four stages are compiled into one loop. */
enum { ADDED = 5, ADDED_DIVIDED = 16, ADDED_WIDE = 51, ADDED_WIDE_SHIFTED = 111, ADDED_WIDE_DIVIDED = 280 };

static uint32_t leading_zeros(uint32_t value)
{
    uint32_t zeros = 32;
    for (; value != 0; value >>= 1) {
        zeros--;
    }
    return zeros;
}

static uint32_t narrow_cycles(const struct dory_narrow_stage *stage)
{
    return stage->shift == DORY_DIVIDES ? DIVIDED + leading_zeros((uint32_t)stage->divisor) * 7 / 5 : NARROW;
}

static uint32_t wide_cycles(const struct dory_stage *stage)
{
    uint64_t divisor = (uint64_t)stage->divisor;
    return divisor == 1 ? WIDE : (divisor & (divisor - 1)) == 0 ? WIDE_SHIFTED : WIDE_DIVIDED;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

/* Of the quotient of a value in the middle between the smallest and the largest one. */
static uint32_t binary_digits(const struct dory_stage *stage, struct dory_range range)
{
    uint64_t least = magnitude(stage->multiplier * range.least + stage->addend),
             most = magnitude(stage->multiplier * range.most + stage->addend);
    uint32_t digits = 0;
    for (uint64_t quotient = (least > most ? least : most) / 2 / (uint64_t)stage->divisor; quotient != 0; quotient >>= 1) {
        digits++;
    }
    return digits;
}

enum { DIVIDED_BY_BITS = 130, BIT = 24 }; /* see dory_divide_by_bits */

/* The same of the first stage, for values in a range. */
static uint32_t wide_finish_cycles(const struct dory_stages *stages, struct dory_range range)
{
    uint64_t divisor = (uint64_t)stages->first.divisor;
    bool divides = (divisor & (divisor - 1)) != 0;
    uint32_t first = divides ? DIVIDED_BY_BITS + BIT * binary_digits(&stages->first, range) : wide_cycles(&stages->first);
    return first + (stages->has_second ? wide_cycles(&stages->second) : 0);
}

uint32_t dory_scalar_finish_cycles(const struct dory_layer *layer, struct dory_range range)
{
    struct dory_narrow_stage stage[2];
    switch (layer->normalisation) {
    case DORY_NORMALISE_HIGH: return 27;
    case DORY_NORMALISE_THRESHOLDS: return THRESHOLDS;
    default: break;
    }
    if (!dory_narrow_stages_of(stage, layer, range)) {
        return wide_finish_cycles(layer->stages, range) + 25;
    }
    return narrow_cycles(&stage[0]) + narrow_cycles(&stage[1]) + 10;
}

uint32_t dory_four_finish_cycles(const struct dory_layer *layer, struct dory_range range)
{
    struct dory_narrow_stage stage[2];
    bool is_linear = layer->normalisation < DORY_NORMALISE_HIGH && dory_narrow_stages_of(stage, layer, range) &&
                     stage[0].shift != DORY_DIVIDES && dory_only_clips(&stage[1]);
    return is_linear ? 61 : 4 * dory_scalar_finish_cycles(layer, range);
}

static uint32_t added_cycles(const struct dory_narrow_stage *stage)
{
    return stage->shift == DORY_DIVIDES ? ADDED_DIVIDED + leading_zeros((uint32_t)stage->divisor) : ADDED;
}

static uint32_t added_wide_cycles(const struct dory_stage *stage)
{
    uint64_t divisor = (uint64_t)stage->divisor;
    return divisor == 1 ? ADDED_WIDE : (divisor & (divisor - 1)) == 0 ? ADDED_WIDE_SHIFTED : ADDED_WIDE_DIVIDED;
}

uint32_t dory_addition_element_cycles(const struct dory_layer *layer)
{
    struct dory_narrow_stage input[2], sum[2];
    const struct dory_stages *stages = layer->stages;
    if (!dory_narrow_addition_of(input, sum, layer)) {
        return added_wide_cycles(&stages->input[0]) + added_wide_cycles(&stages->input[1]) +
               added_wide_cycles(&stages->first) + (stages->has_second ? added_wide_cycles(&stages->second) : 0) + 37;
    }
    return added_cycles(&input[0]) + added_cycles(&input[1]) + added_cycles(&sum[0]) + added_cycles(&sum[1]) + 20;
}

/* The same of sixteen at a time, whose sums are made first: as products and shifts, or by any stages, which cost more where
 * they divide. */
enum { LINEAR_SUMS = 175, NARROW_SUMS = 312, LINEAR_ENDS = 93, NARROW_ENDS = 394 };

static uint32_t more_than_narrow(const struct dory_narrow_stage *stage)
{
    uint32_t cycles = narrow_cycles(stage);
    return cycles > NARROW ? cycles - NARROW : 0;
}

static uint32_t sixteen_divisions(const struct dory_narrow_stage stage[2])
{
    return 16 * (more_than_narrow(&stage[0]) + more_than_narrow(&stage[1]));
}

static uint32_t sixteen_ends(const struct dory_narrow_stage stage[2])
{
    bool is_end = stage[0].shift != DORY_DIVIDES && dory_only_clips(&stage[1]);
    return is_end ? LINEAR_ENDS : NARROW_ENDS + sixteen_divisions(stage);
}

uint32_t dory_sixteen_sums_cycles(const struct dory_narrow_stage input[2], const struct dory_narrow_stage sum[2])
{
    bool is_sum = dory_stage_is_linear(&input[0]) && dory_stage_is_linear(&input[1]);
    return (is_sum ? LINEAR_SUMS : NARROW_SUMS + sixteen_divisions(input)) + sixteen_ends(sum);
}

uint32_t dory_sixteen_finish_cycles(const struct dory_layer *layer, struct dory_range range)
{
    struct dory_narrow_stage stage[2];
    switch (layer->normalisation) {
    case DORY_NORMALISE_HIGH: return 404;
    case DORY_NORMALISE_THRESHOLDS: return 3220;
    default: break;
    }
    return dory_narrow_stages_of(stage, layer, range) ? sixteen_ends(stage) : 16 * dory_scalar_finish_cycles(layer, range);
}

/* Of a concatenation's, each of which goes through the elements by itself; and in 64 bits, where a call does them all. */
enum { PASSED = 8, PASSED_DIVIDED = 5, PASSED_THRESHOLDS = 171 };
enum { PASSED_WIDE = 66, PASSED_WIDE_SHIFTED = 126, PASSED_WIDE_DIVIDED = 270 };

static uint32_t passed_cycles(const struct dory_narrow_stage *stage)
{
    return stage->shift == DORY_DIVIDES  ? PASSED_DIVIDED + leading_zeros((uint32_t)stage->divisor) * 7 / 5
           : dory_changes_nothing(stage) ? 0
                                         : PASSED;
}

static uint32_t passed_wide_cycles(const struct dory_stage *stage)
{
    uint64_t divisor = (uint64_t)stage->divisor;
    return divisor == 1 ? PASSED_WIDE : (divisor & (divisor - 1)) == 0 ? PASSED_WIDE_SHIFTED : PASSED_WIDE_DIVIDED;
}

uint32_t dory_concatenation_element_cycles(const struct dory_layer *layer, bool is_second)
{
    struct dory_narrow_stage input[2], end[2];
    const struct dory_stages *stages = layer->stages;
    if (dory_narrow_concatenation_of(input, end, layer)) {
        return passed_cycles(&input[is_second]) + passed_cycles(&end[0]) + passed_cycles(&end[1]);
    }
    uint32_t cycles = passed_wide_cycles(&stages->input[is_second]);
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return cycles + PASSED_THRESHOLDS;
    }
    return cycles + passed_wide_cycles(&stages->first) + (stages->has_second ? passed_wide_cycles(&stages->second) : 0);
}
