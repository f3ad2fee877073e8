/* What a chip's description promises the planner of L1, hal_memory_reserve has: all but stacks and what the HAL itself keeps
 * there. */
#include "dory/hal.h"
#include "expect.h"

int main(void)
{
    void *address = NULL;
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, PROMISED_L1_BYTES, &address), DORY_OK);
    EXPECT_THAT(address != NULL);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    return expect_result("chip: memory");
}
