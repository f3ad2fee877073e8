/* A form of requantisation: what the firmware makes of an accumulator with it, and what is said of it. */
#include <inttypes.h>

#include "describe/requantise.h"
#include "describe/requantise_solve.h"
#include "network/stage.h"

static bool fits_32_bits(wide value) { return value >= INT32_MIN && value <= INT32_MAX; }
static bool fits_64_bits(wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

/* ---- what the firmware computes (dory/layer.h), in numbers that cannot overflow ---- */

static bool value_clamped(const struct requantisation *form, const int64_t *words, int64_t x, wide *value)
{
    int64_t clamped = x < words[0] ? words[0] : x > words[1] ? words[1] : x;
    wide sum = (wide)words[2] * clamped + words[3];
    if (!fits_32_bits(words[0]) || !fits_32_bits(words[1]) || sum < 0 || sum > UINT32_MAX)
        return false;
    *value = (form->reciprocal ? sum * form->reciprocal >> 32 : sum) >> form->shift;
    return true;
}

static bool fits_unsigned(wide value) { return value >= 0 && value <= UINT32_MAX; }

/* With what it adds up to, unlike the firmware, also behind the limit: so that everything is monotone. */
static bool value_split(const struct requantisation *form, const int64_t *words, int64_t x, wide *value)
{
    bool is_away = form->rounding == DORY_ROUND_AWAY;
    wide biased = (wide)x + words[0], clamped = biased < 0 ? 0 : biased > words[1] ? words[1] : biased;
    wide fine = words[2] * clamped + words[3];
    wide sum = words[4] * clamped + (fine >> (words[3] & 31)) - (is_away && clamped < words[5] ? words[6] : 0);
    *value = sum >> SPLIT_SHIFT;
    return fits_32_bits(words[0]) && fits_32_bits(biased) && words[1] >= 0 && fits_32_bits(words[1]) &&
           fits_unsigned(words[2]) && fits_unsigned(words[3]) && fits_unsigned(words[4]) && fits_unsigned(fine) &&
           fits_unsigned(sum) && (!is_away || (fits_32_bits(words[5]) && fits_unsigned(words[6])));
}

static bool value_high(const struct requantisation *form, const int64_t *words, int64_t x, wide *value)
{
    wide a = (wide)x + words[0], shifted = a * ((wide)1 << form->left_shift), product = shifted * words[1] >> 32;
    bool constants = fits_32_bits(words[0]) && fits_32_bits(words[1]) && fits_32_bits(words[2]) && words[3] >= 0 &&
                     words[3] <= 31 && form->left_shift <= 31;
    bool shifts = words[1] == 0 || (fits_32_bits(a) && fits_32_bits(shifted)); /* times 0, it may be anything */
    if (!constants || !shifts)
        return false;
    wide parity = form->rounding == DORY_ROUND_EVEN ? (product >> words[3]) & 1 : 0;
    wide sign = form->rounding == DORY_ROUND_AWAY && a < 0 ? ((wide)1 << form->left_shift) >> 1 : 0;
    wide sum = product + words[2] + parity - sign;
    *value = sum >> words[3];
    return fits_32_bits(sum) && fits_32_bits(product + words[2]) && fits_32_bits(product - sign);
}

static bool value_of_product(const struct requantisation *form, const int64_t *words, int64_t x, wide *value)
{
    bool is_narrow = form->normalisation == DORY_NORMALISE_32, divides = form->normalisation == DORY_NORMALISE_DIVIDE;
    wide product = (wide)words[0] * x, sum = product + words[1];
    *value = divides ? wide_floor_divide(sum, form->divisor) : sum >> form->shift;
    bool constants = !is_narrow || (fits_32_bits(words[0]) && fits_32_bits(words[1]));
    return constants &&
           (is_narrow ? fits_32_bits(product) && fits_32_bits(sum) : fits_64_bits(product) && fits_64_bits(sum));
}

bool requantised_value(const struct requantisation *form, int channel, int64_t accumulator, int64_t *value)
{
    const int64_t *words = form->channels[channel].words;
    wide result = 0;
    bool fits = true;
    accumulator = form->channels[channel].is_negated ? -accumulator : accumulator;
    switch (form->normalisation) {
    case DORY_NORMALISE_NONE:
        result = (wide)accumulator + words[0];
        fits = fits_32_bits(words[0]);
        break;
    case DORY_NORMALISE_CLAMPED: fits = value_clamped(form, words, accumulator, &result); break;
    case DORY_NORMALISE_SPLIT: fits = value_split(form, words, accumulator, &result); break;
    case DORY_NORMALISE_HIGH:
    case DORY_NORMALISE_SHARED: fits = value_high(form, words, accumulator, &result); break;
    default: fits = value_of_product(form, words, accumulator, &result); break;
    }
    result = result < form->minimum ? form->minimum : result > form->maximum ? form->maximum : result;
    *value = (int64_t)result;
    return fits;
}

/* All that is computed on the way is monotone, so what fits at both ends fits everywhere. */
bool requantised_is(const struct requantisation *form, int channel, const struct step_function *function)
{
    for (int i = 0; i < function->count; i++) {
        int64_t value;
        if (!requantised_value(form, channel, function->points[i].x, &value) || value != function->points[i].y)
            return false;
    }
    return true;
}

void requantisation_describe(const struct requantisation *form, struct dory_layer *record)
{
    record->normalisation = (uint8_t)form->normalisation;
    record->rounding = (uint8_t)form->rounding;
    record->shift = (uint8_t)form->shift;
    record->left_shift = (uint8_t)form->left_shift;
    record->reciprocal = form->reciprocal;
    record->divisor = form->divisor;
    if (form->normalisation == DORY_NORMALISE_SHARED) {
        record->multiplier = (int32_t)form->channels[0].words[1];
        record->addend = form->channels[0].words[2];
        record->shift = (uint8_t)form->channels[0].words[3];
    }
}

static void describe_split(const int64_t *words, struct dory_stages *stages)
{
    stages->first = (struct dory_stage){words[2], words[3], 1, (int32_t)words[0], (int32_t)words[1]};
    stages->second = (struct dory_stage){words[4], words[6], 1, (int32_t)words[5], INT32_MAX};
}

void requantisation_describe_stages(const struct requantisation *form, struct dory_stages *stages)
{
    const int64_t *words = form->channels[0].words;
    int64_t divisor = form->normalisation == DORY_NORMALISE_DIVIDE ? form->divisor : (int64_t)1 << form->shift;
    stages->first = stages->second = (struct dory_stage){1, 0, 1, INT32_MIN, INT32_MAX};
    switch (form->normalisation) {
    case DORY_NORMALISE_NONE: stages->first.addend = words[0]; break;
    case DORY_NORMALISE_SPLIT: describe_split(words, stages); break;
    case DORY_NORMALISE_CLAMPED:
        stages->first = (struct dory_stage){words[2], words[3], 1, (int32_t)words[0], (int32_t)words[1]};
        break;
    case DORY_NORMALISE_HIGH:
        stages->first = (struct dory_stage){words[1], words[2], (int64_t)1 << words[3], INT32_MIN, INT32_MAX};
        stages->second.addend = words[0];
        break;
    default: stages->first = (struct dory_stage){words[0], words[1], divisor, INT32_MIN, INT32_MAX}; break;
    }
}

/* ---- for people ---- */

static const char *form_name(const struct requantisation *form)
{
    static const char *const names[] = {
        [DORY_NORMALISE_NONE] = "none",     [DORY_NORMALISE_32] = "32 bits",      [DORY_NORMALISE_64] = "64 bits",
        [DORY_NORMALISE_DIVIDE] = "divide", [DORY_NORMALISE_CLAMPED] = "clamped", [DORY_NORMALISE_THRESHOLDS] = "thresholds",
        [DORY_NORMALISE_SPLIT] = "split",
    };
    if (form->normalisation == DORY_NORMALISE_CLAMPED && form->reciprocal)
        return "clamped and divided";
    if (form->normalisation == DORY_NORMALISE_SHARED)
        return form->rounding == DORY_ROUND_EVEN ? "shared, to even" : "shared, away from zero";
    if (form->normalisation != DORY_NORMALISE_HIGH)
        return names[form->normalisation];
    return form->rounding == DORY_ROUND_AWAY   ? "high, away from zero"
           : form->rounding == DORY_ROUND_EVEN ? "high, to even"
                                               : "high";
}

const char *requantisation_text(const struct requantisation *form, struct arena *arena)
{
    const char *name = form_name(form);
    if (form->pairs)
        return arena_format(arena, "%s: proven for %" PRId64 " pairs of inputs", name, form->pairs);
    if (form->verdict == REQUANTISED_LITERALLY)
        return arena_format(arena, "%s: as in the model, %d channels, %" PRId64 " sums", name, form->channel_count,
                            form->accumulators);
    if (form->verdict == REQUANTISED_PROVEN)
        return arena_format(arena, "%s: proven for %d channels (%d constant), %" PRId64 " sums", name, form->channel_count,
                            form->constant_channels, form->accumulators);
    return arena_format(arena, "%s: wrong for %" PRId64 " of %" PRId64 " sums, by %" PRId64 " at most", name,
                        form->wrong_accumulators, form->accumulators, form->most_wrong);
}
