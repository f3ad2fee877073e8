/* Who leads a run. Where the application waits for it, the fabric controller is the driver: a core that places the next tile
 * while the others compute makes all of them wait, and takes the kernels' place in the instruction cache. Where the
 * application goes on beside it (hal_cluster_start), it is the last core: PMSIS has nothing that interrupts the application
 * for its sake.
 *
 * At a meeting the FC sleeps as PMSIS has it, by pi_task_wait_on, and serves other events meanwhile. Core 0 wakes it by a
 * task that does nothing else: an interrupt of 1,000 cycles, so only where it does sleep. */
#include "internal.h"

/* How often the FC looks for the cores before it sleeps: about as long as it takes to sleep and to wake. */
#define POLLS 200

static PI_FC_L1 pi_task_t wake;

static bool reached(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; } /* they wrap round */

/* ---- runs ---------------------------------------------------------------------------------------------------- */

bool pmsis_fc_drives(void) { return pmsis_is_running() && pmsis_team.fc_drives; }

int hal_cluster_drive(void (*entry)(void *argument), void *argument)
{
    struct pi_cluster_task task;
    pi_task_t end;
    int status = pmsis_prepare_run(&task, entry, argument);
    if (status != DORY_OK)
        return status;
    pmsis_team = (struct pmsis_team){.cores = pmsis_team.cores, .fc_drives = 1};
    status = pmsis_begin_run(&task, pi_task_block(&end));
    if (status == DORY_OK) {
        entry(argument);
        pi_task_wait_on(&end);
        pmsis_end_run();
    }
    pmsis_team.fc_drives = 0;
    return status;
}

int hal_is_driver(void) { return pmsis_team.fc_drives ? (int)pi_is_fc() : hal_core_id() == hal_core_count() - 1; }

int hal_is_core(void) { return !pi_is_fc(); }

/* The driver comes to a meeting as soon as it has prepared it, most often before the cores. */
static bool cores_come_soon(uint32_t number)
{
    for (unsigned poll = 0; poll < POLLS; poll++) {
        if (reached(load(&pmsis_team.cores_met), number))
            return true;
        wait_a_moment();
    }
    return false;
}

/* Core 0 says that it has come, and then looks whether the FC sleeps; the FC says that it sleeps, and then looks whether
 * core 0 has come. So one of them at least sees the other; where both may have, core 0 decides. */
static void sleep_until_cores_come(uint32_t number)
{
    pi_task_block(&wake);
    store(&pmsis_team.slept_at, number);
    if (reached(load(&pmsis_team.cores_met), number)) {
        while (!reached(load(&pmsis_team.passed), number))
            wait_a_moment();
        if (load(&pmsis_team.woken_at) != number)
            return;
    }
    pi_task_wait_on(&wake);
}

static void meet_cores(void)
{
    uint32_t number = pmsis_team.driver_met + 1;
    store(&pmsis_team.driver_met, number);
    if (!cores_come_soon(number))
        sleep_until_cores_come(number);
}

static void meet_driver(void)
{
    uint32_t number = pmsis_team.cores_met + 1;
    store(&pmsis_team.cores_met, number);
    if (load(&pmsis_team.slept_at) == number) {
        store(&pmsis_team.woken_at, number);
        pi_cl_send_task_to_fc(&wake);
    }
    store(&pmsis_team.passed, number);
    while (!reached(load(&pmsis_team.driver_met), number))
        wait_a_moment();
}

void hal_meet(void)
{
    if (pi_is_fc()) {
        meet_cores();
        return;
    }
    hal_barrier();
    if (pmsis_team.fc_drives) {
        if (hal_core_id() == 0)
            meet_driver();
        hal_barrier(); /* the others sleep there */
    }
}

/* Where a core drives, it has come through a barrier with the one that notifies. */
void hal_notify(void)
{
    if (pmsis_team.fc_drives)
        store(&pmsis_team.notices, pmsis_team.notices + 1);
}

/* A core is at the copies that it was given, no longer than that: to sleep would take more time. */
void hal_await_notice(void)
{
    if (!pmsis_team.fc_drives)
        return;
    uint32_t number = ++pmsis_team.notices_awaited;
    while (!reached(load(&pmsis_team.notices), number))
        wait_a_moment();
}
