/* hal_memory_reserve from the region that a board gives, from its low end. */
#include "internal.h"

static size_t used[2]; /* by enum hal_memory */

__attribute__((weak)) void hal_cortexm_region(enum hal_memory memory, uint8_t **start, size_t *bytes)
{
    (void)memory;
    *start = NULL;
    *bytes = 0;
}

int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address)
{
    uint8_t *start;
    size_t all;
    if (!address || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    *address = NULL;
    hal_cortexm_region(memory, &start, &all);
    size_t left = all - used[memory], rounded = (bytes + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    if (bytes > left || rounded > left)
        return DORY_ERROR_MEMORY;
    *address = start + used[memory];
    used[memory] += rounded;
    return DORY_OK;
}

int hal_memory_reset(void)
{
    used[HAL_L1] = 0;
    used[HAL_L2] = 0;
    return DORY_OK;
}
