/* A form of requantisation: what the firmware makes of an accumulator with it, and what is said of it. */
#include <inttypes.h>

#include "describe/requantise.h"
#include "describe/requantise_solve.h"
#include "network/stage.h"

static bool fits_32_bits(wide value) { return value >= INT32_MIN && value <= INT32_MAX; }
static bool fits_64_bits(wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

/* ---- what the firmware computes (dory/layer.h), in numbers that cannot overflow ---- */

static bool value_clamped(const struct requantisation *form, const struct dory_channel_constants *channel, int64_t x,
                          wide *value)
{
    int64_t low = channel->clamped.low, high = channel->clamped.high, clamped = x < low ? low : x > high ? high : x;
    wide sum = (wide)channel->clamped.multiplier * clamped + channel->clamped.addend;
    if (!fits_32_bits(low) || !fits_32_bits(high) || sum < 0 || sum > UINT32_MAX)
        return false;
    *value = (form->reciprocal ? sum * form->reciprocal >> 32 : sum) >> form->shift;
    return true;
}

static bool fits_unsigned(wide value) { return value >= 0 && value <= UINT32_MAX; }

/* With what it adds up to, unlike the firmware, also behind the limit: so that everything is monotone. */
static bool value_split(const struct requantisation *form, const struct dory_channel_constants *channel, int64_t x,
                        wide *value)
{
    int64_t bias = channel->split.bias, limit = channel->split.limit, low = channel->split.low;
    int64_t addend = channel->split.addend, high = channel->split.high;
    int64_t zero = channel->split.zero, step = channel->split.step;
    bool is_away = form->rounding == DORY_ROUND_AWAY;
    wide biased = (wide)x + bias, clamped = biased < 0 ? 0 : biased > limit ? limit : biased;
    wide fine = low * clamped + addend;
    wide sum = high * clamped + (fine >> (addend & 31)) - (is_away && clamped < zero ? step : 0);
    *value = sum >> SPLIT_SHIFT;
    return fits_32_bits(bias) && fits_32_bits(biased) && limit >= 0 && fits_32_bits(limit) && fits_unsigned(low) &&
           fits_unsigned(addend) && fits_unsigned(high) && fits_unsigned(fine) && fits_unsigned(sum) &&
           (!is_away || (fits_32_bits(zero) && fits_unsigned(step)));
}

static bool value_high(const struct requantisation *form, const struct dory_channel_constants *channel, int64_t x,
                       wide *value)
{
    int64_t bias = channel->high.bias, multiplier = channel->high.multiplier;
    int64_t addend = channel->high.addend, shift = channel->high.shift;
    wide a = (wide)x + bias, shifted = a * ((wide)1 << form->left_shift), product = shifted * multiplier >> 32;
    bool constants = fits_32_bits(bias) && fits_32_bits(multiplier) && fits_32_bits(addend) && shift >= 0 && shift <= 31 &&
                     form->left_shift <= 31;
    bool shifts = multiplier == 0 || (fits_32_bits(a) && fits_32_bits(shifted)); /* times 0, it may be anything */
    if (!constants || !shifts)
        return false;
    wide parity = form->rounding == DORY_ROUND_EVEN ? (product >> shift) & 1 : 0;
    wide sign = form->rounding == DORY_ROUND_AWAY && a < 0 ? ((wide)1 << form->left_shift) >> 1 : 0;
    wide sum = product + addend + parity - sign;
    *value = sum >> shift;
    return fits_32_bits(sum) && fits_32_bits(product + addend) && fits_32_bits(product - sign);
}

static bool value_of_product(const struct requantisation *form, const struct dory_channel_constants *channel, int64_t x,
                             wide *value)
{
    int64_t multiplier = channel->product.multiplier, addend = channel->product.addend;
    bool is_narrow = form->normalisation == DORY_NORMALISE_32, divides = form->normalisation == DORY_NORMALISE_DIVIDE;
    wide product = (wide)multiplier * x, sum = product + addend;
    *value = divides ? wide_floor_divide(sum, form->divisor) : sum >> form->shift;
    bool constants = !is_narrow || (fits_32_bits(multiplier) && fits_32_bits(addend));
    return constants &&
           (is_narrow ? fits_32_bits(product) && fits_32_bits(sum) : fits_64_bits(product) && fits_64_bits(sum));
}

bool requantised_value(const struct requantisation *form, int channel, int64_t accumulator, int64_t *value)
{
    const struct dory_channel_constants *constants = &form->channels[channel];
    wide result = 0;
    bool fits = true;
    accumulator = constants->is_negated ? -accumulator : accumulator;
    switch (form->normalisation) {
    case DORY_NORMALISE_NONE:
        result = (wide)accumulator + constants->none.addend;
        fits = fits_32_bits(constants->none.addend);
        break;
    case DORY_NORMALISE_CLAMPED: fits = value_clamped(form, constants, accumulator, &result); break;
    case DORY_NORMALISE_SPLIT: fits = value_split(form, constants, accumulator, &result); break;
    case DORY_NORMALISE_HIGH:
    case DORY_NORMALISE_SHARED: fits = value_high(form, constants, accumulator, &result); break;
    default: fits = value_of_product(form, constants, accumulator, &result); break;
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
        record->multiplier = (int32_t)form->channels[0].high.multiplier;
        record->addend = form->channels[0].high.addend;
        record->shift = (uint8_t)form->channels[0].high.shift;
    }
}

static void describe_split(const struct dory_channel_constants *c, struct dory_stages *stages)
{
    stages->first = (struct dory_stage){c->split.low, c->split.addend, 1, (int32_t)c->split.bias, (int32_t)c->split.limit};
    stages->second = (struct dory_stage){c->split.high, c->split.step, 1, (int32_t)c->split.zero, INT32_MAX};
}

void requantisation_describe_stages(const struct requantisation *form, struct dory_stages *stages)
{
    const struct dory_channel_constants *c = &form->channels[0];
    int64_t divisor = form->normalisation == DORY_NORMALISE_DIVIDE ? form->divisor : (int64_t)1 << form->shift;
    stages->first = stages->second = (struct dory_stage){1, 0, 1, INT32_MIN, INT32_MAX};
    switch (form->normalisation) {
    case DORY_NORMALISE_NONE: stages->first.addend = c->none.addend; break;
    case DORY_NORMALISE_SPLIT: describe_split(c, stages); break;
    case DORY_NORMALISE_CLAMPED:
        stages->first = (struct dory_stage){c->clamped.multiplier, c->clamped.addend, 1, (int32_t)c->clamped.low,
                                            (int32_t)c->clamped.high};
        break;
    case DORY_NORMALISE_HIGH:
        stages->first =
            (struct dory_stage){c->high.multiplier, c->high.addend, (int64_t)1 << c->high.shift, INT32_MIN, INT32_MAX};
        stages->second.addend = c->high.bias;
        break;
    default:
        stages->first = (struct dory_stage){c->product.multiplier, c->product.addend, divisor, INT32_MIN, INT32_MAX};
        break;
    }
}

/* ---- for people ---- */

static const char *form_name(const struct requantisation *form)
{
    static const char *const names[] = {
        [DORY_NORMALISE_NONE] = "none",     [DORY_NORMALISE_32] = "32 bits",      [DORY_NORMALISE_64] = "64 bits",
        [DORY_NORMALISE_DIVIDE] = "divide", [DORY_NORMALISE_CLAMPED] = "clamped", [DORY_NORMALISE_THRESHOLDS] = "thresholds",
        [DORY_NORMALISE_SPLIT] = "split",   [DORY_NORMALISE_CHANNELS] = "high",
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
