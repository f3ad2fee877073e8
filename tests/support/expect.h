/* Checks for tests in C: a failed one says where and what, the test goes on, and main returns expect_result(). */
#ifndef DORY_TEST_EXPECT_H
#define DORY_TEST_EXPECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Without explanation, and with what was found instead. */
#define EXPECT_THAT(condition) EXPECT(condition, "in %s", __func__)
#define EXPECT_EQUAL(actual, expected)                                                                                      \
    do {                                                                                                                    \
        int64_t expect_actual = (int64_t)(actual), expect_expected = (int64_t)(expected);                                   \
        EXPECT(expect_actual == expect_expected, "in %s, %s is %lld, not %lld", __func__, #actual,                          \
               (long long)expect_actual, (long long)expect_expected);                                                       \
    } while (0)
#define EXPECT_TEXT(actual, expected)                                                                                       \
    EXPECT(strcmp(actual, expected) == 0, "in %s, it is '%s', not '%s'", __func__, actual, expected)
#define EXPECT_BYTES(actual, expected, count)                                                                               \
    EXPECT(memcmp(actual, expected, count) == 0, "in %s, the %zu bytes differ", __func__, (size_t)(count))

/* What the lines behind it cannot do without: a failure ends the program. */
#define REQUIRE(condition)                                                                                                  \
    do {                                                                                                                    \
        bool expect_holds = (condition);                                                                                    \
        EXPECT(expect_holds, "in %s: %s; the tests end here", __func__, #condition);                                        \
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
            fprintf(stderr, "%s: %s failed\n", subject, tests[i].name);
        if (after)
            after();
    }
    return expect_result(subject);
}

#endif
