/* The cluster by PMSIS: a task whose entry, on core 0, forks the team. */
#include <string.h>

#include "internal.h"

#define MAXIMUM_CORES 8
#define STACKS_BYTES  (MAXIMUM_CORES * DORY_PMSIS_STACK_BYTES) /* SDKs take as many, however many cores run */

static struct pi_device cluster;
static unsigned cores; /* 0: closed */
static void *stacks;   /* theirs, in L1 */
static bool is_running;
static void (*run_entry)(void *argument);
static void *run_argument;

PI_CL_L1 struct pmsis_team pmsis_team;

/* What was started beside the application. */
static bool is_busy;                /* until its end has been reported */
static volatile uint32_t has_ended; /* by the FC's event loop */

/* On the fabric controller: cycles up to its counter's value fc_counter. */
static uint32_t fc_cycles, fc_counter;

unsigned hal_cluster_maximum_cores(void) { return MAXIMUM_CORES; }
unsigned hal_core_id(void) { return (unsigned)pi_core_id(); }
unsigned hal_core_count(void) { return pmsis_team.cores; }
void hal_barrier(void) { pi_cl_team_barrier(); }
struct pi_device *pmsis_cluster(void) { return cores ? &cluster : NULL; }
bool pmsis_is_running(void) { return is_running; }
bool pmsis_refuses(void) { return is_busy && pi_is_fc(); }

static uint32_t counter(void) { return (uint32_t)pi_perf_read(PI_PERF_CYCLES); }

int hal_cluster_open(unsigned count)
{
    static struct pi_cluster_conf conf; /* the driver keeps the address, up to the end */
    if (count < 1 || count > MAXIMUM_CORES)
        return DORY_ERROR_ARGUMENT;
    if (cores)
        return DORY_ERROR_CLUSTER;
    pi_cluster_conf_init(&conf);
    conf.id = 0;
    pi_open_from_conf(&cluster, &conf);
    if (pi_cluster_open(&cluster) != 0)
        return DORY_ERROR_CLUSTER;
    stacks = pi_cl_l1_malloc(&cluster, STACKS_BYTES);
    if (!stacks) {
        pi_cluster_close(&cluster);
        return DORY_ERROR_MEMORY;
    }
    cores = count;
    pmsis_team = (struct pmsis_team){.cores = count}; /* L1 has just got its power */
    pi_perf_conf(1u << PI_PERF_CYCLES);
    pi_perf_start();
    fc_counter = counter();
    return DORY_OK;
}

int hal_cluster_close(void)
{
    if (!cores)
        return DORY_OK;
    if (is_busy)
        return DORY_ERROR_BUSY;
    pmsis_release_l1();
    pi_cl_l1_free(&cluster, stacks, STACKS_BYTES);
    hal_cycles(); /* from here on it stands still */
    cores = 0;
    return pi_cluster_close(&cluster) == 0 ? DORY_OK : DORY_ERROR_CLUSTER;
}

static void run_on_core_0(void *argument)
{
    (void)argument;
    pi_perf_conf(1u << PI_PERF_CYCLES);
    pi_perf_start();
    pi_cl_team_fork((int)cores, run_entry, run_argument);
}

int pmsis_prepare_run(struct pi_cluster_task *task, void (*entry)(void *argument), void *argument)
{
    if (!entry)
        return DORY_ERROR_ARGUMENT;
    if (is_busy)
        return DORY_ERROR_BUSY;
    if (!cores || is_running)
        return DORY_ERROR_CLUSTER;
    run_entry = entry;
    run_argument = argument;
    memset(task, 0, sizeof *task); /* SDKs differ in which members pi_cluster_task sets */
    pi_cluster_task(task, run_on_core_0, NULL);
    task->stacks = stacks; /* where an SDK finds no room for its own, some try for ever */
    task->stack_size = DORY_PMSIS_STACK_BYTES;
    task->slave_stack_size = DORY_PMSIS_STACK_BYTES;
    return DORY_OK;
}

int pmsis_begin_run(struct pi_cluster_task *task, pi_task_t *end)
{
    is_running = true;
    if (pi_cluster_send_task_to_cl_async(&cluster, task, end) == 0)
        return DORY_OK;
    is_running = false;
    return DORY_ERROR_CLUSTER;
}

void pmsis_end_run(void) { is_running = false; }

/* The call for the task blocks, and meanwhile the FC serves its events: those of the L3 queue, too. */
int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    struct pi_cluster_task task;
    int status = pmsis_prepare_run(&task, entry, argument);
    if (status != DORY_OK)
        return status;
    pmsis_l3_before_run();
    is_running = true;
    int sent = pi_cluster_send_task_to_cl(&cluster, &task);
    pmsis_l3_after_run();
    pmsis_end_run();
    return sent == 0 ? DORY_OK : DORY_ERROR_CLUSTER;
}

/* ---- beside the application: the last core is the driver, and goes on by itself -------------------------------------- */

static void on_end(void *argument)
{
    (void)argument;
    store(&has_ended, 1);
}

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    static struct pi_cluster_task task; /* the driver keeps the addresses */
    static pi_task_t end;
    (void)progress;
    if (!stack || is_busy) /* then `task` is in use */
        return stack ? DORY_ERROR_BUSY : DORY_ERROR_ARGUMENT;
    int status = pmsis_prepare_run(&task, entry, argument);
    if (status != DORY_OK)
        return status;
    store(&has_ended, 0);
    pmsis_l3_before_run();
    status = pmsis_begin_run(&task, pi_task_callback(&end, on_end, NULL));
    is_busy = status == DORY_OK;
    return status;
}

static int finish(void)
{
    pmsis_l3_after_run();
    is_busy = false;
    pmsis_end_run();
    return DORY_OK;
}

int hal_cluster_poll(void)
{
    if (!is_busy)
        return DORY_ERROR_ARGUMENT;
    return load(&has_ended) ? finish() : DORY_RUNNING;
}

int hal_cluster_wait(void)
{
    if (!is_busy)
        return DORY_ERROR_ARGUMENT;
    while (!load(&has_ended))
        pi_yield(); /* to the events of the L3 queue, and that of the end */
    return finish();
}

int hal_cluster_is_busy(void) { return is_busy; }

/* Each side has a timer of its own. The FC's, which runs at the FC's clock, is converted, a difference at a time. */
uint32_t hal_cycles(void)
{
    if (!pi_is_fc())
        return counter();
    if (cores) {
        uint32_t now = counter();
        uint64_t passed = (uint64_t)(now - fc_counter) * pi_freq_get(PI_FREQ_DOMAIN_CL);
        fc_cycles += (uint32_t)(passed / pi_freq_get(PI_FREQ_DOMAIN_FC));
        fc_counter = now;
    }
    return fc_cycles;
}

int hal_cycles_available(void) { return 1; }
