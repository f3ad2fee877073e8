/* The cluster of the virt HAL. Hart 0 is the fabric controller and, in a run, core 0 too; harts 1 to 7 are the other
 * cores. Who waits looks a little while for what it waits for, because it mostly comes at once, and then sleeps until a
 * software interrupt of the CLINT: QEMU has more harts than the PC has cores, and a hart that spins takes one from a
 * hart that works. */
#include "internal.h"

/* Of QEMU's virt machine, the same as on SiFive's FU540: software interrupt of a hart, and the 10 MHz timer. */
#define CLINT_SOFTWARE_INTERRUPT ((volatile uint32_t *)0x02000000)
#define CLINT_TIME               ((volatile uint32_t *)0x0200BFF8)
#define TIME_PER_SECOND          10000000u
#define START_SECONDS            10u /* for a hart to answer; QEMU may be slow on a loaded machine */
#define SPINS                    200
#define DEADLOCK_STATUS          98

static unsigned cores; /* 0: closed */
static bool is_running;
static void (*run_entry)(void *argument);
static void *run_argument;
static atomic_uint asleep[MAXIMUM_CORES]; /* needs an interrupt to look again */
static atomic_uint alive[MAXIMUM_CORES];  /* answered the first interrupt */
static atomic_uint runs[MAXIMUM_CORES];   /* that a core was told to take part in */
static atomic_uint returned;              /* cores that are through with the run */
static atomic_uint arrived, barriers;     /* cores at the barrier now; barriers completed */

unsigned hal_cluster_maximum_cores(void) { return MAXIMUM_CORES; }
unsigned hal_core_id(void) { return virt_hart(); }
unsigned hal_core_count(void) { return cores; }
bool virt_is_running(void) { return is_running; }

/* ---- sleep and wake ---------------------------------------------------------------------------------------- */

/* The interrupt is cleared before the value is looked at: one that comes after the look ends the next wfi at once. */
static void sleep_while_equal(atomic_uint *value, unsigned old)
{
    unsigned hart = virt_hart();
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(value) != old)
            return;
    }
    if (virt_beside_yields()) {
        do
            virt_beside_yield();
        while (virt_beside_yields() && atomic_load(value) == old);
    }
    atomic_store(&asleep[hart], 1);
    while (CLINT_SOFTWARE_INTERRUPT[hart] = 0, atomic_thread_fence(memory_order_seq_cst), atomic_load(value) == old)
        __asm__ volatile("wfi" ::: "memory");
    atomic_store(&asleep[hart], 0);
}

/* After the value was changed. Who fell asleep before the change is marked so; who does after it, sees the change. */
static void wake(unsigned hart)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&asleep[hart]))
        CLINT_SOFTWARE_INTERRUPT[hart] = 1;
}

static void wake_others(unsigned count)
{
    unsigned self = virt_hart();
    for (unsigned hart = 0; hart < count; hart++) {
        if (hart != self)
            wake(hart);
    }
}

/* ---- barrier ----------------------------------------------------------------------------------------------- */

/* A core that has returned never comes to a barrier. Better a message than a machine that hangs. */
static void check_deadlock(bool deadlock)
{
    if (deadlock) {
        hal_log("dory hal: deadlock: a core returned while others wait at a barrier\n");
        virt_stop(DEADLOCK_STATUS);
    }
}

/* Polls are to be short, even where core 0 is always the last one to come. */
static void yield_once(void)
{
    if (virt_beside_yields())
        virt_beside_yield();
}

void hal_barrier(void)
{
    if (!is_running)
        return;
    if (cores == 1) {
        yield_once();
        return;
    }
    unsigned barrier = atomic_load(&barriers);
    check_deadlock(atomic_load(&returned) > 0);
    if (atomic_fetch_add(&arrived, 1) + 1 < cores) {
        sleep_while_equal(&barriers, barrier);
    } else {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&barriers, 1);
        wake_others(cores);
        yield_once();
    }
}

/* ---- cores ------------------------------------------------------------------------------------------------- */

static void return_from_run(void)
{
    check_deadlock(atomic_load(&arrived) > 0);
    if (atomic_fetch_add(&returned, 1) + 1 == cores)
        wake(0);
}

/* Called by start.S on harts 1 to 7. The first interrupt says that hart 0 has cleared the zero data. */
_Noreturn void virt_core_main(void);
_Noreturn void virt_core_main(void)
{
    unsigned hart = virt_hart();
    while (CLINT_SOFTWARE_INTERRUPT[hart] == 0)
        __asm__ volatile("wfi" ::: "memory");
    atomic_store(&alive[hart], 1);
    for (unsigned run = 0;; run++) {
        sleep_while_equal(&runs[hart], run);
        run_entry(run_argument);
        return_from_run();
    }
}

/* ---- the fabric controller's side -------------------------------------------------------------------------- */

static bool come_alive(unsigned hart)
{
    uint32_t start = *CLINT_TIME;
    while (!atomic_load(&alive[hart])) {
        CLINT_SOFTWARE_INTERRUPT[hart] = 1;
        if (*CLINT_TIME - start > START_SECONDS * TIME_PER_SECOND)
            return false;
    }
    return true;
}

int hal_cluster_open(unsigned count)
{
    if (count < 1 || count > MAXIMUM_CORES)
        return DORY_ERROR_ARGUMENT;
    if (cores)
        return DORY_ERROR_CLUSTER;
    for (unsigned hart = 1; hart < count; hart++) {
        if (!come_alive(hart)) /* QEMU has fewer: -smp 8 is missing */
            return DORY_ERROR_CLUSTER;
    }
    virt_stacks_paint();
    cores = count;
    return DORY_OK;
}

static void wait_for_return(void)
{
    for (;;) {
        unsigned count = atomic_load(&returned);
        if (count == cores)
            return;
        sleep_while_equal(&returned, count);
    }
}

int virt_begin_run(void (*entry)(void *argument), void *argument)
{
    if (!entry)
        return DORY_ERROR_ARGUMENT;
    if (virt_beside_refuses())
        return DORY_ERROR_BUSY;
    if (!cores || is_running)
        return DORY_ERROR_CLUSTER;
    run_entry = entry;
    run_argument = argument;
    is_running = true;
    atomic_store(&returned, 0);
    for (unsigned hart = 1; hart < cores; hart++) {
        atomic_fetch_add(&runs[hart], 1);
        wake(hart);
    }
    return DORY_OK;
}

int virt_finish_run(void)
{
    return_from_run();
    wait_for_return();
    is_running = false;
    int status = virt_stacks_check();
    return status ? status : dma_end_of_run();
}

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    int status = virt_begin_run(entry, argument);
    if (status != DORY_OK)
        return status;
    virt_call_on_stack(entry, argument, virt_core_0_stack_end());
    return virt_finish_run();
}

int hal_cluster_close(void)
{
    if (virt_beside_refuses())
        return DORY_ERROR_BUSY;
    int status = cores ? virt_stacks_check() : DORY_OK;
    cores = 0;
    return status;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* QEMU executes instructions as fast as it can and knows nothing of pipelines, memories or banks: its cycle counter
 * follows the PC's clock or, with -icount, counts instructions. Neither is cycles, so there are none. */
uint32_t hal_cycles(void) { return 0; }
int hal_cycles_available(void) { return 0; }
