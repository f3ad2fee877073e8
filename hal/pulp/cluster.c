/* Power, the cores' life between two runs, and running a function on all of them. */
#include "internal.h"

PULP_L1_SHARED struct pulp_team pulp_team;

static PULP_FC_MEMORY struct {
    uint32_t is_open;
    uint32_t cycles;             /* the timer when the cluster was closed */
    volatile uint32_t done;      /* set by core 0 when all cores have returned */
    volatile uint32_t cores_met; /* by core 0: meetings that all cores have come to */
    volatile uint32_t notices;   /* by the first core: given */
    uint32_t notices_awaited;
} cluster;

/* How long hal_cluster_open waits for the cores; they need some thousand cycles. */
#define START_POLLS 100000

void pulp_core_main(unsigned core) __attribute__((noreturn));

unsigned hal_cluster_maximum_cores(void) { return PULP_CORES; }

/* ---- cluster side ------------------------------------------------------------------------------------------ */

static void prepare_core(unsigned core)
{
    pulp_stack_prepare_own();
    if (core == 0) {
        uint32_t all = (1u << pulp_team.cores) - 1;
        PULP_CLUSTER_EVENTS->barrier[0].trigger_mask = all;
        PULP_CLUSTER_EVENTS->barrier[0].target_mask = all;
    }
    pulp_team.ready[core] = 1;
}

/* From crt0.S: a core sleeps until there is something to run, runs it, and sleeps again. */
void pulp_core_main(unsigned core)
{
    prepare_core(core);
    for (;;) {
        pulp_cluster_sleep_until(PULP_EVENT_DISPATCH);
        if (CHIP_KEEPS_CORES && !pulp_team.entry) { /* the cluster has been opened again */
            prepare_core(core);
            continue;
        }
        pulp_team.core_met[core] = 0;
        pulp_team.entry(pulp_team.argument);
        if (!pulp_stack_core_is_sound(core))
            pulp_team.stack_overflow = 1;
        hal_barrier();
        if (core == 0) {
            cluster.done = 1;
            chip_tell_fc(PULP_FC_EVENT_CLUSTER_DONE);
        }
    }
}

/* ---- power ------------------------------------------------------------------------------------------------- */

static unsigned start_cores(unsigned cores)
{
    pulp_team = (struct pulp_team){.cores = cores}; /* L1 has just got its power */
    *PULP_CLUSTER_CACHE = UINT32_MAX;
    PULP_CLUSTER_TIMER->control_low = PULP_TIMER_ENABLE | PULP_TIMER_RESET;
    PULP_CLUSTER_TIMER->count_low = cluster.cycles;
    return chip_start_cores(cores, pulp_vectors);
}

static int all_are_ready(unsigned cores)
{
    for (unsigned core = 0; core < cores; core++)
        if (!pulp_team.ready[core])
            return 0;
    return 1;
}

int hal_cluster_open(unsigned cores)
{
    if (cores < 1 || cores > PULP_CORES)
        return DORY_ERROR_ARGUMENT;
    if (cluster.is_open)
        return DORY_ERROR_CLUSTER;
    chip_power_up();
    unsigned started = start_cores(cores);
    for (int poll = 0; poll < START_POLLS; poll++) {
        if (all_are_ready(started)) {
            cluster.is_open = 1;
            return DORY_OK;
        }
    }
    chip_power_down();
    return DORY_ERROR_CLUSTER;
}

int hal_cluster_close(void)
{
    if (!cluster.is_open)
        return DORY_OK;
    if (hal_cluster_is_busy())
        return DORY_ERROR_BUSY;
    int status = pulp_stacks_check(pulp_team.cores);
    cluster.cycles = PULP_CLUSTER_TIMER->count_low;
    cluster.is_open = 0;
    chip_power_down();
    return status;
}

/* ---- running a function ------------------------------------------------------------------------------------ */

int pulp_check_run(void (*entry)(void *argument))
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
    pulp_team.entry = entry;
    pulp_team.argument = argument;
    chip_clear_events(PULP_EVENTS_OF_A_RUN);
    __asm__ volatile("" : : : "memory");
    PULP_CLUSTER_EVENT_UNIT->trigger[PULP_EVENT_DISPATCH] = (1u << pulp_team.cores) - 1;
}

/* An event that comes while the FC is at work stays pending, so none is lost between serving and sleeping. */
int pulp_finish_run(void)
{
    while (!cluster.done) {
        pulp_l3_serve();
        pulp_fc_sleep_until(PULP_EVENTS_OF_A_RUN);
    }
    return pulp_stacks_check(pulp_team.stack_overflow ? pulp_team.cores : 0);
}

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    int status = pulp_check_run(entry);
    if (status != DORY_OK)
        return status;
    pulp_l3_enter_cluster();
    dispatch(entry, argument);
    status = pulp_finish_run();
    pulp_l3_leave_cluster();
    return status;
}

/* ---- with the FC as the driver ---- */

void pulp_begin_drive(void (*entry)(void *argument), void *argument)
{
    cluster.cores_met = pulp_team.driver_met = 0;
    cluster.notices = cluster.notices_awaited = 0;
    dispatch(entry, argument);
}

int hal_cluster_drive(void (*entry)(void *argument), void *argument)
{
    int status = pulp_check_run(entry);
    if (status != DORY_OK)
        return status;
    pulp_begin_drive(entry, argument);
    entry(argument);
    return pulp_finish_run();
}

void pulp_tell_fc_of_meeting(uint32_t number)
{
    cluster.cores_met = number;
    chip_tell_fc(PULP_FC_EVENT_MEETING);
}

void pulp_fc_meet(void)
{
    uint32_t number = pulp_team.driver_met + 1;
    __asm__ volatile("" : : : "memory");
    pulp_team.driver_met = number;
    PULP_CLUSTER_EVENT_UNIT->trigger[PULP_EVENT_DRIVER] = (1u << pulp_team.cores) - 1;
    if (pulp_beside.is_inside)
        pulp_beside_pause();
    pulp_l3_serve(); /* where the driver is behind, the cores have met: L3 would run dry */
    while (cluster.cores_met < number) {
        pulp_fc_sleep_until(PULP_EVENTS_OF_A_RUN);
        pulp_l3_serve();
    }
    __asm__ volatile("" : : : "memory");
}

int pulp_cores_have_met(void) { return cluster.done || cluster.cores_met > pulp_team.driver_met; }

void pulp_notify(void)
{
    __asm__ volatile("" : : : "memory");
    cluster.notices++;
    chip_tell_fc(PULP_FC_EVENT_NOTICE);
}

void pulp_await_notice(void)
{
    cluster.notices_awaited++;
    while (cluster.notices < cluster.notices_awaited) {
        pulp_l3_serve();
        pulp_fc_sleep_until(PULP_EVENTS_OF_A_RUN);
    }
    __asm__ volatile("" : : : "memory");
}

/* ---- time -------------------------------------------------------------------------------------------------- */

uint32_t pulp_fc_cycles(void) { return cluster.is_open ? PULP_CLUSTER_TIMER->count_low : cluster.cycles; }

int hal_cycles_available(void) { return 1; }
