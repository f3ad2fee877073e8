/* The calls of hal/pmsis/declarations, on a PC: for testing hal/pmsis without a chip and without an SDK.
 *
 * Cluster cores are threads. The fabric controller is the caller of pi_cluster_send_task_to_cl, which meanwhile serves a
 * queue of events, as an SDK's event loop does. Transfers are done as late as can be: DMA commands when they are waited
 * for, flash and RAM a few events after they were started; until then their destination is poisoned. What the
 * real thing would not survive stops the program. Addresses are 32-bit numbers: the program must be linked below 4 GiB. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bsp/flash/hyperflash.h"
#include "bsp/ram/hyperram.h"
#include "pmsis.h"

#define CORES        8
#define DMA_COUNTERS 16
#define L1_BYTES     65500 /* what an application's static data would leave */
#define L2_BYTES     524000
#define RAM_BYTES    0x800000
#define POISON       0xDB

extern const uint8_t __start_dory_flash[], __stop_dory_flash[];

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fake PMSIS: %s\n", what);
        abort();
    }
}

static void *pointer_of(uint32_t address) { return (void *)(uintptr_t)address; }

/* ---- the fabric controller's events ------------------------------------------------------------------------- */

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t events_changed = PTHREAD_COND_INITIALIZER;
static pi_task_t *first_event, *last_event;
static bool task_has_ended;

struct pi_task *pi_task_callback(struct pi_task *task, void (*callback)(void *argument), void *argument)
{
    *task = (pi_task_t){.callback = callback, .argument = argument};
    return task;
}

static void push_event(pi_task_t *task)
{
    pthread_mutex_lock(&events_lock);
    for (pi_task_t *event = first_event; event; event = event->next)
        require(event != task, "a task was sent twice");
    task->next = NULL;
    if (first_event)
        last_event->next = task;
    else
        first_event = task;
    last_event = task;
    pthread_cond_signal(&events_changed);
    pthread_mutex_unlock(&events_lock);
}

static pi_task_t *pop_event(void)
{
    pthread_mutex_lock(&events_lock);
    while (!first_event && !task_has_ended)
        pthread_cond_wait(&events_changed, &events_lock);
    pi_task_t *task = first_event;
    if (task)
        first_event = task->next;
    pthread_mutex_unlock(&events_lock);
    return task;
}

static void serve_events_until_task_has_ended(void)
{
    for (pi_task_t *task; (task = pop_event()) != NULL;)
        task->callback(task->argument);
}

/* ---- cluster ------------------------------------------------------------------------------------------------ */

static bool cluster_is_open;
static pthread_barrier_t team_barrier;
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static unsigned in_flight; /* DMA commands; under `critical_dma` */
static pthread_mutex_t critical_dma = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local uint32_t core_id;
static _Thread_local bool is_on_cluster;

struct core {
    uint32_t id;
    void (*entry)(void *argument);
    void *argument;
};

static void *run_core(void *argument)
{
    struct core *core = argument;
    core_id = core->id;
    is_on_cluster = true;
    core->entry(core->argument);
    return NULL;
}

/* Drivers of gap_sdk read a configuration until the device is closed, long after the function that opened it has ended. */
void pi_open_from_conf(struct pi_device *device, void *conf)
{
    char here;
    uintptr_t distance =
        (uintptr_t)conf > (uintptr_t)&here ? (uintptr_t)conf - (uintptr_t)&here : (uintptr_t)&here - (uintptr_t)conf;
    require(distance > 1 << 20, "a configuration lies on the stack");
    device->config = conf;
}
void pi_cluster_conf_init(struct pi_cluster_conf *conf) { conf->id = 99; }

int pi_cluster_open(struct pi_device *device)
{
    require(!cluster_is_open && ((struct pi_cluster_conf *)device->config)->id == 0, "cluster 0 opened twice, or another");
    cluster_is_open = true;
    return 0;
}

