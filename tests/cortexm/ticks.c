/* Instructions, under QEMU with `-icount`: then an instruction takes the same virtual time always. The SysTick timer
 * measures that, some 40 instructions a tick, and is compared with a loop of a known length. */
#include "ticks.h"

#define SYSTICK(offset) (*(volatile uint32_t *)(0xE000E010u + (offset)))
#define CONTROL         SYSTICK(0)
#define RELOAD          SYSTICK(4)
#define COUNTER         SYSTICK(8) /* downwards */
#define AT_CORE_CLOCK   5u         /* on, and at the processor's clock */
#define MOST            0xFFFFFFu

#define LOOPS 1000000u /* of two instructions */

uint32_t count_start(void)
{
    RELOAD = MOST;
    COUNTER = 0;
    CONTROL = AT_CORE_CLOCK;
    return COUNTER;
}

static uint32_t ticks_of_loops(void)
{
    uint32_t before = count_start(), left = LOOPS;
    __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(left) : : "cc");
    return (before - COUNTER) & MOST;
}

uint32_t count_ticks_since(uint32_t before) { return (before - COUNTER) & MOST; }

uint32_t count_instructions(uint32_t ticks) { return (uint32_t)((uint64_t)ticks * 2 * LOOPS / ticks_of_loops()); }
