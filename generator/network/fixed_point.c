#include "network/fixed_point.h"

#include <math.h>

#define ONE INT32_MAX /* of numbers without integer bits */

static int32_t saturate(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x; }

int32_t fixed_multiply(int32_t a, int32_t b)
{
    int64_t product = (int64_t)a * b;
    return saturate((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / ((int64_t)1 << 31));
}

int32_t fixed_divide(int32_t x, int places)
{
    int64_t half = places ? (int64_t)1 << (places - 1) : 0, magnitude = x < 0 ? -(int64_t)x : x;
    int64_t quotient = (magnitude + half) >> places;
    return (int32_t)(x < 0 ? -quotient : quotient);
}

static int32_t shift_left(int32_t x, int places)
{
    return saturate((int64_t)x * ((int64_t)1 << (places < 31 ? places : 31)));
}

/* ---- e^x ---- */

/* For x from -1/4 to 0 without integer bits: the series around -1/8. */
static int32_t exponential_near_zero(int32_t x)
{
    const int32_t at_minus_eighth = 1895147668, third = 715827883;
    int32_t y = x + (1 << 28), square = fixed_multiply(y, y), cube = fixed_multiply(square, y);
    int32_t fourth = fixed_multiply(square, square);
    int32_t terms = fixed_divide(fixed_multiply(fixed_divide(fourth, 2) + cube, third) + square, 1);
    return saturate((int64_t)at_minus_eighth + fixed_multiply(at_minus_eighth, y + terms));
}

int32_t fixed_exponential(int32_t x, int integer_bits)
{
    /* e^-(2^i) for i from -2 */
    static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    int fraction_bits = 31 - integer_bits;
    int32_t quarter = 1 << (fraction_bits - 2), inside = (x & (quarter - 1)) - quarter;
    int32_t result = exponential_near_zero(shift_left(inside, integer_bits)), quarters = inside - x;
    for (int i = 0; i < integer_bits + 2; i++)
        if (quarters & (quarter << i))
            result = fixed_multiply(result, factors[i]);
    return x == 0 ? ONE : result;
}

/* ---- quotients ---- */

/* 2 / (1 + x) with two integer bits, by three steps of Newton and Raphson. */
static int32_t twice_reciprocal(int32_t x)
{
    const int32_t start = 1515870810, slope = -1010580540, one = 1 << 29; /* 48/17, -32/17, 1: two integer bits */
    int32_t half_denominator = (int32_t)(((int64_t)x + ONE + 1) / 2);
    int32_t result = start + fixed_multiply(half_denominator, slope);
    for (int i = 0; i < 3; i++) {
        int32_t error = one - fixed_multiply(half_denominator, result);
        result += shift_left(fixed_multiply(result, error), 2);
    }
    return result;
}

int32_t fixed_reciprocal(int32_t x) { return shift_left(twice_reciprocal(x), 1); }

/* (1 - x) / (1 + x), of the same. */
static int32_t tangent_ratio(int32_t x) { return shift_left(twice_reciprocal(x) - (1 << 29), 2); }

int32_t fixed_logistic(int32_t x)
{
    if (x == 0)
        return 1 << 30;
    int32_t positive = fixed_reciprocal(fixed_exponential(x < 0 ? x : -x, 4));
    return x > 0 ? positive : ONE - positive;
}

int32_t fixed_tanh(int32_t x)
{
    if (x == 0)
        return 0;
    int32_t positive = tangent_ratio(fixed_exponential(x < 0 ? x : -x, 5)); /* twice x */
    return x > 0 ? positive : -positive;
}

/* ---- factors ---- */

int32_t fixed_scale(int32_t x, int32_t multiplier, int exponent)
{
    int left = exponent > 0 ? exponent : 0, right = exponent < 0 ? -exponent : 0;
    return fixed_divide(fixed_multiply(shift_left(x, left), multiplier), right);
}

void fixed_quantise_multiplier(double factor, int32_t *multiplier, int *exponent)
{
    int64_t rounded = llround(frexp(factor, exponent) * 2147483648.0);
    if (rounded == INT64_C(1) << 31) {
        rounded /= 2;
        ++*exponent;
    }
    if (*exponent < -31)
        rounded = *exponent = 0;
    *multiplier = (int32_t)rounded;
}

/* Newton's steps from 1, of numbers with 3 integer bits, whose products have 6, of which 3 are given up. The value is
 * brought to where 1 is near. */
void fixed_inverse_root(int32_t value, int32_t *multiplier, int *exponent)
{
    enum { UNIT = 1 << 28, STEPS = 5, ROOT_OF_HALF = 1518500250, SHIFT = 11 };
    *multiplier = INT32_MAX;
    *exponent = 0;
    if (value < 2)
        return;
    int shift = SHIFT;
    for (; value >= 1 << 29; value /= 4)
        shift++;
    int pairs = (__builtin_clz((unsigned)value) - 1) / 2 - 1;
    int32_t scaled = (int32_t)((int64_t)value << 2 * pairs) >> 1, half = (scaled + 1) >> 1, x = UNIT;
    shift -= pairs;
    for (int i = 0; i < STEPS; i++) {
        int64_t cube = (int64_t)fixed_multiply(fixed_multiply(x, x), x) * 64;
        int32_t saturated = cube > INT32_MAX ? INT32_MAX : (int32_t)cube;
        x = (fixed_multiply(UNIT + UNIT / 2, x) - fixed_multiply(half, saturated)) * 8;
    }
    *multiplier = fixed_multiply(x, ROOT_OF_HALF) << (shift < 0 ? -shift : 0);
    *exponent = shift < 0 ? 0 : -shift;
}
