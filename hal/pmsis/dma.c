/* Copies between L2 and L1 by PMSIS' DMA commands. A command is contiguous in L1 and has runs of one length and stride in
 * L2; anything else is taken apart.
 *
 * PMSIS wants a command's structure to live until it is waited for, and each occupies one of MCHAN's 16 counters. So a
 * ticket holds COMMANDS of them, which are used in turn: a copy that takes more waits for its own first ones. */
#include "check.h"
#include "internal.h"

#define COMMANDS    2      /* in flight, of one ticket; HAL_DMA_TICKETS times this are all counters */
#define LARGEST     0x7FF8 /* bytes of a command: from 0x8000 on FreeRTOS cuts it, by an interrupt of core 0 for each part */
#define LARGEST_RUN 0x7FFF /* bytes of a run and of a stride of a 2-D command */

struct ticket {
    bool is_open;
    unsigned core;
    unsigned next; /* command to use */
    bool in_flight[COMMANDS];
    pi_cl_dma_cmd_t commands[COMMANDS];
};

static PI_CL_L1 struct ticket tickets[HAL_DMA_TICKETS]; /* used for every tile, by a core: L2 is far */

/* ---- commands ---------------------------------------------------------------------------------------------- */

static void wait_for(struct ticket *ticket, unsigned command)
{
    if (ticket->in_flight[command])
        pi_cl_dma_cmd_wait(&ticket->commands[command]);
    ticket->in_flight[command] = false;
}

static pi_cl_dma_cmd_t *take_command(struct ticket *ticket)
{
    unsigned command = ticket->next;
    ticket->next = (command + 1) % COMMANDS;
    wait_for(ticket, command);
    ticket->in_flight[command] = true;
    return &ticket->commands[command];
}

static uint32_t address_of(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

static pi_cl_dma_dir_e direction_of(const struct hal_dma_copy *copy)
{
    return copy->direction == HAL_TO_LOCAL ? PI_CL_DMA_DIR_EXT2LOC : PI_CL_DMA_DIR_LOC2EXT;
}

static void copy_run(struct ticket *ticket, const struct hal_dma_copy *copy, uint32_t external, uint32_t local)
{
    for (uint32_t done = 0, bytes; done < copy->run_bytes; done += bytes) {
        bytes = copy->run_bytes - done < LARGEST ? copy->run_bytes - done : LARGEST;
        pi_cl_dma_cmd(external + done, local + done, bytes, direction_of(copy), take_command(ticket));
    }
}

static bool fits_2d(const struct hal_dma_copy *copy)
{
    return copy->runs > 1 && copy->local_run_stride == copy->run_bytes && copy->run_bytes <= LARGEST_RUN &&
           copy->external_run_stride <= LARGEST_RUN && (uint64_t)copy->runs * copy->run_bytes <= LARGEST;
}

static void copy_plane(struct ticket *ticket, const struct hal_dma_copy *copy, uint32_t external, uint32_t local)
{
    if (fits_2d(copy)) {
        pi_cl_dma_cmd_2d(external, local, copy->runs * copy->run_bytes, copy->external_run_stride, copy->run_bytes,
                         direction_of(copy), take_command(ticket));
        return;
    }
    for (uint32_t run = 0; run < copy->runs; run++)
        copy_run(ticket, copy, external + run * copy->external_run_stride, local + run * copy->local_run_stride);
}

/* Runs that follow one another without a gap on both sides are one run. */
static void join_runs(struct hal_dma_copy *copy)
{
    if (copy->runs > 1 && copy->external_run_stride == copy->run_bytes && copy->local_run_stride == copy->run_bytes) {
        copy->run_bytes *= copy->runs;
        copy->runs = 1;
    }
}

/* ---- tickets: numbers are 1 to HAL_DMA_TICKETS -------------------------------------------------------------- */

static struct ticket *own_ticket(hal_dma_ticket number)
{
    if (number < 1 || number > HAL_DMA_TICKETS)
        return NULL;
    struct ticket *ticket = &tickets[number - 1];
    return ticket->is_open && ticket->core == hal_core_id() ? ticket : NULL;
}

/* Its commands stay as they are: they are large. */
static void begin(struct ticket *ticket)
{
    ticket->is_open = true;
    ticket->core = hal_core_id();
    ticket->next = 0;
    for (unsigned i = 0; i < COMMANDS; i++)
        ticket->in_flight[i] = false;
}

/* 0 where all are open. */
static hal_dma_ticket take_free_ticket(void)
{
    hal_dma_ticket number = 0;
    pi_cl_team_critical_enter();
    for (int slot = 0; slot < HAL_DMA_TICKETS && number == 0; slot++) {
        if (!tickets[slot].is_open) {
            begin(&tickets[slot]);
            number = slot + 1;
        }
    }
    pi_cl_team_critical_exit();
    return number;
}

static void give_back(struct ticket *ticket)
{
    pi_cl_team_critical_enter();
    ticket->is_open = false;
    pi_cl_team_critical_exit();
}

int hal_dma_open(hal_dma_ticket *number)
{
    if (!number)
        return DORY_ERROR_ARGUMENT;
    if (!pmsis_is_running() || pmsis_refuses())
        return DORY_ERROR_DMA; /* the FC has no DMA */
    *number = take_free_ticket();
    return *number ? DORY_OK : DORY_ERROR_DMA;
}

int hal_dma_copy(hal_dma_ticket number, const struct hal_dma_copy *copy)
{
    int status = check_dma_copy(copy);
    if (status != DORY_OK)
        return status;
    struct ticket *ticket = own_ticket(number);
    if (!ticket)
        return DORY_ERROR_DMA;
    struct hal_dma_copy joined = *copy;
    join_runs(&joined);
    for (uint32_t plane = 0; plane < joined.planes; plane++)
        copy_plane(ticket, &joined, address_of(joined.external) + plane * joined.external_plane_stride,
                   address_of(joined.local) + plane * joined.local_plane_stride);
    return DORY_OK;
}

int hal_dma_wait(hal_dma_ticket number)
{
    struct ticket *ticket = own_ticket(number);
    if (!ticket)
        return DORY_ERROR_DMA;
    for (unsigned i = 0; i < COMMANDS; i++)
        wait_for(ticket, (ticket->next + i) % COMMANDS); /* the oldest first */
    give_back(ticket);
    return DORY_OK;
}

int pmsis_dma_end_of_run(void)
{
    int status = DORY_OK;
    for (unsigned slot = 0; slot < HAL_DMA_TICKETS; slot++) {
        if (tickets[slot].is_open)
            status = DORY_ERROR_DMA; /* a core never waited for it */
        tickets[slot].is_open = false;
    }
    return status;
}
