#include "describe/requantise_solve.h"

#include <math.h>

#include "describe/requantise_line.h"
#include "network/stage.h"

static struct line_problem line_of(const struct requantisation *form, const struct step_point *points, int count, bool clips)
{
    return (struct line_problem){points, count, form->shift, clips, form->minimum, form->maximum, 0, 0};
}

bool solve_product(struct requantisation *form, int channel, const struct step_function *function, long double slope)
{
    struct line_problem line = line_of(form, function->points, function->count, true);
    int64_t multiplier = 0, addend = function->points[0].y * ((int64_t)1 << form->shift);
    if (!function->is_constant && !line_solve(&line, slope, &multiplier, &addend))
        return false;
    form->channels[channel] = (struct dory_channel_constants){.product = {multiplier, addend}};
    return requantised_is(form, channel, function);
}

/* Only what lies between the first step and the last is computed, all else is clamped to it. */
static struct line_problem inner_line(const struct requantisation *form, const struct step_function *function)
{
    struct line_problem line = line_of(form, function->points + 1, function->count - 2, false);
    if (function->points[1].y != function->points[0].y) {
        line.points--; /* the first step is behind the first accumulator */
        line.count++;
    }
    if (function->points[function->count - 2].y != function->points[function->count - 1].y)
        line.count++;
    return line;
}

bool solve_clamped(struct requantisation *form, int channel, const struct step_function *function, long double slope)
{
    int64_t multiplier = 0, low = 0, high = 0;
    int64_t unit = form->reciprocal ? form->divisor : (int64_t)1 << form->shift;
    int64_t addend = function->points[0].y * unit;
    if (!function->is_constant) {
        struct line_problem line = inner_line(form, function);
        if (!line_solve(&line, slope, &multiplier, &addend))
            return false;
        low = line.points[0].x;
        high = line.points[line.count - 1].x;
    }
    form->channels[channel] = (struct dory_channel_constants){.clamped = {low, high, multiplier, addend}};
    return requantised_is(form, channel, function);
}

/* ---- SPLIT ---- */

/* A sum that never changes: once the coarse multiplier. */
static bool constant_split(struct requantisation *form, int channel, const struct step_function *function)
{
    int64_t high = function->points[0].y * ((int64_t)1 << SPLIT_SHIFT);
    form->channels[channel] = (struct dory_channel_constants){.split = {1 - function->points[0].x, 1, 0, 0, high, 0, 0}};
    return requantised_is(form, channel, function);
}

/* Places of the fine product: sums are counted from where the line meets the output's 0, and the addend is less than a
 * multiplier, or two of them. */
static int fine_places(const struct step_function *function, long double slope)
{
    long double sums = ((long double)function->points[function->count - 1].y + 1) / slope + 3;
    return (int)floorl(log2l((long double)UINT32_MAX / (sums + 2 * ldexpl(slope, SPLIT_SHIFT) + 2)));
}

/* What TensorFlow Lite Micro's second rounding takes off below zero: one of the numbers that its first one makes, which are
 * half a sum or more. */
static int64_t sign_step(long double slope, int places)
{
    int exponent;
    frexpl(slope, &exponent);
    return exponent < -SPLIT_SHIFT || exponent > 0 ? 0 : (int64_t)1 << (SPLIT_SHIFT + exponent + places);
}

/* Of a line that rises. */
static bool rising_split(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                         int64_t zero)
{
    int places = slope > 0 && isfinite(slope) ? fine_places(function, slope) : -1;
    if (places < 0)
        return false;
    int64_t multiplier, addend, step = form->rounding == DORY_ROUND_AWAY ? sign_step(slope, places) : 0;
    struct line_problem line = inner_line(form, function);
    line.shift = SPLIT_SHIFT + places;
    line.zero = zero;
    line.step = step;
    if (!line_solve(&line, slope, &multiplier, &addend) || multiplier <= 0)
        return false;
    bool starts_below = zero > line.points[0].x;
    int64_t origin = (int64_t)wide_floor_divide((starts_below ? step : 0) - (wide)addend, multiplier) + 1;
    int64_t rest = ((addend + multiplier * origin) & ~(int64_t)31) | places;
    int64_t low = multiplier & (((int64_t)1 << places) - 1);
    form->channels[channel] =
        (struct dory_channel_constants){.split = {-origin, line.points[line.count - 1].x - origin, low, rest,
                                                  multiplier >> places, zero - origin, step >> places}};
    return requantised_is(form, channel, function);
}

