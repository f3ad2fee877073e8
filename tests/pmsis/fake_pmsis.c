/* The calls of hal/pmsis/declarations, and the DMA's registers, on a PC: for testing hal/pmsis without a chip and without an
 * SDK.
 *
 * Cluster cores are threads. The fabric controller's events are served by a thread, too, as in FreeRTOS. Transfers are done
 * as late as can be: DMA commands when they are waited for, flash and RAM a few events after they were started; until then
 * their destination is poisoned. What the real thing would not survive stops the program. Addresses are 32-bit numbers: the
 * program must be linked below 4 GiB. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_pmsis.h"
#include "mchan.h"

#define CORES        8
#define DMA_COUNTERS 16
#define L1_BYTES     (65500 + 8 * DORY_PMSIS_STACK_BYTES) /* a plan for a PC has no stacks in L1 */
#define L2_BYTES     524000
#define POISON       0xDB

void require(bool condition, const char *what)
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

static pi_task_t *pop_event(void)
{
    pthread_mutex_lock(&events_lock);
    while (!first_event)
        pthread_cond_wait(&events_changed, &events_lock);
    pi_task_t *task = first_event;
    first_event = task->next;
    pthread_mutex_unlock(&events_lock);
    return task;
}

static void *serve_events(void *unused)
{
    for (;;) {
        pi_task_t *task = pop_event();
        task->callback(task->argument);
    }
    return unused;
}

static void begin_to_serve(void)
{
    pthread_t server;
    require(pthread_create(&server, NULL, serve_events, NULL) == 0 && pthread_detach(server) == 0, "no thread");
}

struct pi_task *pi_task_callback(struct pi_task *task, void (*callback)(void *argument), void *argument)
{
    *task = (pi_task_t){.callback = callback, .argument = argument};
    return task;
}

struct pi_task *pi_task_block(struct pi_task *task)
{
    *task = (pi_task_t){.done = 0};
    return task;
}

void pi_task_wait_on(struct pi_task *task)
{
    require(!task->callback, "a wait for a task that calls somebody back");
    pthread_mutex_lock(&events_lock);
    while (!task->done)
        pthread_cond_wait(&events_changed, &events_lock);
    pthread_mutex_unlock(&events_lock);
}

static void append_event(pi_task_t *task)
{
    for (pi_task_t *event = first_event; event; event = event->next)
        require(event != task, "a task was sent twice");
    task->next = NULL;
    if (first_event)
        last_event->next = task;
    else
        first_event = task;
    last_event = task;
}

/* One that only ends a wait does so at once, as from an interrupt. */
void push_event(pi_task_t *task)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_to_serve);
    pthread_mutex_lock(&events_lock);
    if (task->callback) {
        append_event(task);
    } else {
        require(!task->done, "a task was sent twice");
        task->done = 1;
    }
    pthread_cond_broadcast(&events_changed);
    pthread_mutex_unlock(&events_lock);
}

/* ---- cluster ------------------------------------------------------------------------------------------------ */

static bool cluster_is_open;
static pthread_barrier_t team_barrier;
static void require_idle_dma(void);
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
    require_idle_dma();
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
    return NULL;
}

int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task)
{
    pthread_t core_0;
    (void)device;
    require(cluster_is_open && task->stacks && task->stack_size && task->slave_stack_size,
            "a task for a closed cluster, or without stacks");
    require(pthread_create(&core_0, NULL, run_cluster_task, task) == 0, "no thread");
    pthread_join(core_0, NULL);
    return 0;
}

static struct {
    struct pi_device *device;
    struct pi_cluster_task *task;
    pi_task_t *end;
} sent;

static void *run_and_tell(void *unused)
{
    pi_cluster_send_task_to_cl(sent.device, sent.task);
    push_event(sent.end);
    return unused;
}

