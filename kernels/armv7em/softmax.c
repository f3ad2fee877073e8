/* Computes softmax: in TensorFlow Lite Micro's fixed point arithmetic, or as a quotient of whole numbers and its thresholds.
 * Shapes: any, HWC.
 *
 * Each core takes a part of the pixels. Inner loop of the second: a pixel's sum is divided by once; each element's quotient
 * is a product with that, which is at most 1 below, and its threshold is searched for. */
#include "dory/softmax.h"
#include "dory/normalise.h"
#include "dory/share.h"

#include "armv7em.h"

#define QUOTIENT_BITS 30

/* What elements of a pixel are divided by: shifted left to 32 bits, and 2^63 divided by that. */
struct divisor {
    uint32_t sum, left, reciprocal;
};

static struct divisor divisor_of(uint32_t sum)
{
    struct divisor divisor = {.sum = sum};
    while (sum << divisor.left >> 31 == 0) {
        divisor.left++;
    }
    uint64_t reciprocal = (((uint64_t)1 << 63) - 1) / (sum << divisor.left);
    divisor.reciprocal = (uint32_t)(reciprocal > UINT32_MAX ? UINT32_MAX : reciprocal);
    return divisor;
}

/* floor(number * 2^30 / sum), of a number up to the sum. */
static inline uint32_t divide(const struct divisor *divisor, uint32_t number)
{
    uint32_t quotient = (uint32_t)((uint64_t)(number << divisor->left) * divisor->reciprocal >> 33);
    uint64_t rest = ((uint64_t)number << QUOTIENT_BITS) - (uint64_t)quotient * divisor->sum;
    return quotient + (rest >= divisor->sum);
}

static inline uint32_t largest_of(const uint8_t *input, uint32_t channels)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < channels; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    return largest;
}

/* Of groups one after the other, each with the largest element so far. */
static uint32_t sum_of(const uint32_t *fractions, const uint8_t *input, uint32_t channels, uint32_t group)
{
    uint32_t sum = 0, largest = 0;
    for (uint32_t first = 0; first < channels; first += group) {
        uint32_t end = dory_minimum(first + group, channels), here = largest_of(input + first, end - first);
        if (here > largest) {
            sum = first != 0 ? dory_lower_sum(fractions, sum, here - largest) : 0;
            largest = here;
        }
        for (uint32_t i = first; i < end; i++) {
            sum += fractions[largest - input[i]];
        }
    }
    return sum;
}

/* The fractions of a pixel: those of its elements are as far from the first one as they are below the largest. */
static const uint32_t *fractions_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    return dory_table_bytes(layer) != 0 ? tile->weights : layer->constants.exponentials;
}

void dory_armv7em_softmax_exact(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t *fractions = fractions_of(layer, tile);
    const int32_t *thresholds = (const int32_t *)(fractions + 256);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    const uint32_t channels = layer->input_channels, group = layer->softmax.group_channels;
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * layer->input_channels;
        uint8_t *output = (uint8_t *)tile->output + pixel * tile->channels;
        uint32_t largest = largest_of(input, channels);
        uint32_t sum = sum_of(fractions, input, channels, group != 0 ? group : channels);
        struct divisor divisor = divisor_of(sum == 0 ? 1 : sum); /* never: the first fraction is not 0 */
        input += tile->first_channel;
        for (uint32_t i = 0; i < tile->channels; i++) {
            uint32_t quotient = divide(&divisor, fractions[largest - input[i]]);
            output[i] = (uint8_t)dory_count_thresholds(thresholds, (int32_t)quotient);
        }
    }
}

/* ---- fixed point: 31-bit fractions, and numbers of more integer bits where it says so ---- */

/* number / 2^places to the nearest; at least one place. */
static inline uint32_t shift(uint32_t number, uint32_t places) { return ((number >> (places - 1)) + 1) >> 1; }

void dory_armv7em_softmax(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t *fractions = fractions_of(layer, tile);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * layer->input_channels;
        uint8_t *output = (uint8_t *)tile->output + pixel * tile->channels;
        uint32_t largest = largest_of(input, layer->input_channels), sum = 0, zeros = 0;
        for (uint32_t i = 0; i < layer->input_channels; i++) {
            sum += shift(fractions[largest - input[i]], 12);
        }
        for (; sum < 0x80000000u && zeros < 31; zeros++) {
            sum <<= 1;
        }
        int32_t reciprocal = dory_reciprocal_of_one_plus((int32_t)(sum - 0x80000000u));
        uint32_t places = dory_minimum(35 - zeros, 32); /* of numbers below 2^31, of which more leave nothing, either */
        input += tile->first_channel;
        for (uint32_t i = 0; i < tile->channels; i++) {
            uint32_t quotient =
                shift((uint32_t)dory_multiply_fractions(reciprocal, (int32_t)fractions[largest - input[i]]), places);
            output[i] = (uint8_t)(quotient > UINT8_MAX ? UINT8_MAX : quotient);
        }
    }
}
