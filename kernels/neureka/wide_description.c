/* Finds a channel's constants of the form WIDE, by what its own form makes of accumulators: where each value of the output
 * begins. The multiplier is rounded to as many bits as its product may have; then each of these steps bounds the addend.
 *
 * Rounding away from zero takes a step off where the sum is negative. Where and how much follows from the channel's form;
 * that it is right is proven with all else. */
#include "wide.h"

#include "dory/normalise.h"
#include "neureka.h"

#define MOST_SHIFT    23u         /* 256 values fit 31 bits */
#define PRODUCT_LIMIT (1ll << 47) /* what is left of it has 32 bits with its sign */

/* The accumulators that a channel's weights can make. */
struct range {
    int64_t low, high;
};

static struct range range_of(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output)
{
    int32_t least = layer->input_is_signed ? INT8_MIN : 0, most = layer->input_is_signed ? INT8_MAX : UINT8_MAX;
    uint32_t inputs = layer->operation == DORY_DEPTHWISE ? 1 : layer->input_channels;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    struct range range = {0, 0};
    for (uint32_t i = 0; i < inputs * taps; i++) {
        int32_t weight = dory_model_weight(layer, model, output, i / taps, i % taps);
        range.low += weight * (weight < 0 ? most : least);
        range.high += weight * (weight < 0 ? least : most);
    }
    return range;
}

/* HIGH is proven for accumulators alone that it can shift, which may be fewer: others do not occur. */
static void narrow(const struct dory_layer *layer, const struct dory_channel_constants *channel, struct range *range)
{
    if (layer->normalisation == DORY_NORMALISE_HIGH && channel->high.multiplier != 0) {
        int64_t low = (INT32_MIN >> layer->left_shift) - channel->high.bias,
                high = (INT32_MAX >> layer->left_shift) - channel->high.bias;
        range->low = range->low > low ? range->low : low;
        range->high = range->high < high ? range->high : high;
    }
}

/* multiplier / 2^shift, which only has to be near: what comes of it is proven. */
struct factor {
    int64_t multiplier;
    int32_t shift;
};

static struct factor factor_of(const struct dory_layer *layer, const struct dory_channel_constants *channel)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_CLAMPED:
        return layer->reciprocal
                   ? (struct factor){channel->clamped.multiplier * (int64_t)layer->reciprocal, 32 + layer->shift}
                   : (struct factor){channel->clamped.multiplier, layer->shift};
    case DORY_NORMALISE_SPLIT:
        return (struct factor){channel->split.high * (1ll << (channel->split.addend & 31)) + channel->split.low,
                               24 + (int32_t)(channel->split.addend & 31)};
    case DORY_NORMALISE_HIGH:
        return (struct factor){channel->high.multiplier, 32 - layer->left_shift + (int32_t)channel->high.shift};
    default: return (struct factor){channel->product.multiplier, layer->shift};
    }
}

static bool fits_32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

/* True where the channel's form neither wraps nor falls anywhere in the range, of which its own proof may cover less. */
static bool is_ascending(const struct dory_layer *layer, const struct dory_channel_constants *channel, int64_t accumulator)
{
    if (layer->normalisation == DORY_NORMALISE_CLAMPED) {
        return channel->clamped.multiplier >= 0 && channel->clamped.multiplier <= INT32_MAX;
    }
    if (layer->normalisation == DORY_NORMALISE_SPLIT) {
        return channel->split.high >= 0 && channel->split.high <= INT32_MAX && channel->split.low >= 0 &&
               channel->split.low <= UINT32_MAX && fits_32(channel->split.bias) &&
               fits_32(accumulator + channel->split.bias);
    }
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        int64_t shifted = (accumulator + channel->high.bias) * (1ll << layer->left_shift);
        int64_t high = fits_32(shifted) ? shifted * channel->high.multiplier >> 32 : INT64_MAX / 2, most = 1 << 30;
        return channel->high.multiplier >= 0 && fits_32(high + channel->high.addend - most) &&
               fits_32(high + channel->high.addend + most); /* the correction is no more than that */
    }
    int64_t multiplier = channel->product.multiplier, addend = channel->product.addend;
    return multiplier >= 0 && multiplier <= UINT32_MAX && addend > -(1ll << 61) && addend < 1ll << 61;
}

/* Where values begin: first[0] is that of the one behind the least. */
struct steps {
    struct range range;
    int32_t least, most;
    int64_t first[UINT8_MAX];
};

