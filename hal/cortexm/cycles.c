/* The cycle counter of the DWT unit (Armv7-M and Armv8-M Mainline). Not every chip has one, and QEMU's boards read zero: it
 * counts as available only if it has been seen to count. */
#include "internal.h"

#define DEMCR             (*(volatile uint32_t *)0xE000EDFCu)
#define DEMCR_TRACE       (1u << 24) /* the DWT unit is on */
#define DWT_CONTROL       (*(volatile uint32_t *)0xE0001000u)
#define DWT_CYCLE_COUNTER (*(volatile uint32_t *)0xE0001004u)
#define DWT_COUNTS        (1u << 0)
#define DWT_HAS_NO_CYCLES (1u << 25)

static bool is_available;

/* The counter is left on, with the value that it has: a debugger or the application may use it, too. */
void cortexm_cycles_open(void)
{
    DEMCR |= DEMCR_TRACE;
    if (DWT_CONTROL & DWT_HAS_NO_CYCLES)
        return;
    DWT_CONTROL |= DWT_COUNTS;
    uint32_t before = DWT_CYCLE_COUNTER;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    is_available = DWT_CYCLE_COUNTER != before;
}

uint32_t hal_cycles(void) { return is_available ? DWT_CYCLE_COUNTER : 0; }
int hal_cycles_available(void) { return is_available; }
