/* What the HAL costs, in cycles of the cluster, with limits: a change that makes a call slow must not go unseen.
 * The limits hold on gvsoc with AXI routers of 8 B/cycle and equal clocks of FC and cluster. */
#include "dory/flash_section.h"
#include "dory/hal.h"
#include "dory/pulp_counters.h"
#include "expect.h"

#define REPEATS          64u
#define STREAM_BYTES     262144u
#define STREAM_TRANSFERS 8u

extern const uint8_t flash_image[];

static uint8_t local[16384] DORY_L1;
static volatile uint32_t results[16] DORY_L1;
static volatile uint32_t stream_is_over DORY_L1;
static uint8_t external[65536] DORY_L2;

enum {
    TIMER,
    BARRIER,
    MEETING,
    OPEN_AND_COPY,
    OPEN_AND_COPY_2D,
    OPEN_AND_COPY_3D,
    WAIT_COMPLETED,
    SMALL_ROUND_TRIP,
    LARGE_ROUND_TRIP,
    L3_START,
    L3_WAIT_COMPLETED,
    L3_ROUND_TRIP,
    L3_STREAM,
    LOOP_CYCLES,
    LOOP_INSTRUCTIONS
};

static void report(const char *what, uint32_t cycles, uint32_t limit)
{
    printf("%-48s %7lu cycles\n", what, (unsigned long)cycles);
    EXPECT(cycles <= limit, "%s: the limit is %lu", what, (unsigned long)limit);
}

/* Time from `start` to now, less what reading the timer costs. */
static uint32_t since(uint32_t start) { return hal_cycles() - start - results[TIMER]; }

/* ---- cluster and DMA --------------------------------------------------------------------------------------- */

static void measure_barrier(void)
{
    hal_barrier();
    uint32_t start = hal_cycles();
    for (uint32_t i = 0; i < REPEATS; i++)
        hal_barrier();
    if (hal_core_id() == 0)
        results[BARRIER] = since(start) / REPEATS;
}

/* What a core pays for a meeting to which the driver has come before. */
static void measure_meeting(void *argument)
{
    (void)argument;
    uint32_t cycles = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (hal_is_core())
            for (volatile uint32_t loop = 0; loop < 300; loop++) {
            }
        if (hal_is_core())
            hal_barrier();
        uint32_t start = hal_cycles();
        hal_meet();
        cycles += since(start);
    }
    if (hal_is_core() && hal_core_id() == 7)
        results[MEETING] = cycles / REPEATS;
}

static inline __attribute__((always_inline)) void copy_shape(hal_dma_ticket ticket, uint32_t bytes, uint32_t runs,
                                                             uint32_t planes)
{
    hal_dma_copy(ticket, &(struct hal_dma_copy){.local = local,
                                                .external = external,
                                                .run_bytes = bytes,
                                                .runs = runs,
                                                .planes = planes,
                                                .external_run_stride = 2 * bytes,
                                                .external_plane_stride = 5 * bytes * runs,
                                                .local_run_stride = bytes,
                                                .local_plane_stride = bytes * runs,
                                                .direction = HAL_TO_LOCAL});
}

/* Of several passes the shortest counts: the cycles of the code itself, without misses of the instruction cache. */
static void keep_least(int result, uint32_t cycles)
{
    if (results[result] == 0 || cycles < results[result])
        results[result] = cycles;
}

/* Cycles to open a ticket and start one copy; then to wait for it, at once or when it has long been complete. */
static inline __attribute__((always_inline)) void measure_copy(uint32_t bytes, uint32_t runs, uint32_t planes,
                                                               int start_result, int wait_result, int idle)
{
    hal_dma_ticket ticket;
    uint32_t start = hal_cycles();
    hal_dma_open(&ticket);
    copy_shape(ticket, bytes, runs, planes);
    keep_least(start_result, since(start));
    if (idle)
        for (volatile uint32_t loop = 0; loop < 1000; loop++) {
        }
    uint32_t wait = idle ? hal_cycles() : start;
    hal_dma_wait(ticket);
    keep_least(wait_result, since(wait));
}

static void measure_dma(void)
{
    for (int pass = 0; pass < 5; pass++) {
        int ignored = 15;
        measure_copy(1024, 1, 1, OPEN_AND_COPY, WAIT_COMPLETED, 1);
        measure_copy(64, 1, 1, ignored, SMALL_ROUND_TRIP, 0);
        measure_copy(16384, 1, 1, ignored, LARGE_ROUND_TRIP, 0);
        measure_copy(64, 16, 1, OPEN_AND_COPY_2D, ignored, 1);
        measure_copy(32, 8, 4, OPEN_AND_COPY_3D, ignored, 1);
    }
}

static void measure_counters(void)
{
    for (int pass = 0; pass < 2; pass++) {
        pulp_counters_start();
        __asm__ volatile("li t0, 1000\n1: addi t0, t0, -1\n bnez t0, 1b" : : : "t0");
        pulp_counters_stop();
    }
    results[LOOP_CYCLES] = pulp_counter(PULP_COUNTER_CYCLES);
    results[LOOP_INSTRUCTIONS] = pulp_counter(PULP_COUNTER_INSTRUCTIONS);
}

