/* A program that is started by another one, as the AI-deck's bootloader does, has none of its events and interrupts. This
 * one starts itself again, with all of them on and some pending; a word at the end of L2 tells the second time from the
 * first. */
#include "dory/gap8_registers.h"
#include "expect.h"

#define LAST_WORD_OF_L2 (GAP8_L2_ADDRESS + 0x80000u - 4)
#define SECOND_TIME     0x0D012E57u
#define ALL_EVENTS      0xFFu /* those of software */

void _start(void) __attribute__((noreturn));

static void start_again(void)
{
    GAP8_FC_EVENTS->mask = ALL_EVENTS;
    GAP8_FC_EVENTS->interrupt_mask = ALL_EVENTS;
    for (int event = 0; event < 8; event++)
        GAP8_FC_EVENT_UNIT->trigger[event] = 1;
    EXPECT_EQUAL(GAP8_FC_EVENTS->buffer & ALL_EVENTS, ALL_EVENTS);
    if (expect_failures == 0)
        _start();
}

int main(void)
{
    volatile uint32_t *time = (volatile uint32_t *)LAST_WORD_OF_L2;
    if (*time != SECOND_TIME) {
        *time = SECOND_TIME;
        start_again();
    }
    EXPECT_EQUAL(GAP8_FC_EVENTS->mask, 0);
    EXPECT_EQUAL(GAP8_FC_EVENTS->interrupt_mask, 0);
    EXPECT_EQUAL(GAP8_FC_EVENTS->buffer & ALL_EVENTS, 0);
    __asm__ volatile("csrsi 0x300, 8" : : : "memory"); /* mstatus: an interrupt that is pending comes here, and is a trap */
    __asm__ volatile("csrci 0x300, 8" : : : "memory");
    return expect_result("GAP8: restart");
}
