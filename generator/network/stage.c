#include "network/stage.h"

#include <math.h>

#define FAR ((wide)1 << 126) /* beyond all that a network computes */

static wide clip(const struct stage *stage, wide number)
{
    if (!stage->has_clip)
        return number;
    return number < stage->minimum ? stage->minimum : number > stage->maximum ? stage->maximum : number;
}

/* number * 2^places, bounded. */
static wide shift_left(wide number, int places)
{
    for (; places > 0 && number > -FAR / 2 && number < FAR / 2 && number != 0; places--)
        number *= 2;
    if (places > 0 && number != 0)
        return number < 0 ? -FAR : FAR;
    return number;
}

static wide multiply(wide a, wide b)
{
    wide product;
    if (!__builtin_mul_overflow(a, b, &product) && product > -FAR && product < FAR)
        return product;
    return (a < 0) == (b < 0) ? FAR : -FAR;
}

/* number / 2^places, halves away from zero. */
static wide shift_right_away(wide number, int places)
{
    if (places == 0)
        return number;
    if (places > 126)
        return 0;
    wide half = (wide)1 << (places - 1);
    return number < 0 ? -((half - number) >> places) : (number + half) >> places;
}

static wide round_twice(const struct stage *stage, wide x, int64_t multiplier, int exponent)
{
    if (multiplier < 0)
        return -round_twice(stage, x, -multiplier, exponent);
    wide shifted = shift_left(x, stage->left_shift + (exponent > 0 ? exponent : 0));
    wide high = wide_floor_divide(multiply(shifted, multiplier) + ((wide)1 << 30), (wide)1 << 31);
    return shift_right_away(high, exponent < 0 ? -exponent : 0);
}

/* numerator / divisor to the nearest integer; halves to even, or away from zero. */
static wide divide_nearest(wide numerator, wide divisor, bool to_even)
{
    wide floor = wide_floor_divide(numerator, divisor), twice = 2 * (numerator - floor * divisor);
    if (twice != divisor)
        return floor + (twice > divisor);
    return floor + (to_even ? floor & 1 : numerator > 0);
}

struct quotient {
    wide numerator, divisor;
};

static struct quotient quotient_of(const struct stage *stage, wide x, int64_t multiplier, int exponent)
{
    wide numerator = multiply(x, multiplier), divisor = stage->divisor;
    return exponent >= 0 ? (struct quotient){shift_left(numerator, exponent), divisor}
                         : (struct quotient){numerator, shift_left(divisor, -exponent)};
}

static wide round_once(const struct stage *stage, wide x, int64_t multiplier, int exponent)
{
    struct quotient quotient = quotient_of(stage, x, multiplier, exponent);
    if (quotient.divisor >= FAR / 2) /* a factor so small that every result is 0 */
        return 0;
    return divide_nearest(quotient.numerator, quotient.divisor, stage->rounding == ROUND_HALF_EVEN);
}

/* The largest whole number whose square is at most the number. */
static wide whole_root(wide number)
{
    wide root = 0;
    for (wide bit = (wide)1 << 61; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= number)
            root += bit;
    return root;
}

/* Half units of the root are whole roots of four times the quotient, which may lose its fraction: r is at least k - 1/2
 * where 4 r^2 is at least (2 k - 1)^2. */
static wide round_root(const struct stage *stage, wide x, int64_t multiplier, int exponent)
{
    struct quotient quotient = quotient_of(stage, x, multiplier, exponent);
    if (quotient.numerator <= 0 || quotient.divisor >= FAR / 2)
        return 0;
    wide fours = quotient.numerator / quotient.divisor >= FAR / 16 ? FAR / 4 : 0;
    if (fours == 0)
        fours = 4 * (quotient.numerator / quotient.divisor) + 4 * (quotient.numerator % quotient.divisor) / quotient.divisor;
    wide halves = whole_root(fours);
    bool is_tie =
        halves % 2 == 1 && quotient.numerator < FAR / 8 && halves * halves * quotient.divisor == 4 * quotient.numerator;
    return (halves + 1) / 2 - (is_tie && (halves + 1) / 2 % 2 == 1);
}

/* ---- the same in narrow integers, for the golden model's millions of elements ---- */

