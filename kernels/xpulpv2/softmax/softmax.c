/* Computes softmax of bytes over the channels of each pixel. Shapes: any, HWC.
 *
 * Cores divide elements where pixels are not many, and a last layer has one: each finds the pixel's largest element, four
 * bytes at a time, and the sum of exponentials itself, 14 or 18 instructions for four. Inner loop: an exponential from a
 * table by the distance to the largest element, a product of 16 bits by 16 and a shift, 33 to 37 instructions for four.
 * Some two elements of a hundred are too close to where they change; these are made again with all bits. */
#include "dory/softmax.h"
#include "../share.h"
#include "../xpulp.h"
#include "../xpulpv2.h"
#include "dory/normalise.h"
#include "softmax_share.h"
#include "softmax_sums.h"

struct softmax {
    const uint32_t *exponentials;
    const int32_t *thresholds;
    uint32_t channels; /* of a pixel */
    uint32_t group;    /* of these, that are added at once; 0: all */
    struct levels *levels;
};

/* Elements first .. first + count - 1 of a pixel. */
typedef void soften_function(const struct softmax *work, const uint8_t *input, uint8_t *output, uint32_t first,
                             uint32_t count);

/* Of groups one after the other, each with the largest element so far. */
static __attribute__((noinline)) uint32_t sum_of_groups(const struct softmax *work, const uint8_t *input)
{
    uint32_t sum = 0, largest = 0;
    for (uint32_t first = 0; first < work->channels; first += work->group) {
        uint32_t count = dory_minimum(work->group, work->channels - first), here = largest_of(input + first, count);
        if (here > largest) {
            sum = dory_lower_sum(work->exponentials, sum, here - largest);
            largest = here;
        }
        sum += sum_of(work->exponentials, input + first, count, largest, 0);
    }
    return sum;
}

/* ---- elements, of which most are made with 16 bits of precision ---- */

/* What the elements of a pixel are made with. Of an element the high part of its exponential times the factor, without its
 * last 16 bits, is x; the element is (x + start) >> places, most at most, or up to the margin more. */
struct pixel {
    const struct softmax *work;
    uint32_t largest, sum;
    uint32_t cut; /* places of an exponential that the high part is without */
    uint32_t factor, start, margin, places, most;
    uint32_t reciprocal, fraction; /* of TensorFlow Lite Micro: of the sum, and its places */
};

/* Of a start, a margin and places in units of a whole product. */
static inline void set_line(struct pixel *pixel, uint32_t start, uint32_t margin, uint32_t places)
{
    pixel->start = start >> 16;
    pixel->margin = ((start & UINT16_MAX) + margin + UINT16_MAX) >> 16;
    pixel->places = places - 16;
}

/* An element exactly, from a guess on. */
typedef uint8_t soften_one_function(const struct pixel *pixel, uint32_t element, uint32_t guess);

/* Fours of elements up to the end, until counts may be wrong: which are, by bytes. */
typedef const uint8_t *count_fours_function(const struct pixel *pixel, const uint8_t *input, const uint8_t *end,
                                            uint8_t *output, uint32_t *counts, uint32_t *wrong);

#if defined(DORY_XPULPV2)

#define FOUR(instruction, a, rest)                                                                                          \
    instruction " %[" #a "0], %[" #a "0], " rest "\n" instruction " %[" #a "1], %[" #a "1], " rest "\n" instruction         \
                " %[" #a "2], %[" #a "2], " rest "\n" instruction " %[" #a "3], %[" #a "3], " rest "\n"

/* Two products' high halves become a word: of any exponentials, or of those whose high part is their high half. */
#define PRODUCTS                                                                                                            \
    FOUR("srl", x, "%[cut]")                                                                                                \
    FOUR("mul", x, "%[factor]") PV_PACK_H_H("%[x0]", "%[x1]", "%[x0]") PV_PACK_H_H("%[x2]", "%[x3]", "%[x2]")
#define PRODUCTS_OF_HALVES                                                                                                  \
    P_MULHHU_16("%[x0]", "%[x0]", "%[factor]")                                                                              \
    P_MULHHU_16("%[x1]", "%[x1]", "%[factor]")                                                                              \
    P_MULHHU_16("%[x2]", "%[x2]", "%[factor]")                                                                              \
    P_MULHHU_16("%[x3]", "%[x3]", "%[factor]")                                                                              \
    PV_PACK_H("%[x0]", "%[x1]", "%[x0]") PV_PACK_H("%[x2]", "%[x3]", "%[x2]")

#define BOTH(instruction, a, b, operand)                                                                                    \
    instruction("%[" a "]", "%[" a "]", operand) instruction("%[" b "]", "%[" b "]", operand)
#define TWICE(half) (((half)&UINT16_MAX) * 0x00010001u)

