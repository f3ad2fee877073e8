/* What it costs to run the network beside an application, and what it costs the application: the longest time that it is
 * kept from its own work. The application sums up bytes in L2 all the time that the driver leaves it, and polls now and
 * then. For networks of one input and one output. A line a way of running, for scripts/measure. */
#include <stdio.h>
#include <string.h>

#include "network.h"

#if __has_include("dory/pulp_interrupts.h")
#include "dory/pulp_interrupts.h"
#else
#define pulp_driver_longest_cycles() 0
#endif

static uint8_t l1[NETWORK_L1_BYTES] DORY_L1;
static uint8_t l2[NETWORK_L2_BYTES] DORY_L2;
static uint8_t output[NETWORK_OUTPUT_BYTES] DORY_L2;
static uint8_t own[1024] DORY_L2;
static struct dory_job job DORY_FC;
static uint32_t sum, expected; /* the application's; a hash of the output */

static struct dory_buffers buffers = {.l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2};

static struct figures {
    uint32_t cycles;
    uint32_t start_cycles,
        longest_cycles;  /* of hal calls or, where there are none, between two moments of the application's own work */
    uint32_t own_cycles; /* that the application had */
} figures;

/* A moment of 8 bytes. What an interrupt takes comes between two looks at the clock. */
static uint32_t work_until(uint32_t end)
{
    uint32_t before = hal_cycles(), now = before;
    for (uint32_t at = 0; (int32_t)(end - now) > 0; at = (at + 8) % sizeof own, before = now) {
        for (uint32_t i = 0; i < 8; i++) {
            sum += own[at + i];
        }
        now = hal_cycles();
        uint32_t taken = now - before;
        figures.own_cycles += taken < 300 ? taken : 0;
        figures.longest_cycles = taken > figures.longest_cycles ? taken : figures.longest_cycles;
    }
    return now;
}

/* Input and arena hold what they did; that is as good an input as any, and the same one each time. */
static void bring_input(void)
{
    for (uint32_t i = 0; i < NETWORK_INPUT_BYTES; i++) {
        l2[NETWORK_INPUT_OFFSET + i] = (uint8_t)(i * 37 + 11);
    }
    memset(output, 0, sizeof output);
    memset(&figures, 0, sizeof figures);
}

static uint32_t hash_output(void)
{
    uint32_t hash = DORY_FLASH_HASH_START;
    for (uint32_t i = 0; i < sizeof output; i++) {
        hash = dory_flash_hash_step(hash, output[i]);
    }
    return hash;
}

static void print(const char *way, int status)
{
    int same = status == DORY_OK && hash_output() == expected;
    printf("beside %s: %lu cycles, %lu to start, at most %lu at once, driver at most %lu, %lu own; %s\n", way,
           (unsigned long)figures.cycles, (unsigned long)figures.start_cycles, (unsigned long)figures.longest_cycles,
           (unsigned long)pulp_driver_longest_cycles(), (unsigned long)figures.own_cycles, same ? "exact" : "FAILED");
}

static int run(void)
{
    bring_input();
    uint32_t before = hal_cycles();
    int status = network_run(&buffers, NULL, output);
    figures.cycles = hal_cycles() - before;
    expected = hash_output();
    print("run", status);
    return status;
}

static void start_and_poll(const char *way, enum hal_progress progress, uint32_t cycles_a_poll)
{
    bring_input();
    buffers.progress = progress;
    uint32_t before = hal_cycles();
    int status = network_start(&job, &buffers, NULL, output);
    uint32_t now = hal_cycles();
    figures.start_cycles = now - before;
    for (int running = status == DORY_OK; running;) {
        uint32_t called = work_until(now + cycles_a_poll);
        status = network_poll(&job);
        now = hal_cycles();
        running = status == DORY_RUNNING;
        uint32_t taken = now - called;
        figures.longest_cycles = running && taken > figures.longest_cycles ? taken : figures.longest_cycles;
    }
    figures.cycles = now - before;
    print(way, status);
}

static void start_and_wait(const char *way, enum hal_progress progress)
{
    bring_input();
    buffers.progress = progress;
    uint32_t before = hal_cycles();
    int status = network_start(&job, &buffers, NULL, output);
    figures.start_cycles = hal_cycles() - before;
    status = status == DORY_OK ? network_wait(&job) : status;
    figures.cycles = hal_cycles() - before;
    print(way, status);
}

int main(void)
{
    buffers.flash_address = hal_flash_address(network_weights);
    int status = hal_l3_open(NULL, NULL);
    status = status ? status : hal_cluster_open(hal_cluster_maximum_cores());
    status = status ? status : network_load(&buffers);
    status = status ? status : run();
    if (status != DORY_OK) {
        printf("beside: %s\n", dory_strerror(status));
        return 1;
    }
    start_and_poll("interrupts", HAL_BY_INTERRUPT, 5000);
    start_and_poll("polls every 1000", HAL_BY_POLL, 1000);
    start_and_poll("polls every 5000", HAL_BY_POLL, 5000);
    start_and_poll("polls every 20000", HAL_BY_POLL, 20000);
    start_and_wait("wait", HAL_BY_POLL);
    return 0;
}
