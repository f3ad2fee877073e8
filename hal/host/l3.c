/* Flash, RAM and the queue of transfers between them and L2, which are done in the order in which they were started. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "internal.h"

#define QUEUE_LENGTH 16

/* The images linked into the program (dory/flash_section.h). The linker defines these names where there are any. */
extern const uint8_t __start_dory_flash[] __attribute__((weak));
extern const uint8_t __stop_dory_flash[] __attribute__((weak));

struct entry {
    struct transfer transfer;
    hal_l3_ticket ticket;
    bool fails, stalls, is_slow;
};

static struct entry queue[QUEUE_LENGTH]; /* ring, oldest at `oldest` */
static unsigned oldest, queued;
static hal_l3_ticket last_ticket;
static int pending_status;           /* of transfers that ended before anybody waited for them */
static hal_l3_ticket pending_ticket; /* the first of those that failed */
static bool is_open;

static const uint8_t *given_flash;
static size_t given_flash_bytes;
static struct pattern fresh = {.word = 0x01010101u * HAL_HOST_FRESH};
static uint8_t *ram;
static size_t ram_mapped_bytes;

/* Written by whoever calls hal_l3_start or _wait, without a lock: ThreadSanitizer sees two callers that no barrier
 * orders, which the contract forbids. */
static volatile uint32_t one_caller_at_a_time;

/* ---- flash and RAM ----------------------------------------------------------------------------------------- */

static const uint8_t *flash_content(size_t *bytes)
{
    *bytes = given_flash ? given_flash_bytes : (size_t)(__stop_dory_flash - __start_dory_flash);
    return given_flash ? given_flash : __start_dory_flash;
}

void hal_host_set_flash(const void *content, size_t bytes)
{
    host_enter();
    given_flash = content;
    given_flash_bytes = bytes;
    host_leave();
}

uint8_t *hal_host_ram(void)
{
    host_enter();
    uint8_t *address = ram;
    host_leave();
    return address;
}

uint32_t hal_flash_address(const void *symbol)
{
    size_t bytes;
    host_enter();
    const uint8_t *flash = flash_content(&bytes);
    uintptr_t offset = (uintptr_t)symbol - (uintptr_t)flash;
    host_leave();
    return flash && (uintptr_t)symbol >= (uintptr_t)flash && offset < bytes ? (uint32_t)offset : HAL_NOT_IN_FLASH;
}

void l3_setup(void)
{
    if (ram)
        munmap(ram, ram_mapped_bytes);
    ram_mapped_bytes = host_options.ram_bytes;
    ram = pattern_map(&fresh, NULL, ram_mapped_bytes);
    if (!ram)
        abort();
}

/* ---- open and close ---------------------------------------------------------------------------------------- */

bool l3_is_open(void) { return is_open; }

int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes)
{
    int status = DORY_OK;
    size_t bytes;
    host_enter();
    flash_content(&bytes);
    if (host_fault(HAL_HOST_L3_OPEN))
        status = DORY_ERROR_L3;
    else if (is_open)
        status = host_violation(DORY_ERROR_L3, "hal_l3_open: L3 is open already");
    if (status == DORY_OK) {
        is_open = true;
        oldest = queued = 0;
        last_ticket = 0;
        pending_status = DORY_OK;
        if (flash_bytes)
            *flash_bytes = (uint32_t)bytes;
        if (ram_bytes)
            *ram_bytes = (uint32_t)host_options.ram_bytes;
    }
    host_leave();
    return status;
}

/* ---- the queue --------------------------------------------------------------------------------------------- */

static void note_failure(const struct entry *entry)
{
    if (pending_status == DORY_OK)
        pending_ticket = entry->ticket;
    pending_status = DORY_ERROR_L3;
}

