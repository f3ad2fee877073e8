/* Checks for tests in C: a failed one says where and what, the test goes on, and main returns expect_result(). */
#ifndef DORY_TEST_EXPECT_H
#define DORY_TEST_EXPECT_H

#include <stdio.h>

static int expect_count, expect_failures;

/* The remaining arguments are a printf format and its values; they explain a failure. */
#define EXPECT(condition, ...)                                                                                              \
    do {                                                                                                                    \
        expect_count++;                                                                                                     \
        if (!(condition)) {                                                                                                 \
            expect_failures++;                                                                                              \
            fprintf(stderr, "%s:%d: not so: %s; ", __FILE__, __LINE__, #condition);                                         \
            fprintf(stderr, __VA_ARGS__);                                                                                   \
            fputc('\n', stderr);                                                                                            \
        }                                                                                                                   \
    } while (0)

/* Prints a summary. The exit status of the process; a test without checks fails. */
static inline int expect_result(const char *test)
{
    printf("%s: %d checks, %d failed\n", test, expect_count, expect_failures);
    return expect_failures || !expect_count;
}

#endif
