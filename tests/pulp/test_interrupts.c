/* An application's own interrupts beside a driver that goes on by interrupts, and beside one that is polled: all of them are
 * served, whatever the driver does, and neither changes the other's registers. */
#include "chip.h"
#include "dory/hal.h"
#include "dory/pulp_interrupts.h"
#include "expect.h"

#define ROUNDS      50
#define APPLICATION 5 /* a software event that the HAL does not use */

static uint8_t stack[HAL_DRIVER_STACK_BYTES] DORY_FC __attribute__((aligned(HAL_DRIVER_STACK_ALIGNMENT)));
static volatile uint32_t interrupts, interrupts_of_others, rounds;
static uint32_t driver_failures;

void pulp_application_interrupt(unsigned line)
{
    interrupts += line == APPLICATION;
    interrupts_of_others += line != APPLICATION;
}

/* A core interrupts the application in the middle of a round. The driver's numbers must outlive all meetings. */
static void run_rounds(void *argument)
{
    uint32_t number = 17, same = 17;
    (void)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        hal_meet();
        number = number * 31 + round;
        if (hal_is_core() && hal_core_id() == 1)
            chip_tell_fc(APPLICATION);
        if (hal_is_core())
            for (volatile int i = 0; i < 200; i++)
                ;
        same = same * 31 + round;
        if (hal_is_driver()) {
            rounds++;
            driver_failures += number != same;
        }
    }
}

/* As many registers as there are hold numbers here, while interrupts come. */
static uint32_t application_failures(void)
{
    uint32_t a = interrupts + 1, b = a * 3, c = b * 5, d = c * 7, e = d * 11, f = e * 13, g = f * 17, h = g * 19;
    for (volatile int i = 0; i < 20; i++)
        ;
    return b != a * 3 || c != b * 5 || d != c * 7 || e != d * 11 || f != e * 13 || g != f * 17 || h != g * 19;
}

static void test(enum hal_progress progress)
{
    uint32_t failures = 0;
    int status;
    interrupts = rounds = 0;
    EXPECT_EQUAL(hal_cluster_start(run_rounds, NULL, progress, stack), DORY_OK);
    __asm__ volatile("csrsi 0x300, 8"); /* a start by polls leaves interrupts as they were */
    while ((status = hal_cluster_poll()) == DORY_RUNNING)
        failures += application_failures();
    for (volatile int i = 0; i < 100; i++)
        ;
    EXPECT_EQUAL(status, DORY_OK);
    EXPECT_EQUAL(rounds, ROUNDS);
    EXPECT_EQUAL(failures, 0);
    EXPECT_EQUAL(driver_failures, 0);
    EXPECT_EQUAL(interrupts_of_others, 0);
    /* two that come while one waits are one */
    EXPECT(interrupts > ROUNDS / 2 && interrupts <= ROUNDS, "%lu in %d rounds", (unsigned long)interrupts, ROUNDS);
}

int main(void)
{
    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    chip_interrupt_on(1u << APPLICATION);
    test(HAL_BY_INTERRUPT);
    test(HAL_BY_POLL);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    return expect_result("chip: interrupts");
}
