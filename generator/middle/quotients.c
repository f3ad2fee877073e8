#include "middle/quotients.h"

#include <math.h>

#include "base/arithmetic.h"

#define WORD_BITS 32
#define SATURATES 512.0 /* as many steps for a numerator of 1 are as good as any more */

void quotient_numerators(int zero_point, int32_t *factors)
{
    for (int i = 0; i < 256; i++)
        factors[i] = (i - zero_point) * (1 << QUOTIENT_NUMERATOR_BITS);
}

int quotient_shift(double factor)
{
    int exponent;
    frexp(fmin(factor, SATURATES), &exponent);
    int shift = WORD_BITS - 1 - (WORD_BITS - QUOTIENT_NUMERATOR_BITS) - exponent;
    return shift < 1 ? 1 : shift > QUOTIENT_LARGEST_SHIFT ? QUOTIENT_LARGEST_SHIFT : shift;
}

double quotient_wanted(double factor, double denominator, int shift)
{
    return ldexp(factor / denominator, WORD_BITS - QUOTIENT_NUMERATOR_BITS + shift);
}

/* What the layer makes of a numerator, without its clip. */
static int64_t layer_quotient(const struct quotient_rule *rule, int numerator, int64_t reciprocal)
{
    return rule->round(rule->context, (numerator * ((int64_t)1 << QUOTIENT_NUMERATOR_BITS) * reciprocal) >> WORD_BITS);
}

/* The least reciprocal for which the layer gives at least this element, of a numerator above 0; likewise above it, of one
 * below 0, for which it gives no more. */
static int64_t first_reciprocal(const struct quotient_rule *rule, int numerator, int64_t element)
{
    int64_t low = INT32_MIN, high = (int64_t)INT32_MAX + 1;
    while (low < high) {
        int64_t middle = low + ((high - low) >> 1), y = layer_quotient(rule, numerator, middle);
        if (numerator > 0 ? y >= element : y <= element)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether the layer's quotient of a numerator is the model's, bytes that are too large or small included. */
static bool is_right(const struct quotient_rule *rule, int denominator, int64_t reciprocal)
{
    for (int numerator = -rule->zero_point; numerator < 256 - rule->zero_point; numerator++)
        if (numerator != 0 && clamp(layer_quotient(rule, numerator, reciprocal), 0, UINT8_MAX) !=
                                  rule->model(rule->context, numerator, denominator))
            return false;
    return true;
}

bool quotient_reciprocal(const struct quotient_rule *rule, int denominator, double wanted, int32_t *reciprocal)
{
    int64_t low = -INT32_MAX, high = INT32_MAX;
    if (fabs(wanted) < INT32_MAX && is_right(rule, denominator, llrint(wanted))) { /* as most are */
        *reciprocal = (int32_t)llrint(wanted);
        return true;
    }
    for (int i = 0; i < 256 && low <= high; i++) {
        int numerator = i - rule->zero_point;
        if (numerator == 0)
            continue;
        int y = rule->model(rule->context, numerator, denominator);
        int rises = numerator > 0 ? 1 : -1, last = numerator > 0 ? UINT8_MAX : 0;
        if (y != UINT8_MAX - last)
            low = (int64_t)greater(low, first_reciprocal(rule, numerator, y));
        if (y != last)
            high = (int64_t)lesser(high, first_reciprocal(rule, numerator, y + rises) - 1);
    }
    *reciprocal = (int32_t)fmin(fmax(rint(wanted), (double)low), (double)high);
    return low <= high;
}
