/* A core that uses more stack than it has: the run says DORY_ERROR_STACK, and so does every later one. */
#include "check.h"
#include "dory/hal.h"

extern uint8_t __core_stack_bytes[]; /* of the linker script; the address is the value */

/* Writes at most a little further than its stack, so that only the next core's unused end is hit. */
static void use_stack(void *argument)
{
    uint32_t bytes = *(const uint32_t *)argument;
    if (hal_core_id() == 2) {
        volatile uint8_t block[bytes];
        for (uint32_t i = 0; i < bytes; i++)
            block[i] = (uint8_t)i;
        (void)block[0];
    }
    hal_barrier();
}

int main(void)
{
    uint32_t enough = (uint32_t)(uintptr_t)__core_stack_bytes / 2, too_much = (uint32_t)(uintptr_t)__core_stack_bytes;
    CHECK_EQUAL(hal_cluster_open(8), DORY_OK);
    CHECK_EQUAL(hal_cluster_run(use_stack, &enough), DORY_OK);
    CHECK_EQUAL(hal_cluster_run(use_stack, &too_much), DORY_ERROR_STACK);
    CHECK_EQUAL(hal_cluster_run(use_stack, &enough), DORY_ERROR_STACK);
    CHECK_EQUAL(hal_cluster_close(), DORY_OK);
    CHECK_EQUAL(hal_cluster_open(8), DORY_OK); /* the power-up makes it good again */
    CHECK_EQUAL(hal_cluster_run(use_stack, &enough), DORY_OK);
    CHECK_EQUAL(hal_cluster_close(), DORY_OK);
    return check_result();
}