/* round_twice where everything fits 64 bits, as it does in real networks. */
static bool round_twice_narrowly(const struct stage *stage, int64_t x, int64_t multiplier, int exponent, int64_t *y)
{
    int left = stage->left_shift + (exponent > 0 ? exponent : 0), right = exponent < 0 ? -exponent : 0;
    if (x < INT32_MIN || x > INT32_MAX || left > 31 || right > 31 || multiplier < 0 || multiplier > INT32_MAX)
        return false;
    int64_t shifted = x * (INT64_C(1) << left);
    if (shifted < INT32_MIN || shifted > INT32_MAX)
        return false;
    int64_t high = (shifted * multiplier + (INT64_C(1) << 30)) >> 31;
    int64_t half = right ? INT64_C(1) << (right - 1) : 0;
    *y = high < 0 ? -((half - high) >> right) : (high + half) >> right;
    return true;
}

/* round_once in floating point, where the quotient is so far from a half that its error cannot matter: below 2^20 it is
 * less than 2^-30. */
static bool round_once_narrowly(const struct stage *stage, int64_t x, int64_t multiplier, int exponent, int64_t *y)
{
    double quotient = ldexp((double)x * (double)multiplier / (double)stage->divisor, exponent);
    if (!(fabs(quotient) < 1048576.0))
        return false;
    double nearest = floor(quotient + 0.5);
    if (fabs(fabs(quotient - nearest) - 0.5) < 1e-6)
        return false;
    *y = (int64_t)nearest;
    return true;
}

bool stage_apply_narrowly(const struct stage *stage, int channel, int64_t x, int64_t *y)
{
    int index = stage->count == 1 ? 0 : channel, exponent = stage->exponent ? stage->exponent[index] : 0;
    int64_t multiplier = stage->multiplier[index], sum;
    int left = stage->rounding == ROUND_TWICE ? 0 : stage->left_shift; /* round_twice has its own */
    if (stage->rounding == ROUND_FLOOR || stage->rounding == ROUND_ROOT || left > 62 ||
        __builtin_mul_overflow(x, INT64_C(1) << left, &sum) || __builtin_add_overflow(sum, stage->addend[index], &sum))
        return false;
    bool is_narrow = stage->rounding == ROUND_TWICE ? round_twice_narrowly(stage, sum, multiplier, exponent, y)
                                                    : round_once_narrowly(stage, sum, multiplier, exponent, y);
    if (is_narrow)
        *y = (int64_t)clip(stage, (wide)*y + stage->zero_point);
    return is_narrow;
}

/* ---- the meaning ---- */

/* In 64 bits where they are enough: a division of wide numbers takes ten times as long. */
static wide floor_stage(const struct stage *stage, int64_t multiplier, int64_t addend, int64_t x)
{
    int64_t product, sum;
    if (__builtin_mul_overflow(multiplier, x, &product) || __builtin_add_overflow(product, addend, &sum))
        return wide_floor_divide((wide)multiplier * x + addend, stage->divisor);
    return sum / stage->divisor - (sum % stage->divisor < 0);
}

wide stage_apply(const struct stage *stage, int channel, int64_t x)
{
    int index = stage->count == 1 ? 0 : channel, exponent = stage->exponent ? stage->exponent[index] : 0;
    int64_t multiplier = stage->multiplier[index], addend = stage->addend[index];
    switch (stage->rounding) {
    case ROUND_FLOOR: return clip(stage, floor_stage(stage, multiplier, addend, x));
    case ROUND_ROOT:
        return clip(stage,
                    round_root(stage, shift_left(x, stage->left_shift) + addend, multiplier, exponent) + stage->zero_point);
    case ROUND_TWICE: return clip(stage, round_twice(stage, (wide)x + addend, multiplier, exponent) + stage->zero_point);
    default:
        return clip(stage,
                    round_once(stage, shift_left(x, stage->left_shift) + addend, multiplier, exponent) + stage->zero_point);
    }
}

/* ---- halves ---- */

bool stage_is_tie(const struct stage *stage, int channel, int64_t x)
{
    int index = stage->count == 1 ? 0 : channel, exponent = stage->exponent ? stage->exponent[index] : 0;
    wide sum = shift_left(x, stage->left_shift) + stage->addend[index];
    struct quotient quotient = quotient_of(stage, sum, stage->multiplier[index], exponent);
    if (quotient.divisor >= FAR / 2)
        return false;
    wide floor = wide_floor_divide(quotient.numerator, quotient.divisor);
    return 2 * (quotient.numerator - floor * quotient.divisor) == quotient.divisor &&
           clip(stage, floor + stage->zero_point) != clip(stage, floor + 1 + stage->zero_point);
}