int pi_cluster_close(struct pi_device *device)
{
    (void)device;
    require(cluster_is_open, "a closed cluster was closed");
    cluster_is_open = false;
    return 0;
}

struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *argument), void *argument)
{
    task->entry = entry;
    task->arg = argument;
    return task;
}

static void *run_cluster_task(void *argument)
{
    struct pi_cluster_task *task = argument;
    core_id = 0;
    is_on_cluster = true;
    task->entry(task->arg);
    pthread_mutex_lock(&events_lock);
    task_has_ended = true;
    pthread_cond_signal(&events_changed);
    pthread_mutex_unlock(&events_lock);
    return NULL;
}

int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task)
{
    pthread_t core_0;
    (void)device;
    require(cluster_is_open && task->stack_size && task->slave_stack_size, "a task for a closed cluster, or without stacks");
    task_has_ended = false;
    require(pthread_create(&core_0, NULL, run_cluster_task, task) == 0, "no thread");
    serve_events_until_task_has_ended();
    pthread_join(core_0, NULL);
    require(in_flight == 0, "a DMA command was never waited for");
    return 0;
}

/* Beside the application, events are served by a task of the operating system, as in FreeRTOS. */
static struct {
    struct pi_device *device;
    struct pi_cluster_task *task;
    pi_task_t *end;
} sent;

static void *serve_beside(void *unused)
{
    pi_cluster_send_task_to_cl(sent.device, sent.task);
    sent.end->callback(sent.end->argument);
    return unused;
}

int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *task, pi_task_t *end)
{
    pthread_t server;
    sent.device = device;
    sent.task = task;
    sent.end = end;
    require(pthread_create(&server, NULL, serve_beside, NULL) == 0 && pthread_detach(server) == 0, "no thread");
    return 0;
}

void pi_yield(void) { sched_yield(); }
uint32_t pi_is_fc(void) { return !is_on_cluster; }

void pi_cl_send_task_to_fc(pi_task_t *task) { push_event(task); }

void pi_cl_team_fork(int cores, void (*entry)(void *argument), void *argument)
{
    pthread_t threads[CORES];
    struct core team[CORES];
    require(cores >= 1 && cores <= CORES, "a team of too many cores");
    pthread_barrier_init(&team_barrier, NULL, (unsigned)cores);
    for (int i = 1; i < cores; i++) {
        team[i] = (struct core){.id = (uint32_t)i, .entry = entry, .argument = argument};
        require(pthread_create(&threads[i], NULL, run_core, &team[i]) == 0, "no thread");
    }
    entry(argument);
    for (int i = 1; i < cores; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&team_barrier);
}

void pi_cl_team_barrier(void) { pthread_barrier_wait(&team_barrier); }
void pi_cl_team_critical_enter(void) { pthread_mutex_lock(&critical); }
void pi_cl_team_critical_exit(void) { pthread_mutex_unlock(&critical); }
uint32_t pi_core_id(void) { return core_id; }

/* ---- memory: given back as a whole, when the last piece is freed --------------------------------------------- */

struct pool {
    uint8_t *bytes;
    uint32_t size, used, pieces;
};

static uint8_t l1_memory[L1_BYTES], l2_memory[L2_BYTES];
static struct pool l1_pool = {.bytes = l1_memory, .size = L1_BYTES}, l2_pool = {.bytes = l2_memory, .size = L2_BYTES};

static void *take(struct pool *pool, uint32_t bytes)
{
    if (bytes > pool->size - pool->used)
        return NULL;
    void *chunk = pool->bytes + pool->used;
    pool->used += (bytes + 3) / 4 * 4 < pool->size - pool->used ? (bytes + 3) / 4 * 4 : pool->size - pool->used;
    pool->pieces++;
    return chunk;
}

static void give(struct pool *pool, void *chunk)
{
    require((uint8_t *)chunk >= pool->bytes && (uint8_t *)chunk < pool->bytes + pool->size && pool->pieces, "a wrong free");
    if (--pool->pieces == 0)
        pool->used = 0;
}