int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *task, pi_task_t *end)
{
    pthread_t runner;
    sent.device = device;
    sent.task = task;
    sent.end = end;
    require(pthread_create(&runner, NULL, run_and_tell, NULL) == 0 && pthread_detach(runner) == 0, "no thread");
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
uint32_t pi_core_id(void) { return core_id; }

/* ---- memory: what was taken last is given back first -------------------------------------------------------- */

struct pool {
    uint8_t *bytes;
    uint32_t size, used;
};

static uint8_t l1_memory[L1_BYTES], l2_memory[L2_BYTES];
static struct pool l1_pool = {.bytes = l1_memory, .size = L1_BYTES}, l2_pool = {.bytes = l2_memory, .size = L2_BYTES};

static void *take(struct pool *pool, uint32_t bytes)
{
    uint32_t left = pool->size - pool->used, rounded = (bytes + 3) / 4 * 4;
    if (bytes > left)
        return NULL;
    void *chunk = pool->bytes + pool->used;
    pool->used += rounded < left ? rounded : left;
    return chunk;
}

static void give(struct pool *pool, void *chunk, int bytes)
{
    size_t start = (size_t)((uint8_t *)chunk - pool->bytes), end = start + (size_t)bytes;
    require(start <= pool->used && end <= pool->used && pool->used - end < 4, "a wrong free");
    pool->used = (uint32_t)start;
}

void *pi_cl_l1_malloc(struct pi_device *device, uint32_t bytes)
{
    require(device && cluster_is_open, "L1 memory of a closed cluster");
    return take(&l1_pool, bytes);
}

void pi_cl_l1_free(struct pi_device *device, void *chunk, int bytes)
{
    require(device && cluster_is_open, "L1 memory of a closed cluster");
    give(&l1_pool, chunk, bytes);
}

void *pi_l2_malloc(int bytes) { return take(&l2_pool, (uint32_t)bytes); }

void pi_l2_free(void *chunk, int bytes) { give(&l2_pool, chunk, bytes); }

/* ---- DMA: MCHAN's counters, and the commands of each ---------------------------------------------------------- */

struct command {
    uint32_t external, local, bytes, stride, run_bytes;
    bool to_local;
};

static struct counter {
    bool is_taken;
    struct command *commands;
    unsigned count;
} counters[DMA_COUNTERS];
static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct counter *taken_last; /* by this port: commands are booked to it */

uint32_t mchan_take(void)
{
    uint32_t number = 0;
    pthread_mutex_lock(&counters_lock);
    while (number < DMA_COUNTERS && counters[number].is_taken)
        number++;
    require(cluster_is_open && number < DMA_COUNTERS, "no free DMA counter, or a closed cluster");
    counters[number].is_taken = true;
    pthread_mutex_unlock(&counters_lock);
    taken_last = &counters[number];
    return number;
}

static void for_each_run(const struct command *command, bool poison)
{
    for (uint32_t done = 0, run = 0; done < command->bytes; done += command->run_bytes, run++) {
        uint8_t *local = pointer_of(command->local + done),
                *external = pointer_of(command->external + run * command->stride);
        uint8_t *to = command->to_local ? local : external;
        uint32_t left = command->bytes - done, bytes = left < command->run_bytes ? left : command->run_bytes;
        if (poison)
            memset(to, POISON, bytes);
        else
            memcpy(to, command->to_local ? external : local, bytes);
    }
}

static void add_command(struct command command)
{
    struct counter *counter = taken_last;
    require(counter && counter->is_taken, "a DMA command without a counter");
    require(command.bytes && command.bytes <= 0xFFFF && command.run_bytes, "a DMA command's size");
    counter->commands = realloc(counter->commands, (counter->count + 1) * sizeof command);
    require(counter->commands, "no memory");
    counter->commands[counter->count++] = command;
    for_each_run(&command, true);
}

void mchan_copy(uint32_t external, uint32_t local, uint32_t bytes, bool to_local)
{
    add_command((struct command){external, local, bytes, 0, bytes, to_local});
}

void mchan_copy_2d(uint32_t external, uint32_t local, uint32_t bytes, uint32_t stride, uint32_t run_bytes, bool to_local)
{
    require(stride <= 0x7FFF && run_bytes <= 0x7FFF, "a field of a 2-D DMA command is too small");
    add_command((struct command){external, local, bytes, stride, run_bytes, to_local});
}

void mchan_wait(uint32_t number)
{
    struct counter *counter = &counters[number];
    require(number < DMA_COUNTERS && counter->is_taken, "a wait for no DMA counter");
    for (unsigned i = 0; i < counter->count; i++)
        for_each_run(&counter->commands[i], false);
    free(counter->commands);
    pthread_mutex_lock(&counters_lock);
    *counter = (struct counter){.is_taken = false};
    pthread_mutex_unlock(&counters_lock);
}

static void require_idle_dma(void)
{
    for (unsigned i = 0; i < DMA_COUNTERS; i++)
        require(!counters[i].is_taken, "a DMA counter was never waited for");
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
