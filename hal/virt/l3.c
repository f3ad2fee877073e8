/* Flash and RAM of the virt HAL: memory that only these transfers touch. Late or early like DMA copies, in order. */
#include <string.h>

#include "check.h"
#include "dory/hal_virt.h"
#include "internal.h"

/* From virt.ld. */
extern uint8_t dory_flash_start[], dory_flash_end[], dory_flash_limit[], dory_ram_start[], dory_ram_end[];

#define QUEUE_LENGTH 16
#define STREAM       1000 /* of virt_is_late */

static struct hal_l3_copy queue[QUEUE_LENGTH]; /* by ticket, modulo its length */
static hal_l3_ticket started, performed;       /* the last ones */
static hal_l3_ticket awaited;
static bool is_open;

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    if (is_open)
        return DORY_ERROR_L3;
    is_open = true;
    started = performed = awaited = 0;
    if (flash_bytes)
        *flash_bytes = (uint32_t)(dory_flash_limit - dory_flash_start);
    if (ram_bytes)
        *ram_bytes = (uint32_t)(dory_ram_end - dory_ram_start);
    return DORY_OK;
}

uint32_t hal_flash_address(const void *symbol)
{
    uintptr_t address = (uintptr_t)symbol;
    bool in_flash = address >= (uintptr_t)dory_flash_start && address < (uintptr_t)dory_flash_end;
    return in_flash ? address - (uintptr_t)dory_flash_start : HAL_NOT_IN_FLASH;
}

/* ---- copies ------------------------------------------------------------------------------------------------ */

static uint8_t *l3_memory(enum hal_l3_kind kind) { return kind == HAL_FLASH_READ ? dory_flash_start : dory_ram_start; }

static bool is_in_memory(const struct hal_l3_copy *copy)
{
    uint64_t l3_extent = (uint64_t)(copy->runs - 1) * copy->l3_stride + copy->run_bytes;
    uint64_t l2_extent = (uint64_t)(copy->runs - 1) * copy->l2_stride + copy->run_bytes;
    uint8_t *l3_end = copy->kind == HAL_FLASH_READ ? dory_flash_limit : dory_ram_end;
    uint64_t l3_bytes = (uint64_t)(l3_end - l3_memory(copy->kind));
    return copy->l3_address + l3_extent <= l3_bytes && virt_is_in(HAL_L2, copy->l2, l2_extent);
}

static void perform(const struct hal_l3_copy *copy)
{
    for (uint32_t run = 0; run < copy->runs; run++) {
        uint8_t *l3 = l3_memory(copy->kind) + copy->l3_address + run * copy->l3_stride;
        uint8_t *l2 = (uint8_t *)copy->l2 + run * copy->l2_stride;
        if (copy->kind == HAL_RAM_WRITE)
            memcpy(l3, l2, copy->run_bytes);
        else
            memcpy(l2, l3, copy->run_bytes);
    }
}

static void poison(const struct hal_l3_copy *copy)
{
    for (uint32_t run = 0; run < copy->runs; run++)
        memset((uint8_t *)copy->l2 + run * copy->l2_stride, HAL_VIRT_POISON, copy->run_bytes);
}

static void perform_up_to(hal_l3_ticket ticket)
{
    while (performed < ticket)
        perform(&queue[++performed % QUEUE_LENGTH]);
}

/* ---- the queue --------------------------------------------------------------------------------------------- */

static bool overlap(const struct hal_l3_copy *a, const struct hal_l3_copy *b)
{
    const uint8_t *a_start = a->l2, *b_start = b->l2;
    return a_start < b_start + (b->runs - 1) * b->l2_stride + b->run_bytes &&
           b_start < a_start + (a->runs - 1) * a->l2_stride + a->run_bytes;
}

/* Poison must not go where an earlier transfer has yet to read: the order of the queue protects that. */
static bool is_in_the_way(const struct hal_l3_copy *copy)
{
    for (hal_l3_ticket ticket = performed + 1; ticket <= started; ticket++) {
        if (overlap(copy, &queue[ticket % QUEUE_LENGTH]))
            return true;
    }
    return false;
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    int status = ticket ? check_l3_copy(copy) : DORY_ERROR_ARGUMENT;
    if (status == DORY_OK && virt_beside_refuses())
        status = DORY_ERROR_BUSY;
    if (status != DORY_OK)
        return status;
    if (!is_open || !is_in_memory(copy))
        return DORY_ERROR_L3;
    if (started - performed == QUEUE_LENGTH)
        perform_up_to(performed + 1);
    if (is_in_the_way(copy))
        perform_up_to(started);
    queue[++started % QUEUE_LENGTH] = *copy;
    if (!virt_is_late(STREAM, started))
        perform_up_to(started);
    else if (copy->kind != HAL_RAM_WRITE)
        poison(copy);
    *ticket = started;
    return DORY_OK;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    if (virt_beside_refuses())
        return DORY_ERROR_BUSY;
    if (!is_open)
        return DORY_ERROR_L3;
    if (ticket > started)
        return DORY_ERROR_ARGUMENT;
    perform_up_to(ticket);
    if (awaited < ticket)
        awaited = ticket;
    return DORY_OK;
}

int hal_l3_close(void)
{
    if (virt_beside_refuses())
        return DORY_ERROR_BUSY;
    int status = is_open && awaited < started ? DORY_ERROR_L3 : DORY_OK;
    perform_up_to(started);
    is_open = false;
    return status;
}