void *pi_cl_l1_malloc(struct pi_device *device, uint32_t bytes)
{
    require(device && cluster_is_open, "L1 memory of a closed cluster");
    return take(&l1_pool, bytes);
}

void pi_cl_l1_free(struct pi_device *device, void *chunk, int bytes)
{
    (void)bytes;
    require(device && cluster_is_open, "L1 memory of a closed cluster");
    give(&l1_pool, chunk);
}

void *pi_l2_malloc(int bytes) { return take(&l2_pool, (uint32_t)bytes); }

void pi_l2_free(void *chunk, int bytes)
{
    (void)bytes;
    give(&l2_pool, chunk);
}

/* ---- DMA ---------------------------------------------------------------------------------------------------- */

static void for_each_run(const pi_cl_dma_cmd_t *command, bool poison)
{
    bool to_local = command->direction == PI_CL_DMA_DIR_EXT2LOC;
    for (uint32_t done = 0, run = 0; done < command->bytes; done += command->length, run++) {
        uint8_t *local = pointer_of(command->local + done),
                *external = pointer_of(command->external + run * command->stride);
        uint32_t bytes = command->bytes - done < command->length ? command->bytes - done : command->length;
        if (poison)
            memset(to_local ? local : external, POISON, bytes);
        else
            memcpy(to_local ? local : external, to_local ? external : local, bytes);
    }
}

static void count_command(int change)
{
    pthread_mutex_lock(&critical_dma);
    in_flight += (unsigned)change;
    require(in_flight <= DMA_COUNTERS, "more DMA commands than counters");
    pthread_mutex_unlock(&critical_dma);
}

void pi_cl_dma_cmd_2d(uint32_t external, uint32_t local, uint32_t bytes, uint32_t stride, uint32_t length,
                      pi_cl_dma_dir_e direction, pi_cl_dma_cmd_t *command)
{
    require(bytes && bytes <= 0xFFFF && length && length <= 0xFFFF && stride <= 0xFFFF,
            "a DMA command's field is too small");
    *command = (pi_cl_dma_cmd_t){.id = 1,
                                 .external = external,
                                 .local = local,
                                 .bytes = bytes,
                                 .stride = stride,
                                 .length = length,
                                 .direction = direction};
    count_command(1);
    for_each_run(command, true);
}

void pi_cl_dma_cmd(uint32_t external, uint32_t local, uint32_t bytes, pi_cl_dma_dir_e direction, pi_cl_dma_cmd_t *command)
{
    require(bytes < 0x8000, "FreeRTOS would cut this DMA command, by interrupts of core 0");
    pi_cl_dma_cmd_2d(external, local, bytes, 0, bytes, direction, command);
}

void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *command)
{
    require(command->id == 1, "a wait for no DMA command");
    for_each_run(command, false);
    command->id = 0;
    count_command(-1);
}

/* ---- flash and RAM ------------------------------------------------------------------------------------------- */

static uint8_t ram_memory[RAM_BYTES];
static bool flash_is_open, ram_is_open;
static uint32_t ram_allocated;

/* One at a time, as through one HyperBus. */
static struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
    pi_task_t *done;
    unsigned events_left;
} transfer;
static pi_task_t transfer_event;

static void advance_transfer(void *argument)
{
    (void)argument;
    if (transfer.events_left-- > 0) {
        push_event(pi_task_callback(&transfer_event, advance_transfer, NULL));
        return;
    }
    memcpy(transfer.to, transfer.from, transfer.bytes);
    pi_task_t *done = transfer.done;
    transfer.done = NULL;
    push_event(done);
}

static void begin_transfer(uint8_t *to, const uint8_t *from, uint32_t bytes, pi_task_t *done)
{
    require(!transfer.done, "two transfers at once on HyperBus");
    transfer.to = to;
    transfer.from = from;
    transfer.bytes = bytes;
    transfer.done = done;
    transfer.events_left = 3;
    memset(to, POISON, bytes);
    push_event(pi_task_callback(&transfer_event, advance_transfer, NULL));
}

