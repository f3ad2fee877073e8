/* What gap8.json promises the planner of L1, hal_memory_reserve has: all but stacks and what the HAL itself keeps there. */
#include "check.h"
#include "dory/hal.h"

int main(void)
{
    void *address = NULL;
    CHECK_EQUAL(hal_memory_reserve(HAL_L1, PROMISED_L1_BYTES, &address), DORY_OK);
    CHECK(address != NULL);
    CHECK_EQUAL(hal_memory_reset(), DORY_OK);
    return check_result();
}
