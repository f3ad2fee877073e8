/* What a kernel's code takes to come to the cores' cache: the more, the more code has run since. */
#include "expect.h"
#include "tile/tile.h"

enum { START = 1000, ROOM = 4000 };

static const struct target target = {.kernel_start_cycles = START, .code_room_cycles = ROOM, .loop_code_cycles = 200};
static const struct dory_kernel_description small = {.code_percent = 50}, whole = {0};

static uint64_t start(const struct dory_kernel_description *kernel, uint64_t code_since_cycles)
{
    const struct tile_problem problem = {.target = &target, .kernel = kernel, .code_since_cycles = code_since_cycles};
    return tile_kernel_start_cycles(&problem);
}

static void test_all_code(void)
{
    EXPECT_EQUAL(tile_code_cycles(&target, &small), START / 2);
    EXPECT_EQUAL(tile_code_cycles(&target, &whole), START);
}

static void test_as_much_is_missing_as_others_take_room(void)
{
    EXPECT_EQUAL(start(&small, 0), 0);
    EXPECT_EQUAL(start(&small, ROOM / 10), 50);
    EXPECT_EQUAL(start(&small, ROOM / 2), 250);
    EXPECT_EQUAL(start(&small, ROOM), 500);
    EXPECT_EQUAL(start(&small, 2 * ROOM), 500);
    EXPECT_EQUAL(start(&whole, ROOM / 2), 500);
}

/* The loop's code runs between all kernels, so that what they take in all drives it out. */
static void test_loop_code(void)
{
    struct tile_problem problem = {.target = &target, .kernel = &small, .all_code_cycles = ROOM / 4};
    EXPECT_EQUAL(tile_kernel_start_cycles(&problem), 50);
    problem.code_since_cycles = ROOM / 2;
    EXPECT_EQUAL(tile_kernel_start_cycles(&problem), 50 + 250);
    problem.all_code_cycles = 2 * ROOM;
    EXPECT_EQUAL(tile_kernel_start_cycles(&problem), 200 + 250);
}

static void test_a_usual_part(void) { EXPECT_EQUAL(start(&small, tile_usual_code_cycles(&target)), 100); }

int main(void)
{
    test_all_code();
    test_as_much_is_missing_as_others_take_room();
    test_loop_code();
    test_a_usual_part();
    return expect_result("code");
}
