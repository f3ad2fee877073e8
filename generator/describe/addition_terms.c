#include "describe/addition_terms.h"

#include <math.h>
#include <string.h>

#include "describe/step_function.h"
#include "dory/normalise.h"
#include "network/stage.h"

#define PAIRS       (256 * 256)
#define TERM_BITS   29        /* of a term, and of their sum one more; without their sign */
#define MULTIPLIER  (1 << 30) /* v is a quarter of the sum */
#define QUARTER     2
#define TWICE_SHIFT 2 /* with which HIGH rounds twice */

struct problem {
    const struct layer *layer;
    wide terms[2][256]; /* exact, in units of the sum's stage */
    uint8_t *values;    /* that a channel of the layer has for each pair */
};

static void find_terms(struct problem *problem)
{
    const struct layer *layer = problem->layer;
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++)
            problem->terms[i][x] = layer->input_stages[i].count ? stage_apply(&layer->input_stages[i], 0, x) : x;
}

/* Of a sum that rounds to the nearest, but not exactly near a half: then false. */
static bool value_nearly(const struct stage *stage, long double slope, long double sum, int64_t *value)
{
    long double y = sum * slope, nearest = rintl(y);
    if (stage->rounding != ROUND_HALF_EVEN || !stage->has_clip || fabsl(fabsl(y - nearest) - 0.5L) < 0x1p-30L)
        return false;
    y = nearest + (long double)stage->zero_point;
    *value = y < (long double)stage->minimum   ? stage->minimum
             : y > (long double)stage->maximum ? stage->maximum
                                               : (int64_t)y;
    return true;
}

static bool find_values(struct problem *problem, int channel)
{
    const struct stage *stage = &problem->layer->stages[0];
    long double slope = step_function_slope(stage, channel),
                offset = ldexpl((long double)stage->addend[channel], -stage->left_shift);
    for (int pair = 0; pair < PAIRS; pair++) {
        wide sum = problem->terms[0][pair / 256] + problem->terms[1][pair % 256];
        int64_t value;
        if (sum < INT64_MIN || sum > INT64_MAX)
            return false;
        if (!value_nearly(stage, slope, (long double)(int64_t)sum + offset, &value))
            value = (int64_t)stage_apply(stage, channel, (int64_t)sum);
        if (value < 0 || value > UINT8_MAX)
            return false;
        problem->values[pair] = (uint8_t)value;
    }
    return true;
}

static long double largest_term(const struct problem *problem, long double slope)
{
    long double most = 0;
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++)
            most = fmaxl(most, fabsl((long double)problem->terms[i][x] * slope));
    return most;
}

static bool equals(const struct problem *problem, const struct dory_layer *record)
{
    for (int pair = 0; pair < PAIRS; pair++) {
        int32_t sum = record->constants.terms[pair / 256] + record->constants.terms[256 + pair % 256];
        if (dory_normalise_high_stages(record, sum) != problem->values[pair])
            return false;
    }
    return true;
}

/* Halves up, which is right where there are none; then to even. */
static bool find_rounding(const struct problem *problem, struct dory_layer *record, struct dory_stages *stages, int shift)
{
    const enum dory_rounding roundings[] = {DORY_ROUND_FLOOR, DORY_ROUND_EVEN};
    int64_t half = (int64_t)1 << (shift - 1), zero = problem->layer->stages[0].zero_point;
    for (int i = 0; i < 2; i++) {
        bool is_even = roundings[i] == DORY_ROUND_EVEN;
        record->rounding = (uint8_t)roundings[i];
        stages->first = (struct dory_stage){.multiplier = MULTIPLIER,
                                            .addend = zero * 2 * half + half - is_even,
                                            .divisor = 2 * half,
                                            .minimum = record->minimum,
                                            .maximum = record->maximum};
        if (stages->first.addend <= INT32_MAX / 2 && equals(problem, record))
            return true;
    }
    return false;
}

