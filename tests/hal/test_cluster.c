/* Host HAL, cluster: every core once, barriers, order of life; meant to run under ThreadSanitizer too. */
#include "support.h"

struct work {
    unsigned cores;
    unsigned visits[HAL_HOST_MAXIMUM_CORES];
    unsigned sums[HAL_HOST_MAXIMUM_CORES]; /* plain memory: only the barriers make it safe */
    unsigned errors[HAL_HOST_MAXIMUM_CORES];
};

static void visit(void *argument)
{
    struct work *work = argument;
    work->visits[hal_core_id()]++;
    work->errors[hal_core_id()] += hal_core_count() != work->cores;
}

static void every_core_runs_once(void)
{
    for (unsigned cores = 1; cores <= HAL_HOST_MAXIMUM_CORES; cores++) {
        struct work work = {.cores = cores};
        fresh_hal(HAL_HOST_MIXED, 1);
        EXPECT_EQUAL(hal_cluster_open(cores), DORY_OK);
        for (unsigned run = 1; run <= 3; run++) {
            EXPECT_EQUAL(hal_cluster_run(visit, &work), DORY_OK);
            for (unsigned core = 0; core < HAL_HOST_MAXIMUM_CORES; core++) {
                EXPECT_EQUAL(work.visits[core], core < cores ? run : 0);
                EXPECT_EQUAL(work.errors[core], 0);
            }
        }
        EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
        EXPECT_EQUAL(hal_core_count(), 0);
    }
}

/* Each core adds to its own sum, then checks everybody else's. */
static void step_in_time(void *argument)
{
    struct work *work = argument;
    unsigned self = hal_core_id(), cores = hal_core_count();
    for (unsigned step = 1; step <= 200; step++) {
        work->sums[self] += step;
        hal_barrier();
        for (unsigned core = 0; core < cores; core++)
            work->errors[self] += work->sums[core] != step * (step + 1) / 2;
        hal_barrier();
    }
}

static void barriers_keep_step(void)
{
    for (unsigned cores = 1; cores <= HAL_HOST_MAXIMUM_CORES; cores += 5) {
        struct work work = {0};
        EXPECT_EQUAL(run_on(cores, step_in_time, &work), DORY_OK);
        for (unsigned core = 0; core < cores; core++)
            EXPECT_EQUAL(work.errors[core], 0);
    }
}

static void order_of_life(void)
{
    struct work work = {0};
    fresh_hal(HAL_HOST_MIXED, 1);
    EXPECT_EQUAL(hal_cluster_maximum_cores(), HAL_HOST_MAXIMUM_CORES);
    EXPECT_EQUAL(hal_cluster_run(visit, &work), DORY_ERROR_CLUSTER);
    EXPECT_EQUAL(hal_cluster_open(0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_open(HAL_HOST_MAXIMUM_CORES + 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_open(2), DORY_OK);
    EXPECT_EQUAL(hal_cluster_open(2), DORY_ERROR_CLUSTER);
    EXPECT_EQUAL(hal_host_configure(NULL), DORY_ERROR_CLUSTER);
    EXPECT_EQUAL(hal_cluster_run(NULL, NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    hal_barrier(); /* the FC has nobody to wait for */
    EXPECT_EQUAL(hal_core_id(), 0);
}

static void run_inside_a_run(void *argument)
{
    int *status = argument;
    *status = hal_cluster_run(visit, NULL);
}

static void cores_start_no_runs(void)
{
    int status = DORY_OK;
    fresh_hal(HAL_HOST_MIXED, 1);
    EXPECT_EQUAL(run_on(1, run_inside_a_run, &status), DORY_OK);
    EXPECT_EQUAL(status, DORY_ERROR_CLUSTER);
}

static void host_has_no_cycles(void)
{
    EXPECT_EQUAL(hal_cycles_available(), 0);
    EXPECT_EQUAL(hal_cycles(), 0);
    hal_log("");
    hal_log(NULL);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(every_core_runs_once), TEST(barriers_keep_step), TEST(order_of_life),
        TEST(cores_start_no_runs),  TEST(host_has_no_cycles),
    };
    return RUN_TESTS("host HAL: cluster", tests, NULL);
}
