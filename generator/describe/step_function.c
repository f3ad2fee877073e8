#include "describe/step_function.h"

#include <math.h>

#include "network/stage.h"

static bool add_point(struct step_function *steps, int64_t x, int64_t y)
{
    if (steps->count && steps->points[steps->count - 1].x == x)
        return true;
    if (steps->count == steps->capacity)
        return false;
    steps->points[steps->count++] = (struct step_point){x, y};
    return true;
}

static int64_t inside(double guess, int64_t low, int64_t high)
{
    if (!(guess > (double)low))
        return low + 1;
    return guess < (double)high ? (int64_t)guess : high - 1;
}

/* The first x behind `before` where the function is no longer before.y; `behind` is such an x and becomes the first. From
 * the guess in strides that double, then halving: two looks where the guess is right. */
static void find_step(const struct monotone *function, struct step_point before, struct step_point *behind)
{
    int64_t low = before.x, stride = 1, next = behind->x;
    double direction = behind->y > before.y ? 0.5 : -0.5;
    if (behind->x - low > 1)
        next = inside(ceil(function->guess(function->context, (double)before.y + 2 * direction)), low, behind->x);
    while (behind->x - low > 1) {
        int64_t x = next > low && next < behind->x ? next : low + (behind->x - low) / 2;
        int64_t y = function->value(function->context, x);
        if (y == before.y)
            low = x;
        else
            *behind = (struct step_point){x, y};
        next = y == before.y ? x + stride : x - stride;
        stride *= 2;
    }
}

bool step_function_find(const struct monotone *function, int64_t minimum, int64_t maximum, struct step_function *steps)
{
    struct step_point at = {minimum, function->value(function->context, minimum)};
    struct step_point last = {maximum, function->value(function->context, maximum)};
    steps->count = 0;
    steps->is_constant = at.y == last.y;
    bool room = add_point(steps, at.x, at.y);
    while (room && at.y != last.y) {
        struct step_point behind = last;
        find_step(function, at, &behind);
        room = add_point(steps, behind.x - 1, at.y) && add_point(steps, behind.x, behind.y);
        at = behind;
    }
    return room && add_point(steps, last.x, last.y);
}

/* ---- stages ---- */

struct channel {
    const struct stage *stage;
    int channel;
    double slope, offset; /* y is about slope * x + offset, up to the next integer */
};

static int64_t stage_value(const void *context, int64_t x)
{
    const struct channel *channel = context;
    int64_t y;
    if (stage_apply_narrowly(channel->stage, channel->channel, x, &y))
        return y;
    return (int64_t)stage_apply(channel->stage, channel->channel, x);
}

static double stage_guess(const void *context, double y)
{
    const struct channel *channel = context;
    double behind = channel->slope < 0 ? 1 : 0; /* a falling floor leaves its level where y + 1 is no longer reached */
    return (y + behind - channel->offset) / channel->slope;
}

long double step_function_slope(const struct stage *stage, int channel)
{
    int index = stage->count == 1 ? 0 : channel, exponent = stage->exponent ? stage->exponent[index] : 0;
    long double slope = (long double)stage->multiplier[index] / (long double)stage->divisor;
    exponent += stage->left_shift - (stage->rounding == ROUND_TWICE ? 31 : 0);
    return ldexpl(slope, exponent);
}

bool step_function_of_stage(const struct stage *stage, int channel, int64_t minimum, int64_t maximum,
                            struct step_function *steps)
{
    int index = stage->count == 1 ? 0 : channel;
    int fraction = stage->rounding == ROUND_TWICE ? 0 : stage->left_shift; /* bits of the addend that are beneath a sum's */
    long double slope = step_function_slope(stage, channel);
    long double addend = ldexpl((long double)stage->addend[index], -fraction);
    long double offset = stage->rounding == ROUND_FLOOR ? addend / (long double)stage->divisor
                                                        : addend * slope + (long double)stage->zero_point + 0.5L;
    struct channel context = {stage, channel, (double)slope, (double)offset};
    struct monotone function = {stage_value, stage_guess, &context};
    return step_function_find(&function, minimum, maximum, steps);
}

/* ---- comparison ---- */

/* What a function is at x, and up to where; `at` moves along its points. */
static int64_t level_at(const struct step_function *steps, int *at, int64_t x, int64_t *until)
{
    while (*at + 1 < steps->count && steps->points[*at + 1].x <= x)
        (*at)++;
    bool goes_on = *at + 1 < steps->count && steps->points[*at + 1].y == steps->points[*at].y;
    *until = goes_on ? steps->points[*at + 1].x : x;
    return steps->points[*at].y;
}

struct step_difference step_function_compare(const struct step_function *a, const struct step_function *b)
{
    struct step_difference result = {0, 0};
    int at_a = 0, at_b = 0;
    for (int64_t x = a->points[0].x; x <= a->points[a->count - 1].x;) {
        int64_t until_a, until_b, y_a = level_at(a, &at_a, x, &until_a), y_b = level_at(b, &at_b, x, &until_b);
        int64_t until = until_a < until_b ? until_a : until_b, apart = y_a < y_b ? y_b - y_a : y_a - y_b;
        result.count += apart ? until - x + 1 : 0;
        result.most = apart > result.most ? apart : result.most;
        x = until + 1;
    }
    return result;
}