/* Terms in units of the output's elements, as finely as 32 bits hold them: for a sum that is rounded once. */
static bool scaled_terms(const struct problem *problem, struct dory_layer *record, struct dory_stages *stages,
                         int32_t *terms)
{
    const struct stage *sum = &problem->layer->stages[0];
    long double slope = step_function_slope(sum, 0), most = largest_term(problem, slope);
    long double offset = slope * ldexpl((long double)sum->addend[0], -sum->left_shift);
    /* places behind the point: of terms that fit their bits, and of a sum with the zero point that fits, too */
    int places = most > 0 ? TERM_BITS - 1 - (int)ceill(log2l(most + fabsl(offset))) : 0;
    places = places > TERM_BITS - 8 ? TERM_BITS - 8 : places;
    if (places <= QUARTER + 1)
        return false;
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++) {
            long double term = (long double)problem->terms[i][x] * slope + (i == 0 ? offset : 0);
            terms[256 * i + x] = (int32_t)llrintl(ldexpl(term, places));
        }
    return find_rounding(problem, record, stages, places - QUARTER);
}

/* The largest sum's product and the addend stay in 32 bits. */
static bool fits(const int32_t *terms, const struct dory_stage *stage)
{
    int64_t largest = 0;
    for (int i = 0; i < 2; i++) {
        int64_t most = INT32_MIN;
        for (int x = 0; x < 256; x++)
            most = terms[256 * i + x] > most ? terms[256 * i + x] : most;
        largest += most;
    }
    int64_t product = largest > 0 ? (largest * stage->multiplier >> 32) + 1 : 0;
    return product + stage->addend <= INT32_MAX;
}

/* The terms themselves, four times, and the stage's own multiplier: that is how HIGH rounds twice. With v = (4 * sum *
 * multiplier) >> 32, (v + 1) >> 1 is the first rounding; 2^places more, and 2 less where it is negative, make the second. */
static bool exact_terms(const struct problem *problem, struct dory_layer *record, struct dory_stages *stages, int32_t *terms)
{
    const struct stage *sum = &problem->layer->stages[0];
    int places = sum->exponent ? -sum->exponent[0] : 0;
    if (places < 0 || places > 29 || sum->left_shift || sum->multiplier[0] < 0)
        return false;
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++) {
            wide term = problem->terms[i][x] + (i == 0 ? sum->addend[0] : 0), most = (wide)1 << (TERM_BITS - 1);
            if (term <= -most || term >= most)
                return false;
            terms[256 * i + x] = (int32_t)term * (1 << TWICE_SHIFT);
        }
    int64_t divisor = (int64_t)2 << places;
    record->left_shift = TWICE_SHIFT;
    record->rounding = places > 0 ? DORY_ROUND_AWAY : DORY_ROUND_FLOOR;
    stages->first = (struct dory_stage){.multiplier = sum->multiplier[0],
                                        .addend = sum->zero_point * divisor + 1 + (places > 0 ? divisor / 2 : 0),
                                        .divisor = divisor,
                                        .minimum = record->minimum,
                                        .maximum = record->maximum};
    return fits(terms, &stages->first) && equals(problem, record);
}

/* ---- constants a channel: HIGH of the same terms, all of it found for all pairs ---- */

#define MOST_PLACES 22 /* of a channel's shift: for which a zero point fits, too */
#define UNITS       16 /* that are tried for the terms, so that other ones are rounded up */
#define UNIT_PARTS  64

/* The largest sum has 30 bits without its sign, and a channel's multiplier makes 29 of it. */
static void scale_terms(const struct problem *problem, long double unit, int32_t *terms)
{
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++)
            terms[256 * i + x] = (int32_t)llrintl((long double)problem->terms[i][x] * unit);
}

/* What the firmware shifts but for the addend: the high half of the product, and the correction. */
static int32_t shifted_part(const struct dory_layer *record, int32_t sum, int32_t multiplier, int shift)
{
    int32_t high = (int32_t)((int64_t)sum * multiplier >> 32);
    return high + (record->rounding == DORY_ROUND_EVEN ? (high >> shift) & 1 : 0);
}

/* The middle of the addends that are right for all pairs. A value at a bound of the clip may be anything beyond. */
static bool find_addend(const struct problem *problem, const struct dory_layer *record, int32_t multiplier, int shift,
                        int32_t *addend)
{
    const int32_t *terms = record->constants.terms;
    int64_t first = INT32_MIN / 2, last = INT32_MAX / 2, step = (int64_t)1 << shift;
    for (int pair = 0; pair < PAIRS && first <= last; pair++) {
        int32_t value = problem->values[pair];
        int64_t least = value * step - shifted_part(record, terms[pair / 256] + terms[256 + pair % 256], multiplier, shift);
        if (value != record->minimum && least > first)
            first = least;
        if (value != record->maximum && least + step - 1 < last)
            last = least + step - 1;
    }
    *addend = (int32_t)(first + (last - first) / 2);
    return first <= last;
}

