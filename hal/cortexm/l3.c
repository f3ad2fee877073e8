/* Flash and RAM that lie in the address space. Flash: what is linked into the section of dory/flash_section.h; RAM: what a
 * firmware says that it has. Transfers are by the core, unless the firmware has functions for its DMA controller. */
#include <string.h>

#include "check.h"
#include "internal.h"

/* The linker defines these names where a program has such a section. */
extern const uint8_t __start_dory_flash[] __attribute__((weak)), __stop_dory_flash[] __attribute__((weak));

static bool is_open;
static hal_l3_ticket started, awaited;

static uint32_t flash_bytes_linked(void) { return (uint32_t)((uintptr_t)__stop_dory_flash - (uintptr_t)__start_dory_flash); }

__attribute__((weak)) void hal_cortexm_ram(uint8_t **start, size_t *bytes)
{
    *start = NULL;
    *bytes = 0;
}

__attribute__((weak)) int hal_cortexm_l3_copy(const struct hal_l3_copy *copy, uint8_t *mapped)
{
    for (uint32_t run = 0; run < copy->runs; run++) {
        uint8_t *l2 = (uint8_t *)copy->l2 + run * copy->l2_stride, *l3 = mapped + run * copy->l3_stride;
        if (copy->kind == HAL_RAM_WRITE)
            memcpy(l3, l2, copy->run_bytes);
        else
            memcpy(l2, l3, copy->run_bytes);
    }
    return DORY_OK;
}

__attribute__((weak)) int hal_cortexm_l3_wait(void) { return DORY_OK; }

static uint32_t ram_bytes_there(uint8_t **start)
{
    size_t bytes;
    hal_cortexm_ram(start, &bytes);
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    if (is_open)
        return DORY_ERROR_L3;
    is_open = true;
    started = awaited = 0;
    if (flash_bytes)
        *flash_bytes = flash_bytes_linked();
    uint8_t *ram;
    if (ram_bytes)
        *ram_bytes = ram_bytes_there(&ram);
    return DORY_OK;
}

uint32_t hal_flash_address(const void *symbol)
{
    uintptr_t offset = (uintptr_t)symbol - (uintptr_t)__start_dory_flash;
    return offset < flash_bytes_linked() ? (uint32_t)offset : HAL_NOT_IN_FLASH;
}

/* Where a transfer's bytes lie; null: some of them are nowhere. */
static uint8_t *mapped_of(const struct hal_l3_copy *copy)
{
    uint8_t *start = (uint8_t *)(uintptr_t)__start_dory_flash;
    uint32_t bytes = copy->kind == HAL_FLASH_READ ? flash_bytes_linked() : ram_bytes_there(&start);
    uint64_t extent = (uint64_t)(copy->runs - 1) * copy->l3_stride + copy->run_bytes;
    return copy->l3_address + extent <= bytes ? start + copy->l3_address : NULL;
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    int status = ticket ? check_l3_copy(copy) : DORY_ERROR_ARGUMENT;
    if (status != DORY_OK)
        return status;
    uint8_t *mapped = is_open ? mapped_of(copy) : NULL;
    status = mapped ? hal_cortexm_l3_copy(copy, mapped) : DORY_ERROR_L3;
    if (status == DORY_OK)
        *ticket = ++started;
    return status;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    if (!is_open)
        return DORY_ERROR_L3;
    if (ticket > started)
        return DORY_ERROR_ARGUMENT;
    if (awaited >= ticket)
        return DORY_OK;
    awaited = started;
    return hal_cortexm_l3_wait();
}

int hal_l3_close(void)
{
    int status = is_open && awaited < started ? DORY_ERROR_L3 : DORY_OK;
    is_open = false;
    return status;
}
