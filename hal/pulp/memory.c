/* hal_memory_reserve: what the linker script leaves of L1 and L2, handed out from the low end. */
#include "internal.h"

static uint32_t reserved_bytes[2];

static uint8_t *start_of(enum hal_memory memory) { return memory == HAL_L1 ? __l1_free_start : __l2_free_start; }
static uint8_t *end_of(enum hal_memory memory) { return memory == HAL_L1 ? __l1_free_end : __l2_free_end; }

int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address)
{
    if (!address || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    uint8_t *next = start_of(memory) + reserved_bytes[memory];
    size_t left = (size_t)(end_of(memory) - next);
    if (bytes > left)
        return DORY_ERROR_MEMORY;
    size_t rounded = (bytes + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    reserved_bytes[memory] += (uint32_t)(rounded < left ? rounded : left);
    *address = next;
    return DORY_OK;
}

int hal_memory_reset(void)
{
    reserved_bytes[HAL_L1] = 0;
    reserved_bytes[HAL_L2] = 0;
    return DORY_OK;
}
