/* Flash and RAM by PMSIS. The cluster's cores have no access to them: transfers wait in a ring in L2, from which the fabric
 * controller starts one after the other, so that they are done in the order in which they were queued.
 *
 * A core that queues a transfer sends the FC a task, which counts it in `known`; the FC's event loop then alternates
 * between begin_next and on_run_done. All of the FC's functions run in that loop, one at a time. */
#include "bsp/flash/hyperflash.h"
#include "bsp/ram/hyperram.h"
#include "check.h"
#include "internal.h"

#define RING 8u

static struct pi_device flash, ram;
static uint32_t ram_start; /* of the part that is ours */
static bool is_open;

static struct {
    struct hal_l3_copy copy[RING];
    pi_task_t posted_task[RING]; /* one each: a task that is on its way must not be sent again */
    volatile uint32_t posted;    /* transfers queued, numbered from 1; by the caller of hal_l3_start */
    volatile uint32_t completed; /* by the FC */
    uint32_t known;              /* to the FC: of `posted`, those whose task has arrived */
    uint32_t run;                /* of transfer completed + 1, the one that is being done */
    bool is_busy;
    uint32_t waited;
} queue;

static struct hal_l3_copy *copy_of(uint32_t number) { return &queue.copy[(number - 1) % RING]; }

/* Is number a at or behind b? They wrap round. */
static bool reached(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }

/* ---- opening ------------------------------------------------------------------------------------------------ */

static int open_flash(void)
{
    static struct pi_hyperflash_conf conf; /* the driver keeps the address */
    pi_hyperflash_conf_init(&conf);
    pi_open_from_conf(&flash, &conf);
    return pi_flash_open(&flash) == 0 ? DORY_OK : DORY_ERROR_L3;
}

static int open_ram(void)
{
    static struct pi_hyperram_conf conf; /* likewise */
    pi_hyperram_conf_init(&conf);
    pi_open_from_conf(&ram, &conf);
    if (pi_ram_open(&ram) != 0)
        return DORY_ERROR_L3;
    if (pi_ram_alloc(&ram, &ram_start, DORY_PMSIS_RAM_BYTES) == 0)
        return DORY_OK;
    pi_ram_close(&ram);
    return DORY_ERROR_L3;
}

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    if (is_open || open_flash() != DORY_OK)
        return DORY_ERROR_L3;
    if (open_ram() != DORY_OK) {
        pi_flash_close(&flash);
        return DORY_ERROR_L3;
    }
    is_open = true;
    queue.posted = queue.completed = queue.known = queue.waited = 0;
    if (flash_bytes)
        *flash_bytes = DORY_PMSIS_FLASH_BYTES - DORY_FLASH_OFFSET;
    if (ram_bytes)
        *ram_bytes = DORY_PMSIS_RAM_BYTES;
    return DORY_OK;
}

int hal_l3_close(void)
{
    if (!is_open)
        return DORY_OK;
    if (pmsis_refuses())
        return DORY_ERROR_BUSY;
    int status = reached(queue.waited, queue.posted) ? DORY_OK : DORY_ERROR_L3;
    hal_l3_wait(queue.posted);
    pi_ram_free(&ram, ram_start, DORY_PMSIS_RAM_BYTES);
    pi_ram_close(&ram);
    pi_flash_close(&flash);
    is_open = false;
    return status;
}

/* The image of weights is in no memory: the section is not loaded (dory/flash_section.h), but the linker knows the
 * places in it. Whoever flashes the board puts it at DORY_FLASH_OFFSET. */
extern const uint8_t __start_dory_flash[] __attribute__((weak));
extern const uint8_t __stop_dory_flash[] __attribute__((weak));

uint32_t hal_flash_address(const void *symbol)
{
    uintptr_t address = (uintptr_t)symbol, start = (uintptr_t)__start_dory_flash;
    return address >= start && address < (uintptr_t)__stop_dory_flash ? (uint32_t)(address - start) : HAL_NOT_IN_FLASH;
}

/* ---- runs --------------------------------------------------------------------------------------------------- */

static uint32_t device_address(const struct hal_l3_copy *copy, uint32_t run)
{
    uint32_t address = copy->l3_address + run * copy->l3_stride;
    return copy->kind == HAL_FLASH_READ ? address + DORY_FLASH_OFFSET : address + ram_start;
}

static void *l2_address(const struct hal_l3_copy *copy, uint32_t run) { return (uint8_t *)copy->l2 + run * copy->l2_stride; }

