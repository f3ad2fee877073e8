/* DMA of the virt HAL: copies by a core, but as asynchronous as real ones: a seed decides for each whether it happens
 * early, when it is started, or late, when it is waited for; until then a late one's destination is poisoned. */
#include <string.h>

#include "check.h"
#include "dory/hal_virt.h"
#include "internal.h"

#define LATE_COPIES 6 /* of a ticket; what comes beyond is early */

uint32_t hal_virt_seed __attribute__((weak)) = 1;

struct ticket {
    bool is_open;
    uint8_t core;
    uint8_t late_count;
    struct hal_dma_copy late[LATE_COPIES];
};

static struct ticket tickets[HAL_DMA_TICKETS];
static hal_dma_ticket last_of_core[MAXIMUM_CORES]; /* the ticket that a core opened last */
static uint32_t copies_of_core[MAXIMUM_CORES];
static spinlock tickets_lock;

/* Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4) of the three numbers. */
bool virt_is_late(uint32_t stream, uint32_t index)
{
    uint32_t hash = (hal_virt_seed * 31 + stream) * 0x9E3779B1u + index;
    hash = (hash ^ (hash >> 15)) * 0x9E3779B1u;
    return hash >> 31;
}

/* ---- copies ------------------------------------------------------------------------------------------------ */

static uint8_t *run_start(const void *base, uint32_t plane_stride, uint32_t run_stride, uint32_t plane, uint32_t run)
{
    return (uint8_t *)(uintptr_t)base + plane * plane_stride + run * run_stride;
}

static uint64_t extent(const struct hal_dma_copy *copy, uint32_t plane_stride, uint32_t run_stride)
{
    uint64_t planes = (uint64_t)(copy->planes - 1) * plane_stride;
    uint64_t runs = (uint64_t)(copy->runs - 1) * run_stride;
    const uint64_t limit = UINT32_MAX; /* the sum of three must not wrap */
    return (planes < limit ? planes : limit) + (runs < limit ? runs : limit) + copy->run_bytes;
}

static bool is_in_memory(const struct hal_dma_copy *copy)
{
    return virt_is_in(HAL_L1, copy->local, extent(copy, copy->local_plane_stride, copy->local_run_stride)) &&
           virt_is_in(HAL_L2, copy->external, extent(copy, copy->external_plane_stride, copy->external_run_stride));
}

static void perform(const struct hal_dma_copy *copy)
{
    for (uint32_t plane = 0; plane < copy->planes; plane++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            uint8_t *local = run_start(copy->local, copy->local_plane_stride, copy->local_run_stride, plane, run);
            uint8_t *external =
                run_start(copy->external, copy->external_plane_stride, copy->external_run_stride, plane, run);
            if (copy->direction == HAL_TO_LOCAL)
                memcpy(local, external, copy->run_bytes);
            else
                memcpy(external, local, copy->run_bytes);
        }
    }
}

static void poison(const struct hal_dma_copy *copy)
{
    bool to_local = copy->direction == HAL_TO_LOCAL;
    void *base = to_local ? copy->local : copy->external;
    uint32_t plane_stride = to_local ? copy->local_plane_stride : copy->external_plane_stride;
    uint32_t run_stride = to_local ? copy->local_run_stride : copy->external_run_stride;
    for (uint32_t plane = 0; plane < copy->planes; plane++) {
        for (uint32_t run = 0; run < copy->runs; run++)
            memset(run_start(base, plane_stride, run_stride, plane, run), HAL_VIRT_POISON, copy->run_bytes);
    }
}

/* ---- tickets: numbers are 1 to HAL_DMA_TICKETS --------------------------------------------------------------- */

static struct ticket *own_ticket(hal_dma_ticket number)
{
    if (number < 1 || number > HAL_DMA_TICKETS)
        return NULL;
    struct ticket *ticket = &tickets[number - 1];
    return ticket->is_open && ticket->core == virt_hart() ? ticket : NULL;
}

int hal_dma_open(hal_dma_ticket *number)
{
    if (!number)
        return DORY_ERROR_ARGUMENT;
    if (!virt_is_running() || virt_beside_refuses())
        return DORY_ERROR_DMA; /* the FC has no DMA */
    int status = DORY_ERROR_DMA;
    unsigned core = virt_hart();
    lock(&tickets_lock);
    for (int i = 0; i < HAL_DMA_TICKETS && status != DORY_OK; i++) {
        if (tickets[i].is_open)
            continue;
        tickets[i].is_open = true;
        tickets[i].core = (uint8_t)core;
        tickets[i].late_count = 0;
        *number = last_of_core[core] = i + 1;
        status = DORY_OK;
    }
    unlock(&tickets_lock);
    return status;
}

int hal_dma_copy(hal_dma_ticket number, const struct hal_dma_copy *copy)
{
    int status = check_dma_copy(copy);
    if (status != DORY_OK)
        return status;
    unsigned core = virt_hart();
    struct ticket *ticket = own_ticket(number);
    if (!ticket || last_of_core[core] != number || !is_in_memory(copy))
        return DORY_ERROR_DMA;
    if (ticket->late_count < LATE_COPIES && virt_is_late(core, copies_of_core[core]++)) {
        poison(copy);
        ticket->late[ticket->late_count++] = *copy;
    } else {
        perform(copy);
    }
    return DORY_OK;
}

int hal_dma_wait(hal_dma_ticket number)
{
    struct ticket *ticket = own_ticket(number);
    if (!ticket)
        return DORY_ERROR_DMA;
    for (unsigned i = 0; i < ticket->late_count; i++)
        perform(&ticket->late[i]);
    lock(&tickets_lock);
    ticket->is_open = false;
    unlock(&tickets_lock);
    return DORY_OK;
}

int dma_end_of_run(void)
{
    int status = DORY_OK;
    for (int i = 0; i < HAL_DMA_TICKETS; i++) {
        if (tickets[i].is_open) {
            hal_log("dory hal: a core never waited for a DMA ticket that it opened\n");
            status = DORY_ERROR_DMA;
        }
        tickets[i].is_open = false;
    }
    return status;
}
