#include "describe/requantise_fast.h"

#include <math.h>

#include "describe/requantise_line.h"
#include "describe/requantise_solve.h"

/* ---- what the form gives, as a step function ---- */

struct clamped {
    const struct requantisation *form;
    int channel;
};

static int64_t clamped_value(const void *context, int64_t x)
{
    const struct clamped *clamped = context;
    int64_t value = 0;
    requantised_value(clamped->form, clamped->channel, x, &value);
    return value;
}

static double clamped_guess(const void *context, double y)
{
    const struct clamped *clamped = context;
    const struct dory_channel_constants *constants = &clamped->form->channels[clamped->channel];
    double multiplier = (double)constants->clamped.multiplier, level = multiplier < 0 ? y + 1 : y;
    return (ldexp(level, clamped->form->shift) - (double)constants->clamped.addend) / multiplier;
}

static bool count_differences(struct requantisation *form, int channel, const struct step_function *function,
                              struct arena *arena)
{
    struct clamped context = {form, channel};
    struct monotone monotone = {clamped_value, clamped_guess, &context};
    struct step_function steps = {.capacity = 2 * (form->maximum + 2)};
    steps.points = arena_array(arena, struct step_point, (size_t)steps.capacity);
    if (!step_function_find(&monotone, function->points[0].x, function->points[function->count - 1].x, &steps))
        return false;
    struct step_difference difference = step_function_compare(function, &steps);
    form->wrong_accumulators += difference.count;
    form->most_wrong = difference.most > form->most_wrong ? difference.most : form->most_wrong;
    return true;
}

/* ---- constants ---- */

static int64_t limited(int64_t number, int64_t least, int64_t most)
{
    return number < least ? least : number > most ? most : number;
}

/* The first step and the last must be there: all that is clamped depends on them. One accumulator further out leaves room
 * for the rounded multiplier. In between the addend is in the middle of what the other steps want. */
static bool round_line(const struct requantisation *form, const struct step_function *function, long double slope,
                       struct dory_channel_constants *constants)
{
    const struct step_point *points = function->points;
    int last = function->count - 1, first_inner = points[1].y == points[0].y, last_inner = last;
    last_inner -= points[last - 1].y == points[last].y;
    struct step_point low = {points[first_inner].x - first_inner, points[0].y};
    struct step_point high = {points[last_inner].x + (last_inner < last), points[last].y};
    struct line_problem line = {.shift = form->shift};
    struct addends ends = addends_any(), inner = addends_any();
    long double rounded = roundl(ldexpl(slope, form->shift));
    if (fabsl(rounded) * ((long double)high.x - (long double)low.x) >= 0x1p33L)
        return false;
    int64_t multiplier = (int64_t)rounded;
    for (int i = first_inner; i <= last_inner; i++)
        addends_bound(&inner, &line, &points[i], multiplier * (points[i].x - low.x), form->shift);
    addends_bound(&ends, &line, &low, 0, form->shift);
    addends_bound(&ends, &line, &high, multiplier * (high.x - low.x), form->shift);
    if (ends.first > ends.last)
        return false;
    int64_t addend = limited(addends_middle(&inner), ends.first, ends.last) - multiplier * low.x;
    *constants = (struct dory_channel_constants){.clamped = {low.x, high.x, multiplier, addend}};
    return true;
}

bool requantise_fast(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                     struct arena *arena)
{
    int64_t value;
    if (solve_clamped(form, channel, function, slope))
        return true;
    return !function->is_constant && round_line(form, function, slope, &form->channels[channel]) &&
           requantised_value(form, channel, form->channels[channel].clamped.low, &value) &&
           requantised_value(form, channel, form->channels[channel].clamped.high, &value) &&
           count_differences(form, channel, function, arena);
}
