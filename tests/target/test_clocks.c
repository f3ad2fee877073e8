/* Costs at clocks of controller and cluster, and the power at them. */
#include <math.h>

#include "expect.h"
#include "target/target.h"

static struct arena arena;

static struct target gap8(void)
{
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    REQUIRE(target_load(&target, "gap8", &arena, &diagnostics));
    return target;
}

static struct target at(uint32_t controller_mhz, uint32_t cluster_mhz)
{
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target = gap8();
    REQUIRE(target_set_clocks(&target, controller_mhz, cluster_mhz, &diagnostics));
    return target;
}

static void test_equal_clocks(void)
{
    struct target plain = gap8(), equal = at(175, 175);
    EXPECT_EQUAL(equal.controller_mhz, 175);
    EXPECT_THAT(equal.at_equal_clocks == NULL);
    equal.controller_mhz = equal.cluster_mhz = 0;
    EXPECT_EQUAL(equal.tile_driver_cycles, plain.tile_driver_cycles);
    EXPECT_EQUAL(equal.layer_overhead_cycles, plain.layer_overhead_cycles);
    EXPECT_EQUAL(equal.l3_bytes_per_1000_cycles, plain.l3_bytes_per_1000_cycles);
    EXPECT_EQUAL(equal.dma_read_bytes_per_1000_cycles, plain.dma_read_bytes_per_1000_cycles);
    EXPECT_EQUAL(equal.dma_contention_cycles, plain.dma_contention_cycles);
}

/* Cycles of the cluster: of a slower controller's work and memories there are more. */
static void test_slow_controller(void)
{
    struct target plain = gap8(), slow = at(50, 100);
    EXPECT_EQUAL(slow.l3_setup_cycles, 2 * plain.l3_setup_cycles);
    EXPECT_EQUAL(slow.tile_driver_cycles, 2 * plain.tile_driver_cycles);
    EXPECT_EQUAL(slow.transfer_driver_cycles, 2 * plain.transfer_driver_cycles);
    EXPECT_EQUAL(slow.l3_bytes_per_1000_cycles, plain.l3_bytes_per_1000_cycles / 2);
    EXPECT_EQUAL(slow.dma_read_bytes_per_1000_cycles, plain.dma_read_bytes_per_1000_cycles);
    EXPECT_EQUAL(slow.port_bytes_per_1000_cycles, plain.port_bytes_per_1000_cycles / 2);
    EXPECT_EQUAL(slow.layer_overhead_cycles, plain.layer_overhead_cycles); /* all of it the cores' */
    EXPECT_EQUAL(slow.dma_contention_cycles, plain.dma_contention_cycles / 2);
    EXPECT_EQUAL(slow.table_run_overhead_cycles, 2 * plain.table_run_overhead_cycles);
    REQUIRE(slow.at_equal_clocks != NULL);
    EXPECT_EQUAL(slow.at_equal_clocks->tile_driver_cycles, plain.tile_driver_cycles);
}

static void test_fast_controller(void)
{
    struct target plain = gap8(), fast = at(250, 50);
    EXPECT_EQUAL(fast.tile_driver_cycles, plain.tile_driver_cycles / 5);
    EXPECT_EQUAL(fast.l3_bytes_per_1000_cycles, 5 * plain.l3_bytes_per_1000_cycles);
    EXPECT_EQUAL(fast.dma_read_bytes_per_1000_cycles, plain.dma_read_bytes_per_1000_cycles);
    EXPECT_EQUAL(fast.port_bytes_per_1000_cycles, 5 * plain.port_bytes_per_1000_cycles);
    EXPECT_EQUAL(fast.tile_overhead_cycles, plain.tile_overhead_cycles);
    EXPECT_EQUAL(fast.dma_contention_cycles, plain.dma_contention_cycles);
}

/* With a table of tiles the driver has nothing to do with them, at equal clocks and at others. */
static void test_with_table(void)
{
    struct target plain = gap8(), slow = at(50, 100);
    const struct target *quick = target_with_table(&slow, &arena);
    EXPECT_EQUAL(quick->tile_driver_cycles, 0);
    EXPECT_EQUAL(quick->turn_driver_cycles, 0);
    EXPECT_EQUAL(quick->step_driver_cycles, 0);
    EXPECT_EQUAL(quick->run_overhead_cycles, slow.table_run_overhead_cycles);
    REQUIRE(quick->at_equal_clocks != NULL);
    EXPECT_EQUAL(quick->at_equal_clocks->tile_overhead_cycles, plain.table_tile_overhead_cycles);
}

/* Only the ratio counts: what is planned for one pair is the plan of all that have it. */
static void test_ratio(void)
{
    struct target a = at(50, 100), b = at(125, 250);
    a.controller_mhz = b.controller_mhz = a.cluster_mhz = b.cluster_mhz = 0;
    EXPECT_EQUAL(a.tile_driver_cycles, b.tile_driver_cycles);
    EXPECT_EQUAL(a.step_driver_cycles, b.step_driver_cycles);
    EXPECT_EQUAL(a.l3_bytes_per_1000_cycles, b.l3_bytes_per_1000_cycles);
    EXPECT_EQUAL(a.dma_write_bytes_per_1000_cycles, b.dma_write_bytes_per_1000_cycles);
}

static void test_refused(void)
{
    static const uint32_t pairs[][2] = {{15, 100}, {251, 100}, {100, 251}, {100, 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target = gap8();
        EXPECT_THAT(!target_set_clocks(&target, pairs[i][0], pairs[i][1], &diagnostics));
        EXPECT_EQUAL(diagnostics.error_count, 1);
        EXPECT_THAT(strstr(diagnostics.list[0].text, "16 to 250") != NULL);
    }
}

static void test_texts(void)
{
    uint32_t controller, cluster;
    EXPECT_THAT(target_read_clocks("250/175", &controller, &cluster) && controller == 250 && cluster == 175);
    static const char *const wrong[] = {"",           "250",  "250/",  "/175",          "250/175/1",
                                        "250/175MHz", "-1/2", "0/100", "99999999999/1", "1 /2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(!target_read_clocks(wrong[i], &controller, &cluster), "'%s'", wrong[i]);
}

static bool is_near(double value, double expected) { return fabs(value - expected) < 0.001 * expected; }

/* What was measured is what is said; and in between nothing is invented but the law through both points. */
static void test_power(void)
{
    struct target target = gap8();
    EXPECT_THAT(is_near(target_power_milliwatts(&target, 100, 100), 51.0));
    EXPECT_THAT(is_near(target_power_milliwatts(&target, 260, 260), 262.2));
    EXPECT_THAT(is_near(target_power_milliwatts(&target, 50, 50), 25.5));
    EXPECT_THAT(target_power_milliwatts(&target, 300, 100) == 0);
    double middle = target_power_milliwatts(&target, 161, 161);
    EXPECT_THAT(is_near(middle * middle, 51.0 * 262.2) || fabs(middle - 115.6) < 1);
    EXPECT_THAT(target_power_milliwatts(&target, 50, 100) < 51.0 && target_power_milliwatts(&target, 50, 100) > 25.5);
    target.low.source = NULL;
    EXPECT_THAT(target_power_milliwatts(&target, 100, 100) == 0);
}

static const struct test tests[] = {TEST(test_equal_clocks), TEST(test_slow_controller), TEST(test_fast_controller),
                                    TEST(test_ratio),        TEST(test_refused),         TEST(test_texts),
                                    TEST(test_power),        TEST(test_with_table)};

int main(void)
{
    int status = RUN_TESTS("clocks", tests, NULL);
    arena_free(&arena);
    return status;
}
