/* Flash that lies in the address space: what is linked into the section of dory/flash_section.h. A transfer is complete when
 * its start returns. There is no RAM beside the SRAM. */
#include <string.h>

#include "check.h"
#include "internal.h"

/* The linker defines these names where a program has such a section. */
extern const uint8_t __start_dory_flash[] __attribute__((weak)), __stop_dory_flash[] __attribute__((weak));

static bool is_open;
static hal_l3_ticket started, awaited;

static uint32_t flash_bytes_linked(void) { return (uint32_t)((uintptr_t)__stop_dory_flash - (uintptr_t)__start_dory_flash); }

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    if (is_open)
        return DORY_ERROR_L3;
    is_open = true;
    started = awaited = 0;
    if (flash_bytes)
        *flash_bytes = flash_bytes_linked();
    if (ram_bytes)
        *ram_bytes = 0;
    return DORY_OK;
}

uint32_t hal_flash_address(const void *symbol)
{
    uintptr_t offset = (uintptr_t)symbol - (uintptr_t)__start_dory_flash;
    return offset < flash_bytes_linked() ? (uint32_t)offset : HAL_NOT_IN_FLASH;
}

static bool is_in_flash(const struct hal_l3_copy *copy)
{
    uint64_t extent = (uint64_t)(copy->runs - 1) * copy->l3_stride + copy->run_bytes;
    return copy->kind == HAL_FLASH_READ && copy->l3_address + extent <= flash_bytes_linked();
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    int status = ticket ? check_l3_copy(copy) : DORY_ERROR_ARGUMENT;
    if (status != DORY_OK)
        return status;
    if (!is_open || !is_in_flash(copy))
        return DORY_ERROR_L3;
    for (uint32_t run = 0; run < copy->runs; run++)
        memcpy((uint8_t *)copy->l2 + run * copy->l2_stride, __start_dory_flash + copy->l3_address + run * copy->l3_stride,
               copy->run_bytes);
    *ticket = ++started;
    return DORY_OK;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    if (!is_open)
        return DORY_ERROR_L3;
    if (ticket > started)
        return DORY_ERROR_ARGUMENT;
    if (awaited < ticket)
        awaited = ticket;
    return DORY_OK;
}

int hal_l3_close(void)
{
    int status = is_open && awaited < started ? DORY_ERROR_L3 : DORY_OK;
    is_open = false;
    return status;
}