/* The function of the accumulator with the other sign: what falls then rises. */
static struct step_function mirrored(const struct step_function *function, struct arena *arena)
{
    struct step_function mirror = {.count = function->count, .capacity = function->count};
    mirror.points = arena_array(arena, struct step_point, (size_t)function->count);
    for (int i = 0; i < function->count; i++)
        mirror.points[function->count - 1 - i] = (struct step_point){-function->points[i].x, function->points[i].y};
    return mirror;
}

bool solve_split(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                 int64_t zero)
{
    return function->is_constant ? constant_split(form, channel, function)
                                 : rising_split(form, channel, function, slope, zero);
}

bool solve_negated_split(struct requantisation *form, int channel, const struct step_function *function, long double slope)
{
    struct arena scratch = {0};
    struct step_function mirror = mirrored(function, &scratch);
    bool good = rising_split(form, channel, &mirror, -slope, 0);
    form->channels[channel].is_negated = good;
    arena_free(&scratch);
    return good;
}

/* ---- HIGH ---- */

/* In 128 bits: whether the firmware's 32 are enough is asked of what is found. */
static int64_t corrected_product(const struct requantisation *form, const struct dory_channel_constants *channel, int64_t x)
{
    int64_t a = x + channel->high.bias;
    int64_t v = (int64_t)(((wide)a * ((int64_t)1 << form->left_shift) * channel->high.multiplier) >> 32);
    if (form->rounding == DORY_ROUND_AWAY && a < 0)
        v -= (int64_t)1 << (form->left_shift - 1);
    if (form->rounding == DORY_ROUND_EVEN)
        v += (v >> channel->high.shift) & 1;
    return v;
}

static bool try_high(struct requantisation *form, int channel, const struct step_function *function)
{
    struct dory_channel_constants *constants = &form->channels[channel];
    struct line_problem line = line_of(form, function->points, function->count, true);
    struct addends addends = addends_any();
    for (int i = 0; i < function->count && addends.first <= addends.last; i++)
        addends_bound(&addends, &line, &function->points[i], corrected_product(form, constants, function->points[i].x),
                      (int)constants->high.shift);
    constants->high.addend = addends_middle(&addends);
    return addends.first <= addends.last && requantised_is(form, channel, function);
}

/* The sign term takes away something, whatever the sum: as much below the level as it is above. */
static bool constant_high(struct requantisation *form, int channel, const struct step_function *function)
{
    int64_t half = form->left_shift ? (int64_t)1 << (form->left_shift - 1) : 0;
    int64_t level = function->points[0].y * ((int64_t)1 << form->left_shift);
    form->channels[channel] = (struct dory_channel_constants){.high = {0, 0, level + half, form->left_shift}};
    return requantised_is(form, channel, function);
}

/* Where only the sum of products counts, a bias of some more or less moves it by fractions of what the addend can. */
#define MAXIMUM_BIAS 8

static bool try_biases(struct requantisation *form, int channel, const struct step_function *function, int64_t bias,
                       int64_t multiplier, int shift)
{
    int most = form->rounding == DORY_ROUND_FLOOR ? 2 * MAXIMUM_BIAS : 0;
    for (int i = 0; i <= most; i++)
        for (int j = 0; j < 3; j++) {
            int64_t moved = bias + (i % 2 ? -(i + 1) / 2 : i / 2), turned = multiplier + (j == 2 ? -1 : j);
            if (turned > INT32_MAX)
                turned = INT32_MAX;
            form->channels[channel] = (struct dory_channel_constants){.high = {moved, turned, 0, shift}};
            if (try_high(form, channel, function))
                return true;
        }
    return false;
}

/* Multipliers of 31 bits and the shift that belongs to them; of fewer bits where the sum would exceed 32. The first is a bit
 * more than there are, nearly a power of two, which the sign term can need. */
#define SHIFTS_TRIED 8