/* In order, up to a ticket. They stay in flight until somebody waits for them. */
static void perform_up_to(hal_l3_ticket ticket)
{
    for (unsigned i = 0; i < queued; i++) {
        struct entry *entry = &queue[(oldest + i) % QUEUE_LENGTH];
        if (entry->ticket > ticket)
            break;
        if (!entry->fails && !transfer_perform(&entry->transfer, DORY_ERROR_L3))
            note_failure(entry);
    }
}

static void finish_oldest(bool perform)
{
    struct entry *entry = &queue[oldest];
    if (entry->stalls || entry->is_slow)
        host_sleep(entry->stalls ? host_options.patience_milliseconds : host_options.patience_milliseconds / 2);
    if (perform)
        perform_up_to(entry->ticket);
    if (!transfer_finish(&entry->transfer, DORY_ERROR_L3) || entry->fails)
        note_failure(entry);
    oldest = (oldest + 1) % QUEUE_LENGTH;
    queued--;
}

static bool is_late(hal_l3_ticket ticket)
{
    if (host_options.timing != HAL_HOST_MIXED)
        return host_options.timing == HAL_HOST_LATE;
    return host_random(2000, ticket) & 1;
}

static void enqueue(const struct transfer *transfer)
{
    if (queued == QUEUE_LENGTH)
        finish_oldest(true);
    struct entry *entry = &queue[(oldest + queued) % QUEUE_LENGTH];
    bool stalls = host_fault(HAL_HOST_L3_STALL), is_slow = host_fault(HAL_HOST_L3_DELAY);
    bool fails = host_fault(HAL_HOST_L3_TRANSFER) || stalls;
    bool late = fails || is_slow || is_late(last_ticket);
    if (!late)
        perform_up_to(last_ticket);
    *entry =
        (struct entry){.transfer = *transfer, .ticket = last_ticket, .fails = fails, .stalls = stalls, .is_slow = is_slow};
    queued++;
    transfer_start(&entry->transfer, late);
}

/* ---- start ------------------------------------------------------------------------------------------------- */

static int locate_in_l3(const struct hal_l3_copy *copy, struct view *view)
{
    size_t flash_bytes;
    const uint8_t *flash = flash_content(&flash_bytes);
    bool in_flash = copy->kind == HAL_FLASH_READ;
    uint64_t there = in_flash ? flash_bytes : host_options.ram_bytes;
    uint64_t end = copy->l3_address + (uint64_t)(copy->runs - 1) * copy->l3_stride + copy->run_bytes;
    if (end > there)
        return host_violation(DORY_ERROR_L3,
                              "L3 transfer %" PRIu32 " (%" PRIu32 " runs x %" PRIu32 " bytes, stride %" PRIu32
                              ", from address %" PRIu32 "): leaves the %s, which has %" PRIu64 " bytes",
                              last_ticket, copy->runs, copy->run_bytes, copy->l3_stride, copy->l3_address,
                              in_flash ? "flash" : "RAM", there);
    /* the flash is a source only: transfer_start never writes through this pointer */
    uint8_t *start = in_flash ? (uint8_t *)(uintptr_t)flash : ram;
    *view = (struct view){.base = start + copy->l3_address, .run_stride = copy->runs > 1 ? copy->l3_stride : 0};
    return DORY_OK;
}

static int make_transfer(const struct hal_l3_copy *copy, struct transfer *transfer)
{
    static const char *const kinds[] = {
        [HAL_FLASH_READ] = "flash read", [HAL_RAM_READ] = "RAM read", [HAL_RAM_WRITE] = "RAM write"};
    bool into_l2 = copy->kind != HAL_RAM_WRITE;
    struct view l2 = {.base = copy->l2, .run_stride = copy->runs > 1 ? copy->l2_stride : 0};
    struct view l3 = {0};
    int status = locate_in_l3(copy, &l3);
    if (status != DORY_OK)
        return status;
    *transfer = (struct transfer){.kind = kinds[copy->kind],
                                  .number = last_ticket,
                                  .core = cluster_this_core(),
                                  .to = into_l2 ? l2 : l3,
                                  .from = into_l2 ? l3 : l2,
                                  .run_bytes = copy->run_bytes,
                                  .runs = copy->runs,
                                  .planes = 1};
    return transfer_locate(transfer, into_l2 ? &transfer->to : &transfer->from, HAL_L2, DORY_ERROR_L3);
}

