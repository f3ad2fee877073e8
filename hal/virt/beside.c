/* Work with a driver beside the application. Hart 0 is for both: it computes as core 0, on that core's stack, and where it
 * would wait for other cores the application goes on, until it polls. There are no interrupts that it could go on by. */
#include "internal.h"
#include "switch.h"

static struct {
    void *application, *core; /* their stacks, as far as they are used */
    void (*entry)(void *argument);
    void *argument;
    bool is_busy;   /* from the start until the end has been reported */
    bool is_inside; /* core 0 is at work, rather than the application */
    bool is_waited; /* the application does nothing but wait for it */
    bool has_ended;
    int status;
} work;

bool virt_beside_refuses(void) { return virt_hart() == 0 && work.is_busy && !work.is_inside; }

bool virt_beside_yields(void) { return virt_hart() == 0 && work.is_inside && !work.is_waited; }

void virt_beside_yield(void) { hal_switch(&work.core, work.application); }

static void compute(void)
{
    work.entry(work.argument);
    work.status = virt_finish_run();
    work.has_ended = true;
    virt_beside_yield(); /* for good */
}

static void go_on(void)
{
    work.is_inside = true;
    hal_switch(&work.application, work.core);
    work.is_inside = false;
}

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    (void)progress;
    if (!stack || (uintptr_t)stack % HAL_DRIVER_STACK_ALIGNMENT != 0)
        return DORY_ERROR_ARGUMENT;
    int status = virt_begin_run(entry, argument);
    if (status != DORY_OK)
        return status;
    work.entry = entry;
    work.argument = argument;
    work.core = switch_prepare(virt_core_0_stack_end(), compute);
    work.is_busy = true;
    work.is_waited = work.has_ended = false;
    go_on();
    return DORY_OK;
}

static int finish(void)
{
    work.is_busy = false;
    return work.status;
}

int hal_cluster_poll(void)
{
    if (!work.is_busy)
        return DORY_ERROR_ARGUMENT;
    if (!work.has_ended)
        go_on();
    return work.has_ended ? finish() : DORY_RUNNING;
}

int hal_cluster_wait(void)
{
    if (!work.is_busy)
        return DORY_ERROR_ARGUMENT;
    work.is_waited = true;
    if (!work.has_ended)
        go_on();
    return finish();
}

int hal_cluster_is_busy(void) { return work.is_busy; }
