/* Checks of arguments that are the same on every machine. */
#ifndef DORY_HAL_CHECK_H
#define DORY_HAL_CHECK_H

#include "dory/hal.h"

static inline int check_dma_copy(const struct hal_dma_copy *copy)
{
    return copy && copy->run_bytes && copy->runs && copy->planes ? DORY_OK : DORY_ERROR_ARGUMENT;
}

static inline int check_l3_copy(const struct hal_l3_copy *copy)
{
    if (!copy || copy->run_bytes == 0 || copy->runs == 0 || (unsigned)copy->kind > HAL_RAM_WRITE)
        return DORY_ERROR_ARGUMENT;
    uint32_t l2 = (uint32_t)(uintptr_t)copy->l2 | copy->run_bytes | (copy->runs > 1 ? copy->l2_stride : 0);
    uint32_t l3 = copy->l3_address | (copy->runs > 1 ? copy->l3_stride : 0);
    return l2 % HAL_L3_ALIGNMENT || l3 % 2 ? DORY_ERROR_ALIGNMENT : DORY_OK;
}

#endif
