/* DMA of the host HAL: eight tickets, each with the copies that were started under it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "internal.h"

struct ticket {
    hal_dma_ticket number; /* 0: free */
    int core;
    struct transfer *copies;
    size_t count, room;
};

static struct ticket tickets[HAL_DMA_TICKETS];
static hal_dma_ticket last_number;           /* of all tickets opened */
static hal_dma_ticket last_of_core[PARTIES]; /* the ticket that a core opened last */
static uint64_t copies_of_core[PARTIES];

void dma_setup(void)
{
    last_number = 0;
    memset(last_of_core, 0, sizeof last_of_core);
    memset(copies_of_core, 0, sizeof copies_of_core);
}

static struct ticket *find_ticket(hal_dma_ticket number)
{
    for (size_t i = 0; i < HAL_DMA_TICKETS; i++) {
        if (tickets[i].number == number)
            return &tickets[i];
    }
    return NULL;
}

static void close_ticket(struct ticket *ticket)
{
    free(ticket->copies);
    *ticket = (struct ticket){0};
}

/* ---- open -------------------------------------------------------------------------------------------------- */

static int open_ticket(int core, hal_dma_ticket *number)
{
    if (core == FABRIC_CONTROLLER)
        return host_violation(DORY_ERROR_DMA, "hal_dma_open called outside the cluster");
    if (host_fault(HAL_HOST_DMA_OPEN))
        return DORY_ERROR_DMA;
    struct ticket *ticket = find_ticket(0);
    if (!ticket)
        return host_violation(DORY_ERROR_DMA, "hal_dma_open on core %d: %d tickets are open already", core, HAL_DMA_TICKETS);
    ticket->number = ++last_number;
    ticket->core = core;
    last_of_core[core] = ticket->number;
    *number = ticket->number;
    return DORY_OK;
}

int hal_dma_open(hal_dma_ticket *ticket)
{
    if (!ticket)
        return DORY_ERROR_ARGUMENT;
    host_enter();
    int status = open_ticket(cluster_this_core(), ticket);
    host_leave();
    return status;
}

/* ---- copy -------------------------------------------------------------------------------------------------- */

static void make_transfer(const struct hal_dma_copy *copy, int core, struct transfer *transfer)
{
    struct view local = {.base = copy->local,
                         .run_stride = copy->runs > 1 ? copy->local_run_stride : 0,
                         .plane_stride = copy->planes > 1 ? copy->local_plane_stride : 0};
    struct view external = {.base = copy->external,
                            .run_stride = copy->runs > 1 ? copy->external_run_stride : 0,
                            .plane_stride = copy->planes > 1 ? copy->external_plane_stride : 0};
    bool to_local = copy->direction == HAL_TO_LOCAL;
    *transfer = (struct transfer){.kind = to_local ? "DMA copy into L1" : "DMA copy out of L1",
                                  .number = copies_of_core[core],
                                  .core = core,
                                  .to = to_local ? local : external,
                                  .from = to_local ? external : local,
                                  .run_bytes = copy->run_bytes,
                                  .runs = copy->runs,
                                  .planes = copy->planes};
}

static int locate(const struct hal_dma_copy *copy, struct transfer *transfer)
{
    bool to_local = copy->direction == HAL_TO_LOCAL;
    int status = transfer_locate(transfer, to_local ? &transfer->to : &transfer->from, HAL_L1, DORY_ERROR_DMA);
    if (status == DORY_OK)
        status = transfer_locate(transfer, to_local ? &transfer->from : &transfer->to, HAL_L2, DORY_ERROR_DMA);
    return status;
}

static struct transfer *append(struct ticket *ticket, const struct transfer *transfer)
{
    if (ticket->count == ticket->room) {
        ticket->room = ticket->room ? 2 * ticket->room : 8;
        ticket->copies = realloc(ticket->copies, ticket->room * sizeof *ticket->copies);
        if (!ticket->copies)
            abort();
    }
    ticket->copies[ticket->count] = *transfer;
    return &ticket->copies[ticket->count++];
}

static bool is_late(int core)
{
    if (host_options.timing != HAL_HOST_MIXED)
        return host_options.timing == HAL_HOST_LATE;
    return host_random((uint64_t)core, copies_of_core[core]) & 1;
}

