/* Computes softmax of bytes over the channels of each pixel. Shapes: any, HWC.
 *
 * Cores divide elements, not pixels, of which a last layer has one: each finds the pixel's largest element and the sum of
 * exponentials itself. Inner loop: an exponential from a table by the distance to the largest element, a product and a
 * shift. */
#include "dory/normalise.h"
#include "share.h"
#include "xpulpv2.h"

struct softmax {
    const uint32_t *exponentials;
    const int32_t *thresholds;
    uint32_t channels;      /* of a pixel */
    uint32_t least, levels; /* see find_levels */
};

/* Elements first .. first + count - 1 of a pixel. */
typedef void soften_function(const struct softmax *work, const uint8_t *input, uint8_t *output, uint32_t first,
                             uint32_t count);

static uint32_t largest_of(const uint8_t *input, uint32_t channels)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < channels; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    return largest;
}

/* ---- TensorFlow Lite Micro's fixed point ---- */

static inline int32_t multiply(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31); }

/* 1 / (1 + x) for x from 0 to 1: a line, and three steps of Newton and Raphson, in two integer bits. */
static int32_t reciprocal_of_one_plus(int32_t x)
{
    int32_t half = (int32_t)(((uint32_t)x + 0x80000000u) >> 1);
    int32_t result = 1515870810 + multiply(half, -1010580540); /* 48/17 - 32/17 of it */
    for (int i = 0; i < 3; i++) {
        result += multiply(result, (1 << 29) - multiply(half, result)) * 4;
    }
    return result >= 1 << 30 ? INT32_MAX : result * 2;
}

static void soften(const struct softmax *work, const uint8_t *input, uint8_t *output, uint32_t first, uint32_t count)
{
    const uint32_t *exponentials = work->exponentials;
    uint32_t largest = largest_of(input, work->channels), sum = 0, places = 35;
    for (uint32_t i = 0; i < work->channels; i++) {
        sum += (exponentials[largest - input[i]] + (1u << 11)) >> 12;
    }
    for (; sum < 0x80000000u; places--) {
        sum <<= 1;
    }
    int32_t reciprocal = reciprocal_of_one_plus((int32_t)(sum - 0x80000000u));
    if (places > 31) { /* a product has 31 bits: all are rounded to nothing */
        reciprocal = 0;
        places = 31;
    }
    uint32_t half = 1u << (places - 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t product = (uint32_t)multiply(reciprocal, (int32_t)exponentials[largest - input[first + i]]);
        uint32_t quotient = (product + half) >> places;
        output[i] = (uint8_t)dory_minimum(quotient, UINT8_MAX);
    }
}

/* ---- quotients of whole numbers ---- */

#define QUOTIENT_BITS 30
#define MOST_MISSING  16 /* of an estimate of a quotient */

static inline uint32_t high_product(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

/* 2^63 / divisor of a divisor from 2^31 on, at most 12 too small: a quotient of halves, and a step of Newton. */
static uint32_t reciprocal_of(uint32_t divisor)
{
    uint32_t coarse = (UINT32_MAX / ((divisor >> 16) + 1)) << 15;
    uint64_t missing = ((uint64_t)1 << 63) - (uint64_t)coarse * divisor;
    uint64_t sum = coarse + ((missing >> 31) * coarse >> 32);
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Whether a threshold t has t <= floor(exponential * 2^30 / sum), which is t * sum <= exponential * 2^30: no division. */
static bool is_reached(int32_t threshold, uint32_t exponential, uint32_t sum)
{
    return threshold <= 0 || (uint64_t)(uint32_t)threshold * sum <= (uint64_t)exponential << QUOTIENT_BITS;
}

/* From a guess on, how many thresholds an estimate reaches; those that it may miss are looked at exactly. */
static inline uint32_t count_thresholds(const int32_t *thresholds, uint32_t count, int32_t quotient, uint32_t exponential,
                                        uint32_t sum)
{
    while (count < UINT8_MAX && thresholds[count] <= quotient) {
        count++;
    }
    while (count > 0 && thresholds[count - 1] > quotient) {
        count--;
    }
    while (count < UINT8_MAX && thresholds[count] - quotient <= MOST_MISSING &&
           is_reached(thresholds[count], exponential, sum)) {
        count++;
    }
    return count;
}

/* The sum's highest bit is at the top of its word, and so are its parts' then. Most thresholds rise by equal steps, which
 * is what the guess goes by. */
static void soften_exactly(const struct softmax *work, const uint8_t *input, uint8_t *output, uint32_t first, uint32_t count)
{
    const uint32_t *exponentials = work->exponentials;
    uint32_t largest = largest_of(input, work->channels), sum = 0, places = 0;
    for (uint32_t i = 0; i < work->channels; i++) {
        sum += exponentials[largest - input[i]];
    }
    for (; sum << places < 0x80000000u && places < 31; places++) {
    }
    uint32_t reciprocal = reciprocal_of(sum << places), least = work->least, levels = work->levels;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t exponential = exponentials[largest - input[first + i]];
        uint32_t quotient = high_product(exponential << places, reciprocal) >> 1;
        uint32_t guess = least + high_product(quotient << 2, levels);
        output[i] = (uint8_t)count_thresholds(work->thresholds, guess, (int32_t)quotient, exponential, sum);
    }
}

/* How many thresholds a quotient of nothing reaches, and how many more that of all. */
static void find_levels(struct softmax *work)
{
    uint32_t least = 0, most;
    while (least < UINT8_MAX && work->thresholds[least] <= 0) {
        least++;
    }
    most = dory_count_thresholds(work->thresholds, 1 << QUOTIENT_BITS);
    work->least = least;
    work->levels = most - least;
}

/* ---- the tile ---- */

static void run(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                soften_function *soften_part)
{
    const uint32_t *exponentials = dory_table_bytes(layer) != 0 ? tile->weights : layer->exponentials;
    struct softmax work = {exponentials, (const int32_t *)exponentials + 256, layer->input_channels, 0, 0};
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        find_levels(&work);
    }
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = tile->channels;
    struct dory_grid_share share = dory_grid_share_of(pixels, channels, core, cores);
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, channels);
        const uint8_t *input = (const uint8_t *)tile->input + share.row * work.channels;
        uint8_t *output = (uint8_t *)tile->output + share.row * channels + share.first;
        soften_part(&work, input, output, tile->first_channel + share.first, end - share.first);
        dory_grid_share_next_row(&share, end);
    }
}

void dory_xpulpv2_softmax(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    run(layer, tile, core, cores, soften);
}

void dory_xpulpv2_softmax_exact(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    run(layer, tile, core, cores, soften_exactly);
}

/* ---- the largest element ---- */

/* A core's share are pixels: there is one, or an image of them. */
void dory_xpulpv2_largest(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_grid_share share = dory_grid_share_of(1, (uint32_t)tile->rows * tile->columns, core, cores);
    const uint32_t channels = layer->input_channels, bytes = layer->output_bits / 8u;
    for (uint32_t pixel = share.first; pixel < share.first + share.items; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * channels;
        uint8_t *output = (uint8_t *)tile->output + pixel * bytes;
        uint32_t largest = largest_of(input, channels), index = 0;
        while (index + 1 < channels && input[index] != largest) {
            index++;
        }
        for (uint32_t i = 0; i < bytes; i++) {
            output[i] = (uint8_t)(index >> 8 * i);
        }
    }
}
