/* Power, the cores' life between two runs, and running a function on all of them. */
#include "internal.h"

GAP8_L1_SHARED struct gap8_team gap8_team;

static GAP8_FC_MEMORY struct {
    uint32_t is_open;
    uint32_t cycles;             /* the timer when the cluster was closed */
    volatile uint32_t done;      /* set by core 0 when all cores have returned */
    volatile uint32_t cores_met; /* by core 0: meetings that all cores have come to */
    volatile uint32_t notices;   /* by the first core: given */
    uint32_t notices_awaited;
} cluster;

/* How long hal_cluster_open waits for the cores; they need some thousand cycles. */
#define START_POLLS 100000

void gap8_core_main(unsigned core) __attribute__((noreturn));

unsigned hal_cluster_maximum_cores(void) { return GAP8_CORES; }

/* ---- cluster side ------------------------------------------------------------------------------------------ */

static void prepare_core(unsigned core)
{
    gap8_stack_prepare_own();
    if (core == 0) {
        uint32_t all = (1u << gap8_team.cores) - 1;
        GAP8_CLUSTER_EVENTS->barrier[0].trigger_mask = all;
        GAP8_CLUSTER_EVENTS->barrier[0].target_mask = all;
    }
    gap8_team.ready[core] = 1;
}

/* From crt0.S: a core sleeps until there is something to run, runs it, and sleeps again. */
void gap8_core_main(unsigned core)
{
    prepare_core(core);
    for (;;) {
        gap8_cluster_sleep_until(GAP8_EVENT_DISPATCH);
        gap8_team.core_met[core] = 0;
        gap8_team.entry(gap8_team.argument);
        if (!gap8_stack_core_is_sound(core))
            gap8_team.stack_overflow = 1;
        hal_barrier();
        if (core == 0) {
            cluster.done = 1;
            GAP8_FC_EVENT_UNIT->trigger[GAP8_FC_EVENT_CLUSTER_DONE] = 1;
        }
    }
}

/* ---- power ------------------------------------------------------------------------------------------------- */

/* The order matters: power before the reset ends, the clock last. */
static void power_up(void)
{
    volatile uint32_t *power = &GAP8_SOC_CONTROL->cluster_power;
    uint32_t state = *power | GAP8_POWER_OWN;
    *power = state |= GAP8_POWER_CLOCK_GATED;
    *power = state |= GAP8_POWER_RESET;
    *power = state |= GAP8_POWER_ON;
    GAP8_SOC_CONTROL->cluster_isolate = 0;
    *power = state &= ~GAP8_POWER_RESET;
    *power = state & ~GAP8_POWER_CLOCK_GATED;
}

static void power_down(void)
{
    volatile uint32_t *power = &GAP8_SOC_CONTROL->cluster_power;
    uint32_t state = *power;
    GAP8_CLUSTER_CONTROL->fetch_enable = 0;
    GAP8_SOC_CONTROL->cluster_isolate = 1;
    *power = state |= GAP8_POWER_CLOCK_GATED;
    *power = state |= GAP8_POWER_RESET;
    *power = state & ~GAP8_POWER_ON;
}

static void start_cores(unsigned cores)
{
    gap8_team = (struct gap8_team){.cores = cores}; /* L1 has just got its power */
    *GAP8_CLUSTER_CACHE = UINT32_MAX;
    GAP8_CLUSTER_TIMER->control_low = GAP8_TIMER_ENABLE | GAP8_TIMER_RESET;
    GAP8_CLUSTER_TIMER->count_low = cluster.cycles;
    for (unsigned core = 0; core < cores; core++)
        GAP8_CLUSTER_CONTROL->boot_address[core] = (uint32_t)(uintptr_t)gap8_vectors;
    GAP8_CLUSTER_CONTROL->fetch_enable = (1u << cores) - 1;
}

static int all_are_ready(unsigned cores)
{
    for (unsigned core = 0; core < cores; core++)
        if (!gap8_team.ready[core])
            return 0;
    return 1;
}

int hal_cluster_open(unsigned cores)
{
    if (cores < 1 || cores > GAP8_CORES)
        return DORY_ERROR_ARGUMENT;
    if (cluster.is_open)
        return DORY_ERROR_CLUSTER;
    power_up();
    start_cores(cores);
    for (int poll = 0; poll < START_POLLS; poll++) {
        if (all_are_ready(cores)) {
            cluster.is_open = 1;
            return DORY_OK;
        }
    }
    power_down();
    return DORY_ERROR_CLUSTER;
}

