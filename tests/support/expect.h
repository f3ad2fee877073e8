/* Checks for tests in C, generator's and firmware's: a failed one says where and what, the test goes on, and main returns
 * expect_result(). */
#ifndef DORY_TEST_EXPECT_H
#define DORY_TEST_EXPECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of all sources of a program. Cores and interrupts count here, too: where two do so at once one may be lost, but what
 * happened is never counted as nothing, as nobody takes anything back. */
__attribute__((weak)) volatile int expect_count, expect_failures;

/* The C library of firmware need not have a stream besides the log. */
#ifdef __unix__
#define EXPECT_PRINT(...) fprintf(stderr, __VA_ARGS__)
#else
#define EXPECT_PRINT(...) printf(__VA_ARGS__)
#endif

/* The remaining arguments are a printf format and its values; they explain a failure. */
#define EXPECT(condition, ...) EXPECT_AS(condition, #condition, __VA_ARGS__)

/* The same, of a condition that is told in other words. */
#define EXPECT_AS(condition, words, ...)                                                                                    \
    do {                                                                                                                    \
        expect_count++;                                                                                                     \
        if (!(condition)) {                                                                                                 \
            expect_failures++;                                                                                              \
            EXPECT_PRINT("%s:%d: not so: %s; ", __FILE__, __LINE__, words);                                                 \
            EXPECT_PRINT(__VA_ARGS__);                                                                                      \
            EXPECT_PRINT("\n");                                                                                             \
        }                                                                                                                   \
    } while (0)

/* Without explanation, and with what was found instead. */
#define EXPECT_THAT(condition) EXPECT(condition, "in %s", __func__)
#define EXPECT_EQUAL(actual, expected)                                                                                      \
    do {                                                                                                                    \
        int64_t expect_actual = (int64_t)(actual), expect_expected = (int64_t)(expected);                                   \
        EXPECT_AS(expect_actual == expect_expected, #actual " == " #expected, "in %s, it is %lld, not %lld", __func__,      \
                  (long long)expect_actual, (long long)expect_expected);                                                    \
    } while (0)
#define EXPECT_TEXT(actual, expected)                                                                                       \
    EXPECT(strcmp(actual, expected) == 0, "in %s, it is '%s', not '%s'", __func__, actual, expected)
#define EXPECT_BYTES(actual, expected, count)                                                                               \
    EXPECT(memcmp(actual, expected, count) == 0, "in %s, the %zu bytes differ", __func__, (size_t)(count))

/* What the lines behind it cannot do without: a failure ends the program. */
#define REQUIRE(condition)                                                                                                  \
    do {                                                                                                                    \
        bool expect_holds = (condition);                                                                                    \
        EXPECT_AS(expect_holds, #condition, "in %s; the tests end here", __func__);                                         \
        if (!expect_holds)                                                                                                  \
            exit(EXIT_FAILURE);                                                                                             \
    } while (0)

/* Prints a summary. The exit status of the process; a test without checks fails. */
static inline int expect_result(const char *test)
{
    printf("%s: %d checks, %d failed\n", test, expect_count, expect_failures);
    return expect_failures || !expect_count;
}

struct test {
    const char *name;
    void (*run)(void);
};
#define TEST(FUNCTION)                                                                                                      \
    {                                                                                                                       \
#FUNCTION, FUNCTION                                                                                                 \
    }
#define RUN_TESTS(SUBJECT, TESTS, AFTER) run_tests(SUBJECT, TESTS, sizeof(TESTS) / sizeof *(TESTS), AFTER)

/* One after the other, with `after` (unless it is null) behind each; names those that fail. Returns expect_result. */
static inline int run_tests(const char *subject, const struct test *tests, size_t count, void (*after)(void))
{
    for (size_t i = 0; i < count; i++) {
        int failures = expect_failures;
        tests[i].run();
        if (expect_failures > failures)
            EXPECT_PRINT("%s: %s failed\n", subject, tests[i].name);
        if (after)
            after();
    }
    return expect_result(subject);
}

#endif
