/* Arithmetic on integers, against its definitions. */
#include "expect.h"

#include "base/arithmetic.h"

static void floors_below_zero_too(void)
{
    for (int64_t divisor = 1; divisor < 9; divisor++)
        for (int64_t number = -40; number <= 40; number++) {
            int64_t floor = floor_divide(number, divisor);
            EXPECT_THAT(floor * divisor <= number && number < (floor + 1) * divisor);
            EXPECT_THAT(wide_floor_divide(number, divisor) == floor);
        }
    EXPECT_THAT(floor_divide(INT64_MIN, 3) == INT64_MIN / 3 - 1);
    EXPECT_THAT(wide_floor_divide((wide)INT64_MIN * 4 - 1, 4) == (wide)INT64_MIN - 1);
}

static bool divides(int64_t divisor, int64_t a, int64_t b) { return a % divisor == 0 && b % divisor == 0; }

static void finds_the_greatest_divisor_of_numbers_with_any_sign(void)
{
    for (int64_t a = -24; a <= 24; a++)
        for (int64_t b = -24; b <= 24; b++) {
            int64_t common = (int64_t)greatest_common_divisor(a, b), greatest = 1;
            for (int64_t divisor = 1; divisor <= 24 && (a != 0 || b != 0); divisor++)
                greatest = divides(divisor, a, b) ? divisor : greatest;
            EXPECT_THAT(common == greatest);
        }
    EXPECT_THAT(greatest_common_divisor(INT64_MIN, 0) == -(wide)INT64_MIN);
    EXPECT_THAT(greatest_common_divisor((wide)INT64_MAX * 6, (wide)INT64_MAX * 4) == (wide)INT64_MAX * 2);
}

static void clamps_to_the_nearer_end(void)
{
    EXPECT_THAT(clamp(-5, -3, 4) == -3);
    EXPECT_THAT(clamp(5, -3, 4) == 4);
    EXPECT_THAT(clamp(2, -3, 4) == 2);
    EXPECT_THAT(clamp(INT64_MIN, 7, 7) == 7);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(floors_below_zero_too),
        TEST(finds_the_greatest_divisor_of_numbers_with_any_sign),
        TEST(clamps_to_the_nearer_end),
    };
    return RUN_TESTS("arithmetic", tests, NULL);
}