static bool find_steps(const struct dory_layer *layer, const uint8_t *constants, struct steps *steps)
{
    int64_t below = steps->range.low;
    steps->least = dory_normalise(layer, constants, 0, (int32_t)steps->range.low);
    steps->most = dory_normalise(layer, constants, 0, (int32_t)steps->range.high);
    if (steps->least < layer->minimum || steps->most > layer->maximum || steps->most - steps->least > UINT8_MAX) {
        return false;
    }
    for (int32_t value = steps->least + 1; value <= steps->most; value++) {
        int64_t above = steps->range.high;
        while (above - below > 1) {
            int64_t middle = (below + above) >> 1;
            bool is_above = dory_normalise(layer, constants, 0, (int32_t)middle) >= value;
            above = is_above ? middle : above;
            below = is_above ? below : middle;
        }
        steps->first[value - steps->least - 1] = above;
    }
    return steps->least <= steps->most;
}

/* What the cores add to. */
static int64_t z_of(const struct dory_neureka_wide *wide, int64_t accumulator)
{
    int64_t z = accumulator * wide->multiplier >> DORY_NEUREKA_WIDE_SHIFT;
    return z - (z < wide->zero ? (int64_t)wide->step : 0);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The addend for which all steps are where they are to be. */
static bool find_addend(const struct dory_layer *layer, const struct steps *steps, struct dory_neureka_wide *wide)
{
    int64_t unit = 1ll << wide->shift, low = z_of(wide, steps->range.low), high = z_of(wide, steps->range.high);
    int64_t least = larger(INT32_MIN, INT32_MIN - low), most = smaller(INT32_MAX, INT32_MAX - high);
    if (steps->least > layer->minimum) {
        least = larger(least, steps->least * unit - low);
    }
    if (steps->most < layer->maximum) {
        most = smaller(most, (steps->most + 1) * unit - 1 - high);
    }
    for (int32_t value = steps->least + 1; value <= steps->most && least <= most; value++) {
        int64_t first = steps->first[value - steps->least - 1];
        least = larger(least, value * unit - z_of(wide, first));
        most = smaller(most, value * unit - 1 - z_of(wide, first - 1));
    }
    wide->addend = (int32_t)(least + (most - least) / 2);
    return least <= most;
}

/* What is taken off, in the units of the cores' shift, and from which accumulator on it is not. */
static void set_step(const struct dory_layer *layer, const struct dory_channel_constants *channel,
                     struct dory_neureka_wide *wide)
{
    bool is_split = layer->normalisation == DORY_NORMALISE_SPLIT;
    int64_t step = is_split ? channel->split.step : 1ll << layer->left_shift >> 1;
    int64_t zero = is_split ? channel->split.zero - channel->split.bias : -channel->high.bias;
    int64_t taken = step << wide->shift >> (is_split ? 24 : channel->high.shift);
    int64_t z = zero * wide->multiplier >> DORY_NEUREKA_WIDE_SHIFT;
    wide->step = taken <= INT32_MAX ? (uint32_t)taken : 0;
    wide->zero = (int32_t)larger(smaller(z, INT32_MAX), INT32_MIN);
}

/* multiplier / 2^shift times 2^(16 + the cores' shift), rounded; negative where it has too many bits. */
static int64_t multiplier_of(struct factor factor, uint32_t shift)
{
    int32_t right = factor.shift - (int32_t)(DORY_NEUREKA_WIDE_SHIFT + shift);
    if (right <= 0) {
        return right > -32 && factor.multiplier <= INT32_MAX >> -right ? factor.multiplier << -right : -1;
    }
    int64_t rounded = right > 62 ? 0 : ((factor.multiplier >> (right - 1)) + 1) >> 1;
    return rounded <= INT32_MAX ? rounded : -1;
}

static bool search(const struct dory_layer *layer, const struct dory_channel_constants *channel, const struct steps *steps,
                   struct dory_neureka_wide *wide)
{
    struct factor factor = factor_of(layer, channel);
    int64_t size = larger(larger(-steps->range.low, steps->range.high), 1);
    for (uint32_t shift = MOST_SHIFT + 1; shift-- > 0;) {
        int64_t multiplier = multiplier_of(factor, shift);
        *wide = (struct dory_neureka_wide){.multiplier = (uint32_t)multiplier, .shift = shift};
        if (multiplier < 0 || multiplier >= PRODUCT_LIMIT / size) {
            continue;
        }
        if (layer->rounding == DORY_ROUND_AWAY) {
            set_step(layer, channel, wide);
        }
        if (find_addend(layer, steps, wide)) {
            return true;
        }
    }
    return false;
}

bool dory_neureka_widen(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                        struct dory_neureka_wide *wide)
{
    const struct dory_channel_constants *channel = &model->constants[output];
    uint8_t constants[28];
    struct steps steps = {.range = range_of(layer, model, output)};
    narrow(layer, channel, &steps.range);
    return steps.range.low <= steps.range.high && fits_32(steps.range.low) && fits_32(steps.range.high) &&
           is_ascending(layer, channel, steps.range.low) && is_ascending(layer, channel, steps.range.high) &&
           dory_write_constants(layer, channel, constants) && find_steps(layer, constants, &steps) &&
           search(layer, channel, &steps, wide);
}