static void count_bytes(const struct hal_l3_copy *copy, const struct transfer *transfer)
{
    uint64_t *const counters[] = {[HAL_FLASH_READ] = &host_counters.flash_bytes_read,
                                  [HAL_RAM_READ] = &host_counters.ram_bytes_read,
                                  [HAL_RAM_WRITE] = &host_counters.ram_bytes_written};
    *counters[copy->kind] += transfer_bytes(transfer);
}

static int start(const struct hal_l3_copy *copy)
{
    struct transfer transfer;
    if (host_fault(HAL_HOST_L3_START))
        return DORY_ERROR_L3;
    if (!is_open)
        return host_violation(DORY_ERROR_L3, "hal_l3_start: L3 is not open");
    last_ticket++;
    int status = make_transfer(copy, &transfer);
    /* within the queue the order is enough: what is in the way may just be earlier in it */
    while (status == DORY_OK && queued > 0 && transfer_conflicts(&transfer))
        finish_oldest(true);
    if (status == DORY_OK)
        status = transfer_check_conflict(&transfer, DORY_ERROR_L3);
    if (status != DORY_OK) {
        last_ticket--;
        return status;
    }
    count_bytes(copy, &transfer);
    enqueue(&transfer);
    return DORY_OK;
}

int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket)
{
    int status = ticket ? check_l3_copy(copy) : DORY_ERROR_ARGUMENT;
    if (status == DORY_OK)
        status = start_check_idle("hal_l3_start");
    if (status != DORY_OK)
        return status;
    one_caller_at_a_time++;
    host_enter();
    status = start(copy);
    if (status == DORY_OK)
        *ticket = last_ticket;
    host_leave();
    return status;
}

/* ---- wait -------------------------------------------------------------------------------------------------- */

static int wait_up_to(hal_l3_ticket ticket)
{
    bool fault = host_fault(HAL_HOST_L3_WAIT);
    if (!is_open)
        return host_violation(DORY_ERROR_L3, "hal_l3_wait: L3 is not open");
    if (ticket > last_ticket)
        return host_violation(DORY_ERROR_ARGUMENT, "hal_l3_wait(%" PRIu32 "): only %" PRIu32 " transfers were started",
                              ticket, last_ticket);
    while (queued > 0 && queue[oldest].ticket <= ticket)
        finish_oldest(!fault);
    if (fault)
        return DORY_ERROR_L3;
    if (pending_status == DORY_OK || pending_ticket > ticket)
        return DORY_OK;
    int status = pending_status;
    pending_status = DORY_OK;
    return status;
}

int hal_l3_wait(hal_l3_ticket ticket)
{
    int status = start_check_idle("hal_l3_wait");
    if (status != DORY_OK)
        return status;
    start_yield_sometimes(4000, ticket);
    one_caller_at_a_time++;
    host_enter();
    status = wait_up_to(ticket);
    host_leave();
    return status;
}

int hal_l3_close(void)
{
    int status = start_check_idle("hal_l3_close");
    if (status != DORY_OK)
        return status;
    host_enter();
    bool fault = host_fault(HAL_HOST_L3_CLOSE);
    if (is_open && queued > 0)
        status = host_violation(DORY_ERROR_L3, "hal_l3_close: L3 transfer %" PRIu32 " and %u more were never waited for",
                                queue[oldest].ticket, queued - 1);
    while (queued > 0)
        finish_oldest(true);
    is_open = false;
    host_leave();
    return fault ? DORY_ERROR_L3 : status;
}