bool solve_high(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                int64_t bias)
{
    int exponent;
    if (function->is_constant)
        return constant_high(form, channel, function);
    if (slope == 0 || !isfinite(slope))
        return false;
    long double fraction = frexpl(slope, &exponent); /* 0.5 to 1 */
    int most = form->left_shift - 1 - exponent;      /* slope = multiplier * 2^(left_shift - 32 - shift) */
    for (int shift = fabsl(fraction) == 0.5L ? most + 1 : most; shift > most - SHIFTS_TRIED && shift >= 0; shift--) {
        if (shift > 31)
            continue;
        int64_t multiplier = llroundl(ldexpl(fraction, 31 - (most - shift)));
        multiplier = multiplier > INT32_MAX ? INT32_MAX : multiplier < -INT32_MAX ? -INT32_MAX : multiplier;
        if (try_biases(form, channel, function, bias, multiplier, shift))
            return true;
    }
    return false;
}

/* Two neighbouring elements, and nothing but where one ends: the sign of the sum without that, which is the high half of it.
 * A channel that hardly ever moves has no other form, where its bias leaves no room for a multiplier. */
bool solve_step(struct requantisation *form, int channel, const struct step_function *function)
{
    int i = 0;
    int64_t last = function->points[function->count - 1].y, unit = (int64_t)1 << form->left_shift;
    while (function->points[i].y != last)
        i++;
    form->channels[channel] =
        (struct dory_channel_constants){.high = {-function->points[i].x, 1, last * unit, form->left_shift}};
    return last == function->points[0].y + 1 && requantised_is(form, channel, function);
}

/* ---- SHARED ---- */

static bool channel_function(const struct requantise_problem *problem, int channel, struct step_function *function)
{
    const struct sum_range *range = &problem->ranges[channel];
    return step_function_of_stage(problem->stage, channel, range->minimum, range->maximum, function);
}

/* The addends that are right for every channel, given the other constants. */
static bool bound_addends(const struct requantisation *form, const struct requantise_problem *problem,
                          struct step_function *function, struct addends *addends)
{
    bool good = true;
    for (int channel = 0; channel < problem->channel_count && good; channel++) {
        const struct dory_channel_constants *constants = &form->channels[channel];
        good = channel_function(problem, channel, function);
        struct line_problem line = line_of(form, function->points, function->count, true);
        for (int i = 0; i < function->count && good; i++)
            addends_bound(addends, &line, &function->points[i], corrected_product(form, constants, function->points[i].x),
                          (int)constants->high.shift);
    }
    return good && addends->first <= addends->last;
}

static bool try_shared(struct requantisation *form, const struct requantise_problem *problem, int64_t multiplier, int shift,
                       struct step_function *function)
{
    struct addends addends = addends_any();
    for (int channel = 0; channel < problem->channel_count; channel++) {
        form->channels[channel].high.multiplier = multiplier;
        form->channels[channel].high.shift = shift;
    }
    bool good = bound_addends(form, problem, function, &addends);
    for (int channel = 0; channel < problem->channel_count && good; channel++) {
        form->channels[channel].high.addend = addends_middle(&addends);
        good = channel_function(problem, channel, function) && requantised_is(form, channel, function);
    }
    return good;
}

#define MAXIMUM_POINTS 1024 /* of a function whose values are bytes */

bool solve_shared(struct requantisation *form, const struct requantise_problem *problem)
{
    struct arena scratch = {0};
    struct step_function function = {.capacity = MAXIMUM_POINTS};
    long double slope = step_function_slope(problem->stage, 0);
    int exponent;
    if (!isfinite(slope) || slope <= 0)
        return false;
    function.points = arena_array(&scratch, struct step_point, MAXIMUM_POINTS);
    long double fraction = frexpl(slope, &exponent);
    int shift = form->left_shift - 1 - exponent + (fraction == 0.5L); /* as solve_high has it */
    int64_t multiplier = llroundl(ldexpl(fraction, 31 + (fraction == 0.5L)));
    multiplier = multiplier > INT32_MAX ? INT32_MAX : multiplier;
    bool good = shift >= 0 && shift <= 31 && try_shared(form, problem, multiplier, shift, &function);
    arena_free(&scratch);
    return good;
}
