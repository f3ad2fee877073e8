/* Lines between the steps of a function: multiplier * x + addend, whose multiples of 2^shift it crosses where the function
 * changes its value. Multiplier and addend are integers, and if there are such integers, they are found. */
#ifndef DORYGEN_REQUANTISE_LINE_H
#define DORYGEN_REQUANTISE_LINE_H

#include <stdbool.h>

#include "describe/step_function.h"

struct line_problem {
    const struct step_point *points;
    int count, shift;
    bool has_clip; /* to these bounds, behind the line: beyond them it may be anything beyond */
    int64_t minimum, maximum;
    int64_t zero, step; /* of the line, that much is taken off below zero */
};

/* The addends for which a form is right at some points: first <= addend <= last, and which points bound it. */
struct addends {
    int64_t first, last;
    const struct step_point *first_at, *last_at;
};

/* All of them, at no point. */
struct addends addends_any(void);

/* (product + addend) >> shift must be point->y, as the line has it. */
void addends_bound(struct addends *addends, const struct line_problem *line, const struct step_point *point, int64_t product,
                   int shift);

static inline int64_t addends_middle(const struct addends *addends)
{
    return addends->first + (addends->last - addends->first) / 2;
}

/* False where there is no such line, or its numbers are too large for this arithmetic. */
bool line_solve(const struct line_problem *line, long double slope, int64_t *multiplier, int64_t *addend);

#endif
