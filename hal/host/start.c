/* Work that the application has started, and that goes on beside it.
 *
 * By interrupts, the driver beside the cores is a thread that nothing orders with the application: ThreadSanitizer sees who
 * touches what belongs to the run. By polls, the two take turns, as on a fabric controller that does both. Where the driver
 * is a core, it is the cluster's own thread and there is nothing to poll. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct {
    bool is_busy, has_thread;
    bool is_polled; /* the two take turns */
    bool is_drivers_turn;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    char turn_event; /* for ThreadSanitizer */
} work = {.lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_driver;

int start_check_idle(const char *call)
{
    if (cluster_this_core() != FABRIC_CONTROLLER || !work.is_busy)
        return DORY_OK;
    host_enter();
    int status = host_violation(DORY_ERROR_BUSY, "%s: what was started on the cluster is not complete", call);
    host_leave();
    return status;
}

/* ---- taking turns ------------------------------------------------------------------------------------------ */

static void set_turn(bool is_drivers)
{
    host_order_before(&work.turn_event);
    host_unordered_begin();
    pthread_mutex_lock(&work.lock);
    work.is_drivers_turn = is_drivers;
    pthread_cond_broadcast(&work.turned);
    pthread_mutex_unlock(&work.lock);
    host_unordered_end();
}

static void await_turn(bool is_drivers)
{
    host_unordered_begin();
    pthread_mutex_lock(&work.lock);
    while (work.is_polled && work.is_drivers_turn != is_drivers)
        pthread_cond_wait(&work.turned, &work.lock);
    pthread_mutex_unlock(&work.lock);
    host_unordered_end();
    host_order_after(&work.turn_event);
}

/* The driver's is first. Without turns it waits where it waits. */
static void take_turns(bool is_polled)
{
    host_order_before(&work.turn_event);
    host_unordered_begin();
    pthread_mutex_lock(&work.lock);
    work.is_polled = is_polled;
    work.is_drivers_turn = true;
    pthread_cond_broadcast(&work.turned);
    pthread_mutex_unlock(&work.lock);
    host_unordered_end();
}

bool start_is_polled(void)
{
    host_unordered_begin();
    pthread_mutex_lock(&work.lock);
    bool is_polled = work.is_polled;
    pthread_mutex_unlock(&work.lock);
    host_unordered_end();
    return is_polled;
}

bool start_driver_is_polled(void) { return is_driver && start_is_polled(); }

void start_yield(void)
{
    set_turn(false);
    await_turn(true);
}

void start_yield_sometimes(uint64_t stream, uint64_t index)
{
    if (start_driver_is_polled() && host_random(stream, index) & 1)
        start_yield();
}

static void *drive(void *unused)
{
    is_driver = true;
    await_turn(true);
    cluster_drive_beside();
    take_turns(false); /* what the cores still do, they do by themselves */
    return unused;
}

/* ---- the application's side -------------------------------------------------------------------------------- */

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    if (!stack || (uintptr_t)stack % HAL_DRIVER_STACK_ALIGNMENT != 0)
        return DORY_ERROR_ARGUMENT;
    int status = cluster_begin(entry, argument, true);
    if (status != DORY_OK)
        return status;
    memset(stack, HAL_HOST_POISON, HAL_DRIVER_STACK_BYTES); /* it is not the application's any more */
    work.is_busy = true;
    work.has_thread = cluster_has_driver_beside();
    take_turns(work.has_thread && progress == HAL_BY_POLL);
    if (work.has_thread && pthread_create(&work.thread, NULL, drive, NULL) != 0)
        abort(); /* the cores wait for it already */
    await_turn(false);
    return DORY_OK;
}

static int finish(void)
{
    if (work.has_thread)
        pthread_join(work.thread, NULL);
    take_turns(false);
    work.is_busy = false;
    return cluster_finish();
}

int hal_cluster_poll(void)
{
    if (!work.is_busy)
        return DORY_ERROR_ARGUMENT;
    if (start_is_polled() && !cluster_has_ended()) {
        set_turn(true);
        await_turn(false);
    }
    return cluster_has_ended() ? finish() : DORY_RUNNING;
}

int hal_cluster_wait(void)
{
    if (!work.is_busy)
        return DORY_ERROR_ARGUMENT;
    take_turns(false);
    return finish();
}

int hal_cluster_is_busy(void) { return work.is_busy; }
