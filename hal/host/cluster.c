/* The cluster of the host HAL: one thread a core, parked between runs; where the fabric controller drives, it is one party
 * more.
 *
 * That a run begins, that it ends, barriers, and notices to the driver order the parties' memory accesses. ThreadSanitizer
 * is told just these four, and not the lock behind them: whoever takes it late would seem ordered behind all that others
 * have done since. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "internal.h"

enum core_state { CORE_PARKED, CORE_RUNNING, CORE_AT_BARRIER, CORE_RETURNED };

struct barrier {
    pthread_cond_t condition;
    unsigned waiting;
    uint64_t passed;
    char events[2]; /* for ThreadSanitizer; they take turns */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t start;  /* a run begins, or the cluster closes */
    pthread_cond_t finish; /* the last party has returned */
    struct barrier barrier, meeting;
    pthread_t threads[HAL_HOST_MAXIMUM_CORES];
    enum core_state states[PARTIES];
    unsigned cores;   /* 0: closed */
    unsigned parties; /* of this run: the cores, and a driver that is none */
    int driver;       /* its number */
    unsigned returned;
    uint64_t run; /* a count: who waits, waits for a change */
    unsigned timeout_milliseconds;
    bool closing;
    void (*entry)(void *argument);
    void *argument;
    unsigned notices; /* given to the driver, not awaited */
    pthread_cond_t notice;
    char begin_event, end_event, notice_event; /* for ThreadSanitizer */
} cluster = {.lock = PTHREAD_MUTEX_INITIALIZER, .start = PTHREAD_COND_INITIALIZER, .finish = PTHREAD_COND_INITIALIZER};

static _Thread_local int this_core = FABRIC_CONTROLLER;

static void lock(void)
{
    host_unordered_begin();
    pthread_mutex_lock(&cluster.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&cluster.lock);
    host_unordered_end();
}

int cluster_this_core(void) { return this_core; }
bool cluster_is_open(void) { return cluster.cores != 0; }
unsigned hal_cluster_maximum_cores(void) { return HAL_HOST_MAXIMUM_CORES; }
unsigned hal_core_id(void) { return this_core < 0 ? 0 : (unsigned)this_core; }
unsigned hal_core_count(void) { return cluster.cores; }

/* ---- deadlock ---------------------------------------------------------------------------------------------- */

/* A core that waits for ever would hang a test; abort shows where everybody is instead. Called with the lock. */
static void abort_deadlocked(const char *reason)
{
    static const char *const states[] = {"parked", "is running", "waits at a barrier", "has returned"};
    fflush(stdout); /* what the firmware logged so far */
    fprintf(stderr, "dory hal: deadlock: %s\n", reason);
    for (unsigned core = 0; core < cluster.cores; core++)
        fprintf(stderr, "dory hal:   core %u %s\n", core, states[cluster.states[core]]);
    if (cluster.parties > cluster.cores)
        fprintf(stderr, "dory hal:   the driver %s\n", states[cluster.states[cluster.driver]]);
    fflush(stderr);
    abort();
}

/* Those who wait, wait for one that has returned. */
static void check_deadlock(void)
{
    unsigned waiting = cluster.barrier.waiting + cluster.meeting.waiting;
    if (waiting > 0 && cluster.returned > 0 && waiting + cluster.returned == cluster.parties)
        abort_deadlocked("a core returned while others wait at a barrier");
}

/* ---- barrier ----------------------------------------------------------------------------------------------- */