static void measure_cluster(void *argument)
{
    (void)argument;
    if (hal_core_id() == 0) {
        for (int pass = 0; pass < 2; pass++) { /* the second with a warm instruction cache */
            uint32_t start = hal_cycles();
            results[TIMER] = hal_cycles() - start;
        }
    }
    measure_barrier();
    measure_barrier();
    if (hal_core_id() == 0) {
        measure_dma();
        measure_counters();
    }
}

static void nothing(void *argument) { (void)argument; }

static void report_cluster(void)
{
    uint32_t open = hal_cycles();
    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    report("hal_cluster_open(8)", hal_cycles() - open, 10000);
    EXPECT_EQUAL(hal_cluster_run(measure_cluster, NULL), DORY_OK);
    uint32_t run = 0;
    for (int pass = 0; pass < 2; pass++) {
        run = hal_cycles();
        EXPECT_EQUAL(hal_cluster_run(nothing, NULL), DORY_OK);
        run = hal_cycles() - run;
    }
    report("hal_cluster_run of an empty function, 8 cores", run, 1000);
    report("hal_barrier, 8 cores", results[BARRIER], 20);
    EXPECT_EQUAL(hal_cluster_drive(measure_meeting, NULL), DORY_OK);
    report("hal_meet, 8 cores, the driver there first", results[MEETING], 60);
    report("hal_dma_open, hal_dma_copy 1-D", results[OPEN_AND_COPY], 40);
    report("hal_dma_open, hal_dma_copy 2-D", results[OPEN_AND_COPY_2D], 130);
    report("hal_dma_open, hal_dma_copy 3-D of 4 planes", results[OPEN_AND_COPY_3D], 250);
    report("hal_dma_wait of a complete ticket", results[WAIT_COMPLETED], 15);
    report("open, copy, wait: 64 B", results[SMALL_ROUND_TRIP], 80);
    report("open, copy, wait: 16384 B", results[LARGE_ROUND_TRIP], 2130);
    report("loop of 2 instructions, 1000 times", results[LOOP_CYCLES], 4100);
    EXPECT_THAT(results[LOOP_INSTRUCTIONS] >= 2000 && results[LOOP_INSTRUCTIONS] <= 2010);
}

/* ---- L3 ---------------------------------------------------------------------------------------------------- */

static void start_read(uint32_t bytes, hal_l3_ticket *ticket)
{
    struct hal_l3_copy copy = {.kind = HAL_FLASH_READ, .l2 = external, .run_bytes = bytes, .runs = 1};
    EXPECT_EQUAL(hal_l3_start(&copy, ticket), DORY_OK);
}

static void measure_l3_calls(void)
{
    hal_l3_ticket ticket;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t start = hal_cycles();
        start_read(64, &ticket);
        results[L3_START] = since(start);
        hal_l3_wait(ticket);
        results[L3_ROUND_TRIP] = since(start);
        start = hal_cycles();
        hal_l3_wait(ticket);
        results[L3_WAIT_COMPLETED] = since(start);
    }
}

/* Core 0 streams from flash; the others read L1 and move data by DMA all the while. */
static void load_machine(void)
{
    while (!stream_is_over) {
        hal_dma_ticket ticket;
        hal_dma_open(&ticket);
        hal_dma_copy(ticket, &(struct hal_dma_copy){.local = local + 2048 * hal_core_id(),
                                                    .external = external,
                                                    .run_bytes = 1024,
                                                    .runs = 1,
                                                    .planes = 1,
                                                    .direction = HAL_TO_LOCAL});
        for (uint32_t i = 0; i < 1000; i++)
            (void)*(volatile uint8_t *)&local[2048 * hal_core_id() + i];
        hal_dma_wait(ticket);
    }
}

static void measure_l3(void *argument)
{
    (void)argument;
    if (hal_core_id() == 0) {
        measure_l3_calls();
        hal_l3_ticket ticket = 0;
        uint32_t start = hal_cycles();
        for (uint32_t i = 0; i < STREAM_TRANSFERS; i++)
            start_read(STREAM_BYTES / STREAM_TRANSFERS, &ticket);
        hal_l3_wait(ticket);
        results[L3_STREAM] = since(start);
        stream_is_over = 1;
    } else {
        load_machine();
    }
}

static void report_l3(void)
{
    stream_is_over = 0;
    EXPECT_EQUAL(hal_cluster_run(measure_l3, NULL), DORY_OK);
    report("hal_l3_start on the cluster", results[L3_START], 400);
    report("hal_l3_wait of a complete ticket", results[L3_WAIT_COMPLETED], 60);
    report("hal_l3_start, hal_l3_wait: 64 B of flash", results[L3_ROUND_TRIP], 900);
    report("256 KiB of flash in 8 transfers, cores and DMA busy", results[L3_STREAM], STREAM_BYTES + STREAM_BYTES / 40);
    printf("stream rate %lu / 1000 B a cycle\n", (unsigned long)((uint64_t)STREAM_BYTES * 1000 / results[L3_STREAM]));
}

int main(void)
{
    EXPECT_THAT(hal_flash_address(flash_image) != HAL_NOT_IN_FLASH);
    EXPECT_EQUAL(hal_l3_open(NULL, NULL), DORY_OK);
    report_cluster();
    report_l3();
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
    return expect_result("GAP8: timing");
}
