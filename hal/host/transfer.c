/* One transfer of the host HAL, by DMA or from and to L3: bounds, overlap, checksums, poison and the move itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Runs are numbered through all planes. */
static size_t run_count(const struct transfer *transfer) { return (size_t)transfer->runs * transfer->planes; }

static uint8_t *run_start(const struct transfer *transfer, const struct view *view, size_t run)
{
    return view->base + run / transfer->runs * view->plane_stride + run % transfer->runs * view->run_stride;
}

size_t transfer_bytes(const struct transfer *transfer) { return run_count(transfer) * transfer->run_bytes; }

struct description {
    char text[256];
};

/* Only of what is reported. */
static struct description description(const struct transfer *transfer)
{
    struct description it;
    char who[16] = "the FC";
    if (transfer->core != FABRIC_CONTROLLER)
        snprintf(who, sizeof who, "core %d", transfer->core);
    snprintf(it.text, sizeof it.text,
             "%s %llu of %s (%" PRIu32 " planes x %" PRIu32 " runs x %" PRIu32 " bytes, from %p to %p)", transfer->kind,
             (unsigned long long)transfer->number, who, transfer->planes, transfer->runs, transfer->run_bytes,
             (void *)transfer->from.base, (void *)transfer->to.base);
    return it;
}

int transfer_locate(const struct transfer *transfer, struct view *view, enum hal_memory memory, int status)
{
    view->range = memory_find(memory, view->base);
    if (!view->range)
        return host_violation(status,
                              "%s: %p is not in %s: neither reserved, nor marked DORY_%s, nor registered by "
                              "hal_host_register_memory",
                              description(transfer).text, (void *)view->base, memory_name(memory), memory_name(memory));
    /* each part first: so their sum cannot wrap */
    uint64_t left = view->range->bytes - (uint64_t)(view->base - view->range->base);
    uint64_t planes = (uint64_t)(transfer->planes - 1) * view->plane_stride;
    uint64_t runs = (uint64_t)(transfer->runs - 1) * view->run_stride;
    if (planes > left || runs > left || planes + runs + transfer->run_bytes > left)
        return host_violation(status, "%s: leaves its %s buffer, which has %llu bytes from %p on",
                              description(transfer).text, memory_name(memory), (unsigned long long)left, (void *)view->base);
    return DORY_OK;
}

/* ---- marks ------------------------------------------------------------------------------------------------- */

static uint32_t *run_marks(const struct transfer *transfer, const struct view *view, size_t run)
{
    return view->range->marks + (run_start(transfer, view, run) - view->range->base);
}

/* First byte of the view with a mark in `mask`. */
HOST_BOOKKEEPING static const uint8_t *find_mark(const struct transfer *transfer, const struct view *view, uint32_t mask)
{
    for (size_t run = 0; view->range && run < run_count(transfer); run++) {
        const uint32_t *marks = run_marks(transfer, view, run);
        for (size_t i = 0; i < transfer->run_bytes; i++) {
            if (marks[i] & mask)
                return run_start(transfer, view, run) + i;
        }
    }
    return NULL;
}

bool transfer_conflicts(const struct transfer *transfer)
{
    return find_mark(transfer, &transfer->to, UINT32_MAX) || find_mark(transfer, &transfer->from, MARK_WRITTEN);
}

int transfer_check_conflict(const struct transfer *transfer, int status)
{
    const uint8_t *to = find_mark(transfer, &transfer->to, UINT32_MAX);
    const uint8_t *from = find_mark(transfer, &transfer->from, MARK_WRITTEN);
    if (to)
        return host_violation(status, "%s: a transfer in flight still reads or writes its destination, at %p",
                              description(transfer).text, (const void *)to);
    if (from)
        return host_violation(status, "%s: a transfer in flight still writes its source, at %p", description(transfer).text,
                              (const void *)from);
    return DORY_OK;
}

HOST_BOOKKEEPING static void mark_readers(const struct transfer *transfer, uint32_t change)
{
    if (transfer->from.range)
        transfer->from.range->in_flight += change;
    for (size_t run = 0; transfer->from.range && run < run_count(transfer); run++) {
        uint32_t *marks = run_marks(transfer, &transfer->from, run);
        for (size_t i = 0; i < transfer->run_bytes; i++)
            marks[i] += change;
    }
}

