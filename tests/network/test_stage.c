/* What a stage means: each rounding against its definition, written down here once more in other words. */
#include "expect.h"

#include "network/stage.h"

static uint64_t state = 1;

static int64_t random_number(int64_t least, int64_t most)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (int64_t)((state >> 16) % (uint64_t)(most - least + 1));
}

static wide magnitude(wide x) { return x < 0 ? -x : x; }

/* Is y within half a unit of numerator / divisor, and at a half what the rounding says? */
static bool is_nearest(wide y, wide numerator, wide divisor, enum rounding rounding)
{
    wide twice = 2 * (y * divisor - numerator);
    if (magnitude(twice) != divisor)
        return magnitude(twice) < divisor;
    return rounding == ROUND_HALF_EVEN ? y % 2 == 0 : (numerator < 0) == (twice < 0);
}

static void rounds_once_to_the_nearest(void)
{
    int ties = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t multiplier = random_number(1, i % 2 ? 7 : 1 << 20), addend = random_number(-500, 500);
        int exponent = (int)random_number(-24, 2);
        struct stage stage = {.count = 1,
                              .rounding = i % 4 < 2 ? ROUND_HALF_EVEN : ROUND_HALF_AWAY,
                              .multiplier = &multiplier,
                              .addend = &addend,
                              .exponent = &exponent,
                              .divisor = random_number(1, i % 3 ? 9 : 1 << 24),
                              .zero_point = random_number(0, 255)};
        int64_t x = random_number(-2000000, 2000000), narrow;
        wide numerator = ((wide)x + addend) * multiplier, divisor = stage.divisor;
        if (exponent < 0)
            divisor <<= -exponent;
        else
            numerator *= 1 << exponent;
        wide y = stage_apply(&stage, 0, x);
        EXPECT_THAT(is_nearest(y - stage.zero_point, numerator, divisor, stage.rounding));
        ties += magnitude(2 * ((y - stage.zero_point) * divisor - numerator)) == divisor;
        if (stage_apply_narrowly(&stage, 0, x, &narrow))
            EXPECT_THAT(narrow == y);
    }
    EXPECT_THAT(ties > 1000);
}

/* Is y, whole, within half of the root of numerator / divisor, and at a half even? */
static bool is_root(wide y, wide numerator, wide divisor)
{
    wide low = (2 * y - 1) * (2 * y - 1) * divisor, high = (2 * y + 1) * (2 * y + 1) * divisor, fours = 4 * numerator;
    bool reaches_low = y == 0 || low < fours || (low == fours && y % 2 == 0);
    return numerator <= 0 ? y == 0 : reaches_low && (fours < high || (fours == high && y % 2 == 0));
}

static void rounds_roots(void)
{
    int ties = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t multiplier = random_number(1, i % 2 ? 3 : 1 << 20), addend = random_number(-5, 5);
        int exponent = i % 2 ? -2 : (int)random_number(-40, 2);
        struct stage stage = {.count = 1,
                              .rounding = ROUND_ROOT,
                              .multiplier = &multiplier,
                              .addend = &addend,
                              .exponent = &exponent,
                              .divisor = random_number(1, i % 2 ? 3 : 1 << 24),
                              .zero_point = random_number(0, 255)};
        int64_t x = random_number(-50, i % 2 ? 4000 : 2000000000), narrow;
        wide numerator = ((wide)x + addend) * multiplier, divisor = stage.divisor;
        if (exponent < 0)
            divisor <<= -exponent;
        else
            numerator *= 1 << exponent;
        wide y = stage_apply(&stage, 0, x) - stage.zero_point;
        EXPECT_THAT(is_root(y, numerator, divisor));
        ties += numerator > 0 && (2 * y + 1) * (2 * y + 1) * divisor == 4 * numerator;
        EXPECT_THAT(!stage_apply_narrowly(&stage, 0, x, &narrow));
    }
    EXPECT_THAT(ties > 100);
}

/* TensorFlow Lite Micro's two steps on 32-bit numbers, with the names that its documentation gives them. */
static int32_t saturating_rounding_doubling_high_multiply(int32_t a, int32_t b)
{
    int64_t product = (int64_t)a * b;
    int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
    return (int32_t)((product + nudge) / (INT64_C(1) << 31));
}

static int32_t rounding_divide_by_power_of_two(int32_t x, int exponent)
{
    int32_t mask = (int32_t)((INT64_C(1) << exponent) - 1), remainder = x & mask, threshold = (mask >> 1) + (x < 0);
    return (x >> exponent) + (remainder > threshold);
}

static void rounds_twice_as_tensorflow_lite_micro(void)
{
    for (int i = 0; i < 400000; i++) {
        int64_t multiplier = i % 8 ? random_number(1 << 30, INT32_MAX) : 1 << 30, addend = random_number(-100, 100), narrow;
        int exponent = (int)random_number(-12, 3);
        struct stage stage = {.count = 1,
                              .rounding = ROUND_TWICE,
                              .multiplier = &multiplier,
                              .addend = &addend,
                              .exponent = &exponent,
                              .left_shift = i % 5 ? 0 : 12,
                              .divisor = 1,
                              .zero_point = 7};
        int64_t x = random_number(-30000, 30000);
        int32_t shifted = (int32_t)((x + addend) * (1 << (stage.left_shift + (exponent > 0 ? exponent : 0))));
        int32_t expected = rounding_divide_by_power_of_two(
            saturating_rounding_doubling_high_multiply(shifted, (int32_t)multiplier), exponent < 0 ? -exponent : 0);
        EXPECT_THAT(stage_apply(&stage, 0, x) == (wide)expected + 7);
        EXPECT_THAT(stage_apply_narrowly(&stage, 0, x, &narrow) && narrow == expected + 7);
    }
}

static void is_monotone_and_saturates_far_out(void)
{
    static const int64_t far[] = {INT64_MIN, INT64_MIN / 2, -1, 0, 1, INT64_MAX / 2, INT64_MAX};
    for (int rounding = ROUND_FLOOR; rounding <= ROUND_ROOT; rounding++)
        for (int exponent = rounding == ROUND_FLOOR ? 0 : -200; exponent <= (rounding == ROUND_FLOOR ? 0 : 200);
             exponent += 25) {
            int64_t multiplier = INT32_MAX, addend = 3;
            struct stage stage = {.count = 1,
                                  .rounding = (enum rounding)rounding,
                                  .multiplier = &multiplier,
                                  .addend = &addend,
                                  .exponent = &exponent,
                                  .divisor = 1,
                                  .has_clip = true,
                                  .minimum = -1000,
                                  .maximum = 1000};
            for (size_t i = 1; i < sizeof far / sizeof *far; i++)
                EXPECT_THAT(stage_apply(&stage, 0, far[i - 1]) <= stage_apply(&stage, 0, far[i]));
        }
}

int main(void)
{
    static const struct test tests[] = {
        TEST(rounds_once_to_the_nearest),
        TEST(rounds_roots),
        TEST(rounds_twice_as_tensorflow_lite_micro),
        TEST(is_monotone_and_saturates_far_out),
    };
    return RUN_TESTS("stage", tests, NULL);
}