static const uint8_t *in_flash(uint32_t address, uint32_t bytes)
{
    uint64_t image_bytes = (uint64_t)(__stop_dory_flash - __start_dory_flash);
    require(flash_is_open && address >= DORY_FLASH_OFFSET, "the flash is closed, or its boot image was read");
    require(address - DORY_FLASH_OFFSET + (uint64_t)bytes <= image_bytes, "a read behind what is in the flash");
    return __start_dory_flash + (address - DORY_FLASH_OFFSET);
}

static uint8_t *in_ram(uint32_t address, uint32_t bytes)
{
    require(ram_is_open && address >= ram_allocated && address + (uint64_t)bytes <= RAM_BYTES,
            "not the RAM that was allocated");
    return ram_memory + address;
}

void pi_hyperflash_conf_init(struct pi_hyperflash_conf *conf) { *conf = (struct pi_hyperflash_conf){0}; }
void pi_hyperram_conf_init(struct pi_hyperram_conf *conf) { *conf = (struct pi_hyperram_conf){0}; }

int pi_flash_open(struct pi_device *device)
{
    require(device->config && !flash_is_open, "flash opened twice");
    flash_is_open = true;
    return 0;
}

void pi_flash_close(struct pi_device *device)
{
    (void)device;
    flash_is_open = false;
}

void pi_flash_read(struct pi_device *device, uint32_t address, void *data, uint32_t bytes)
{
    (void)device;
    memcpy(data, in_flash(address, bytes), bytes);
}

void pi_flash_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    (void)device;
    begin_transfer(data, in_flash(address, bytes), bytes, task);
}

int32_t pi_ram_open(struct pi_device *device)
{
    require(device->config && !ram_is_open, "RAM opened twice");
    ram_is_open = true;
    return 0;
}

void pi_ram_close(struct pi_device *device)
{
    (void)device;
    require(ram_allocated == 0, "RAM closed with something allocated");
    ram_is_open = false;
}

int pi_ram_alloc(struct pi_device *device, uint32_t *address, uint32_t bytes)
{
    (void)device;
    require(ram_allocated == 0, "RAM allocated twice");
    *address = ram_allocated = 0x1000;
    return bytes <= RAM_BYTES - ram_allocated ? 0 : -1;
}

int pi_ram_free(struct pi_device *device, uint32_t address, uint32_t bytes)
{
    (void)device;
    require(bytes > 0 && address == ram_allocated, "a wrong free of RAM");
    ram_allocated = 0;
    return 0;
}

void pi_ram_read(struct pi_device *device, uint32_t address, void *data, uint32_t bytes)
{
    (void)device;
    memcpy(data, in_ram(address, bytes), bytes);
}

void pi_ram_write(struct pi_device *device, uint32_t address, void *data, uint32_t bytes)
{
    (void)device;
    memcpy(in_ram(address, bytes), data, bytes);
}

void pi_ram_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    (void)device;
    begin_transfer(data, in_ram(address, bytes), bytes, task);
}

void pi_ram_write_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    (void)device;
    begin_transfer(in_ram(address, bytes), data, bytes, task);
}

/* ---- time: tenths of nanoseconds for cycles, and a cluster twice as fast as the fabric controller -- */

void pi_perf_conf(unsigned events) { require(events == 1u << PI_PERF_CYCLES, "another counter"); }
void pi_perf_start(void) {}
uint32_t pi_freq_get(pi_freq_domain_e domain) { return domain == PI_FREQ_DOMAIN_CL ? 200000000 : 100000000; }

unsigned int pi_perf_read(int event)
{
    struct timespec now;
    require(event == PI_PERF_CYCLES, "another counter");
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned int)(((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 10);
}
