/* Checks of the firmware tests of this folder: a failed one is printed and counted, and the test goes on. */
#ifndef DORY_TEST_GAP8_CHECK_H
#define DORY_TEST_GAP8_CHECK_H

#include <stdint.h>
#include <stdio.h>

static volatile uint32_t check_failures, check_count;

#define CHECK(condition)                                                                                                    \
    do {                                                                                                                    \
        check_count++;                                                                                                      \
        if (!(condition)) {                                                                                                 \
            check_failures++;                                                                                               \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                                \
        }                                                                                                                   \
    } while (0)

#define CHECK_EQUAL(actual, expected)                                                                                       \
    do {                                                                                                                    \
        long check_actual = (long)(actual), check_expected = (long)(expected);                                              \
        check_count++;                                                                                                      \
        if (check_actual != check_expected) {                                                                               \
            check_failures++;                                                                                               \
            printf("%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #actual, check_actual, check_expected);               \
        }                                                                                                                   \
    } while (0)

/* What main returns. */
static inline int check_result(void)
{
    printf("%lu checks, %lu failures\n", (unsigned long)check_count, (unsigned long)check_failures);
    return check_failures ? 1 : 0;
}

/* A deterministic source of test cases. */
static inline uint32_t check_random(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

#endif
