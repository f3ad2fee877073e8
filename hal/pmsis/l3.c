/* Flash and RAM by PMSIS. The SDK's HyperBus driver does in its interrupt what it was handed, in that order, so that several
 * runs are handed on at a time.
 *
 * The FC hands its transfers on itself, and waits for the tasks of their runs. The cluster's cores have no access to flash
 * and RAM: where one of them queues a transfer, it sends the FC's event loop a task, which counts it in `known`; the loop
 * then hands runs on by begin_runs, and takes them back by on_run_done. Under FreeRTOS the loop is a thread of its own:
 * between a run of the cluster and what the FC does beside none, the queue is emptied.
 *
 * The flash's driver would come back to the event loop between two reads: it is opened, for it knows the board, but the
 * flash is read as what it is, a chip on HyperBus. */
#include "bsp/flash/hyperflash.h"
#include "bsp/ram/hyperram.h"
#include "internal.h"

#include "check.h"

#define RING  16u
#define DEPTH 16u /* runs handed on at a time */

static struct pi_device flash, flash_reader, ram;
static uint32_t ram_start; /* of the part that is ours */
static bool is_open;

static PI_FC_L1 struct {
    struct hal_l3_copy copy[RING];
    pi_task_t posted_task[RING]; /* one each: a task that is on its way must not be sent again */
    volatile uint32_t posted;    /* transfers queued, numbered from 1; by the caller of hal_l3_start */
    volatile uint32_t completed; /* by the FC */
    uint32_t known;              /* to the FC: of `posted`, those whose task has arrived */
    uint32_t begun;              /* of them, those whose last run has been handed on */
    uint32_t run;                /* of transfer begun + 1, to be handed on next */
    uint32_t runs_begun, runs_done;
    pi_task_t run_task[DEPTH]; /* of those on their way, by turns */
    bool ends_transfer[DEPTH];
    uint32_t waited;
} queue;

static struct hal_l3_copy *copy_of(uint32_t number) { return &queue.copy[(number - 1) % RING]; }

/* Is number a at or behind b? They wrap round. */
static bool reached(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }

/* ---- opening ------------------------------------------------------------------------------------------------ */

static int open_reader(const struct pi_hyperflash_conf *of)
{
    static struct pi_hyper_conf conf; /* the driver keeps the address */
    pi_hyper_conf_init(&conf);
    conf.type = PI_HYPER_TYPE_FLASH;
    conf.id = (signed char)of->hyper_itf;
    conf.cs = (uint32_t)of->hyper_cs;
    pi_open_from_conf(&flash_reader, &conf);
    return pi_hyper_open(&flash_reader) == 0 ? DORY_OK : DORY_ERROR_L3;
}

static int open_flash(void)
{
    static struct pi_hyperflash_conf conf; /* likewise */
    pi_hyperflash_conf_init(&conf);
    pi_open_from_conf(&flash, &conf);
    if (pi_flash_open(&flash) != 0)
        return DORY_ERROR_L3;
    if (open_reader(&conf) == DORY_OK)
        return DORY_OK;
    pi_flash_close(&flash);
    return DORY_ERROR_L3;
}

static void close_flash(void)
{
    pi_hyper_close(&flash_reader);
    pi_flash_close(&flash);
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
        close_flash();
        return DORY_ERROR_L3;
    }
    is_open = true;
    queue.posted = queue.completed = queue.known = queue.begun = queue.waited = 0;
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
    close_flash();
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

static void begin_run(const struct hal_l3_copy *copy, uint32_t run, pi_task_t *task)
{
    uint32_t address = device_address(copy, run);
    void *l2 = l2_address(copy, run);
    switch (copy->kind) {
    case HAL_FLASH_READ: pi_hyper_read_async(&flash_reader, address, l2, copy->run_bytes, task); break;
    case HAL_RAM_READ: pi_ram_read_async(&ram, address, l2, copy->run_bytes, task); break;
    case HAL_RAM_WRITE: pi_ram_write_async(&ram, address, l2, copy->run_bytes, task); break;
    }
}

static pi_task_t *next_task(void) { return &queue.run_task[queue.runs_begun % DEPTH]; }

static bool has_next_run(void) { return queue.begun != queue.known; }
static bool has_room(void) { return queue.runs_begun - queue.runs_done < DEPTH; }

/* `task` is next_task(). */
static void begin_next_run(pi_task_t *task)
{
    const struct hal_l3_copy *copy = copy_of(queue.begun + 1);
    uint32_t run = queue.run;
    bool ends = run + 1 == copy->runs;
    queue.ends_transfer[queue.runs_begun++ % DEPTH] = ends;
    queue.run = ends ? 0 : run + 1;
    queue.begun += ends;
    begin_run(copy, run, task);
}

/* The oldest is done. */
static void count_run(void)
{
    if (queue.ends_transfer[queue.runs_done++ % DEPTH])
        store(&queue.completed, queue.completed + 1);
}

/* ---- FC, for a core: in its event loop ----------------------------------------------------------------------- */

static void on_run_done(void *argument);

static void begin_runs(void)
{
    while (has_next_run() && has_room())
        begin_next_run(pi_task_callback(next_task(), on_run_done, NULL));
}

static void on_run_done(void *argument)
{
    (void)argument;
    count_run();
    begin_runs();
}

static void on_posted(void *argument)
{
    (void)argument;
    queue.known++;
    begin_runs();
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

/* Runs that follow one another without a gap on both sides are one run. */
static void join_runs(struct hal_l3_copy *copy)
{
    if (copy->runs > 1 && copy->l3_stride == copy->run_bytes && copy->l2_stride == copy->run_bytes) {
        copy->run_bytes *= copy->runs;
        copy->runs = 1;
    }
}

static void post(const struct hal_l3_copy *copy)
{
    uint32_t number = queue.posted + 1;
    *copy_of(number) = *copy;
    join_runs(copy_of(number));
    store(&queue.posted, number);
}

static void wait_for_oldest_run(void)
{
    pi_task_wait_on(&queue.run_task[queue.runs_done % DEPTH]);
    count_run();
}

static void wait_on_fc(uint32_t number)
{
    while (!reached(queue.completed, number))
        wait_for_oldest_run();
}

static void start_on_fc(const struct hal_l3_copy *copy)
{
    wait_on_fc(queue.posted + 1 - RING);
    post(copy);
    queue.known++;
    while (has_next_run()) {
        if (!has_room())
            wait_for_oldest_run();
        begin_next_run(pi_task_block(next_task()));
    }
}

/* There is no event from FC to cluster in PMSIS but the end of a call: a core looks until the number has come. */
static void wait_on_cluster(uint32_t number)
{
    while (!reached(load(&queue.completed), number))
        wait_a_moment();
}

static void start_on_cluster(const struct hal_l3_copy *copy)
{
    wait_on_cluster(queue.posted + 1 - RING);
    post(copy);
    pi_cl_send_task_to_fc(pi_task_callback(&queue.posted_task[queue.posted % RING], on_posted, NULL));
}

void pmsis_l3_before_run(void) { wait_on_fc(queue.posted); }

/* What a core has started. */
void pmsis_l3_after_run(void)
{
    while (!reached(load(&queue.completed), queue.posted))
        pi_yield();
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
    if (pi_is_fc())
        start_on_fc(copy);
    else
        start_on_cluster(copy);
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
    if (pi_is_fc())
        wait_on_fc(ticket);
    else
        wait_on_cluster(ticket);
    if (reached(ticket, queue.waited))
        queue.waited = ticket;
    return DORY_OK;
}
