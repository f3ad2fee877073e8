/* What dory explore makes of cycles: time and energy, the front, the cheapest point in time, the fastest beside it. */
#include "explore/explore.h"

#include <math.h>

#include "expect.h"

static struct arena arena;
static struct network network = {.name = "a/model.onnx"};

static struct target gap8(void)
{
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    REQUIRE(target_load(&target, "gap8", &arena, &diagnostics));
    return target;
}

static struct explored point(uint32_t l2_bytes, uint32_t controller_mhz, uint32_t cluster_mhz, uint64_t cycles)
{
    return (struct explored){
        .l1_bytes = 65536, .l2_bytes = l2_bytes, .clocks = {controller_mhz, cluster_mhz}, .cycles = cycles};
}

/* At 100/100: 51 mW. A larger memory that saves a tenth of the cycles; one that saves none; one that is too small. */
static void test_points(void)
{
    struct target target = gap8();
    struct explore_question question = {.network = &network, .target = &target, .deadline_milliseconds = 95};
    struct explored points[] = {
        point(524288, 100, 100, 10000000), point(524288, 250, 250, 10000000), point(1048576, 100, 100, 9000000),
        point(2097152, 100, 100, 9000000), point(16384, 100, 100, 0),
    };
    struct exploration exploration = {.question = &question, .points = points, .count = 5};
    explore_estimate(&exploration);
    EXPECT_THAT(fabs(points[0].milliseconds - 100) < 1e-9 && fabs(points[0].millijoules - 5.1) < 1e-9);
    EXPECT_THAT(fabs(points[1].milliseconds - 40) < 1e-9 && points[1].millijoules > 9 && points[1].millijoules < 10);
    EXPECT(!points[0].is_on_front, "the larger memory is faster and cheaper");
    EXPECT(points[1].is_on_front, "the fastest");
    EXPECT(points[2].is_on_front && !points[3].is_on_front, "of equals the first");
    EXPECT(!points[4].is_on_front && points[4].millijoules == 0, "what does not fit");
    EXPECT_EQUAL(exploration.cheapest, 2);
    EXPECT_EQUAL(exploration.fastest, 2); /* with the memories of the cheapest */
}

static void test_deadline(void)
{
    struct target target = gap8();
    struct explore_question question = {.network = &network, .target = &target, .deadline_milliseconds = 50};
    struct explored points[] = {point(524288, 100, 100, 10000000), point(524288, 250, 250, 10000000)};
    struct exploration exploration = {.question = &question, .points = points, .count = 2};
    explore_estimate(&exploration);
    EXPECT_EQUAL(exploration.cheapest, 1);
    question.deadline_milliseconds = 10;
    explore_estimate(&exploration);
    EXPECT_EQUAL(exploration.cheapest, -1);
    EXPECT_EQUAL(exploration.fastest, 1);
    question.deadline_milliseconds = 0;
    explore_estimate(&exploration);
    EXPECT_EQUAL(exploration.cheapest, 0);
}

/* A machine whose power nobody measured has times, and no energies that somebody could take for known. */
static void test_without_power(void)
{
    struct target target = gap8();
    struct explore_question question = {.network = &network, .target = &target};
    struct explored points[] = {point(524288, 100, 100, 10000000), point(524288, 250, 250, 10000000)};
    struct exploration exploration = {.question = &question, .points = points, .count = 2};
    target.low.source = NULL;
    explore_estimate(&exploration);
    EXPECT_THAT(points[0].millijoules == 0 && !points[0].is_on_front && points[1].is_on_front);
    EXPECT_EQUAL(exploration.cheapest, -1);
    EXPECT_EQUAL(exploration.fastest, 1);
}

static const struct test tests[] = {TEST(test_points), TEST(test_deadline), TEST(test_without_power)};

int main(void)
{
    int status = RUN_TESTS("explore", tests, NULL);
    arena_free(&arena);
    return status;
}