/* `slope`: elements of the output that a unit of the terms is. */
static bool find_scale(const struct problem *problem, const struct dory_layer *record, long double slope, int32_t *scale)
{
    static const int beside[] = {0, 1, -1, 2, -2};
    int exponent;
    long double part = frexpl(slope, &exponent);
    int shift = -1 - exponent > MOST_PLACES ? MOST_PLACES : -1 - exponent;
    if (shift < 0)
        return false;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        int64_t multiplier = llrintl(ldexpl(part, exponent + 32 + shift)) + beside[i];
        int32_t addend;
        if (multiplier < 0 || multiplier > INT32_MAX || !find_addend(problem, record, (int32_t)multiplier, shift, &addend))
            continue;
        const int32_t found[] = {0, (int32_t)multiplier, addend, shift};
        memcpy(scale, found, sizeof found);
        return true;
    }
    return false;
}

/* With the terms that the record has. */
static bool find_scales(struct problem *problem, const struct dory_layer *record, long double unit, int channels,
                        int32_t *terms)
{
    for (int channel = 0; channel < channels; channel++) {
        long double slope = step_function_slope(&problem->layer->stages[0], channel) / unit;
        if (!find_values(problem, channel) ||
            !find_scale(problem, record, slope, terms + dory_channel_scale(record, (uint32_t)channel)))
            return false;
    }
    return true;
}

/* With the unit and the rounding of which all channels' scales are found. */
static bool solved_terms(struct problem *problem, struct dory_layer *record, int channels, int32_t *terms)
{
    static const enum dory_rounding roundings[] = {DORY_ROUND_FLOOR, DORY_ROUND_EVEN};
    int places;
    frexpl(largest_term(problem, 1) * 2, &places);
    record->left_shift = 0;
    for (int i = 0; i < 2 * UNITS; i++) {
        long double unit = ldexpl(1 - (long double)(i % UNITS) / UNIT_PARTS, TERM_BITS + 1 - places);
        record->rounding = (uint8_t)roundings[i / UNITS];
        scale_terms(problem, unit, terms);
        if (find_scales(problem, record, unit, channels, terms))
            return true;
    }
    return false;
}

/* One scale for the layer, for sums of which the others are none: they round twice to so few elements, say, that a zero
 * point exceeds 32 bits in units of the first rounding. */
static bool solved_stage(struct problem *problem, struct dory_layer *record, struct dory_stages *stages, int32_t *terms)
{
    if (!solved_terms(problem, record, 1, terms))
        return false;
    const int32_t *scale = terms + dory_channel_scale(record, 0);
    stages->first = (struct dory_stage){.multiplier = scale[1],
                                        .addend = scale[2],
                                        .divisor = (int64_t)1 << scale[3],
                                        .minimum = record->minimum,
                                        .maximum = record->maximum};
    return equals(problem, record);
}

bool addition_terms(const struct layer *layer, struct dory_layer *record, struct dory_stages *stages, struct arena *arena)
{
    const struct stage *sum = &layer->stages[0];
    struct problem problem = {.layer = layer, .values = arena_array(arena, uint8_t, PAIRS)};
    if (layer->stage_count != 1 || layer->input_stages[0].count > 1 || layer->input_stages[1].count > 1)
        return false;
    int32_t *terms = arena_array(arena, int32_t, DORY_TERMS + 4 * (size_t)sum->count);
    find_terms(&problem);
    record->stages = stages;
    record->constants.terms = terms;
    record->normalisation = sum->count > 1 ? DORY_NORMALISE_CHANNELS : DORY_NORMALISE_HIGH;
    if (sum->count > 1)
        return solved_terms(&problem, record, sum->count, terms);
    if (!find_values(&problem, 0))
        return false;
    record->left_shift = 0;
    return (sum->rounding == ROUND_TWICE ? exact_terms : scaled_terms)(&problem, record, stages, terms) ||
           solved_stage(&problem, record, stages, terms);
}
