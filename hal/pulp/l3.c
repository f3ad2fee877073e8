/* L3: HyperFlash and HyperRAM behind the uDMA's HyperBus channel.
 *
 * Transfers wait in a ring in the FC's memory. Whoever starts one (a cluster core, or the FC itself) writes the
 * descriptor, counts `posted` up and, from the cluster, wakes the FC by an event. The FC alone drives the uDMA: it cuts
 * transfers into bursts, hands the channel the next burst before the one that runs has ended, and counts finished
 * transfers in `completed`, which the cluster sees as pulp_team.l3_completed in its L1, with an event. Nobody polls.
 */
#include "dory/hal_inline.h"
#include "internal.h"

#define RING 64u /* transfers: whoever starts one more waits, and so do the tiles that it should load meanwhile */

static PULP_FC_MEMORY struct {
    struct hal_l3_copy ring[RING]; /* of each, the runs that have not been handed to the uDMA; addresses on the HyperBus */
    volatile uint32_t posted;      /* transfers queued, numbered from 1 */
    uint32_t accepted;             /* of them, those whose last burst has been handed to the uDMA */
    uint32_t completed;
    uint32_t waited;        /* the highest number that was waited for */
    uint32_t run_offset;    /* in the first run that is left of transfer accepted + 1 */
    uint32_t in_flight;     /* bursts in the uDMA */
    uint32_t ends_transfer; /* by bit, that of the oldest burst the lowest: is it the last of its transfer? */
    enum hal_l3_kind kind;  /* theirs */
    uint32_t is_open;
    uint32_t cluster_runs;
} queue;

/* Is number a at or behind b? They wrap round. */
static int reached(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }

/* ---- what a transfer must be like -------------------------------------------------------------------------- */

/* Of `runs` runs, from the first byte to behind the last; no more than UINT32_MAX. */
static __attribute__((noinline)) uint32_t bytes_of_runs(uint32_t runs, uint32_t stride, uint32_t run_bytes)
{
    uint64_t bytes = (uint64_t)(runs - 1) * stride + run_bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static int fits(uint32_t start, uint32_t bytes, uint32_t room) { return start <= room && bytes <= room - start; }

static int check(const struct hal_l3_copy *copy)
{
    if (!copy || (unsigned)copy->kind > HAL_RAM_WRITE || copy->runs < 1 || copy->run_bytes < 1)
        return DORY_ERROR_ARGUMENT;
    uint32_t l2 = (uint32_t)(uintptr_t)copy->l2, words = l2 | copy->run_bytes, half_words = copy->l3_address;
    uint32_t l3_extent = copy->run_bytes, l2_extent = copy->run_bytes;
    if (copy->runs > 1) {
        words |= copy->l2_stride;
        half_words |= copy->l3_stride;
        l3_extent = bytes_of_runs(copy->runs, copy->l3_stride, copy->run_bytes);
        l2_extent = bytes_of_runs(copy->runs, copy->l2_stride, copy->run_bytes);
    }
    if (words % HAL_L3_ALIGNMENT || half_words % 2)
        return DORY_ERROR_ALIGNMENT;
    uint32_t l3_bytes = copy->kind == HAL_FLASH_READ ? DORY_FLASH_BYTES - DORY_FLASH_OFFSET : DORY_RAM_BYTES;
    int good = fits(copy->l3_address, l3_extent, l3_bytes) &&
               fits(l2 - CHIP_L2_ADDRESS, l2_extent, (uint32_t)(uintptr_t)__l2_free_end - CHIP_L2_ADDRESS);
    return good ? DORY_OK : DORY_ERROR_L3;
}

/* ---- FC: from the ring to the uDMA ------------------------------------------------------------------------- */

/* Takes the bursts that have ended off the list. */
static void retire_bursts(void)
{
    if (queue.in_flight == 0)
        return;
    uint32_t active = chip_active_bursts(queue.kind);
    while (queue.in_flight > active) {
        queue.completed += queue.ends_transfer & 1;
        queue.ends_transfer >>= 1;
        queue.in_flight--;
    }
}

/* Hands one burst to the uDMA, and takes it off the transfer; true if it is the transfer's last. */
static uint32_t start_burst(struct hal_l3_copy *copy)
{
    uint32_t left = copy->run_bytes - queue.run_offset;
    uint32_t bytes = left < DORY_HYPER_BURST_BYTES ? left : DORY_HYPER_BURST_BYTES;
    chip_start_burst(copy, queue.run_offset, bytes);

    queue.run_offset += bytes;
    if (bytes < left)
        return 0;
    queue.run_offset = 0;
    copy->l3_address += copy->l3_stride;
    copy->l2 = (uint8_t *)copy->l2 + copy->l2_stride;
    return --copy->runs == 0;
}

/* May a burst of this kind be handed to the uDMA now? */
static int has_room_for(enum hal_l3_kind kind)
{
    if (queue.in_flight == 0)
        return 1;
    return queue.in_flight < DORY_HYPER_QUEUE_DEPTH && kind == queue.kind && kind != HAL_RAM_WRITE;
}

static void start_bursts(void)
{
    while (queue.accepted != queue.posted) {
        struct hal_l3_copy *copy = &queue.ring[queue.accepted % RING];
        if (!has_room_for(copy->kind))
            return;
        queue.kind = copy->kind;
        uint32_t last = start_burst(copy);
        queue.ends_transfer |= last << queue.in_flight++;
        queue.accepted += last;
    }
}

static __attribute__((noinline)) void tell_cluster(void)
{
    pulp_team.l3_completed = queue.completed;
    PULP_CLUSTER_EVENT_UNIT->trigger[PULP_EVENT_L3] = (1u << PULP_CORES) - 1;
}

void pulp_l3_serve(void)
{
    uint32_t completed = queue.completed;
    if (queue.in_flight == 0 && queue.accepted == queue.posted)
        return; /* at once: a driver that is behind asks for every tile, and pays for each line of code */
    retire_bursts();
    start_bursts();
    if (queue.cluster_runs && queue.completed != completed)
        tell_cluster();
}

void pulp_l3_enter_cluster(void)
{
    pulp_team.l3_open = queue.is_open;
    pulp_team.l3_posted = queue.posted;
    pulp_team.l3_completed = queue.completed;
    pulp_team.l3_waited = queue.waited;
    queue.cluster_runs = 1;
}

void pulp_l3_leave_cluster(void)
{
    queue.cluster_runs = 0;
    queue.waited = pulp_team.l3_waited;
}

/* ---- opening ----------------------------------------------------------------------------------------------- */

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    if (queue.is_open)
        return DORY_ERROR_L3;
    chip_set_up_hyperbus();
    queue.is_open = 1;
    if (flash_bytes)
        *flash_bytes = DORY_FLASH_BYTES - DORY_FLASH_OFFSET;
    if (ram_bytes)
        *ram_bytes = DORY_RAM_BYTES;
    return DORY_OK;
}

