/* Wrong firmware for the virt HAL, one case a program (CASE): the machine must stop with a message, never hang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dory/hal.h"

#ifndef L1_ARRAY_BYTES
#define L1_ARRAY_BYTES 8
#endif
#ifndef L2_ARRAY_BYTES
#define L2_ARRAY_BYTES 8
#endif

static volatile uintptr_t nowhere; /* a null pointer that the compiler does not know */
static volatile uint8_t l1[L1_ARRAY_BYTES] DORY_L1;
static volatile uint8_t l2[L2_ARRAY_BYTES] DORY_L2;

void overflow(void *argument), trap(void *argument), deadlock(void *argument), status(void *argument), forget(void *argument);

/* What an overflow does to the end of a stack; a real one would also hit whatever the neighbour has there just now. */
extern uint8_t dory_core_stacks[], dory_core_stack_bytes[]; /* from virt.ld; the second is a number */

void overflow(void *argument)
{
    (void)argument;
    if (hal_core_id() == 3)
        memset(dory_core_stacks + 3 * (uintptr_t)dory_core_stack_bytes, 1, 4);
}

void trap(void *argument)
{
    (void)argument;
    if (hal_core_id() == 2)
        *(volatile uint32_t *)nowhere = 1;
    hal_barrier();
}

void deadlock(void *argument)
{
    (void)argument;
    if (hal_core_id() != 5)
        hal_barrier();
}

void forget(void *argument)
{
    hal_dma_ticket ticket;
    (void)argument;
    if (hal_core_id() == 1)
        hal_dma_open(&ticket);
}

void status(void *argument) { (void)argument; }

int main(void)
{
    l1[0] = l2[0] = 0;
    if (hal_cluster_open(8) != DORY_OK)
        return 1;
    int result = hal_cluster_run(CASE, NULL);
    printf("%s\n", dory_strerror(result));
    hal_cluster_close();
    exit(42);
}
