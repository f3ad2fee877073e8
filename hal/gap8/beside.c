/* The driver beside an application: the FC's time is for both. The driver has a stack of its own; where it waits, the
 * application goes on, and the driver goes on when the application polls it, or when an event that it waits for interrupts
 * the application. While the driver is at work the FC takes no interrupts: the application's handlers would need room on a
 * stack that has none for them. */
#include "stack.h"
#include "switch.h"

#include "dory/gap8_interrupts.h"
#include "internal.h"

GAP8_FC_MEMORY struct gap8_beside gap8_beside;

static GAP8_FC_MEMORY struct {
    void *application, *driver; /* their stacks, as far as they are used; of the one that is at work an old value */
    void (*entry)(void *argument);
    void *argument;
    uint8_t *stack;
    volatile uint32_t has_ended;
    uint32_t longest_cycles; /* at work at once */
    int status;
} work;

#define INTERRUPTS_ON (1u << 3) /* in mstatus */
#define LONG_CYCLES   4000u     /* for the application to wait */
#define PAUSE_CYCLES  1000u     /* that it has then at least; of the FC */

void gap8_interrupt(uint32_t line);
void gap8_trap(uint32_t cause, uint32_t address, uint32_t hart) __attribute__((noreturn));

static uint32_t turn_interrupts_off(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, 0x300, 8" : "=r"(before) : : "memory");
    return before;
}

static void turn_interrupts_back(uint32_t before)
{
    __asm__ volatile("csrs 0x300, %0" : : "r"(before & INTERRUPTS_ON) : "memory");
}

/* ---- going on ---------------------------------------------------------------------------------------------- */

static int is_long(void) { return gap8_fc_cycles() - gap8_beside.since > LONG_CYCLES; }

/* What interrupts the application next. After a long time at work that is the timer, so that the application has its turn,
 * whatever may have come meanwhile; an early look finds the driver still waiting. */
static void await_events(void)
{
    uint32_t events = gap8_beside.awaited;
    if (is_long()) {
        events = 1u << GAP8_FC_EVENT_TIMER_HIGH;
        GAP8_FC_TIMER->compare_high = PAUSE_CYCLES;
        GAP8_FC_TIMER->control_high = GAP8_TIMER_ENABLE | GAP8_TIMER_RESET | GAP8_TIMER_EVENT | GAP8_TIMER_ONCE;
    }
    GAP8_FC_EVENTS->interrupt_mask_or = events;
}

static void note_time_at_work(void)
{
    uint32_t cycles = gap8_fc_cycles() - gap8_beside.since;
    if (cycles > work.longest_cycles)
        work.longest_cycles = cycles;
}

uint32_t gap8_driver_longest_cycles(void) { return work.longest_cycles; }

/* Without interrupts. Returns when the driver waits, or has ended. An event that comes after those that it waited for are
 * cleared stays, and interrupts at once. */
static void go_on(void)
{
    GAP8_FC_EVENTS->interrupt_mask_and = GAP8_EVENTS_OF_A_RUN;
    GAP8_FC_EVENTS->buffer_clear = gap8_beside.awaited | 1u << GAP8_FC_EVENT_TIMER_HIGH;
    gap8_stack_watch(work.stack, work.stack + HAL_DRIVER_STACK_BYTES);
    gap8_beside.since = gap8_fc_cycles();
    gap8_beside.is_inside = 1;
    hal_switch(&work.application, work.driver);
    gap8_beside.is_inside = 0;
    gap8_stack_watch(__fc_stack_start, __fc_stack_end);
    note_time_at_work();
    if (gap8_beside.is_by_interrupt && !work.has_ended)
        await_events();
}

void gap8_beside_yield(uint32_t event_mask)
{
    gap8_beside.awaited = event_mask;
    hal_switch(&work.driver, work.application);
}

/* A driver that has more to do than the cores would never wait. */
void gap8_beside_pause(void)
{
    if (is_long())
        gap8_beside_yield(0);
}

