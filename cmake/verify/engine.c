/* How long an engine works during a run, and how long the first core waits for it: what the driver calls comes by way of
 * this file, by the linker's --wrap. The first run brings code to the caches, the second counts. For scripts/measure. */
#include <stdio.h>

#include "job.h"
#include "network.h"

static uint8_t l1[NETWORK_L1_BYTES] DORY_L1;
static uint8_t l2[NETWORK_L2_BYTES] DORY_L2;

static struct {
    uint32_t jobs, working_cycles, waiting_cycles;
    uint32_t since; /* when it began to work, where it does */
    uint32_t first_not_ended;
} counts DORY_L2;

uint32_t __real_dory_neureka_start(const struct dory_neureka_registers *registers,
                                   const struct dory_neureka_pointers *pointers);
uint32_t __wrap_dory_neureka_start(const struct dory_neureka_registers *registers,
                                   const struct dory_neureka_pointers *pointers);
void __real_dory_neureka_await(uint32_t number);
void __wrap_dory_neureka_await(uint32_t number);

uint32_t __wrap_dory_neureka_start(const struct dory_neureka_registers *registers,
                                   const struct dory_neureka_pointers *pointers)
{
    uint32_t now = hal_cycles(), number = __real_dory_neureka_start(registers, pointers);
    if (counts.jobs == 0 || (uint8_t)(counts.first_not_ended - number) == 0) /* which the engine counts in 8 bits */
        counts.since = now;
    counts.jobs++;
    return number;
}

/* An end is seen when the first core looks for it: exact where a tile is one job. */
void __wrap_dory_neureka_await(uint32_t number)
{
    uint32_t before = hal_cycles();
    __real_dory_neureka_await(number);
    if (hal_core_id() > 0)
        return;
    uint32_t now = hal_cycles();
    counts.waiting_cycles += now - before;
    counts.working_cycles += now - counts.since;
    counts.since = now;
    counts.first_not_ended = number + 1;
}

int main(void)
{
    struct dory_buffers buffers = {.l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2};
    buffers.flash_address = hal_flash_address(network_weights);
    int status = hal_l3_open(NULL, NULL);
    status = status ? status : hal_cluster_open(hal_cluster_maximum_cores());
    status = status ? status : network_load(&buffers);
    status = status ? status : network_run(&buffers, NULL, NULL);
    counts.jobs = counts.working_cycles = counts.waiting_cycles = 0;
    uint32_t before = hal_cycles();
    status = status ? status : network_run(&buffers, NULL, NULL);
    uint32_t cycles = hal_cycles() - before;
    if (status == DORY_OK)
        printf("engine: %lu jobs, %lu cycles, %lu of the first core waiting for it; %lu of the run\n",
               (unsigned long)counts.jobs, (unsigned long)counts.working_cycles, (unsigned long)counts.waiting_cycles,
               (unsigned long)cycles);
    hal_cluster_close();
    return status ? status : hal_l3_close();
}
