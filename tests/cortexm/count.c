/* Counts the instructions of one inference. Built for one network: NETWORK is its name, MEMORY_L1 and MEMORY_L2 name the
 * sizes of its memory. */
#include <stdio.h>

#include NETWORK_HEADER
#include "ticks.h"

#define JOINED(a, b) a##b
#define NAME(a, b)   JOINED(a, b)

static uint32_t ticks_of_run(const struct dory_buffers *buffers)
{
    uint32_t before = count_start();
    int status = NAME(NETWORK, _run)(buffers, NULL, NULL);
    uint32_t ticks = count_ticks_since(before);
    return status == DORY_OK ? ticks : 0;
}

int main(void)
{
    static uint8_t l1[MEMORY_L1] DORY_L1, l2[MEMORY_L2] DORY_L2;
    struct dory_buffers buffers = {.l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2};
    int status = hal_cluster_open(1);
    if (status == DORY_OK) {
        status = NAME(NETWORK, _load)(&buffers);
    }
    uint32_t ticks = status == DORY_OK ? ticks_of_run(&buffers) : 0;
    printf("arena bytes: %u\n", (unsigned)(sizeof l1 + sizeof l2));
    printf("instructions: %u\n", (unsigned)count_instructions(ticks));
    return ticks == 0;
}
