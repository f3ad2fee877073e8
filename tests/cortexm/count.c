/* Counts the instructions of one inference, under QEMU with `-icount`: then an instruction takes the same virtual time
 * always. The SysTick timer measures that, some 40 instructions a tick, and is compared with a loop of a known length. Built
 * for one network: NETWORK is its name, MEMORY_L1 and MEMORY_L2 name the sizes of its memory. */
#include <stdio.h>

#include NETWORK_HEADER

#define JOINED(a, b) a##b
#define NAME(a, b)   JOINED(a, b)

#define SYSTICK(offset) (*(volatile uint32_t *)(0xE000E010u + (offset)))
#define CONTROL         SYSTICK(0)
#define RELOAD          SYSTICK(4)
#define COUNTER         SYSTICK(8) /* downwards */
#define AT_CORE_CLOCK   5u         /* on, and at the processor's clock */
#define MOST            0xFFFFFFu

#define LOOPS 1000000u /* of two instructions */

static uint32_t start(void)
{
    RELOAD = MOST;
    COUNTER = 0;
    CONTROL = AT_CORE_CLOCK;
    return COUNTER;
}

static uint32_t ticks_of_loops(void)
{
    uint32_t before = start(), left = LOOPS;
    __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(left) : : "cc");
    return (before - COUNTER) & MOST;
}

static uint32_t ticks_of_run(const struct dory_buffers *buffers)
{
    uint32_t before = start();
    int status = NAME(NETWORK, _run)(buffers, NULL, NULL);
    uint32_t ticks = (before - COUNTER) & MOST;
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
    uint64_t ticks = status == DORY_OK ? ticks_of_run(&buffers) : 0;
    printf("instructions: %u\n", (unsigned)(ticks * 2 * LOOPS / ticks_of_loops()));
    return ticks == 0;
}
