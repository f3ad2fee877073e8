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

static void every_core_runs_once(void **state)
{
    (void)state;
    for (unsigned cores = 1; cores <= HAL_HOST_MAXIMUM_CORES; cores++) {
        struct work work = {.cores = cores};
        fresh_hal(HAL_HOST_MIXED, 1);
        assert_int_equal(hal_cluster_open(cores), DORY_OK);
        for (unsigned run = 1; run <= 3; run++) {
            assert_int_equal(hal_cluster_run(visit, &work), DORY_OK);
            for (unsigned core = 0; core < HAL_HOST_MAXIMUM_CORES; core++) {
                assert_int_equal(work.visits[core], core < cores ? run : 0);
                assert_int_equal(work.errors[core], 0);
            }
        }
        assert_int_equal(hal_cluster_close(), DORY_OK);
        assert_int_equal(hal_core_count(), 0);
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

static void barriers_keep_step(void **state)
{
    (void)state;
    for (unsigned cores = 1; cores <= HAL_HOST_MAXIMUM_CORES; cores += 5) {
        struct work work = {0};
        assert_int_equal(run_on(cores, step_in_time, &work), DORY_OK);
        for (unsigned core = 0; core < cores; core++)
            assert_int_equal(work.errors[core], 0);
    }
}

static void order_of_life(void **state)
{
    (void)state;
    struct work work = {0};
    fresh_hal(HAL_HOST_MIXED, 1);
    assert_int_equal(hal_cluster_maximum_cores(), HAL_HOST_MAXIMUM_CORES);
    assert_int_equal(hal_cluster_run(visit, &work), DORY_ERROR_CLUSTER);
    assert_int_equal(hal_cluster_open(0), DORY_ERROR_ARGUMENT);
    assert_int_equal(hal_cluster_open(HAL_HOST_MAXIMUM_CORES + 1), DORY_ERROR_ARGUMENT);
    assert_int_equal(hal_cluster_open(2), DORY_OK);
    assert_int_equal(hal_cluster_open(2), DORY_ERROR_CLUSTER);
    assert_int_equal(hal_host_configure(NULL), DORY_ERROR_CLUSTER);
    assert_int_equal(hal_cluster_run(NULL, NULL), DORY_ERROR_ARGUMENT);
    assert_int_equal(hal_cluster_close(), DORY_OK);
    assert_int_equal(hal_cluster_close(), DORY_OK);
    hal_barrier(); /* the FC has nobody to wait for */
    assert_int_equal(hal_core_id(), 0);
}

static void run_inside_a_run(void *argument)
{
    int *status = argument;
    *status = hal_cluster_run(visit, NULL);
}

static void cores_start_no_runs(void **state)
{
    (void)state;
    int status = DORY_OK;
    fresh_hal(HAL_HOST_MIXED, 1);
    assert_int_equal(run_on(1, run_inside_a_run, &status), DORY_OK);
    assert_int_equal(status, DORY_ERROR_CLUSTER);
}

static void host_has_no_cycles(void **state)
{
    (void)state;
    assert_int_equal(hal_cycles_available(), 0);
    assert_int_equal(hal_cycles(), 0);
    hal_log("");
    hal_log(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_core_runs_once), cmocka_unit_test(barriers_keep_step), cmocka_unit_test(order_of_life),
        cmocka_unit_test(cores_start_no_runs),  cmocka_unit_test(host_has_no_cycles),
    };
    return cmocka_run_group_tests_name("host HAL: cluster", tests, NULL, NULL);
}
