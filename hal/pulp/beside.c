/* The driver beside an application: the FC's time is for both. The driver has a stack of its own; where it waits, the
 * application goes on, and the driver goes on when the application polls it, or when an event that it waits for interrupts
 * the application. While the driver is at work the FC takes no interrupts: the application's handlers would need room on a
 * stack that has none for them. */
#include "stack.h"
#include "switch.h"

#include "dory/pulp_interrupts.h"
#include "internal.h"

PULP_FC_MEMORY struct pulp_beside pulp_beside;

static PULP_FC_MEMORY struct {
    void *application, *driver; /* their stacks, as far as they are used; of the one that is at work an old value */
    void (*entry)(void *argument);
    void *argument;
    uint8_t *stack;
    volatile uint32_t has_ended;
    uint32_t longest_cycles; /* at work at once */
    int status;
} work;

#define LONG_CYCLES  4000u /* for the application to wait */
#define PAUSE_CYCLES 1000u /* that it has then at least; of the FC */

void pulp_interrupt(uint32_t line);
void pulp_trap(uint32_t cause, uint32_t address, uint32_t hart) __attribute__((noreturn));

/* ---- going on ---------------------------------------------------------------------------------------------- */

static int is_long(void) { return pulp_fc_cycles() - pulp_beside.since > LONG_CYCLES; }

/* What interrupts the application next. After a long time at work that is the timer, so that the application has its turn,
 * whatever may have come meanwhile; an early look finds the driver still waiting. */
static void await_events(void)
{
    uint32_t events = pulp_beside.awaited;
    if (is_long()) {
        events = 1u << CHIP_EVENT_TIMER_HIGH;
        CHIP_FC_TIMER->compare_high = PAUSE_CYCLES;
        CHIP_FC_TIMER->control_high = PULP_TIMER_ENABLE | PULP_TIMER_RESET | PULP_TIMER_EVENT | PULP_TIMER_ONCE;
    }
    chip_interrupt_on(events);
}

static void note_time_at_work(void)
{
    uint32_t cycles = pulp_fc_cycles() - pulp_beside.since;
    if (cycles > work.longest_cycles)
        work.longest_cycles = cycles;
}

uint32_t pulp_driver_longest_cycles(void) { return work.longest_cycles; }

/* Without interrupts. Returns when the driver waits, or has ended. An event that comes after those that it waited for are
 * cleared stays, and interrupts at once. */
static void go_on(void)
{
    chip_interrupt_off(PULP_EVENTS_OF_A_RUN);
    chip_clear_events(pulp_beside.awaited | 1u << CHIP_EVENT_TIMER_HIGH);
    pulp_stack_watch(work.stack, work.stack + HAL_DRIVER_STACK_BYTES);
    pulp_beside.since = pulp_fc_cycles();
    pulp_beside.is_inside = 1;
    hal_switch(&work.application, work.driver);
    pulp_beside.is_inside = 0;
    pulp_stack_watch(__fc_stack_start, __fc_stack_end);
    note_time_at_work();
    if (pulp_beside.is_by_interrupt && !work.has_ended)
        await_events();
}

void pulp_beside_yield(uint32_t event_mask)
{
    pulp_beside.awaited = event_mask;
    hal_switch(&work.driver, work.application);
}

/* A driver that has more to do than the cores would never wait. */
void pulp_beside_pause(void)
{
    if (is_long())
        pulp_beside_yield(0);
}

static void drive(void)
{
    work.entry(work.argument);
    work.status = pulp_finish_run();
    work.has_ended = 1;
    hal_switch(&work.driver, work.application); /* for good */
}

/* From interrupt.S, without interrupts. */
void pulp_interrupt(uint32_t line)
{
    if (chip_serves_interrupt(line))
        return;
    if (pulp_beside.is_busy && 1u << line & PULP_EVENTS_OF_A_RUN)
        go_on();
    else
        pulp_application_interrupt(line);
}

__attribute__((weak)) void pulp_application_interrupt(unsigned line)
{
    uint32_t address;
    __asm__ volatile("csrr %0, 0x341" : "=r"(address));
    pulp_trap(1u << 31 | line, address, pulp_hart());
}

/* ---- the application's side -------------------------------------------------------------------------------- */

int hal_cluster_is_busy(void) { return (int)pulp_beside.is_busy; }

static void prepare_stack(uint8_t *stack)
{
    work.stack = stack;
    work.driver = switch_prepare(stack + HAL_DRIVER_STACK_BYTES, drive);
    stack_paint(stack, work.driver);
}

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    int status = stack && (uintptr_t)stack % HAL_DRIVER_STACK_ALIGNMENT == 0 ? pulp_check_run(entry) : DORY_ERROR_ARGUMENT;
    if (status != DORY_OK)
        return status;
    prepare_stack(stack);
    work.entry = entry;
    work.argument = argument;
    work.has_ended = 0;
    work.longest_cycles = 0;
    pulp_beside.is_by_interrupt = progress == HAL_BY_INTERRUPT;
    pulp_beside.is_busy = 1;
    pulp_beside.is_waited = 0;
    uint32_t before = pulp_interrupts_off();
    pulp_begin_drive(entry, argument);
    go_on();
    pulp_interrupts_back(before | (pulp_beside.is_by_interrupt ? PULP_INTERRUPTS_ON : 0));
    return DORY_OK;
}

static void go_on_without_interrupts(void)
{
    uint32_t before = pulp_interrupts_off();
    go_on();
    pulp_interrupts_back(before);
}

static int finish(void)
{
    pulp_beside.is_busy = 0;
    if (stack_is_sound(work.stack, PULP_STACK_GUARD_BYTES))
        return work.status;
    hal_log("dory hal: the stack of a driver that was started has grown beyond its end\n");
    return DORY_ERROR_STACK;
}

int hal_cluster_poll(void)
{
    if (!pulp_beside.is_busy)
        return DORY_ERROR_ARGUMENT;
    if (!pulp_beside.is_by_interrupt && !work.has_ended)
        go_on_without_interrupts();
    return work.has_ended ? finish() : DORY_RUNNING;
}

/* The application sleeps where it would have gone on; its own interrupts are served. */
int hal_cluster_wait(void)
{
    if (!pulp_beside.is_busy)
        return DORY_ERROR_ARGUMENT;
    pulp_beside.is_by_interrupt = 0;
    chip_interrupt_off(PULP_EVENTS_OF_A_RUN);
    pulp_beside.is_waited = 1;
    if (!work.has_ended)
        go_on_without_interrupts(); /* what it waits for may have come already, and been cleared by an interrupt */
    while (!work.has_ended) {
        if (pulp_beside.awaited) /* else it has paused only */
            pulp_fc_sleep_until(pulp_beside.awaited);
        go_on_without_interrupts();
    }
    return finish();
}