/* FC, while nothing else is under way. */
static void do_run(const struct hal_l3_copy *copy, uint32_t run)
{
    uint32_t address = device_address(copy, run);
    void *l2 = l2_address(copy, run);
    switch (copy->kind) {
    case HAL_FLASH_READ: pi_flash_read(&flash, address, l2, copy->run_bytes); break;
    case HAL_RAM_READ: pi_ram_read(&ram, address, l2, copy->run_bytes); break;
    case HAL_RAM_WRITE: pi_ram_write(&ram, address, l2, copy->run_bytes); break;
    }
}

static void begin_run(const struct hal_l3_copy *copy, uint32_t run, pi_task_t *task)
{
    uint32_t address = device_address(copy, run);
    void *l2 = l2_address(copy, run);
    switch (copy->kind) {
    case HAL_FLASH_READ: pi_flash_read_async(&flash, address, l2, copy->run_bytes, task); break;
    case HAL_RAM_READ: pi_ram_read_async(&ram, address, l2, copy->run_bytes, task); break;
    case HAL_RAM_WRITE: pi_ram_write_async(&ram, address, l2, copy->run_bytes, task); break;
    }
}

/* ---- FC: in its event loop ---------------------------------------------------------------------------------- */

static void on_run_done(void *argument);

static void begin_next(void)
{
    static pi_task_t task;
    if (queue.is_busy || queue.completed == queue.known)
        return;
    queue.is_busy = true;
    begin_run(copy_of(queue.completed + 1), queue.run, pi_task_callback(&task, on_run_done, NULL));
}

static void on_run_done(void *argument)
{
    (void)argument;
    queue.is_busy = false;
    if (++queue.run == copy_of(queue.completed + 1)->runs) {
        queue.run = 0;
        store(&queue.completed, queue.completed + 1);
    }
    begin_next();
}

static void on_posted(void *argument)
{
    (void)argument;
    queue.known++;
    begin_next();
}

/* ---- starting and waiting ----------------------------------------------------------------------------------- */

static uint64_t extent(const struct hal_l3_copy *copy)
{
    return (uint64_t)(copy->runs - 1) * copy->l3_stride + copy->run_bytes;
}

static bool is_in_memory(const struct hal_l3_copy *copy)
{
    uint32_t bytes = copy->kind == HAL_FLASH_READ ? DORY_PMSIS_FLASH_BYTES - DORY_FLASH_OFFSET : DORY_PMSIS_RAM_BYTES;
    return copy->l3_address + extent(copy) <= bytes;
}

static void start_on_fc(const struct hal_l3_copy *copy)
{
    for (uint32_t run = 0; run < copy->runs; run++)
        do_run(copy, run);
    queue.posted++;
    queue.known++;
    queue.completed++;
}

/* There is no event from FC to cluster in PMSIS but the end of a call: a core looks until the number has come. */
static void wait_on_cluster(uint32_t number)
{
    while (!reached(load(&queue.completed), number))
        ;
}

static void start_on_cluster(const struct hal_l3_copy *copy)
{
    uint32_t number = queue.posted + 1;
    pi_task_t *task = &queue.posted_task[(number - 1) % RING];
    wait_on_cluster(number - RING);
    *copy_of(number) = *copy;
    store(&queue.posted, number);
    pi_cl_send_task_to_fc(pi_task_callback(task, on_posted, NULL));
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    int status = ticket ? check_l3_copy(copy) : DORY_ERROR_ARGUMENT;
    if (status == DORY_OK && pmsis_refuses())
        status = DORY_ERROR_BUSY;
    if (status != DORY_OK)
        return status;
    if (!is_open || !is_in_memory(copy))
        return DORY_ERROR_L3;
    if (pmsis_is_running())
        start_on_cluster(copy);
    else
        start_on_fc(copy);
    *ticket = queue.posted;
    return DORY_OK;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    if (ticket == 0)
        return DORY_OK;
    if (pmsis_refuses())
        return DORY_ERROR_BUSY;
    if (!is_open)
        return DORY_ERROR_L3;
    if (!reached(queue.posted, ticket))
        return DORY_ERROR_ARGUMENT; /* never started: it would not end */
    if (pmsis_is_running())
        wait_on_cluster(ticket);
    else if (!reached(load(&queue.completed), ticket))
        return DORY_ERROR_L3; /* left by a run of the cluster, whose events have ended with it */
    if (reached(ticket, queue.waited))
        queue.waited = ticket;
    return DORY_OK;
}