int hal_l3_close(void)
{
    if (!queue.is_open)
        return DORY_OK;
    if (pulp_beside_refuses())
        return DORY_ERROR_BUSY;
    int forgotten = !reached(queue.waited, queue.posted);
    int status = hal_l3_wait(queue.posted);
    queue.is_open = 0;
    return forgotten ? DORY_ERROR_L3 : status;
}

uint32_t hal_flash_address(const void *symbol)
{
    uintptr_t address = (uintptr_t)symbol;
    if (address < (uintptr_t)__flash_data_start || address >= (uintptr_t)__flash_data_end)
        return HAL_NOT_IN_FLASH;
    return (uint32_t)(address - (uintptr_t)__flash_data_start);
}

/* ---- starting and waiting ---------------------------------------------------------------------------------- */

static int wait_on_fc(hal_l3_ticket ticket)
{
    if (pulp_beside_refuses())
        return DORY_ERROR_BUSY;
    if (!reached(queue.posted, ticket))
        return DORY_ERROR_ARGUMENT; /* never started: it would not end */
    pulp_l3_serve();
    while (!reached(queue.completed, ticket)) {
        pulp_fc_sleep_until(CHIP_EVENTS_OF_L3);
        pulp_l3_serve();
    }
    if (reached(ticket, queue.waited))
        queue.waited = ticket;
    return DORY_OK;
}

static __attribute__((noinline)) int wait_on_cluster(hal_l3_ticket ticket)
{
    if (!reached(pulp_team.l3_posted, ticket))
        return DORY_ERROR_ARGUMENT;
    while (!reached(pulp_team.l3_completed, ticket))
        pulp_cluster_sleep_until(PULP_EVENT_L3);
    if (reached(ticket, pulp_team.l3_waited))
        pulp_team.l3_waited = ticket;
    __asm__ volatile("" : : : "memory"); /* what has arrived may be read from here on */
    return DORY_OK;
}

/* Runs that follow one another without a gap on both sides are one run. */
static inline __attribute__((always_inline)) void post(const struct hal_l3_copy *copy, uint32_t number)
{
    struct hal_l3_copy *posted = &queue.ring[(number - 1) % RING];
    *posted = *copy;
    if (copy->kind == HAL_FLASH_READ)
        posted->l3_address += CHIP_FLASH_ADDRESS + DORY_FLASH_OFFSET;
    if (copy->runs > 1 && copy->l3_stride == copy->run_bytes && copy->l2_stride == copy->run_bytes) {
        posted->run_bytes *= copy->runs;
        posted->runs = 1;
    }
    __asm__ volatile("" : : : "memory");
    queue.posted = number;
}

static uint32_t start_on_fc(const struct hal_l3_copy *copy)
{
    uint32_t number = queue.posted + 1;
    if (!reached(queue.completed, number - RING))
        hal_l3_wait(number - RING);
    post(copy, number);
    pulp_l3_serve();
    return number;
}

static __attribute__((noinline)) uint32_t start_on_cluster(const struct hal_l3_copy *copy)
{
    uint32_t number = pulp_team.l3_posted + 1;
    while (!reached(pulp_team.l3_completed, number - RING))
        pulp_cluster_sleep_until(PULP_EVENT_L3);
    post(copy, number);
    pulp_team.l3_posted = number;
    chip_tell_fc(PULP_FC_EVENT_L3_POSTED);
    return number;
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    if (!ticket)
        return DORY_ERROR_ARGUMENT;
    int on_fc = pulp_is_fc();
    if (on_fc && pulp_beside_refuses())
        return DORY_ERROR_BUSY;
    if (!(on_fc ? queue.is_open : pulp_team.l3_open))
        return DORY_ERROR_L3;
    int status = check(copy);
    if (status)
        return status;
    *ticket = on_fc ? start_on_fc(copy) : start_on_cluster(copy);
    if (on_fc && pulp_beside.is_inside)
        pulp_beside_pause(); /* many may be started one behind the other */
    return DORY_OK;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    if (ticket == 0)
        return DORY_OK;
    return pulp_is_fc() ? wait_on_fc(ticket) : wait_on_cluster(ticket);
}
