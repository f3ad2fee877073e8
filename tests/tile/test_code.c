/* What a kernel's code takes to come to the cores' cache: less behind a kernel that shares some of it, least behind itself.
 */
#include "expect.h"
#include "tile/tile.h"

enum { START = 1000, AGAIN = 30, ALIKE = 70, STAYING_BELOW = 80 };

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
    return tile_fetch_cycles(&problem, true);
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

/* From a table what is done between two tiles drives code out; a driver's cores do little there. */
static void test_later_tiles(void)
{
    struct target quick = target;
    quick.has_table = true;
    const struct tile_problem driven = {.target = &target, .kernel = &small}, walked = {.target = &quick, .kernel = &small};
    EXPECT_EQUAL(tile_fetch_cycles(&driven, false), 0);
    EXPECT_EQUAL(tile_fetch_cycles(&walked, false), 150);
}

int main(void)
{
    test_first_tiles();
    test_later_tiles();
    return expect_result("code");
}
