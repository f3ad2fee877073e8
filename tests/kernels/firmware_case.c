#include "firmware_case.h"

#include <stdio.h>

#include "dory/hal.h"
#include "firmware_cases.h"

static _Alignas(uint32_t) uint8_t local_buffers[LOCAL_BYTES] DORY_L1;
static struct dory_tile local_tile DORY_L1; /* where the tile loop has it, too */
static uint32_t local_cycles DORY_L1;
static _Alignas(uint32_t) uint8_t expected_buffers[OUTPUT_BYTES] DORY_L2;
static struct test_case *running;

/* Of it, what lies in L1 in a run, too. */
static struct dory_layer local_layer DORY_L1;
static struct dory_stages local_stages DORY_L1;

static void run_reference(void *argument)
{
    struct dory_tile tile = *(const struct dory_tile *)argument;
    for (unsigned step = 0; step < test_case_steps(running); step++, tile.first_row++) {
        running->reference(&running->layer, &tile, hal_core_id(), hal_core_count());
        hal_barrier();
    }
}

static void run_other_steps(const struct dory_tile *tile, unsigned core, unsigned steps)
{
    struct dory_tile other = *tile;
    for (other.first_row++; steps > 1; steps--, other.first_row++) {
        if (core < running->cores) {
            running->kernel(&local_layer, &other, core, running->cores);
        }
        hal_barrier();
    }
}

static void run_kernel(void *argument)
{
    const struct dory_tile *tile = argument;
    unsigned core = hal_core_id(), steps = test_case_steps(running);
    for (int runs = tile->accumulators ? 1 : 2; runs > 0; runs--) {
        hal_barrier();
        uint32_t start = hal_cycles();
        if (core < running->cores) {
            running->kernel(&local_layer, tile, core, running->cores);
        }
        hal_barrier();
        if (steps > 1) {
            run_other_steps(tile, core, steps);
        }
        if (running->finish) {
            if (core < running->cores) {
                running->finish(&local_layer, tile, core, running->cores);
            }
            hal_barrier();
        }
        if (core == 0) {
            local_cycles = hal_cycles() - start;
        }
    }
}

int firmware_case_open(unsigned cores)
{
    if (!hal_cycles_available()) {
        printf("skipped: this target has no cycle counter\n");
        return 77;
    }
    if (hal_cluster_open(cores) != 0) {
        printf("no cluster\n");
        return 1;
    }
    if (hal_l3_open(NULL, NULL) != 0) {
        printf("no flash\n");
        hal_cluster_close();
        return 1;
    }
    return 0;
}

void firmware_case_close(void)
{
    hal_l3_close();
    hal_cluster_close();
}

bool firmware_case_read(uint32_t flash_address, void *l2, uint32_t bytes)
{
    const struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ, .l3_address = flash_address, .l2 = l2, .run_bytes = bytes, .runs = 1};
    hal_l3_ticket ticket;
    return flash_address != HAL_NOT_IN_FLASH && hal_l3_start(&copy, &ticket) == 0 && hal_l3_wait(ticket) == 0;
}

/* Writes test->expected. */
static bool get_expected(struct test_case *test, uint32_t outputs)
{
    struct dory_tile tile = test_case_expected_tile(test);
    if (outputs == HAL_NOT_IN_FLASH) {
        return hal_cluster_run(run_reference, &tile) == 0;
    }
    return firmware_case_read(outputs, test->expected, dory_round_up(test->output_bytes, HAL_L3_ALIGNMENT));
}

bool firmware_case_run(struct test_case *test, uint32_t outputs, uint32_t *cycles)
{
    struct test_memory memory, expected;
    test_memory_start(&memory, local_buffers, sizeof local_buffers);
    test_memory_start(&expected, expected_buffers, sizeof expected_buffers);
    if (!test_case_place(test, &memory, &expected)) {
        printf("too big\n");
        return false;
    }
    running = test;
    if (!get_expected(test, outputs)) {
        printf("no outputs to compare with\n");
        return false;
    }
    local_tile = test->tile;
    local_layer = test->layer;
    local_stages = test->stages;
    if (test->layer.stages == &test->stages) {
        local_layer.stages = &local_stages;
    }
    if (hal_cluster_run(run_kernel, &local_tile) != 0) {
        printf("the cluster failed\n");
        return false;
    }
    *cycles = local_cycles;
    return test_case_check(test, &memory);
}