static int start_copy(int core, hal_dma_ticket number, const struct hal_dma_copy *copy)
{
    if (core == FABRIC_CONTROLLER)
        return host_violation(DORY_ERROR_DMA, "hal_dma_copy called outside the cluster");
    copies_of_core[core]++;
    if (host_fault(HAL_HOST_DMA_COPY))
        return DORY_ERROR_DMA;
    struct ticket *ticket = number > 0 ? find_ticket(number) : NULL;
    if (!ticket || ticket->core != core || last_of_core[core] != number)
        return host_violation(DORY_ERROR_DMA, "hal_dma_copy: ticket %d is not the one that core %d opened last", (int)number,
                              core);
    struct transfer transfer;
    make_transfer(copy, core, &transfer);
    int status = locate(copy, &transfer);
    if (status == DORY_OK)
        status = transfer_check_conflict(&transfer, DORY_ERROR_DMA);
    if (status != DORY_OK)
        return status;
    *(copy->direction == HAL_TO_LOCAL ? &host_counters.dma_bytes_to_local : &host_counters.dma_bytes_from_local) +=
        transfer_bytes(&transfer);
    transfer_start(append(ticket, &transfer), is_late(core));
    return DORY_OK;
}

int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    int status = check_dma_copy(copy);
    if (status != DORY_OK)
        return status;
    host_enter();
    status = start_copy(cluster_this_core(), ticket, copy);
    host_leave();
    return status;
}

/* ---- wait -------------------------------------------------------------------------------------------------- */

/* Late copies happen now, in an order of the seed's choice: under one ticket there is none. */
static int finish_copies(struct ticket *ticket, bool perform)
{
    int status = DORY_OK;
    size_t first = ticket->count ? host_random(1000 + (uint64_t)ticket->core, (uint64_t)ticket->number) % ticket->count : 0;
    for (size_t i = 0; i < ticket->count; i++) {
        struct transfer *transfer = &ticket->copies[(first + i) % ticket->count];
        if (perform && !transfer_perform(transfer, DORY_ERROR_DMA))
            status = DORY_ERROR_DMA;
        if (!transfer_finish(transfer, DORY_ERROR_DMA))
            status = DORY_ERROR_DMA;
    }
    return status;
}

static int wait_for(int core, hal_dma_ticket number, bool stalls)
{
    if (core == FABRIC_CONTROLLER)
        return host_violation(DORY_ERROR_DMA, "hal_dma_wait called outside the cluster");
    struct ticket *ticket = number > 0 ? find_ticket(number) : NULL;
    if (!ticket || ticket->core != core)
        return host_violation(DORY_ERROR_DMA, "hal_dma_wait: ticket %d was not opened by core %d, or was waited for before",
                              (int)number, core);
    bool fault = host_fault(HAL_HOST_DMA_WAIT) || stalls;
    int status = finish_copies(ticket, !fault);
    close_ticket(ticket);
    return fault ? DORY_ERROR_DMA : status;
}

/* The other cores go on meanwhile. */
int hal_dma_wait(hal_dma_ticket ticket)
{
    start_yield_sometimes(3000, (uint64_t)ticket);
    host_enter();
    bool stalls = host_fault(HAL_HOST_DMA_STALL);
    bool is_slow = host_fault(HAL_HOST_DMA_DELAY);
    unsigned patience = host_options.patience_milliseconds;
    host_leave();
    if (stalls || is_slow)
        host_sleep(stalls ? patience : patience / 2);
    host_enter();
    int status = wait_for(cluster_this_core(), ticket, stalls);
    host_leave();
    return status;
}

int dma_end_of_run(void)
{
    int status = DORY_OK;
    for (size_t i = 0; i < HAL_DMA_TICKETS; i++) {
        struct ticket *ticket = &tickets[i];
        if (ticket->number == 0)
            continue;
        status = host_violation(DORY_ERROR_DMA, "core %d never waited for its ticket %d, which has %zu copies", ticket->core,
                                (int)ticket->number, ticket->count);
        finish_copies(ticket, true);
        close_ticket(ticket);
    }
    return status;
}