static void drive(void)
{
    work.entry(work.argument);
    work.status = gap8_finish_run();
    work.has_ended = 1;
    hal_switch(&work.driver, work.application); /* for good */
}

void (*gap8_soc_event_handler)(uint32_t event);

static void serve_soc_events(void)
{
    for (uint32_t event = *GAP8_FC_SOC_EVENT; event & GAP8_SOC_EVENT_VALID; event = *GAP8_FC_SOC_EVENT)
        gap8_soc_event_handler(event & GAP8_SOC_EVENT_MASK);
}

/* From interrupt.S, without interrupts. */
void gap8_interrupt(uint32_t line)
{
    if (line == GAP8_FC_EVENT_SOC && gap8_soc_event_handler)
        serve_soc_events();
    else if (gap8_beside.is_busy && 1u << line & GAP8_EVENTS_OF_A_RUN)
        go_on();
    else
        gap8_application_interrupt(line);
}

__attribute__((weak)) void gap8_application_interrupt(unsigned line)
{
    uint32_t address;
    __asm__ volatile("csrr %0, 0x341" : "=r"(address));
    gap8_trap(1u << 31 | line, address, gap8_hart());
}

/* ---- the application's side -------------------------------------------------------------------------------- */

int hal_cluster_is_busy(void) { return (int)gap8_beside.is_busy; }

static void prepare_stack(uint8_t *stack)
{
    work.stack = stack;
    work.driver = switch_prepare(stack + HAL_DRIVER_STACK_BYTES, drive);
    stack_paint(stack, work.driver);
}

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    int status = stack && (uintptr_t)stack % HAL_DRIVER_STACK_ALIGNMENT == 0 ? gap8_check_run(entry) : DORY_ERROR_ARGUMENT;
    if (status != DORY_OK)
        return status;
    prepare_stack(stack);
    work.entry = entry;
    work.argument = argument;
    work.has_ended = 0;
    work.longest_cycles = 0;
    gap8_beside.is_by_interrupt = progress == HAL_BY_INTERRUPT;
    gap8_beside.is_busy = 1;
    gap8_beside.is_waited = 0;
    uint32_t before = turn_interrupts_off();
    gap8_begin_drive(entry, argument);
    go_on();
    turn_interrupts_back(before | (gap8_beside.is_by_interrupt ? INTERRUPTS_ON : 0));
    return DORY_OK;
}

static void go_on_without_interrupts(void)
{
    uint32_t before = turn_interrupts_off();
    go_on();
    turn_interrupts_back(before);
}

static int finish(void)
{
    gap8_beside.is_busy = 0;
    if (stack_is_sound(work.stack, GAP8_STACK_GUARD_BYTES))
        return work.status;
    hal_log("dory hal: the stack of a driver that was started has grown beyond its end\n");
    return DORY_ERROR_STACK;
}

int hal_cluster_poll(void)
{
    if (!gap8_beside.is_busy)
        return DORY_ERROR_ARGUMENT;
    if (!gap8_beside.is_by_interrupt && !work.has_ended)
        go_on_without_interrupts();
    return work.has_ended ? finish() : DORY_RUNNING;
}

/* The application sleeps where it would have gone on; its own interrupts are served. */
int hal_cluster_wait(void)
{
    if (!gap8_beside.is_busy)
        return DORY_ERROR_ARGUMENT;
    gap8_beside.is_by_interrupt = 0;
    GAP8_FC_EVENTS->interrupt_mask_and = GAP8_EVENTS_OF_A_RUN;
    gap8_beside.is_waited = 1;
    if (!work.has_ended)
        go_on_without_interrupts(); /* what it waits for may have come already, and been cleared by an interrupt */
    while (!work.has_ended) {
        if (gap8_beside.awaited) /* else it has paused only */
            gap8_fc_sleep_until(gap8_beside.awaited);
        go_on_without_interrupts();
    }
    return finish();
}
