/* What a kernel's code takes to come to the cores' cache: less behind one that shares some of it, least behind itself. */
#include "expect.h"
#include "tile/tile.h"

enum { START = 1000, AGAIN = 30, PAIR = 130, ALIKE = 70, STAYING_BELOW = 80, KERNEL = 3000 };

static struct target target = {.kernel_start_cycles = START,
                               .kernel_again_percent = AGAIN,
                               .kernel_alike_percent = ALIKE,
                               .cache_percent = STAYING_BELOW};

static const struct dory_kernel_description small = {.start_percent = 50, .code = DORY_CODE_OF_STAGES},
                                            other_small = {.start_percent = 60, .code = DORY_CODE_OF_STAGES},
                                            large = {.start_percent = 90, .code = DORY_CODE_OF_PRODUCTS}, alone = {0};

static uint64_t start(const struct dory_kernel_description *before, const struct dory_kernel_description *kernel)
{
    const struct tile_problem problem = {.target = &target, .kernel = kernel, .kernel_before = before};
    return tile_fetch_cycles(&problem, true, KERNEL);
}

static void test_first_tiles(void)
{
    EXPECT_EQUAL(start(NULL, &small), 500);
    EXPECT_EQUAL(start(NULL, &alone), START);
    EXPECT_EQUAL(start(&large, &small), 500);
    EXPECT_EQUAL(start(&other_small, &small), 350);
    EXPECT_EQUAL(start(&small, &small), 150);
    EXPECT_EQUAL(start(&alone, &alone), START * ALIKE / 100); /* too large to stay */
    EXPECT_EQUAL(start(&large, &large), 630);
    EXPECT_EQUAL(start(&large, &alone), START);
}

/* From a table, a small kernel between two of the same leaves a part of its code; not one that a driver's cores have run. */
static void test_behind_another(void)
{
    struct target quick = target;
    quick.has_table = true;
    quick.pair_percent = PAIR;
    struct tile_problem problem = {
        .target = &quick, .kernel = &small, .kernel_before = &other_small, .kernel_of_second_before = &small};
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL),
                 500 * ALIKE / 100); /* the pair, of 50 + 60, leaves 80 percent: less comes anew of what they share */
    quick.kernel_alike_percent = 100;
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 400);
    problem.kernel_before = &large; /* 50 + 90 */
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 500);
    problem.kernel_before = &small;
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 150);
    problem.kernel_before = &other_small;
    problem.kernel_of_second_before = &large;
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 500);
    quick.pair_percent = 1000; /* a half comes anew at least */
    problem.kernel_of_second_before = &small;
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 250);
    quick.has_table = false;
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), 500);
}

/* From a table what is done between two tiles drives code out; a driver's cores do little there. */
static void test_later_tiles(void)
{
    struct target quick = target;
    quick.has_table = true;
    const struct tile_problem driven = {.target = &target, .kernel = &small}, walked = {.target = &quick, .kernel = &small};
    EXPECT_EQUAL(tile_fetch_cycles(&driven, false, KERNEL), 0);
    EXPECT_EQUAL(tile_fetch_cycles(&walked, false, KERNEL), 150);
}

/* A tile that is soon computed takes few ways through the code. */
static void test_short_tiles(void)
{
    struct target quick = target;
    quick.start_least_percent = 60;
    quick.start_half_cycles = KERNEL;
    const struct tile_problem problem = {.target = &quick, .kernel = &alone};
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, 0), START * 60 / 100);
    EXPECT_EQUAL(tile_fetch_cycles(&problem, true, KERNEL), START * 80 / 100);
    EXPECT_EQUAL(tile_kernel_start_cycles(&problem, 3 * KERNEL), START * 90 / 100);
}

/* By what the kernel before has driven out of the cores' cache. */
static void test_layer_overhead(void)
{
    struct target quick = target;
    quick.layer_overhead_cycles = 10;
    quick.layer_walk_cycles = 200;
    const struct tile_problem first = {.target = &quick, .kernel = &large},
                              behind = {.target = &quick, .kernel = &large, .kernel_before = &small};
    EXPECT_EQUAL(tile_layer_overhead_cycles(&first), 210);
    EXPECT_EQUAL(tile_layer_overhead_cycles(&behind), 110);
}

static void test_code_that_is_there(void)
{
    const struct tile_problem other = {.target = &target, .kernel = &small, .kernel_before = &other_small},
                              again = {.target = &target, .kernel = &small, .kernel_before = &small},
                              leaves = {.target = &target, .kernel = &large, .kernel_before = &large};
    EXPECT_THAT(!tile_has_code(&other, true));
    EXPECT_THAT(tile_has_code(&other, false));
    EXPECT_THAT(tile_has_code(&again, true));
    EXPECT_THAT(!tile_has_code(&leaves, false));
}

int main(void)
{
    test_first_tiles();
    test_behind_another();
    test_later_tiles();
    test_short_tiles();
    test_layer_overhead();
    test_code_that_is_there();
    return expect_result("code");
}
