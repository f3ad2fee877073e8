/* Constants that are no whole number of a layer's units: held so finely that every sum is rounded as the exact one is,
 * halves included, which go to even. */
#include "import/qdq/qdq.h"
#include "network/stage.h"

#include <math.h>

/* A number times 2^exponent. */
struct term {
    wide number;
    int exponent;
};

static struct term term_of(double a, double b, int64_t count)
{
    int first, second;
    wide product = (wide)quantised_significand(a, &first) * quantised_significand(b, &second);
    return __builtin_mul_overflow(product, (wide)count, &product) ? (struct term){0, INT16_MAX}
                                                                  : (struct term){product, first + second};
}

/* Of the sum: -1, 0 or 1. False where that has more bits than are computed here. */
static bool find_sign(const struct term *terms, int count, int *sign)
{
    int least = INT16_MAX;
    wide sum = 0, part;
    for (int i = 0; i < count; i++)
        if (terms[i].exponent < least && terms[i].number != 0)
            least = terms[i].exponent;
    for (int i = 0; i < count; i++) {
        int places = terms[i].number == 0 ? 0 : terms[i].exponent - least;
        if (terms[i].exponent == INT16_MAX || places > 120 ||
            __builtin_mul_overflow(terms[i].number, (wide)1 << places, &part) || __builtin_add_overflow(sum, part, &sum))
            return false;
    }
    *sign = (sum > 0) - (sum < 0);
    return true;
}

struct channel {
    const struct qdq_pending *pending;
    const struct stage *stage;
    int index, own; /* of the stage, and of the layer's factors */
    double scale;
};

/* What the sum x becomes, exactly: the element, or what is above it. */
static bool rounds_right(const struct channel *c, int64_t element, int64_t x)
{
    const struct qdq_pending *pending = c->pending;
    int64_t steps = element - c->stage->zero_point;
    const struct term terms[] = {
        term_of(pending->scale, pending->factors[c->own], x + pending->addends[c->own]),
        term_of(pending->constants[c->own], 1, pending->divisor),
        term_of(c->scale, 0.5, -(2 * steps + 1) * pending->divisor),
    };
    int sign;
    if (!find_sign(terms, 3, &sign))
        return true;
    bool is_above = sign > 0 || (sign == 0 && steps % 2 != 0);
    return is_above == (stage_apply(c->stage, c->index, x) > element);
}

#define NEAR 0x1p-14 /* more than a constant is rounded by, in units of the sums */

bool qdq_rounds_exactly(const struct qdq_pending *pending, const struct stage *stage, int channel, double scale)
{
    const struct channel c = {pending, stage, channel, pending->count == 1 ? 0 : channel, scale};
    double unit = pending->scale * pending->factors[c.own] / (double)pending->divisor;
    for (int64_t element = stage->minimum; element < stage->maximum && unit > 0; element++) {
        double half = (double)(element - stage->zero_point) + 0.5;
        double sum = (half * scale - pending->constants[c.own]) / unit - (double)pending->addends[c.own];
        if (fabs(sum) < 0x1p31 && fabs(sum - rint(sum)) < NEAR && !rounds_right(&c, element, llrint(sum)))
            return false;
    }
    return true;
}
