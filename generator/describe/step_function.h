/* A stage as what it is: a monotone step function of the accumulator, of few levels. Where it changes says everything about
 * it, so two such functions are equal for all accumulators of a range if they are equal at the points that are listed
 * here. */
#ifndef DORYGEN_STEP_FUNCTION_H
#define DORYGEN_STEP_FUNCTION_H

#include "network/network.h"

struct step_point {
    int64_t x, y;
};

struct step_function {
    /* Rising in x: the ends of the range, and of each step the last x before it and the first behind it. Between two
     * points either y is the same or there is no x. */
    struct step_point *points;
    int count, capacity;
    bool is_constant;
};

/* Any monotone function. `guess` tells about where it reaches y, at best within 1; only time depends on it. */
struct monotone {
    int64_t (*value)(const void *context, int64_t x);
    double (*guess)(const void *context, double y);
    const void *context;
};

/* All steps of a function on minimum <= x <= maximum, into steps->points[capacity]. False where there are more. */
bool step_function_find(const struct monotone *function, int64_t minimum, int64_t maximum, struct step_function *steps);

/* The same of a channel of a stage; |x| < 2^31, and y fits 64 bits. */
bool step_function_of_stage(const struct stage *stage, int channel, int64_t minimum, int64_t maximum,
                            struct step_function *steps);

/* dy / dx of the stage without its steps and its clip. */
long double step_function_slope(const struct stage *stage, int channel);

/* For how many x of their common range two functions differ, and by how much at most. */
struct step_difference {
    int64_t count, most;
};
struct step_difference step_function_compare(const struct step_function *a, const struct step_function *b);

#endif