int hal_cluster_close(void)
{
    if (!cluster.is_open)
        return DORY_OK;
    if (hal_cluster_is_busy())
        return DORY_ERROR_BUSY;
    int status = gap8_stacks_check(gap8_team.cores);
    cluster.cycles = GAP8_CLUSTER_TIMER->count_low;
    cluster.is_open = 0;
    power_down();
    return status;
}

/* ---- running a function ------------------------------------------------------------------------------------ */

int gap8_check_run(void (*entry)(void *argument))
{
    if (!entry)
        return DORY_ERROR_ARGUMENT;
    if (hal_cluster_is_busy())
        return DORY_ERROR_BUSY;
    return cluster.is_open ? DORY_OK : DORY_ERROR_CLUSTER;
}

static void dispatch(void (*entry)(void *argument), void *argument)
{
    cluster.done = 0;
    gap8_team.entry = entry;
    gap8_team.argument = argument;
    GAP8_FC_EVENTS->buffer_clear = GAP8_EVENTS_OF_A_RUN;
    __asm__ volatile("" : : : "memory");
    GAP8_CLUSTER_EVENT_UNIT->trigger[GAP8_EVENT_DISPATCH] = (1u << gap8_team.cores) - 1;
}

/* An event that comes while the FC is at work stays pending, so none is lost between serving and sleeping. */
int gap8_finish_run(void)
{
    while (!cluster.done) {
        gap8_l3_serve();
        gap8_fc_sleep_until(GAP8_EVENTS_OF_A_RUN);
    }
    return gap8_stacks_check(gap8_team.stack_overflow ? gap8_team.cores : 0);
}

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    int status = gap8_check_run(entry);
    if (status != DORY_OK)
        return status;
    gap8_l3_enter_cluster();
    dispatch(entry, argument);
    status = gap8_finish_run();
    gap8_l3_leave_cluster();
    return status;
}

/* ---- with the FC as the driver ---- */

void gap8_begin_drive(void (*entry)(void *argument), void *argument)
{
    cluster.cores_met = gap8_team.driver_met = 0;
    cluster.notices = cluster.notices_awaited = 0;
    dispatch(entry, argument);
}

int hal_cluster_drive(void (*entry)(void *argument), void *argument)
{
    int status = gap8_check_run(entry);
    if (status != DORY_OK)
        return status;
    gap8_begin_drive(entry, argument);
    entry(argument);
    return gap8_finish_run();
}

void gap8_tell_fc_of_meeting(uint32_t number)
{
    cluster.cores_met = number;
    GAP8_FC_EVENT_UNIT->trigger[GAP8_FC_EVENT_MEETING] = 1;
}

void gap8_fc_meet(void)
{
    uint32_t number = gap8_team.driver_met + 1;
    __asm__ volatile("" : : : "memory");
    gap8_team.driver_met = number;
    GAP8_CLUSTER_EVENT_UNIT->trigger[GAP8_EVENT_DRIVER] = (1u << gap8_team.cores) - 1;
    if (gap8_beside.is_inside)
        gap8_beside_pause();
    gap8_l3_serve(); /* where the driver is behind, the cores have met: L3 would run dry */
    while (cluster.cores_met < number) {
        gap8_fc_sleep_until(GAP8_EVENTS_OF_A_RUN);
        gap8_l3_serve();
    }
    __asm__ volatile("" : : : "memory");
}

int gap8_cores_have_met(void) { return cluster.done || cluster.cores_met > gap8_team.driver_met; }

void gap8_notify(void)
{
    __asm__ volatile("" : : : "memory");
    cluster.notices++;
    GAP8_FC_EVENT_UNIT->trigger[GAP8_FC_EVENT_NOTICE] = 1;
}

void gap8_await_notice(void)
{
    cluster.notices_awaited++;
    while (cluster.notices < cluster.notices_awaited) {
        gap8_l3_serve();
        gap8_fc_sleep_until(GAP8_EVENTS_OF_A_RUN);
    }
    __asm__ volatile("" : : : "memory");
}

/* ---- time -------------------------------------------------------------------------------------------------- */

uint32_t gap8_fc_cycles(void) { return cluster.is_open ? GAP8_CLUSTER_TIMER->count_low : cluster.cycles; }

int hal_cycles_available(void) { return 1; }
