/* The cluster: opening with any number of cores, repeated runs, barriers with unequal arrival, misuse. */
#include "dory/hal.h"
#include "expect.h"

#define ROUNDS 200

static volatile uint32_t arrived[8] DORY_L1;
static volatile uint32_t seen_wrong DORY_L1;
static volatile uint32_t runs_seen DORY_L1;

static void busy(uint32_t loops)
{
    for (volatile uint32_t loop = 0; loop < loops; loop++) {
    }
}

/* Between two barriers every core has done the same number of rounds, whoever came last. */
static void barrier_rounds(void *argument)
{
    unsigned core = hal_core_id(), cores = hal_core_count();
    (void)argument;
    arrived[core] = 0;
    if (core == 0)
        seen_wrong = 0;
    hal_barrier();
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        busy((core * 7 + round * 5) % 23);
        arrived[core] = round;
        hal_barrier();
        for (unsigned other = 0; other < cores; other++)
            if (arrived[other] != round)
                seen_wrong = seen_wrong + 1;
        hal_barrier();
    }
}

static void count_run(void *argument)
{
    if (hal_core_id() == hal_core_count() - 1)
        runs_seen += *(uint32_t *)argument;
}

static void test_with_cores(unsigned cores)
{
    EXPECT_EQUAL(hal_cluster_open(cores), DORY_OK);
    EXPECT_EQUAL(hal_cluster_open(cores), DORY_ERROR_CLUSTER);
    EXPECT_EQUAL(hal_cluster_run(barrier_rounds, NULL), DORY_OK);
    EXPECT_EQUAL(seen_wrong, 0);
    for (unsigned core = 0; core < cores; core++)
        EXPECT_EQUAL(arrived[core], ROUNDS);

    runs_seen = 0;
    for (uint32_t run = 1; run <= 50; run++)
        EXPECT_EQUAL(hal_cluster_run(count_run, &run), DORY_OK);
    EXPECT_EQUAL(runs_seen, 50 * 51 / 2);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
}

static void test_misuse(void)
{
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(count_run, NULL), DORY_ERROR_CLUSTER);
    EXPECT_EQUAL(hal_cluster_open(0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_open(9), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_maximum_cores(), 8);
}

static void test_time(void)
{
    EXPECT_EQUAL(hal_cycles_available(), 1);
    uint32_t closed = hal_cycles();
    EXPECT_EQUAL(hal_cycles(), closed);
    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    uint32_t first = hal_cycles();
    EXPECT_THAT(first >= closed);
    busy(100);
    EXPECT_THAT(hal_cycles() - first > 100);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
}

static void test_memory(void)
{
    void *first, *second, *rest;
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 13, &first), DORY_OK);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 8, &second), DORY_OK);
    EXPECT_EQUAL((uint8_t *)second - (uint8_t *)first, 16);
    EXPECT_EQUAL((uintptr_t)first % DORY_ALIGNMENT, 0);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 256 * 1024, &rest), DORY_ERROR_MEMORY);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 8, NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 53 * 1024, &rest), DORY_OK);
    EXPECT_THAT(rest == first);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L2, 400 * 1024, &rest), DORY_OK);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

int main(void)
{
    test_misuse();
    for (unsigned cores = 8; cores >= 1; cores--)
        test_with_cores(cores);
    test_time();
    test_memory();
    return expect_result("chip: cluster");
}
