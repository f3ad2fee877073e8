/* How sums become elements: the form of requantisation of a layer. */
#include "describe/description.h"

#include "describe/requantise_scalar.h"
#include "describe/thresholds.h"
#include "network/accumulator.h"

/* What a stage makes of one channel's values, and whether narrow integers are enough on the way. */
struct stage_proof {
    bool fits_32, fits_64;
};

static struct stage_proof prove_channel(int64_t multiplier, int64_t addend, struct bounds x)
{
    wide low = (wide)multiplier * x.minimum, high = (wide)multiplier * x.maximum;
    wide least = wide_minimum(low, high), most = wide_maximum(low, high);
    bool constants_fit = fits_32_bits(multiplier) && fits_32_bits(addend);
    return (struct stage_proof){
        .fits_32 = constants_fit && fits_32_bits(x.minimum) && fits_32_bits(x.maximum) && fits_32_bits(least) &&
                   fits_32_bits(most) && fits_32_bits(least + addend) && fits_32_bits(most + addend),
        .fits_64 = fits_64_bits(least) && fits_64_bits(most) && fits_64_bits(least + addend) && fits_64_bits(most + addend),
    };
}

bool describe_fits_32(const struct stage *stage, struct bounds x)
{
    return prove_channel(stage->multiplier[0], stage->addend[0], x).fits_32;
}

static int power_of_two(int64_t value)
{
    if (value < 1 || (value & (value - 1)) != 0)
        return -1;
    return __builtin_ctzll((unsigned long long)value);
}

/* The values that a tensor's elements can have; the type's, where nothing was proven. */
struct bounds described_bounds(const struct description *d, int input)
{
    struct bounds x;
    accumulator_input(d->network, d->layer, input, &x.minimum, &x.maximum);
    return x;
}

/* ---- normalisation ---- */

struct form {
    bool is_identity; /* multiplier 1, divisor 1, a 32-bit addend */
    bool fits_32, fits_64;
};

static void form_add(struct form *form, const struct stage *stage, size_t channel, struct bounds x)
{
    size_t index = stage->count == 1 ? 0 : channel;
    int64_t multiplier = stage->multiplier[index], addend = stage->addend[index];
    struct stage_proof proof = prove_channel(multiplier, addend, x);
    form->is_identity = form->is_identity && stage->divisor == 1 && multiplier == 1 && proof.fits_32;
    form->fits_32 = form->fits_32 && proof.fits_32;
    form->fits_64 = form->fits_64 && proof.fits_64;
}

/* Sets normalisation, shift and divisor from what was proven of all channels. */
static void choose_normalisation(const struct description *d, const struct form *form, int64_t divisor)
{
    struct dory_layer *record = d->record;
    int shift = power_of_two(divisor);
    record->divisor = divisor;
    if (!form->fits_64)
        REFUSE(d, NULL, "its normalisation exceeds 64-bit integers, which is the most that the firmware computes with");
    if (form->is_identity) {
        record->normalisation = DORY_NORMALISE_NONE;
    } else if (shift >= 0 && form->fits_32) {
        /* 31 places leave the sign of a 32-bit value, and so do more */
        record->normalisation = DORY_NORMALISE_32;
        record->shift = (uint8_t)(shift > 31 ? 31 : shift);
    } else {
        record->normalisation = shift >= 0 ? DORY_NORMALISE_64 : DORY_NORMALISE_DIVIDE;
        record->shift = (uint8_t)(shift >= 0 ? shift : 0);
    }
}