static struct timespec deadline(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += cluster.timeout_milliseconds / 1000;
    time.tv_nsec += (long)(cluster.timeout_milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* With the lock. False: it has taken too long. A driver that the application polls lets it go on meanwhile, which then
 * decides how long that takes. */
static bool wait_on(pthread_cond_t *condition, const struct timespec *until)
{
    if (!start_driver_is_polled())
        return pthread_cond_timedwait(condition, &cluster.lock, until) != ETIMEDOUT || start_is_polled();
    unlock();
    start_yield();
    lock();
    return true;
}

static void wait_for_others(struct barrier *barrier)
{
    uint64_t passed = barrier->passed;
    struct timespec until = deadline();
    cluster.states[this_core] = CORE_AT_BARRIER;
    barrier->waiting++;
    check_deadlock();
    while (barrier->passed == passed) {
        if (!wait_on(&barrier->condition, &until) && barrier->passed == passed)
            abort_deadlocked("not all cores came to a barrier in time");
    }
}

/* Nobody can pass without this party, so that all of them take the same event. */
static char *event_of(struct barrier *barrier)
{
    lock();
    char *event = &barrier->events[barrier->passed % 2];
    unlock();
    return event;
}

static void pass(struct barrier *barrier, unsigned parties)
{
    if (this_core == FABRIC_CONTROLLER || parties == 1)
        return;
    char *event = event_of(barrier);
    host_order_before(event);
    lock();
    if (barrier->waiting + 1 < parties) {
        wait_for_others(barrier);
    } else {
        barrier->waiting = 0;
        barrier->passed++;
        pthread_cond_broadcast(&barrier->condition);
    }
    cluster.states[this_core] = CORE_RUNNING;
    unlock();
    host_order_after(event);
}

void hal_barrier(void) { pass(&cluster.barrier, cluster.cores); }
void hal_meet(void) { pass(&cluster.meeting, cluster.parties); }

void hal_notify(void)
{
    host_order_before(&cluster.notice_event);
    lock();
    cluster.notices++;
    pthread_cond_broadcast(&cluster.notice);
    unlock();
}

/* There is none to wait for where the driver is the core that has given it. */
void hal_await_notice(void)
{
    lock();
    struct timespec until = deadline();
    while (cluster.notices == 0)
        if (!wait_on(&cluster.notice, &until) && cluster.notices == 0)
            abort_deadlocked("the driver waits for a notice that no core gives");
    cluster.notices--;
    unlock();
    host_order_after(&cluster.notice_event);
}

int hal_is_driver(void) { return this_core == cluster.driver; }
int hal_is_core(void) { return this_core != (int)cluster.cores; }

/* ---- cores ------------------------------------------------------------------------------------------------- */

/* Waits for a run, given the number of the last one; false: the cluster closes. */
static bool wait_for_run(uint64_t last_run)
{
    lock();
    while (cluster.run == last_run && !cluster.closing)
        pthread_cond_wait(&cluster.start, &cluster.lock);
    bool runs = !cluster.closing;
    unlock();
    host_order_after(&cluster.begin_event);
    return runs;
}

static void return_from_run(void)
{
    host_order_before(&cluster.end_event);
    lock();
    cluster.states[this_core] = CORE_RETURNED;
    cluster.returned++;
    check_deadlock();
    if (cluster.returned == cluster.parties)
        pthread_cond_signal(&cluster.finish);
    unlock();
}

/* ---- the cores' threads ------------------------------------------------------------------------------------ */

static void *core_main(void *core)
{
    this_core = (int)(intptr_t)core;
    for (uint64_t run = 0; wait_for_run(run); run++) {
        cluster.entry(cluster.argument);
        return_from_run();
    }
    return NULL;
}

/* ---- the fabric controller's side -------------------------------------------------------------------------- */

static void join_cores(unsigned cores)
{
    lock();
    cluster.closing = true;
    pthread_cond_broadcast(&cluster.start);
    unlock();
    for (unsigned core = 0; core < cores; core++) {
        pthread_join(cluster.threads[core], NULL);
        stack_drop(core);
    }
    cluster.closing = false;
    cluster.cores = 0;
}

static int start_core(unsigned core)
{
    pthread_attr_t attributes;
    int status = stack_make(core);
    if (status != DORY_OK)
        return status;
    pthread_attr_init(&attributes);
    bool started = stack_use(core, &attributes) &&
                   pthread_create(&cluster.threads[core], &attributes, core_main, (void *)(intptr_t)core) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        stack_drop(core);
    return started ? DORY_OK : DORY_ERROR_CLUSTER;
}

static int start_cores(unsigned cores)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&cluster.barrier.condition, &attributes);
    pthread_cond_init(&cluster.meeting.condition, &attributes);
    pthread_cond_init(&cluster.notice, &attributes);
    pthread_condattr_destroy(&attributes);
    cluster.run = 0;
    cluster.cores = cores;
    for (unsigned core = 0; core < cores; core++) {
        cluster.states[core] = CORE_PARKED;
        int status = start_core(core);
        if (status != DORY_OK) {
            join_cores(core);
            return status;
        }
    }
    return DORY_OK;
}

