/* Wrong firmware for the virt HAL, one case a program (CASE): the machine must stop with a message, never hang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dory/hal.h"
#include "dory/hal_virt.h"

#ifndef L1_ARRAY_BYTES
#define L1_ARRAY_BYTES 8
#endif
#ifndef L2_ARRAY_BYTES
#define L2_ARRAY_BYTES 8
#endif

static volatile uintptr_t nowhere; /* a null pointer that the compiler does not know */
static volatile uint8_t l1[L1_ARRAY_BYTES] DORY_L1;
static volatile uint8_t l2[L2_ARRAY_BYTES] DORY_L2;

void timing(void *argument), trap(void *argument), deadlock(void *argument), status(void *argument), forget(void *argument);

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

/* Of many transfers some are there at once, and of the others nothing but poison. */
void timing(void *argument)
{
    unsigned late = 0, early = 0;
    (void)argument;
    for (int i = 0; i < 64 && hal_core_id() == 0; i++) {
        hal_dma_ticket ticket;
        struct hal_dma_copy copy = {
            .local = (void *)(uintptr_t)l1, .external = (void *)(uintptr_t)l2, .run_bytes = 8, .runs = 1, .planes = 1};
        hal_dma_open(&ticket);
        hal_dma_copy(ticket, &copy);
        late += l1[7] == HAL_VIRT_POISON;
        early += l1[7] == 0;
        hal_dma_wait(ticket);
        late += l1[7] != 0 ? 1000 : 0;
    }
    if (hal_core_id() == 0)
        printf("%s\n", late + early == 64 && late > 10 && early > 10 ? "late and early" : "not so");
}

int main(void)
{
    for (int i = 0; i < 8; i++)
        l1[i] = l2[i] = 0;
    if (hal_cluster_open(8) != DORY_OK)
        return 1;
    int result = hal_cluster_run(CASE, NULL);
    printf("%s\n", dory_strerror(result));
    hal_cluster_close();
    exit(42);
}
