/* Computes softmax: in TensorFlow Lite Micro's fixed point arithmetic, or as a quotient of whole numbers and its thresholds.
 * Shapes: any, HWC.
 *
 * Each core takes a part of the pixels. Inner loop of the second: a pixel's sum is divided by once; each element's quotient
 * is a product with that, which is at most 1 below. A line through the thresholds, which rise by equal steps, tells how many
 * are reached; where it is wrong, or 1 more would be another count, the element is divided, and its threshold searched for.
 * Some 30 instructions an element. */
#include "dory/softmax.h"
#include "dory/normalise.h"
#include "dory/share.h"

#include "armv7em.h"
#include "instructions.h"

#define QUOTIENT_BITS 30

/* What elements of a pixel are divided by: shifted left to 32 bits, and 2^63 divided by that. */
struct divisor {
    uint32_t sum, left, reciprocal;
};

/* A call: compilers would go on with the reciprocal's 64 bits. */
static __attribute__((noinline)) struct divisor divisor_of(uint32_t sum)
{
    struct divisor divisor = {.sum = sum};
    while (sum << divisor.left >> 31 == 0) {
        divisor.left++;
    }
    uint64_t reciprocal = (((uint64_t)1 << 63) - 1) / (sum << divisor.left);
    divisor.reciprocal = (uint32_t)(reciprocal > UINT32_MAX ? UINT32_MAX : reciprocal);
    return divisor;
}

/* Twice as much as floor(number * 2^30 / sum), of a number up to the sum, or as 1 less, and 1 more or not: 31 bits. */
static inline uint32_t divide_nearly(const struct divisor *divisor, uint32_t number)
{
    return (uint32_t)((uint64_t)(number << divisor->left) * divisor->reciprocal >> 32);
}

static inline uint32_t divide(const struct divisor *divisor, uint32_t number)
{
    uint32_t quotient = divide_nearly(divisor, number) >> 1;
    uint64_t rest = ((uint64_t)number << QUOTIENT_BITS) - (uint64_t)quotient * divisor->sum;
    return quotient + (rest >= divisor->sum);
}

/* Four bytes at a time. */
static __attribute__((noinline)) uint32_t largest_of(const uint8_t *input, uint32_t channels)
{
    uint32_t most = 0;
    for (; channels >= 4; channels -= 4, input += 4) {
        most = dory_maximum_bytes(most, dory_word_at(input));
    }
    for (; channels > 0; channels--) {
        most = dory_maximum_bytes(most, *input++);
    }
    most = dory_maximum_bytes(most, most >> 16);
    return dory_maximum_bytes(most, most >> 8) & 0xFF;
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

/* ---- counts of thresholds ---- */

/* A count is (2 * quotient * slope / 2^32 + start) / 2^PLACES, where thresholds rise by equal steps. */
struct line {
    int32_t slope, start;
};

#define PLACES     17
#define SLOPE_BITS (PLACES + 31)
#define LEAST_STEP (1 << 18) /* so that a slope has 31 bits */

/* Without a slope, which is right for none, where there is no line. */
static struct line line_of(const int32_t *thresholds)
{
    uint32_t most = dory_count_thresholds(thresholds, 1 << QUOTIENT_BITS);
    int32_t step = most < 2 || thresholds[0] < 0 ? 0 : (thresholds[most - 1] - thresholds[0]) / (int32_t)(most - 1);
    if (step < LEAST_STEP) {
        return (struct line){0, 0};
    }
    int64_t slope = ((int64_t)1 << SLOPE_BITS) / step;
    return (struct line){(int32_t)slope, (int32_t)((((int64_t)1 << SLOPE_BITS) - thresholds[0] * slope) >> 31)};
}

static inline uint32_t guess_of(const struct line *line, uint32_t twice)
{
    return dory_byte_of(dory_smmla(twice, (uint32_t)line->slope, line->start) >> PLACES);
}

/* Whether a quotient has reached so many thresholds, and would have reached no more if it were 1 more. Behind the last there
 * is one that no quotient reaches, or the count is made exactly. */
static inline bool is_count(const int32_t *thresholds, uint32_t count, int32_t quotient)
{
    return thresholds[count] > quotient + 1 && (count == 0 || thresholds[count - 1] <= quotient);
}

static __attribute__((noinline)) uint32_t count_exactly(const int32_t *thresholds, const struct divisor *divisor,
                                                        uint32_t number)
{
    return dory_count_thresholds(thresholds, (int32_t)divide(divisor, number));
}

/* Elements of a pixel, from the fraction of its largest one. */
static void soften_exactly(const int32_t *thresholds, const struct line *line, const struct divisor *divisor,
                           const uint32_t *from_largest, const uint8_t *input, uint8_t *output, uint32_t count)
{
    const struct line straight = *line;
    const struct divisor by = *divisor;
    for (const uint8_t *end = input + count; input < end; input++, output++) {
        uint32_t number = from_largest[-(int32_t)*input], twice = divide_nearly(&by, number);
        uint32_t guess = guess_of(&straight, twice);
        *output = (uint8_t)(is_count(thresholds, guess, (int32_t)(twice >> 1)) ? guess
                                                                               : count_exactly(thresholds, divisor, number));
    }
}

void dory_armv7em_softmax_exact(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t *fractions = fractions_of(layer, tile);
    const int32_t *thresholds = (const int32_t *)(fractions + 256);
    const struct line line = line_of(thresholds);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    const uint32_t channels = layer->input_channels, group = layer->softmax.group_channels;
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * channels;
        uint32_t sum = sum_of(fractions, input, channels, group != 0 ? group : channels);
        struct divisor divisor = divisor_of(sum == 0 ? 1 : sum); /* never: the first fraction is not 0 */
        soften_exactly(thresholds, &line, &divisor, fractions + largest_of(input, channels), input + tile->first_channel,
                       (uint8_t *)tile->output + pixel * tile->channels, tile->channels);
    }
}

/* ---- fixed point: 31-bit fractions, and numbers of more integer bits where it says so ---- */

/* Byte by byte: networks of convolutions end with one such pixel, and have little room for code. */
static inline uint32_t largest_byte_of(const uint8_t *input, uint32_t channels)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < channels; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    return largest;
}

/* number / 2^places to the nearest; at least one place. */
static inline uint32_t shift(uint32_t number, uint32_t places) { return ((number >> (places - 1)) + 1) >> 1; }

void dory_armv7em_softmax(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t *fractions = fractions_of(layer, tile);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * layer->input_channels;
        uint8_t *output = (uint8_t *)tile->output + pixel * tile->channels;
        uint32_t largest = largest_byte_of(input, layer->input_channels), sum = 0, zeros = 0;
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
