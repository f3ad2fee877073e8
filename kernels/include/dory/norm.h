/* A norm: the elements of a row, less their mean, divided by their standard deviation (LayerNormalization and its like), or
 * the elements divided by the square root of the mean, or sum, of their squares (RMSNorm, L2 norms). All in whole numbers;
 * this is what such a layer means, on host and chip. docs/numerics.md has it in formulas.
 *
 * A row is all channels of a pixel, n of them. S is the sum of its elements, Q that of their squares.
 *     centred:  d = n * x - S,        V = n * Q - S * S
 *     else:     d = x - zero_point,   V = the sum of d * d
 *     W = V * 2^fraction_bits + epsilon, of 63 bits
 *     root * 2^-31 * 2^-exponent is 1 / sqrt(W / 2^fraction_bits)
 *     M = (root * multiplier) >> 31
 *     y = clip((high 32 bits of (d * factor << (left_shift - exponent)) * M + term) >> shift)
 * A divided norm is that of integer networks, in which / truncates; m = (sum of (x - zero_point)) / n where it is centred,
 * else 0:
 *     d = x - zero_point - m,  r = floor(sqrt(floor(sum of d * d over n) + 1))
 *     y = ((d * factor / r + term) >> shift) + 128
 * Of a centred one y is taken modulo 256, as a byte is.
 *
 * A norm that is rounded twice is TensorFlow Lite Micro's L2 norm, of outputs whose scale is 1/128:
 *     d = x - zero_point,  m * 2^(e - 31) is 1 / sqrt(the sum of d * d), as five steps of Newton's find it,
 *     y = d * m * 2^(e + 7 - 31) + 128, rounded to a multiple of 2^(e + 7) first, then to a whole number
 *
 * Of a norm with roots, M is the root that the row's byte of the second input names, and exponent 0: what such a row is
 * divided by was rounded on its own.
 *
 * One root a row, and one high product an element. The generator has proven that nothing overflows.
 */
#ifndef DORY_NORM_H
#define DORY_NORM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dory_norm_arithmetic { DORY_NORM_BY_ROOT, DORY_NORM_DIVIDED, DORY_NORM_TWICE };

/* Words, in the order of memory: the constants of the layer; behind them `count` pairs of a factor and a term. */
struct dory_norm {
    uint32_t epsilon_low, epsilon_high;
    uint32_t multiplier; /* of 31 bits */
    int32_t zero_point;  /* of the input; of no meaning where it is centred */
    uint32_t is_centred;
    uint32_t fraction_bits; /* of W: even */
    uint32_t left_shift, shift;
    uint32_t run;        /* so many elements of a row that follow each other have one factor and term; divides a row */
    uint32_t count;      /* of factors and terms: run i of row r, counted from the image's first pixel, has number
                            (r * runs of a row + i) modulo count, a multiple of the runs of a row */
    uint32_t has_roots;  /* 256 words, behind factors and terms */
    uint32_t arithmetic; /* enum dory_norm_arithmetic */
};

struct dory_norm_constants {
    int32_t factor, term;
};

#define DORY_NORM_WORDS (sizeof(struct dory_norm) / sizeof(uint32_t))

static inline const struct dory_norm_constants *dory_norm_constants(const struct dory_norm *norm)
{
    return (const struct dory_norm_constants *)(const void *)(norm + 1);
}

static inline const int32_t *dory_norm_roots(const struct dory_norm *norm)
{
    return (const int32_t *)(const void *)(dory_norm_constants(norm) + norm->count);
}

/* What the elements of a row share: d << left shift is x * slope - offset. */
struct dory_norm_row {
    uint32_t slope, offset;
    int32_t multiplier;
};

static inline uint32_t dory_high_product(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

/* 1 / sqrt(n / 2^30) in 31 bits, for n from 2^30 on: a line, which is within 9 %, and four steps of Newton. */
static inline uint32_t dory_norm_root(uint32_t n)
{
    uint32_t y = 2291365052u - dory_high_product(n, 1309965025u);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        uint32_t product = dory_high_product(n, dory_high_product(y, y)); /* 2^28 where y is right */
        y = dory_high_product(y, ((3u << 28) - product) << 2) << 1;
    }
    return y > INT32_MAX ? INT32_MAX : y;
}

/* The highest word of high:low, shifted left by as many even places as leave it at least 2^30; *bits is less by them. In
 * words: shifts of 64 bits are calls. */