/* 10 instructions, those of the products, and 17. */
#define COUNT_FOURS(name, PRODUCTS, FACTOR)                                                                                 \
    static inline __attribute__((always_inline)) const uint8_t *name(const struct pixel *pixel, const uint8_t *input,       \
                                                                     const uint8_t *end, uint8_t *output, uint32_t *counts, \
                                                                     uint32_t *wrong)                                       \
    {                                                                                                                       \
        uint32_t x0, x1, x2, x3, u, v;                                                                                      \
        __asm__ volatile(                                                                                                   \
            ".option push\n"                                                                                                \
            ".balign 4\n"                                                                                                   \
            ".option norvc\n"                                                                                               \
            "0:" P_LW_NEXT("%[x3]", "%[input]") "sub %[x3], %[largest], %[x3]\n" PV_DOTUP_B("%[x0]", "%[x3]", "%[first]")   \
                PV_DOTUP_B("%[x1]", "%[x3]", "%[second]") PV_DOTUP_B("%[x2]", "%[x3]", "%[third]")                          \
                    PV_DOTUP_B("%[x3]", "%[x3]", "%[fourth]") P_LW_AT("%[x0]", "%[x0]", "%[table]")                         \
                        P_LW_AT("%[x1]", "%[x1]", "%[table]") P_LW_AT("%[x2]", "%[x2]",                                     \
                                                                      "%[table]") P_LW_AT("%[x3]", "%[x3]", "%[table]")     \
                            PRODUCTS BOTH(PV_ADD_H, "x0", "x2", "%[start]") PV_ADD_H("%[u]", "%[x0]", "%[margin]")          \
                                PV_ADD_H("%[v]", "%[x2]", "%[margin]") BOTH(PV_SRL_SC_H, "x0", "x2", "%[places]")           \
                                    BOTH(PV_SRL_SC_H, "u", "v",                                                             \
                                         "%[places]") "xor %[u], %[u], %[x0]\n"                                             \
                                                      "xor %[v], %[v], %[x2]\n" BOTH(PV_MIN_SC_H, "x0", "x2", "%[most]")    \
                                                          PV_SHUFFLE2_B("%[u]", "%[v]", "%[even]")                          \
                                                              PV_SHUFFLE2_B("%[x0]", "%[x2]", "%[even]") P_SW_NEXT(         \
                                                                  "%[x0]", "%[output]") "bnez %[u], 1f\n"                   \
                                                                                        "bltu %[input], %[end], 0b\n"       \
                                                                                        "1:\n"                              \
                                                                                        ".option pop\n"                     \
            : [input] "+r"(input), [output] "+r"(output), [x0] "=&r"(x0), [x1] "=&r"(x1), [x2] "=&r"(x2), [x3] "=&r"(x3),   \
              [u] "=&r"(u), [v] "=&r"(v)                                                                                    \
            : [end] "r"(end), [largest] "r"(pixel->largest * 0x01010101u), [table] "r"(pixel->work->exponentials),          \
              [cut] "r"(pixel->cut), [factor] "r"(FACTOR), [start] "r"(TWICE(pixel->start)),                                \
              [margin] "r"(TWICE(pixel->margin)), [places] "r"(pixel->places), [most] "r"(pixel->most),                     \
              [even] "r"(0x06040200), FOUR_PLACES                                                                           \
            : "memory");                                                                                                    \
        *counts = x0;                                                                                                       \
        *wrong = u;                                                                                                         \
        return input;                                                                                                       \
    }

COUNT_FOURS(count_fours, PRODUCTS, pixel->factor)
COUNT_FOURS(count_fours_by_halves, PRODUCTS_OF_HALVES, pixel->factor << 16)

#else

static const uint8_t *count_fours(const struct pixel *pixel, const uint8_t *input, const uint8_t *end, uint8_t *output,
                                  uint32_t *counts, uint32_t *wrong)
{
    for (*wrong = 0; !*wrong && input < end; input += 4, output += 4) {
        *counts = 0;
        for (unsigned lane = 0; lane < 4; lane++) {
            uint32_t exponential = pixel->work->exponentials[pixel->largest - input[lane]];
            uint32_t x = ((exponential >> pixel->cut) * pixel->factor >> 16) + pixel->start;
            uint32_t count = (x & UINT16_MAX) >> pixel->places, more = ((x + pixel->margin) & UINT16_MAX) >> pixel->places;
            *wrong |= ((count ^ more) & UINT8_MAX) << 8 * lane;
            *counts |= dory_minimum(count, pixel->most) << 8 * lane;
        }
        dory_store_word(output, *counts);
    }
    return input;
}

#define count_fours_by_halves count_fours

#endif

