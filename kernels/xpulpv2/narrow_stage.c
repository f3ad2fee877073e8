/* From a stage of 64 bits to one of 32 bits, where the range of its inputs allows that; see narrow_stage.h. */
#include "narrow_stage.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* log2 of a power of two, else DORY_DIVIDES. */
static int32_t logarithm(uint32_t divisor)
{
    int32_t shift = 0;
    for (; (divisor & 1) == 0; divisor >>= 1) {
        shift++;
    }
    return divisor == 1 ? shift : DORY_DIVIDES;
}

/* Of the smallest and the largest result before the clip; in 32 bits, which the cores divide themselves. */
static int32_t floor_divide(int32_t numerator, int32_t divisor, int32_t shift)
{
    if (shift != DORY_DIVIDES) {
        return numerator >> shift;
    }
    int32_t quotient = numerator / divisor;
    return quotient - (quotient * divisor > numerator);
}

bool dory_narrow_stage_of(struct dory_narrow_stage *narrow, const struct dory_stage *stage, struct dory_range *range)
{
    /* of what fits 32 bits, a larger divisor leaves the sign, as the largest shift does */
    int64_t multiplier = stage->multiplier, addend = stage->addend;
    uint32_t divisor = stage->divisor > INT32_MAX ? 1u << 31 : (uint32_t)stage->divisor;
    if (!dory_fits_32(multiplier) || !dory_fits_32(addend)) {
        return false;
    }
    int64_t a = multiplier * range->least, b = multiplier * range->most;
    int64_t least = smaller(a, b), most = larger(a, b);
    if (!dory_fits_32(least) || !dory_fits_32(most) || !dory_fits_32(least + addend) || !dory_fits_32(most + addend)) {
        return false;
    }
    int32_t shift = logarithm(divisor), minimum = stage->minimum, maximum = stage->maximum;
    *narrow = (struct dory_narrow_stage){(int32_t)multiplier, (int32_t)addend, shift, minimum, maximum, (int32_t)divisor};
    least = floor_divide((int32_t)(least + addend), narrow->divisor, shift);
    most = floor_divide((int32_t)(most + addend), narrow->divisor, shift);
    range->least = smaller(larger(least, minimum), maximum);
    range->most = smaller(larger(most, minimum), maximum);
    if (range->least == least && range->most == most) { /* no result is clipped */
        narrow->minimum = INT32_MIN;
        narrow->maximum = INT32_MAX;
    }
    return true;
}

/* As it is. In code: data that comes from L2 would wait behind the copies beside the tile. */
static bool pass_on(struct dory_narrow_stage *narrow)
{
    *narrow = (struct dory_narrow_stage){.multiplier = 1, .minimum = INT32_MIN, .maximum = INT32_MAX, .divisor = 1};
    return true;
}

bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range)
{
    const struct dory_stages *stages = layer->stages;
    if (!dory_narrow_stage_of(&narrow[0], &stages->first, &range) ||
        !(stages->has_second ? dory_narrow_stage_of(&narrow[1], &stages->second, &range) : pass_on(&narrow[1]))) {
        return false;
    }
    narrow[1].minimum = p_min(p_max(narrow[1].minimum, layer->minimum), layer->maximum); /* two clips are one */
    narrow[1].maximum = p_min(p_max(narrow[1].maximum, layer->minimum), layer->maximum);
    return true;
}

/* The stages of the two inputs, and what comes of their elements. */
static bool narrow_inputs_of(struct dory_narrow_stage input[2], struct dory_range result[2], const struct dory_layer *layer)
{
    result[0] = dory_element_range(layer->input_bits, layer->input_is_signed);
    result[1] = dory_element_range(layer->second_input_bits, layer->second_input_is_signed);
    return dory_narrow_stage_of(&input[0], &layer->stages->input[0], &result[0]) &&
           dory_narrow_stage_of(&input[1], &layer->stages->input[1], &result[1]);
}

bool dory_narrow_addition_of(struct dory_narrow_stage input[2], struct dory_narrow_stage sum[2],
                             const struct dory_layer *layer)
{
    struct dory_range result[2];
    if (!narrow_inputs_of(input, result, layer)) {
        return false;
    }
    struct dory_range both = {result[0].least + result[1].least, result[0].most + result[1].most};
    return dory_fits_32(both.least) && dory_fits_32(both.most) && dory_narrow_stages_of(sum, layer, both);
}

bool dory_narrow_concatenation_of(struct dory_narrow_stage input[2], struct dory_narrow_stage end[2],
                                  const struct dory_layer *layer)
{
    struct dory_range result[2];
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS || !narrow_inputs_of(input, result, layer)) {
        return false;
    }
    struct dory_range either = {smaller(result[0].least, result[1].least), larger(result[0].most, result[1].most)};
    return dory_narrow_stages_of(end, layer, either);
}