static inline uint32_t dory_norm_normalise(uint32_t high, uint32_t low, int32_t *bits)
{
    if (high == 0) {
        high = low;
        low = 0;
        *bits -= 32;
    }
#define DORY_NORM_SHIFT(places)                                                                                             \
    if (high >> (32 - (places)) == 0) {                                                                                     \
        high = high << (places) | low >> (32 - (places));                                                                   \
        low <<= (places);                                                                                                   \
        *bits -= (places);                                                                                                  \
    }
    DORY_NORM_SHIFT(16)
    DORY_NORM_SHIFT(8)
    DORY_NORM_SHIFT(4)
    DORY_NORM_SHIFT(2)
#undef DORY_NORM_SHIFT
    return high;
}

/* W of a row of n elements, whose sum and whose squares' sum are given; 1 where it is 0. */
static inline uint64_t dory_norm_variance(const struct dory_norm *norm, uint32_t n, uint32_t sum, uint32_t squares)
{
    uint32_t z = (uint32_t)norm->zero_point, places = norm->fraction_bits & 31;
    uint64_t variance = norm->is_centred ? (uint64_t)n * squares - (uint64_t)sum * sum : squares - 2 * z * sum + n * z * z;
    uint32_t low = (uint32_t)variance << places, high = (uint32_t)(variance >> 32) << places;
    high |= (uint32_t)variance >> 1 >> (31 - places);
    uint64_t w = ((uint64_t)high << 32 | low) + ((uint64_t)norm->epsilon_high << 32 | norm->epsilon_low);
    return w | (w == 0);
}

/* Of its highest word, as dory_norm_normalise() gives it, and of the bits of W, one more where they are odd. */
static inline struct dory_norm_row dory_norm_row_by(const struct dory_norm *norm, uint32_t n, uint32_t sum, uint32_t highest,
                                                    int32_t bits)
{
    uint32_t root = dory_norm_root(highest), slope = norm->is_centred ? n : 1;
    uint32_t offset = norm->is_centred ? sum : (uint32_t)norm->zero_point;
    int32_t left = (int32_t)norm->left_shift - (bits - 2 - (int32_t)norm->fraction_bits) / 2;
    uint32_t multiplier = (uint32_t)((uint64_t)root * norm->multiplier >> 31);
    multiplier = left < 0 ? multiplier >> (-left & 31) : multiplier;
    left = left < 0 ? 0 : left > 31 ? 31 : left;
    return (struct dory_norm_row){slope << left, offset << left, (int32_t)multiplier};
}

static inline struct dory_norm_row dory_norm_row_of(const struct dory_norm *norm, uint32_t n, uint32_t sum, uint32_t squares)
{
    uint64_t w = dory_norm_variance(norm, n, sum, squares);
    int32_t bits = 64;
    uint32_t highest = dory_norm_normalise((uint32_t)(w >> 32), (uint32_t)w, &bits);
    return dory_norm_row_by(norm, n, sum, highest, bits);
}

/* Of a row whose root is given by its number. */
static inline struct dory_norm_row dory_norm_row_with(const struct dory_norm *norm, uint32_t n, uint32_t sum, uint8_t root)
{
    uint32_t left = norm->left_shift & 31;
    return (struct dory_norm_row){(norm->is_centred ? n : 1) << left,
                                  (norm->is_centred ? sum : (uint32_t)norm->zero_point) << left,
                                  dory_norm_roots(norm)[root]};
}

/* An element, before it is clipped. */
static inline int32_t dory_norm_apply(const struct dory_norm *norm, const struct dory_norm_row *row,
                                      const struct dory_norm_constants *constants, uint32_t x)
{
    int32_t product = (int32_t)((x * row->slope - row->offset) * (uint32_t)constants->factor);
    uint32_t high = (uint32_t)((int64_t)product * row->multiplier >> 32);
    return (int32_t)(high + (uint32_t)constants->term) >> (norm->shift & 31);
}

/* ---- divided norms ---- */

/* floor(sqrt(x)) of 17 bits, from 1 on. */
static inline uint32_t dory_norm_whole_root(uint32_t x)
{
    uint32_t root = 0;
    for (uint32_t bit = 1u << 8; bit != 0; bit >>= 1) {
        root += (root + bit) * (root + bit) <= x ? bit : 0;
    }
    return root == 0 ? 1 : root;
}