/* Four elements or more, of which the last four may be some of those in front of them, too. */
static inline void soften_fours(const struct pixel *pixel, const uint8_t *input, uint8_t *output, uint32_t count,
                                count_fours_function *count_some, soften_one_function *soften_one)
{
    for (const uint8_t *next = input, *end = input + (count & ~3u), *last = input + count;;) {
        uint32_t counts, wrong;
        next = count_some(pixel, next, end, output + (next - input), &counts, &wrong);
        for (const uint8_t *element = next - 4; wrong != 0; element++, wrong >>= 8, counts >>= 8) {
            if (wrong & UINT8_MAX) {
                output[element - input] = soften_one(pixel, *element, counts & UINT8_MAX);
            }
        }
        if (next == last) {
            return;
        }
        if (next == end) {
            next = last - 4;
            end = last;
        }
    }
}

static uint32_t guess_of(const struct pixel *pixel, uint32_t element)
{
    uint32_t exponential = pixel->work->exponentials[pixel->largest - element];
    return dory_minimum((((exponential >> pixel->cut) * pixel->factor >> 16) + pixel->start) >> pixel->places, pixel->most);
}

static inline void soften_by(const struct pixel *pixel, bool is_precise, const uint8_t *input, uint8_t *output,
                             uint32_t count, count_fours_function *count_some, soften_one_function *soften_one)
{
    if (is_precise) {
        soften_fours(pixel, input, output, count, count_some, soften_one);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        output[i] = soften_one(pixel, input[i], guess_of(pixel, input[i]));
    }
}

/* ---- TensorFlow Lite Micro's fixed point ---- */

static uint8_t soften_one(const struct pixel *pixel, uint32_t element, uint32_t guess)
{
    (void)guess;
    int32_t exponential = (int32_t)pixel->work->exponentials[pixel->largest - element];
    uint32_t product = (uint32_t)dory_multiply_fractions((int32_t)pixel->reciprocal, exponential);
    return (uint8_t)dory_minimum((product + (1u << (pixel->fraction - 1))) >> pixel->fraction, UINT8_MAX);
}

/* With E and R, the high parts of an exponential and of the reciprocal, the product is less than E R + E + R + 1, and its
 * own rounding is half a unit of x. */
static inline __attribute__((always_inline)) void soften(const struct softmax *work, const uint8_t *input, uint8_t *output,
                                                         uint32_t first, uint32_t count)
{
    uint32_t largest = largest_of(input, work->channels);
    uint32_t sum = sum_of(work->exponentials, input, work->channels, largest, 12);
    uint32_t zeros = 31 - p_fl1(sum), places = 35 - zeros;
    uint32_t reciprocal = (uint32_t)dory_reciprocal_of_one_plus((int32_t)((sum << zeros) - 0x80000000u));
    struct pixel pixel = {
        .work = work,
        .largest = largest,
        .cut = 16,
        .factor = reciprocal >> 15,
        .most = UINT8_MAX,
        .reciprocal = reciprocal,
        .fraction = places,
    };
    set_line(&pixel, 1u << (places - 1), (work->exponentials[0] >> 16) + pixel.factor + 4, dory_minimum(places, 31));
    if (places > 31) { /* a product has 31 bits: all are rounded to nothing */
        pixel.reciprocal = 0;
        pixel.fraction = 31;
    }
    soften_by(&pixel, count >= 4 && places <= 31, input + first, output, count, count_fours_by_halves, soften_one);
}

/* ---- quotients of whole numbers ---- */

#define QUOTIENT_BITS 30

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

#define TOLERANCE 512 /* of a threshold, in units of a quotient */

/* A line that counts thresholds, of which most rise by equal steps: x of a quotient, whose highest bits are the count. */
struct levels {
    uint32_t most;   /* counted of a quotient of all */
    uint32_t places; /* of x behind the count */
    uint32_t slope;  /* how much x rises to a quotient of all: 2^31 at most */
    uint32_t start;  /* x of no quotient, less by half the margin */
    uint32_t margin; /* what thresholds may miss the line by, to both sides */
    uint32_t step;   /* from threshold to threshold */
    uint32_t next;   /* where the line expects the first that was not looked at yet */
    uint32_t proven; /* as many are where the line expects them */
};

