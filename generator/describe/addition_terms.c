#include "describe/addition_terms.h"

#include <math.h>

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
    uint8_t *values;    /* that the layer has for each pair */
};

static bool find_values(struct problem *problem)
{
    const struct layer *layer = problem->layer;
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < 256; x++)
            problem->terms[i][x] = layer->input_stages[i].count ? stage_apply(&layer->input_stages[i], 0, x) : x;
    for (int pair = 0; pair < PAIRS; pair++) {
        wide sum = problem->terms[0][pair / 256] + problem->terms[1][pair % 256];
        if (sum < INT64_MIN || sum > INT64_MAX)
            return false;
        wide value = stage_apply(&layer->stages[0], 0, (int64_t)sum);
        if (value < 0 || value > UINT8_MAX)
            return false;
        problem->values[pair] = (uint8_t)value;
    }
    return true;
}

/* Elements of the output that one unit of the sum is. */
static long double slope_of(const struct stage *stage)
{
    return ldexpl((long double)stage->multiplier[0] / (long double)stage->divisor,
                  (stage->exponent ? stage->exponent[0] : 0) + stage->left_shift);
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
    long double slope = slope_of(sum), most = largest_term(problem, slope);
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

bool addition_terms(const struct layer *layer, struct dory_layer *record, struct dory_stages *stages, struct arena *arena)
{
    const struct stage *sum = &layer->stages[0];
    struct problem problem = {.layer = layer, .values = arena_array(arena, uint8_t, PAIRS)};
    if (layer->stage_count != 1 || sum->count != 1 || sum->rounding == ROUND_FLOOR || layer->input_stages[0].count > 1 ||
        layer->input_stages[1].count > 1 || !find_values(&problem))
        return false;
    int32_t *terms = arena_array(arena, int32_t, 512);
    record->constants.terms = terms;
    record->normalisation = DORY_NORMALISE_HIGH;
    record->left_shift = 0;
    record->stages = stages;
    return (sum->rounding == ROUND_TWICE ? exact_terms : scaled_terms)(&problem, record, stages, terms);
}