/* offset is what is subtracted of x, multiplier what it is divided by. */
static inline struct dory_norm_row dory_norm_row_divided(const struct dory_norm *norm, uint32_t n, uint32_t sum,
                                                         uint32_t squares)
{
    int32_t less = norm->zero_point;
    n = n == 0 ? 1 : n; /* never */
    if (norm->is_centred) {
        less += ((int32_t)sum - norm->zero_point * (int32_t)n) / (int32_t)n;
    }
    uint32_t offset = (uint32_t)less, variance = squares - 2 * offset * sum + n * offset * offset;
    return (struct dory_norm_row){1, offset, (int32_t)dory_norm_whole_root(variance / n + 1)};
}

/* An element, before it is clipped. */
static inline int32_t dory_norm_divide(const struct dory_norm *norm, const struct dory_norm_row *row,
                                       const struct dory_norm_constants *constants, uint32_t x)
{
    int32_t quotient = (int32_t)(x - row->offset) * constants->factor / row->multiplier;
    int32_t y = ((quotient + constants->term) >> (norm->shift & 31)) + 128;
    return norm->is_centred ? y & 255 : y;
}

/* ---- norms that are rounded twice ---- */

/* The product of numbers with 31 bits behind the point, to the nearest. */
static inline int32_t dory_norm_product(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31); }

/* 1 / sqrt(value) = result * 2^(*exponent - 31), of a value from 2 to 2^29 - 1: numbers with 3 integer bits, whose products
 * have 6, of which 3 are given up. The value is brought to where 1 is near. */
static inline int32_t dory_norm_inverse_root(uint32_t value, int32_t *exponent)
{
    const int32_t one = 1 << 28, root_of_half = 1518500250;
    int32_t x = one;
    for (*exponent = -11; value < 1u << 27; value <<= 2) {
        ++*exponent;
    }
    int32_t half = ((int32_t)(value >> 1) + 1) >> 1;
    for (uint32_t i = 0; i < 5; i++) {
        int32_t cube = dory_norm_product(dory_norm_product(x, x), x);
        cube = cube > INT32_MAX >> 6 ? INT32_MAX : cube * 64;
        x = (dory_norm_product(one + one / 2, x) - dory_norm_product(half, cube)) * 8;
    }
    x = dory_norm_product(x, root_of_half);
    if (*exponent > 0) {
        x <<= *exponent;
        *exponent = 0;
    }
    return x;
}

#define DORY_NORM_TWICE_BITS 7 /* of the output's scale */

/* offset is the zero point, slope the exponent of what is multiplied with. */
static inline struct dory_norm_row dory_norm_row_twice(const struct dory_norm *norm, uint32_t n, uint32_t sum,
                                                       uint32_t squares)
{
    uint32_t z = (uint32_t)norm->zero_point, value = squares - 2 * z * sum + n * z * z;
    int32_t exponent = 0, multiplier = value < 2 ? INT32_MAX : dory_norm_inverse_root(value, &exponent);
    return (struct dory_norm_row){(uint32_t)(exponent + DORY_NORM_TWICE_BITS), z, multiplier};
}

/* An element, before it is clipped. */
static inline int32_t dory_norm_scale(const struct dory_norm_row *row, uint32_t x)
{
    int32_t exponent = (int32_t)row->slope, d = (int32_t)(x - row->offset), places = exponent < 0 ? -exponent & 31 : 0;
    int32_t y = dory_norm_product(exponent > 0 ? d * (1 << (exponent & 31)) : d, row->multiplier);
    int32_t mask = (int32_t)((1u << places) - 1), rest = y & mask, half = (mask >> 1) + (y < 0 ? 1 : 0);
    return (y >> places) + (rest > half ? 1 : 0) + 128;
}

/* ---- any but those by a root ---- */

static inline struct dory_norm_row dory_norm_row_other(const struct dory_norm *norm, uint32_t n, uint32_t sum,
                                                       uint32_t squares)
{
    return norm->arithmetic == DORY_NORM_TWICE ? dory_norm_row_twice(norm, n, sum, squares)
                                               : dory_norm_row_divided(norm, n, sum, squares);
}

static inline int32_t dory_norm_apply_other(const struct dory_norm *norm, const struct dory_norm_row *row,
                                            const struct dory_norm_constants *constants, uint32_t x)
{
    return norm->arithmetic == DORY_NORM_TWICE ? dory_norm_scale(row, x) : dory_norm_divide(norm, row, constants, x);
}

#ifdef __cplusplus
}
#endif

#endif