/* None is proven where nothing has a count already, or where one step is too much or too little for a word. */
static struct levels levels_of(const int32_t *thresholds)
{
    struct levels levels = {.most = dory_count_thresholds(thresholds, 1 << QUOTIENT_BITS), .step = 1 << 18};
    uint32_t places = 0;
    if (levels.most >= 2 && thresholds[0] > 0) {
        levels.next = (uint32_t)thresholds[0];
        levels.step = ((uint32_t)thresholds[levels.most - 1] - levels.next) / (levels.most - 1);
    }
    if (levels.step <= 1u << 18 || levels.next > levels.step + TOLERANCE) { /* x of nothing would be below -margin */
        return (struct levels){.most = 0, .places = 16};
    }
    for (; levels.step << places < 0x80000000u; places++) {
    }
    levels.slope = reciprocal_of(levels.step << places) >> 1;
    levels.places = 32 - places;
    levels.margin = 2 * (high_product(4 * TOLERANCE, levels.slope) + 64);
    levels.start = (1u << levels.places) - high_product(levels.next << 2, levels.slope) - levels.margin / 2;
    return levels;
}

/* Whether the line holds up to a count. */
static bool is_line(struct levels *levels, const int32_t *thresholds, uint32_t count)
{
    uint32_t end = dory_minimum(count + 1, levels->most);
    for (; levels->proven < end; levels->proven++, levels->next += levels->step) {
        if ((uint32_t)thresholds[levels->proven] + TOLERANCE - levels->next > 2 * TOLERANCE) {
            return false;
        }
    }
    return levels->most != 0;
}

#define FEW_STEPS 3 /* from a guess, which is not farther off where elements are precise */

/* From a guess on; where that is far off by halves. */
static __attribute__((noinline)) uint8_t count_exactly(const struct pixel *pixel, uint32_t element, uint32_t count)
{
    const int32_t *thresholds = pixel->work->thresholds;
    uint32_t exponential = pixel->work->exponentials[pixel->largest - element];
    if (!is_reached(thresholds[0], exponential, pixel->sum)) { /* of which the guess may be any: see levels_of */
        return 0;
    }
    for (uint32_t steps = 0; steps < FEW_STEPS; steps++) {
        if (count < UINT8_MAX && is_reached(thresholds[count], exponential, pixel->sum)) {
            count++;
        } else if (count > 0 && !is_reached(thresholds[count - 1], exponential, pixel->sum)) {
            count--;
        } else {
            return (uint8_t)count;
        }
    }
    count = 0;
    for (uint32_t half = 128; half > 0; half /= 2) {
        count += is_reached(thresholds[count + half - 1], exponential, pixel->sum) ? half : 0;
    }
    return (uint8_t)count;
}

/* The sum's highest bit is put at the top of its word, and exponentials are as far to the left. With E and R, the high
 * halves of an exponential and of what it is multiplied with, x is less than E R + E + R + 70. Where that is more than 16
 * places, exponentials are halves as they are, and R is what goes the rest of the way. */
static inline __attribute__((always_inline)) void soften_exactly(const struct softmax *work, const uint8_t *input,
                                                                 uint8_t *output, uint32_t first, uint32_t count)
{
    const uint32_t *exponentials = work->exponentials;
    struct levels *levels = work->levels;
    uint32_t largest = largest_of(input, work->channels);
    uint32_t sum = work->group != 0 ? sum_of_groups(work, input) : sum_of(exponentials, input, work->channels, largest, 0);
    uint32_t places = 31 - p_fl1(sum), more = places - dory_minimum(places, 16);
    uint32_t factor = high_product(levels->slope, reciprocal_of(sum << places)) >> 15;
    uint32_t most = exponentials[0] << places >> 16;
    struct pixel pixel = {
        .work = work,
        .largest = largest,
        .sum = sum,
        .cut = 16 - (places - more),
        .factor = factor << more,
        .most = levels->most,
    };
    set_line(&pixel, levels->start, levels->margin + most + factor + 70, levels->places);
    uint32_t most_count = ((most * factor >> 16) + pixel.start + pixel.margin) >> pixel.places;
    bool is_precise = count >= 4 && is_line(levels, work->thresholds, most_count);
    soften_by(&pixel, is_precise, input + first, output, count, count_fours, count_exactly);
}

/* ---- the tile ---- */

static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, soften_function *soften_part)
{
    const uint32_t *exponentials = dory_table_bytes(layer) != 0 ? tile->weights : layer->constants.exponentials;
    struct levels levels = {.most = 0};
    struct softmax work = {exponentials, (const int32_t *)exponentials + 256, layer->input_channels, 0, &levels};
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        levels = levels_of(work.thresholds);
        work.group = layer->softmax.group_channels;
    }
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = tile->channels;
    uint32_t length = dory_softens_pixels(pixels, cores) ? channels : 1, items = length == 1 ? channels : 1; /* of a pixel */
    struct dory_grid_share share = dory_grid_share_of(pixels, items, core, cores);
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, items), first = share.first * length;
        const uint8_t *input = (const uint8_t *)tile->input + share.row * work.channels;
        uint8_t *output = (uint8_t *)tile->output + share.row * channels + first;
        soften_part(&work, input, output, tile->first_channel + first, (end - share.first) * length);
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
