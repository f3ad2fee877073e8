#include "describe/requantise_scalar.h"

#include <math.h>
#include <stdlib.h>

#include "describe/requantise_line.h"
#include "describe/step_function.h"
#include "network/stage.h"

#define MAXIMUM_STEPS 65536

struct stage requantise_floor_stage(int64_t multiplier, int64_t addend, int shift, const struct stage *clip,
                                    struct arena *arena)
{
    int64_t *numbers = arena_array(arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = addend;
    return (struct stage){.count = 1,
                          .multiplier = &numbers[0],
                          .addend = &numbers[1],
                          .divisor = (int64_t)1 << shift,
                          .has_clip = clip && clip->has_clip,
                          .minimum = clip ? clip->minimum : 0,
                          .maximum = clip ? clip->maximum : 0};
}

static bool equals(const struct stage *stage, const struct step_function *function)
{
    for (int i = 0; i < function->count; i++)
        if (stage_apply(stage, 0, function->points[i].x) != function->points[i].y)
            return false;
    return true;
}

static int64_t largest(const struct step_function *function)
{
    int64_t first = llabs(function->points[0].y), last = llabs(function->points[function->count - 1].y);
    return first > last ? first : last;
}

/* Places behind the point for which products and sums fit 31 bits. */
static int narrow_shift(const struct step_function *function, long double slope)
{
    int64_t low = llabs(function->points[0].x), high = llabs(function->points[function->count - 1].x);
    long double edge = (long double)(low > high ? low : high),
                most = fabsl(slope) * edge + (long double)largest(function) + 1;
    int shift = (int)floorl(log2l((long double)INT32_MAX / (2 * most)));
    return shift < 0 ? 0 : shift > 30 ? 30 : shift;
}

#define WIDER_BY      6
#define MAXIMUM_SHIFT 48

static const struct stage *solve(const struct stage *stage, const struct step_function *function, struct arena *arena)
{
    long double slope = step_function_slope(stage, 0);
    struct stage *found = arena_array(arena, struct stage, 1);
    for (int shift = narrow_shift(function, slope); shift <= MAXIMUM_SHIFT; shift += WIDER_BY) {
        struct line_problem line = {.points = function->points,
                                    .count = function->count,
                                    .shift = shift,
                                    .has_clip = stage->has_clip,
                                    .minimum = stage->minimum,
                                    .maximum = stage->maximum};
        int64_t multiplier, addend;
        if (ldexpl((long double)largest(function) + 1, shift) >= 0x1p60L)
            break;
        if (!line_solve(&line, slope, &multiplier, &addend))
            continue;
        *found = requantise_floor_stage(multiplier, addend, shift, stage, arena);
        if (equals(found, function))
            return found;
    }
    return NULL;
}

const struct stage *requantise_as_floor(const struct stage *stage, int64_t minimum, int64_t maximum, struct arena *arena)
{
    if (stage->rounding == ROUND_FLOOR)
        return stage;
    if (stage->rounding == ROUND_ROOT)
        return NULL;
    struct arena scratch = {0};
    const struct stage *found = NULL;
    struct step_function function = {.capacity = 2 * MAXIMUM_STEPS + 2};
    function.points = arena_array(&scratch, struct step_point, (size_t)function.capacity);
    if (stage->count == 1 && step_function_of_stage(stage, 0, minimum, maximum, &function)) {
        if (function.is_constant) {
            struct stage *constant = arena_array(arena, struct stage, 1);
            *constant = requantise_floor_stage(0, function.points[0].y, 0, stage, arena);
            found = constant;
        } else {
            found = solve(stage, &function, arena);
        }
    }
    arena_free(&scratch);
    return found;
}