int hal_cluster_open(unsigned cores)
{
    int status = DORY_OK;
    if (cores < 1 || cores > HAL_HOST_MAXIMUM_CORES)
        return DORY_ERROR_ARGUMENT;
    host_enter();
    if (host_fault(HAL_HOST_CLUSTER_OPEN))
        status = DORY_ERROR_CLUSTER;
    else if (cluster.cores)
        status = host_violation(DORY_ERROR_CLUSTER, "hal_cluster_open: the cluster is open already");
    else if (!memory_static_data_fit())
        status = DORY_ERROR_MEMORY;
    cluster.timeout_milliseconds = host_options.barrier_timeout_milliseconds;
    host_leave();
    return status ? status : start_cores(cores);
}

static int check_run(void)
{
    int status = start_check_idle("hal_cluster_run");
    if (status != DORY_OK)
        return status;
    host_enter();
    if (host_fault(HAL_HOST_CLUSTER_RUN))
        status = DORY_ERROR_CLUSTER;
    else if (this_core != FABRIC_CONTROLLER)
        status = host_violation(DORY_ERROR_CLUSTER, "hal_cluster_run called on core %d of the cluster", this_core);
    else if (!cluster.cores)
        status = host_violation(DORY_ERROR_CLUSTER, "hal_cluster_run: the cluster is not open");
    host_leave();
    return status;
}

static bool fabric_controller_drives(void)
{
    static const uint64_t stream = 0xD121;
    if (host_options.driver == HAL_HOST_DRIVER_MIXED)
        return host_random(stream, cluster.run) & 1;
    return host_options.driver == HAL_HOST_DRIVER_FABRIC_CONTROLLER;
}

int cluster_begin(void (*entry)(void *argument), void *argument, bool has_driver)
{
    if (!entry)
        return DORY_ERROR_ARGUMENT;
    int status = check_run();
    if (status != DORY_OK)
        return status;
    bool is_beside = has_driver && fabric_controller_drives();
    cluster.parties = cluster.cores + is_beside;
    cluster.driver = (int)cluster.parties - 1;
    cluster.entry = entry;
    cluster.argument = argument;
    host_order_before(&cluster.begin_event);
    lock();
    cluster.returned = 0;
    for (unsigned party = 0; party < cluster.parties; party++)
        cluster.states[party] = CORE_RUNNING;
    cluster.run++;
    pthread_cond_broadcast(&cluster.start);
    unlock();
    return DORY_OK;
}

bool cluster_has_driver_beside(void) { return cluster.parties > cluster.cores; }

void cluster_drive_beside(void)
{
    this_core = cluster.driver;
    cluster.entry(cluster.argument);
    return_from_run();
    this_core = FABRIC_CONTROLLER;
}

bool cluster_has_ended(void)
{
    lock();
    bool has_ended = cluster.returned == cluster.parties;
    unlock();
    return has_ended;
}

int cluster_finish(void)
{
    lock();
    while (cluster.returned < cluster.parties)
        pthread_cond_wait(&cluster.finish, &cluster.lock);
    unlock();
    host_order_after(&cluster.end_event);
    host_enter();
    int status = dma_end_of_run(), stack_status = stacks_check(cluster.cores);
    if (status == DORY_OK && cluster.notices > 0)
        status = host_violation(DORY_ERROR_CLUSTER, "the driver has not awaited %u notices", cluster.notices);
    cluster.notices = 0;
    host_leave();
    return stack_status ? stack_status : status;
}

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    int status = cluster_begin(entry, argument, false);
    return status ? status : cluster_finish();
}

int hal_cluster_drive(void (*entry)(void *argument), void *argument)
{
    int status = cluster_begin(entry, argument, true);
    if (status != DORY_OK)
        return status;
    if (cluster_has_driver_beside())
        cluster_drive_beside();
    return cluster_finish();
}

int hal_cluster_close(void)
{
    int status = start_check_idle("hal_cluster_close");
    if (status != DORY_OK)
        return status;
    host_enter();
    status = host_fault(HAL_HOST_CLUSTER_CLOSE) ? DORY_ERROR_STACK : stacks_check(cluster.cores);
    host_leave();
    if (cluster.cores) {
        join_cores(cluster.cores);
        pthread_cond_destroy(&cluster.barrier.condition);
        pthread_cond_destroy(&cluster.meeting.condition);
        pthread_cond_destroy(&cluster.notice);
    }
    return status;
}
