#include "describe/requantise_line.h"

#include <math.h>

struct addends addends_any(void) { return (struct addends){INT64_MIN / 4, INT64_MAX / 4, 0, 0}; }

void addends_bound(struct addends *addends, const struct line_problem *line, const struct step_point *point, int64_t product,
                   int shift)
{
    int64_t level = point->y * ((int64_t)1 << shift), first = level - product;
    int64_t last = first + ((int64_t)1 << shift) - 1;
    if ((!line->has_clip || point->y > line->minimum) && first > addends->first) {
        addends->first = first;
        addends->first_at = point;
    }
    if ((!line->has_clip || point->y < line->maximum) && last < addends->last) {
        addends->last = last;
        addends->last_at = point;
    }
}

static struct addends addends_of(const struct line_problem *line, int64_t multiplier)
{
    struct addends addends = addends_any();
    for (int i = 0; i < line->count; i++) {
        const struct step_point *point = &line->points[i];
        int64_t product = multiplier * (point->x - line->points[0].x) - (point->x < line->zero ? line->step : 0);
        addends_bound(&addends, line, point, product, line->shift);
    }
    return addends;
}

/* The room for the addend is a concave function of the multiplier, whose slope at a multiplier is the distance of the two
 * points that bound the addend there. So a multiplier without room says on which side of it all others have none, and how
 * far at least. True where there is a line; the addend is for x counted from the first point. */
static bool find_line(const struct line_problem *line, int64_t guess, int64_t *multiplier, int64_t *addend)
{
    int64_t low = INT64_MIN / 2, high = INT64_MAX / 2; /* excluded */
    for (int tries = 0; tries < 64 && guess > low && guess < high; tries++) {
        struct addends addends = addends_of(line, guess);
        int64_t room = addends.last - addends.first;
        if (room >= 0) {
            *multiplier = guess;
            *addend = addends_middle(&addends);
            return true;
        }
        int64_t rising = addends.first_at->x - addends.last_at->x;
        if (rising == 0)
            return false;
        int64_t length = rising > 0 ? rising : -rising, step = (-room + length - 1) / length;
        low = rising > 0 ? guess : low;
        high = rising < 0 ? guess : high;
        guess += rising > 0 ? step : -step;
    }
    return false;
}

/* Products that stay far inside of 64 bits. */
static bool is_moderate(long double slope, int shift, const struct step_point *points, int count)
{
    long double range = (long double)points[count - 1].x - (long double)points[0].x;
    return fabsl(ldexpl(slope, shift)) * (range + 1) < 0x1p56L && fabsl(ldexpl(slope, shift)) < 0x1p40L;
}

bool line_solve(const struct line_problem *line, long double slope, int64_t *multiplier, int64_t *addend)
{
    if (!is_moderate(slope, line->shift, line->points, line->count))
        return false;
    if (!find_line(line, llroundl(ldexpl(slope, line->shift)), multiplier, addend))
        return false;
    return !__builtin_sub_overflow(*addend, *multiplier * line->points[0].x, addend);
}
