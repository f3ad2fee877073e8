#include "describe/requantise.h"

#include <math.h>

#include "base/arithmetic.h"
#include "describe/clamp.h"
#include "describe/requantise_engine.h"
#include "describe/requantise_fast.h"
#include "describe/requantise_solve.h"
#include "network/stage.h"

static bool fits_32_bits(wide value) { return value >= INT32_MIN && value <= INT32_MAX; }
static bool fits_64_bits(wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

/* ---- literally ---- */

static int power_of_two(int64_t value)
{
    return value < 1 || (value & (value - 1)) != 0 ? -1 : __builtin_ctzll((unsigned long long)value);
}

static size_t index_of(const struct stage *stage, int channel) { return stage->count == 1 ? 0 : (size_t)channel; }

/* The stage's own constants, as a form has them. False where a number exceeds its type for any accumulator. */
static bool copy_constants(const struct requantise_problem *problem, struct requantisation *form)
{
    for (int channel = 0; channel < problem->channel_count; channel++) {
        size_t index = index_of(problem->stage, channel);
        int64_t multiplier = problem->stage->multiplier[index], addend = problem->stage->addend[index], value;
        bool is_none = form->normalisation == DORY_NORMALISE_NONE;
        form->channels[channel] = is_none ? (struct dory_channel_constants){.none = {addend}}
                                          : (struct dory_channel_constants){.product = {multiplier, addend}};
        if ((is_none && multiplier != 1) || !requantised_value(form, channel, problem->ranges[channel].minimum, &value) ||
            !requantised_value(form, channel, problem->ranges[channel].maximum, &value))
            return false;
    }
    return true;
}

static void start_form(const struct requantise_problem *problem, struct requantisation *form, struct arena *arena)
{
    *form = (struct requantisation){
        .divisor = 1,
        .minimum = problem->minimum,
        .maximum = problem->maximum,
        .channels = arena_array(arena, struct dory_channel_constants, (size_t)problem->channel_count),
        .channel_count = problem->channel_count,
    };
}

static bool is_literal(const struct requantise_problem *problem, struct requantisation *form, enum dory_normalisation which,
                       struct arena *arena)
{
    int shift = power_of_two(problem->stage->divisor);
    bool divides = which == DORY_NORMALISE_DIVIDE;
    if (problem->stage->rounding != ROUND_FLOOR || (shift < 0 && !divides) ||
        (which == DORY_NORMALISE_NONE && problem->stage->divisor != 1))
        return false;
    start_form(problem, form, arena);
    form->normalisation = which;
    form->divisor = problem->stage->divisor;
    /* 31 places leave the sign of a 32-bit value, and so do more */
    form->shift = divides ? 0 : which == DORY_NORMALISE_32 && shift > 31 ? 31 : shift;
    form->verdict = REQUANTISED_LITERALLY;
    return copy_constants(problem, form);
}

/* CLAMPED with the stage's own divisor; clamp.h has the proof. */
static bool is_clamped(const struct requantise_problem *problem, struct requantisation *form, struct arena *arena)
{
    const struct stage *stage = problem->stage;
    uint8_t shift;
    start_form(problem, form, arena);
    if (stage->rounding != ROUND_FLOOR || !stage->has_clip || form->minimum != 0 || form->maximum > UINT8_MAX ||
        stage->divisor > (int64_t)1 << 31)
        return false;
    int64_t scale = clamp_scale(stage->divisor, form->maximum), divisor = scale * stage->divisor;
    if (!clamp_reciprocal(divisor, ((uint64_t)form->maximum + 1) * (uint64_t)divisor, &form->reciprocal, &shift))
        return false;
    form->normalisation = DORY_NORMALISE_CLAMPED;
    form->verdict = REQUANTISED_LITERALLY;
    form->divisor = divisor;
    form->shift = shift;
    for (int channel = 0; channel < problem->channel_count; channel++) {
        size_t index = index_of(stage, channel);
        const struct sum_range *range = &problem->ranges[channel];
        struct clamped_channel clamped;
        if (!fits_32_bits(stage->multiplier[index]) || !fits_64_bits((wide)scale * stage->addend[index]) ||
            !clamp_channel(scale * stage->multiplier[index], scale * stage->addend[index], divisor, form->maximum,
                           range->minimum, range->maximum, &clamped))
            return false;
        form->channels[channel] = (struct dory_channel_constants){.clamped = {clamped.low, clamped.high, 0, clamped.addend}};
        if (clamped.multiplier != 0) { /* as numbers: clamp.h has them modulo 2^32 */
            form->channels[channel].clamped.multiplier = scale * stage->multiplier[index];
            form->channels[channel].clamped.addend = scale * stage->addend[index];
        }
    }
    return true;
}

/* ---- solved ---- */

#define MAXIMUM_LEVELS 65536
#define MAXIMUM_FLOORS 1024 /* of a floor: it has literal forms for more */
#define CANDIDATES     8

struct candidates {
    const struct requantise_problem *problem;
    const struct requantise_engine *engine;
    struct requantisation forms[CANDIDATES]; /* the cheapest first */
    bool good[CANDIDATES];
    int count;
};

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* What HIGH adds first: where rounding looks at sign or parity, it must be the reference's own number. */
static int64_t bias_of(const struct stage *stage, int channel)
{
    if (stage->rounding == ROUND_FLOOR)
        return 0;
    /* of a bias in fractions of a sum the whole part: what is left is found with the form's own addend */
    return stage->addend[index_of(stage, channel)] >> (stage->rounding == ROUND_TWICE ? 0 : stage->left_shift);
}

static bool is_constant(const struct requantise_problem *problem, int channel)
{
    const struct sum_range *range = &problem->ranges[channel];
    return stage_apply(problem->stage, channel, range->minimum) == stage_apply(problem->stage, channel, range->maximum);
}

/* A channel of which hardly anything but the bias decides: sums that are too large, or steps that are too long, for a
 * multiplier of 31 bits beside the other channels. See solve_step. */
static bool is_step(const struct requantise_problem *problem, int channel, int64_t sum, long double slope)
{
    const struct sum_range *range = &problem->ranges[channel];
    return (sum > INT64_C(1) << 28 || slope < 0x1p-21L) &&
           stage_apply(problem->stage, channel, range->maximum) == stage_apply(problem->stage, channel, range->minimum) + 1;
}

#define MAXIMUM_LEFT_SHIFT 16
#define BIAS_MARGIN        64

#define MOST_PLACES 54 /* behind the point, of 64-bit products: elements have 8 bits in front of it */

struct shifts {
    int places;     /* behind the point, of 32-bit products */
    int left;       /* of all sums, for HIGH */
    int left_whole; /* likewise, so that all 31 bits of a multiplier can be had: where the reference's own are needed */
};

static int places_beside(long double number) { return (int)floorl(log2l((long double)INT32_MAX / number)); }

static int smaller(int a, int b) { return a < b ? a : b; }

static struct shifts find_shifts(const struct requantise_problem *problem)
{
    struct shifts shifts = {31, MAXIMUM_LEFT_SHIFT, MAXIMUM_LEFT_SHIFT};
    for (int channel = 0; channel < problem->channel_count; channel++) {
        const struct sum_range *range = &problem->ranges[channel];
        int64_t bias = bias_of(problem->stage, channel), low = magnitude(range->minimum + bias),
                high = magnitude(range->maximum + bias);
        long double slope = fabsl(step_function_slope(problem->stage, channel)),
                    sum = (long double)(low > high ? low : high);
        long double edge = fmaxl(fabsl((long double)range->minimum), fabsl((long double)range->maximum));
        long double offset = (long double)magnitude(problem->stage->zero_point);
        int exponent;
        if (is_constant(problem, channel))
            continue;
        if (is_step(problem, channel, low > high ? low : high, slope)) {
            shifts.left = smaller(shifts.left, places_beside((long double)(range->maximum - range->minimum) + 1));
            continue;
        }
        frexpl(slope, &exponent);
        shifts.places = smaller(shifts.places, places_beside(slope * edge + 2.0L * (long double)problem->maximum + 1));
        shifts.left = smaller(shifts.left, places_beside(sum + BIAS_MARGIN));
        shifts.left_whole = smaller(shifts.left_whole, places_beside(slope * sum + offset + 2) + 1 + exponent);
    }
    shifts.left_whole = smaller(shifts.left, shifts.left_whole);
    return shifts;
}

static void add_candidate(struct candidates *all, enum dory_normalisation normalisation, enum dory_rounding rounding,
                          int shift, int left_shift, struct arena *arena)
{
    if (shift < 0 || shift > (normalisation == DORY_NORMALISE_64 ? MOST_PLACES : 31) || left_shift < 0 ||
        (rounding == DORY_ROUND_AWAY && left_shift == 0 && normalisation == DORY_NORMALISE_HIGH))
        return;
    struct requantisation *form = &all->forms[all->count];
    start_form(all->problem, form, arena);
    form->normalisation = normalisation;
    form->rounding = rounding;
    form->shift = shift;
    form->left_shift = left_shift;
    form->verdict = REQUANTISED_PROVEN;
    all->good[all->count] = engine_can_compute(all->engine, form);
    all->count += all->good[all->count];
}

static int bits_of(int64_t maximum) { return maximum < 1 ? 1 : 64 - __builtin_clzll((unsigned long long)maximum); }

static void list_candidates(struct candidates *all, struct arena *arena)
{
    const struct requantise_problem *problem = all->problem;
    enum rounding rounding = problem->stage->rounding;
    struct shifts shifts = find_shifts(problem);
    bool can_split =
        problem->minimum == 0 && problem->maximum <= UINT8_MAX && engine_prefers_split(all->engine, DORY_ROUND_FLOOR);
    if (!problem->only_high)
        add_candidate(all, DORY_NORMALISE_32, DORY_ROUND_FLOOR, shifts.places, 0, arena);
    if (problem->minimum == 0 && !problem->only_high)
        add_candidate(all, DORY_NORMALISE_CLAMPED, DORY_ROUND_FLOOR, 32 - bits_of(problem->maximum), 0, arena);
    if (can_split)
        add_candidate(all, DORY_NORMALISE_SPLIT, DORY_ROUND_FLOOR, 0, 0, arena);
    if (can_split && rounding == ROUND_TWICE && engine_prefers_split(all->engine, DORY_ROUND_AWAY))
        add_candidate(all, DORY_NORMALISE_SPLIT, DORY_ROUND_AWAY, 0, 0, arena);
    add_candidate(all, DORY_NORMALISE_HIGH, DORY_ROUND_FLOOR, 0, shifts.left, arena);
    if (rounding == ROUND_TWICE || rounding == ROUND_HALF_AWAY)
        add_candidate(all, DORY_NORMALISE_HIGH, DORY_ROUND_AWAY, 0, shifts.left_whole, arena);
    for (int less = 0; rounding == ROUND_HALF_EVEN && less < 3; less++) /* sums of one sign reach further */
        add_candidate(all, DORY_NORMALISE_HIGH, DORY_ROUND_EVEN, 0, shifts.left_whole - less, arena);
}

/* A bias for which all sums are positive, of the same parity of quotients: by a multiple of sums that make an even number.
 * Then a multiplier that is a little too large puts every tie a little behind itself, where the floor finds it; with sums of
 * both signs no multiplier does, if it is not exact. As before where such a number is too large. */
static int64_t positive_bias(const struct stage *stage, int channel, int64_t least_sum)
{
    size_t index = index_of(stage, channel);
    int exponent = stage->exponent ? stage->exponent[index] : 0;
    int64_t bias = bias_of(stage, channel);
    if (exponent < -40 || (stage->rounding != ROUND_TWICE && stage->left_shift) || exponent > 40 || least_sum + bias >= 0)
        return bias;
    wide numerator = stage->multiplier[index] * ((wide)1 << (exponent > 0 ? exponent : 0)); /* a slope may be negative */
    wide denominator = (wide)stage->divisor << (exponent < 0 ? -exponent : 0);
    wide period = 2 * denominator / greatest_common_divisor(numerator, denominator);
    if (period < 1) /* never: a ratio of positive numbers in lowest terms; but the analyser cannot know */
        return bias;
    wide periods = (period - 1 - (least_sum + (wide)bias)) / period;
    return period > INT32_MAX || period * periods > INT32_MAX ? bias : (int64_t)(bias + period * periods);
}

static bool solve_even(struct requantisation *form, int channel, const struct step_function *function,
                       const struct stage *stage, long double slope)
{
    int64_t bias = bias_of(stage, channel), positive = positive_bias(stage, channel, function->points[0].x);
    return solve_high(form, channel, function, slope, bias) ||
           (positive != bias && solve_high(form, channel, function, slope, positive));
}

/* Or with no sum below zero, where nothing is taken off: of a channel whose factor is 1 or more the reference rounds once.
 */
static bool solve_away(struct requantisation *form, int channel, const struct step_function *function,
                       const struct stage *stage, long double slope)
{
    return solve_high(form, channel, function, slope, bias_of(stage, channel)) ||
           solve_high(form, channel, function, slope, -function->points[0].x);
}

/* SPLIT rises with its accumulators: where the stage falls, weights of the other sign make it rise. */
static bool solve_either_split(const struct requantise_problem *problem, struct requantisation *form, int channel,
                               const struct step_function *function, long double slope)
{
    bool falls = slope < 0 && !function->is_constant && form->rounding == DORY_ROUND_FLOOR;
    return falls && problem->negatable && problem->negatable[channel]
               ? solve_negated_split(form, channel, function, slope)
               : solve_split(form, channel, function, slope, -bias_of(problem->stage, channel));
}

static bool solve(const struct requantise_problem *problem, struct requantisation *form, int channel,
                  const struct step_function *function)
{
    const struct stage *stage = problem->stage;
    long double slope = step_function_slope(stage, channel);
    switch (form->normalisation) {
    case DORY_NORMALISE_32:
    case DORY_NORMALISE_64: return solve_product(form, channel, function, slope);
    case DORY_NORMALISE_CLAMPED: return solve_clamped(form, channel, function, slope);
    case DORY_NORMALISE_SPLIT: return solve_either_split(problem, form, channel, function, slope);
    default: break;
    }
    bool good = form->rounding == DORY_ROUND_EVEN   ? solve_even(form, channel, function, stage, slope)
                : form->rounding == DORY_ROUND_AWAY ? solve_away(form, channel, function, stage, slope)
                                                    : solve_high(form, channel, function, slope, bias_of(stage, channel));
    return good || solve_step(form, channel, function);
}

static bool solve_channel(struct candidates *all, int channel, struct step_function *function)
{
    const struct requantise_problem *problem = all->problem;
    bool any = false;
    if (!step_function_of_stage(problem->stage, channel, problem->ranges[channel].minimum, problem->ranges[channel].maximum,
                                function))
        return false;
    for (int i = 0; i < all->count; i++) {
        struct requantisation *form = &all->forms[i];
        all->good[i] = all->good[i] && solve(problem, form, channel, function);
        form->constant_channels += function->is_constant;
        any = any || all->good[i];
    }
    return any;
}

/* The first candidate that is right in all channels. */
static bool solve_candidates(struct candidates *all, struct requantisation *result)
{
    const struct requantise_problem *problem = all->problem;
    struct arena scratch = {0};
    struct step_function function = {
        .capacity = 2 * (problem->stage->rounding == ROUND_FLOOR ? MAXIMUM_FLOORS : MAXIMUM_LEVELS) + 2};
    function.points = arena_array(&scratch, struct step_point, (size_t)function.capacity);
    bool any = all->count > 0;
    for (int channel = 0; channel < problem->channel_count && any; channel++)
        any = solve_channel(all, channel, &function);
    for (int i = all->count - 1; i >= 0; i--)
        if (any && all->good[i])
            *result = all->forms[i];
    arena_free(&scratch);
    return any;
}

/* Places behind the point for which line_solve can multiply the sums of all channels. */
static int wide_places(const struct requantise_problem *problem)
{
    int places = MOST_PLACES;
    for (int channel = 0; channel < problem->channel_count; channel++) {
        const struct sum_range *range = &problem->ranges[channel];
        int exponent, sums = bits_of(range->maximum - range->minimum + 1);
        frexpl(step_function_slope(problem->stage, channel), &exponent);
        if (!is_constant(problem, channel))
            places = smaller(places, smaller(55 - exponent - sums, 39 - exponent));
    }
    return places;
}

/* Sums of one sign reach further, so that they may be shifted by a place less. Of sums beyond 2^23, HIGH and SPLIT have some
 * 50 parts of one: too few where one of 255 steps lies nearer to a sum than that. A multiplier of 64 bits finds it. These
 * come last: they are no faster, and take time to solve. */
static bool is_solved_slowly(const struct requantise_problem *problem, const struct requantise_engine *engine,
                             struct requantisation *result, struct arena *arena)
{
    struct candidates all = {.problem = problem, .engine = engine};
    if (problem->only_high || problem->stage->rounding == ROUND_FLOOR || problem->minimum < INT8_MIN ||
        problem->maximum > UINT8_MAX)
        return false;
    if (problem->stage->rounding == ROUND_TWICE)
        add_candidate(&all, DORY_NORMALISE_HIGH, DORY_ROUND_AWAY, 0, find_shifts(problem).left_whole - 1, arena);
    if (problem->minimum == 0)
        add_candidate(&all, DORY_NORMALISE_SPLIT, DORY_ROUND_FLOOR, 0, 0, arena);
    add_candidate(&all, DORY_NORMALISE_64, DORY_ROUND_FLOOR, wide_places(problem), 0, arena);
    return solve_candidates(&all, result);
}

static bool is_solved(const struct requantise_problem *problem, const struct requantise_engine *engine,
                      struct requantisation *result, struct arena *arena)
{
    struct candidates all = {.problem = problem, .engine = engine};
    list_candidates(&all, arena);
    return solve_candidates(&all, result) || is_solved_slowly(problem, engine, result, arena);
}

/* One multiplier for all channels: then the first rounding is the model's own, and so is the bias. */
static bool has_one_scale(const struct requantise_problem *problem)
{
    const struct stage *stage = problem->stage;
    bool same = problem->minimum >= 0 && problem->maximum <= UINT8_MAX && stage->rounding != ROUND_FLOOR;
    for (size_t i = 1; i < (size_t)stage->count && same; i++)
        same =
            stage->multiplier[i] == stage->multiplier[0] && (!stage->exponent || stage->exponent[i] == stage->exponent[0]);
    return same;
}

static bool is_shared(const struct requantise_problem *problem, const struct requantise_engine *engine,
                      struct requantisation *form, struct arena *arena)
{
    if (!engine_prefers_shared(engine) || !has_one_scale(problem))
        return false;
    start_form(problem, form, arena);
    form->normalisation = DORY_NORMALISE_SHARED;
    form->rounding = problem->stage->rounding == ROUND_HALF_EVEN ? DORY_ROUND_EVEN : DORY_ROUND_AWAY;
    form->left_shift = find_shifts(problem).left_whole;
    form->verdict = REQUANTISED_PROVEN;
    for (int channel = 0; channel < problem->channel_count; channel++) {
        form->channels[channel].high.bias = bias_of(problem->stage, channel);
        form->constant_channels += is_constant(problem, channel);
    }
    return form->left_shift > 0 && solve_shared(form, problem);
}

/* ---- not equal, but fast ---- */

static bool is_fast(const struct requantise_problem *problem, struct requantisation *form, struct arena *arena)
{
    struct arena scratch = {0};
    struct step_function function = {.capacity = 2 * MAXIMUM_FLOORS + 2};
    bool good = problem->allow_fast && problem->minimum == 0 && problem->maximum <= UINT8_MAX;
    if (!good)
        return false;
    start_form(problem, form, arena);
    form->normalisation = DORY_NORMALISE_CLAMPED;
    form->verdict = REQUANTISED_FAST;
    form->shift = 32 - bits_of(problem->maximum);
    function.points = arena_array(&scratch, struct step_point, (size_t)function.capacity);
    for (int channel = 0; channel < problem->channel_count && good; channel++) {
        const struct sum_range *range = &problem->ranges[channel];
        good = step_function_of_stage(problem->stage, channel, range->minimum, range->maximum, &function) &&
               requantise_fast(form, channel, &function, step_function_slope(problem->stage, channel), &scratch);
    }
    arena_free(&scratch);
    return good;
}

/* ---- choice ---- */

static int64_t count_accumulators(const struct requantise_problem *problem)
{
    int64_t count = 0;
    for (int channel = 0; channel < problem->channel_count; channel++)
        count += problem->ranges[channel].maximum - problem->ranges[channel].minimum + 1;
    return count;
}

/* What a division by a reciprocal costs, lies between the solved forms: beside SPLIT, kernels differ. */
static bool is_divided(const struct requantise_problem *problem, const struct requantise_engine *engine,
                       const struct requantisation *solved, struct requantisation *form, struct arena *arena)
{
    bool is_split = solved && solved->normalisation == DORY_NORMALISE_SPLIT;
    struct requantisation divided;
    if (solved && solved->normalisation != DORY_NORMALISE_HIGH && !is_split)
        return false;
    if (!is_clamped(problem, &divided, arena) || !engine_can_compute(engine, &divided) ||
        (is_split && !engine_is_faster(engine, &divided, solved)))
        return false;
    *form = divided;
    return true;
}

/* The forms in which a stage's own formula is cheap. */
static bool is_simple(const struct requantise_problem *problem, const struct requantise_engine *engine,
                      struct requantisation *form, struct arena *arena)
{
    return (is_literal(problem, form, DORY_NORMALISE_NONE, arena) && engine_can_compute(engine, form)) ||
           (is_literal(problem, form, DORY_NORMALISE_32, arena) && engine_can_compute(engine, form)) ||
           (is_clamped(problem, form, arena) && form->reciprocal == 0 && engine_can_compute(engine, form));
}

/* The stage's own formula in 64 bits. */
static bool is_wide(const struct requantise_problem *problem, const struct requantise_engine *engine,
                    struct requantisation *form, struct arena *arena)
{
    return (is_literal(problem, form, DORY_NORMALISE_64, arena) && engine_can_compute(engine, form)) ||
           (is_literal(problem, form, DORY_NORMALISE_DIVIDE, arena) && engine_can_compute(engine, form));
}

static bool find_form(const struct requantise_problem *problem, const struct requantise_engine *engine,
                      struct requantisation *result, struct arena *arena)
{
    struct requantisation solved = {0};
    if (is_shared(problem, engine, result, arena) || is_simple(problem, engine, result, arena))
        return true;
    bool has_solution = is_solved(problem, engine, &solved, arena);
    if (is_divided(problem, engine, has_solution ? &solved : NULL, result, arena))
        return true;
    bool is_cheap = has_solution && solved.normalisation != DORY_NORMALISE_HIGH;
    if (!is_cheap && is_fast(problem, result, arena) && engine_can_compute(engine, result))
        return true;
    if (has_solution)
        *result = solved;
    return has_solution || is_wide(problem, engine, result, arena);
}

bool requantise(const struct requantise_problem *problem, const struct requantise_engine *engine,
                struct requantisation *result, struct arena *arena)
{
    if (problem->stage->rounding == ROUND_ROOT) /* all forms are lines */
        return false;
    bool found = problem->only_high ? is_solved(problem, engine, result, arena) : find_form(problem, engine, result, arena);
    result->accumulators = count_accumulators(problem);
    return found;
}

const char *requantise_refusal(const struct stage *stage)
{
    return stage->rounding == ROUND_FLOOR
               ? "its normalisation exceeds 64-bit integers, which is the most that the firmware computes with"
               : "none of the firmware's forms of requantisation equals the model's for all sums that can occur; it may "
                 "help to quantise to 8 bits, with scales that lie less far apart";
}