HOST_BOOKKEEPING static void mark_written(const struct transfer *transfer, uint32_t mark)
{
    if (transfer->to.range)
        transfer->to.range->in_flight += mark ? 1 : UINT32_MAX;
    for (size_t run = 0; transfer->to.range && run < run_count(transfer); run++) {
        uint32_t *marks = run_marks(transfer, &transfer->to, run);
        for (size_t i = 0; i < transfer->run_bytes; i++)
            marks[i] = mark;
    }
}

/* ---- bytes ------------------------------------------------------------------------------------------------- */

/* The prime of FNV-1a, 64 bits, whose steps are taken by words: another word is another sum. */
HOST_BOOKKEEPING static uint64_t run_checksum(uint64_t sum, const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * 0x100000001B3u;
    }
    for (; count > 0; bytes++, count--)
        sum = (sum ^ *bytes) * 0x100000001B3u;
    return sum;
}

/* Hidden from ThreadSanitizer, which remembers few accesses a byte, and would remember these instead of the copy. */
static uint64_t checksum(const struct transfer *transfer, const struct view *view)
{
    uint64_t sum = 0;
    if (!view->range)
        return 0; /* flash and RAM: only the queue touches them */
    for (size_t run = 0; run < run_count(transfer); run++)
        sum = run_checksum(sum, run_start(transfer, view, run), transfer->run_bytes);
    return sum;
}

/* The firmware's memory is touched here: these two are what ThreadSanitizer sees of a transfer. */
static void fill(const struct transfer *transfer, uint8_t value)
{
    host_firmware_access_begin();
    for (size_t run = 0; run < run_count(transfer); run++)
        memset(run_start(transfer, &transfer->to, run), value, transfer->run_bytes);
    host_firmware_access_end();
}

static void move(const struct transfer *transfer)
{
    host_firmware_access_begin();
    for (size_t run = 0; run < run_count(transfer); run++)
        memcpy(run_start(transfer, &transfer->to, run), run_start(transfer, &transfer->from, run), transfer->run_bytes);
    host_firmware_access_end();
}

/* While in flight the destination is nobody's. */
static void destination_accessible(const struct transfer *transfer, bool accessible)
{
    for (size_t run = 0; transfer->to.range && run < run_count(transfer); run++) {
        uint8_t *start = run_start(transfer, &transfer->to, run);
        (accessible ? unpoison_address_range : poison_address_range)(start, transfer->run_bytes);
    }
}

/* ---- life of a transfer ------------------------------------------------------------------------------------ */

void transfer_start(struct transfer *transfer, bool late)
{
    transfer->late = late;
    transfer->performed = false;
    mark_readers(transfer, 1);
    mark_written(transfer, MARK_WRITTEN);
    transfer->from_sum = checksum(transfer, &transfer->from);
    if (transfer->late && transfer->to.range)
        fill(transfer, HAL_HOST_POISON);
    if (!transfer->late)
        move(transfer);
    transfer->performed = !transfer->late;
    transfer->to_sum = checksum(transfer, &transfer->to);
    destination_accessible(transfer, false);
    if (late)
        host_counters.late++;
    else
        host_counters.early++;
}

/* Both sides must be as they were. */
static bool is_unchanged(const struct transfer *transfer, int status)
{
    bool from_changed = checksum(transfer, &transfer->from) != transfer->from_sum;
    bool to_changed = checksum(transfer, &transfer->to) != transfer->to_sum;
    if (from_changed)
        host_violation(status, "%s: its source was written before the wait", description(transfer).text);
    if (to_changed)
        host_violation(status, "%s: its destination was written before the wait", description(transfer).text);
    return !from_changed && !to_changed;
}

bool transfer_perform(struct transfer *transfer, int status)
{
    if (transfer->performed)
        return true;
    destination_accessible(transfer, true);
    bool unchanged = is_unchanged(transfer, status);
    move(transfer);
    transfer->from_sum = checksum(transfer, &transfer->from); /* a change is reported once */
    transfer->to_sum = checksum(transfer, &transfer->to);
    destination_accessible(transfer, false);
    transfer->performed = true;
    return unchanged;
}

bool transfer_finish(struct transfer *transfer, int status)
{
    destination_accessible(transfer, true);
    bool unchanged = is_unchanged(transfer, status);
    mark_readers(transfer, UINT32_MAX); /* one less */
    mark_written(transfer, 0);
    return unchanged;
}