static int32_t clamp_32(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

/* The bounds of the output element; without a clip the range pass has proven that the type's are never reached. */
void describe_clip(const struct description *d, const struct stage *last)
{
    const struct tensor *output = d->output;
    int64_t least = output->is_signed ? -((int64_t)1 << (output->bits - 1)) : 0;
    int64_t most = output->is_signed ? -least - 1 : ((int64_t)1 << output->bits) - 1;
    if (output->bits == 32)
        least = INT32_MIN, most = INT32_MAX;
    if (last && last->has_clip) {
        bool proven = output->minimum >= least && output->maximum <= most; /* a clip beyond that never clips */
        if (!proven && (last->minimum < least || last->maximum > most))
            REFUSE(d, NULL, "clips to %" PRId64 "..%" PRId64 ", which %d-bit %s elements cannot hold", last->minimum,
                   last->maximum, output->bits, output->is_signed ? "signed" : "unsigned");
        least = last->minimum > least ? last->minimum : least;
        most = last->maximum < most ? last->maximum : most;
    }
    d->record->minimum = clamp_32(least);
    d->record->maximum = clamp_32(most);
}

/* A layer-wide stage as the firmware has it. */
struct dory_stage describe_scalar_stage(const struct description *d, const struct stage *stage, struct bounds x)
{
    struct dory_stage result = {1, 0, 1, INT32_MIN, INT32_MAX};
    if (stage->count == 0)
        return result;
    if (stage->count != 1)
        REFUSE(d, NULL,
               "has a normalisation per channel; for pools, additions and concatenations one for all channels is supported");
    struct stage_proof proof = prove_channel(stage->multiplier[0], stage->addend[0], x);
    if (!proof.fits_64)
        REFUSE(d, NULL, "its scaling exceeds 64-bit integers, which is the most that the firmware computes with");
    result.multiplier = stage->multiplier[0];
    result.addend = stage->addend[0];
    result.divisor = stage->divisor;
    if (stage->has_clip) {
        result.minimum = clamp_32(stage->minimum);
        result.maximum = clamp_32(stage->maximum);
    } else if (!fits_32_bits(stage_apply(stage, 0, x.minimum)) || !fits_32_bits(stage_apply(stage, 0, x.maximum))) {
        REFUSE(d, NULL, "its scaling exceeds 32-bit integers, which is what the firmware makes of it");
    }
    return result;
}

/* What dory_stage_apply makes of x; the clip to 32 bits included, so that nothing behind it overflows. */
struct bounds described_stage_bounds(const struct dory_stage *stage, struct bounds x)
{
    wide low = (wide)stage->multiplier * x.minimum, high = (wide)stage->multiplier * x.maximum;
    struct bounds y = {(int64_t)wide_floor_divide(wide_minimum(low, high) + stage->addend, stage->divisor),
                       (int64_t)wide_floor_divide(wide_maximum(low, high) + stage->addend, stage->divisor)};
    y.minimum = y.minimum < stage->minimum ? stage->minimum : y.minimum > stage->maximum ? stage->maximum : y.minimum;
    y.maximum = y.maximum < stage->minimum ? stage->minimum : y.maximum > stage->maximum ? stage->maximum : y.maximum;
    return y;
}

void describe_refuse_stage(const struct description *d, const struct stage *stage)
{
    REFUSE(d, NULL, "%s", requantise_refusal(stage));
}

static bool falls_somewhere(const struct stage *stage)
{
    for (int i = 0; i < stage->count; i++)
        if (stage->multiplier[i] < 0)
            return true;
    return false;
}

/* Channels of which no weight is the least of its bits, which has no number of the other sign. Null where no channel falls:
 * nobody asks for them then. */
static const bool *find_negatable(const struct description *d, const struct stage *stage)
{
    if (!falls_somewhere(stage))
        return NULL;
    const struct layer *layer = d->layer;
    size_t channels = (size_t)d->output->channels, inputs = (size_t)(d->input->channels / layer->groups);
    size_t each = inputs * (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    bool *negatable = arena_array(d->arena, bool, channels);
    int least = -(1 << (d->record->weight_bits - 1));
    for (size_t channel = 0; channel < channels; channel++) {
        const int8_t *weight = layer->weights + channel * each, *end = weight + each;
        while (weight < end && *weight != least)
            weight++;
        negatable[channel] = weight == end;
    }
    return negatable;
}

void describe_channel_stages(const struct description *d)
{
    const struct layer *layer = d->layer;
    static const int64_t one = 1, zero = 0;
    static const struct stage identity = {.count = 1, .multiplier = &one, .addend = &zero, .divisor = 1};
    const struct stage *stage = layer->stage_count ? &layer->stages[0] : &identity;
    if (!layer->sums_fit_32_bits) {
        REFUSE(d, NULL, "its sums can exceed 32 bits, in which the firmware accumulates");
        return;
    }
    if (layer->stage_count > 1)
        REFUSE(d, NULL, "has %d normalisations one after the other; a convolution can have one", layer->stage_count);
    describe_clip(d, layer->stage_count ? stage : NULL);
    *d->sums = (struct requantise_problem){.stage = stage,
                                           .ranges = layer->sums,
                                           .channel_count = d->output->channels,
                                           .minimum = d->record->minimum,
                                           .maximum = d->record->maximum,
                                           .allow_fast = d->network->fast_requantisation,
                                           .negatable = find_negatable(d, stage)};
}

/* A floor that equals the stage for these x, which the firmware can compute. */
void describe_floor(struct description *d, struct stage *stage, struct bounds x)
{
    const struct stage *found = stage->count ? requantise_as_floor(stage, x.minimum, x.maximum, d->arena) : stage;
    if (!found)
        describe_refuse_stage(d, stage);
    else if (stage->rounding != ROUND_FLOOR)
        d->requantisation->verdict = REQUANTISED_PROVEN;
    *stage = found ? *found : (struct stage){.count = 0, .divisor = 1};
}

/* By thresholds, which any accumulator of a layer without weights can have. They are laid down in `thresholds`. */
void describe_thresholds(struct description *d, struct bounds accumulator, int32_t *thresholds)
{
    d->record->normalisation = DORY_NORMALISE_THRESHOLDS;
    d->record->minimum = 0;
    d->record->maximum = UINT8_MAX;
    if (d->output->bits != 8 || d->output->is_signed ||
        !thresholds_of_stages(d->layer, accumulator.minimum, accumulator.maximum, thresholds)) {
        REFUSE(d, NULL,
               "its accumulators have %" PRId64 "..%" PRId64
               " and its elements %d bits; supported are 32 bits and, with one "
               "normalisation for all channels, bytes without a sign",
               accumulator.minimum, accumulator.maximum, d->output->bits);
        return;
    }
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->normalisation = DORY_NORMALISE_THRESHOLDS;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->accumulators = accumulator.maximum - accumulator.minimum + 1;
}

bool describe_high_stage(struct description *d, struct bounds accumulator, int64_t *bias)
{
    struct sum_range range = {accumulator.minimum, accumulator.maximum};
    struct requantise_problem problem = {.stage = &d->first, .ranges = &range, .channel_count = 1, .only_high = true};
    struct requantisation form = {0};
    if (d->layer->stage_count != 1 || d->first.count != 1)
        return false;
    describe_clip(d, &d->first);
    problem.minimum = d->record->minimum;
    problem.maximum = d->record->maximum;
    if (!requantise(&problem, NULL, &form, d->arena) || (!bias && form.channels[0].high.bias != 0))
        return false;
    const struct dory_channel_constants *constants = &form.channels[0];
    d->stages->first = (struct dory_stage){constants->high.multiplier, constants->high.addend,
                                           (int64_t)1 << constants->high.shift, d->record->minimum, d->record->maximum};
    if (bias)
        *bias = constants->high.bias;
    *d->requantisation = form;
    d->requantisation->channels = NULL;
    d->requantisation->channel_count = d->output->channels;
    requantisation_describe(&form, d->record);
    return true;
}

/* The accumulators that the range pass has proven. */
struct bounds described_accumulator(const struct description *d)
{
    return (struct bounds){d->layer->accumulator_minimum, d->layer->accumulator_maximum};
}

/* Where halves occur and go to even, no floor is equal. */
static bool needs_thresholds(const struct description *d, struct bounds accumulator)
{
    const struct stage *first = &d->first;
    return d->layer->stage_count == 1 && first->count == 1 && first->rounding != ROUND_FLOOR && d->output->bits == 8 &&
           !d->output->is_signed && !requantise_as_floor(first, accumulator.minimum, accumulator.maximum, d->arena);
}

void describe_scalar_stages(struct description *d, struct bounds accumulator)
{
    if (needs_thresholds(d, accumulator)) {
        int32_t *thresholds = arena_array(d->arena, int32_t, DORY_THRESHOLDS);
        d->record->constants.thresholds = thresholds;
        describe_thresholds(d, accumulator, thresholds);
        return;
    }
    const struct layer *layer = d->layer;
    const struct stage *first = &d->first;
    struct form form = {true, true, true};
    describe_floor(d, &d->first, accumulator);
    if (first->count)
        form_add(&form, first, 0, accumulator);
    d->stages->first = describe_scalar_stage(d, first, accumulator);
    choose_normalisation(d, &form, d->stages->first.divisor);
    if (layer->stage_count > 1) {
        d->stages->has_second = 1;
        struct bounds x = described_stage_bounds(&d->stages->first, accumulator);
        struct stage second = layer->stages[1];
        describe_floor(d, &second, x);
        d->stages->second = describe_scalar_stage(d, &second, x);
    }
    d->requantisation->normalisation = d->record->normalisation;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->accumulators += accumulator.maximum - accumulator.minimum + 1;
    describe_clip(d, layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL);
}
