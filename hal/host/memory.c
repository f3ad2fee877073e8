/* Memories of the host HAL: mappings of the real size between guard pages, handed out with canaries in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

#define CANARY_BYTES         64 /* behind every reservation, and before the first */
#define CANARY               0x9E
#define MAXIMUM_RESERVATIONS 256 /* of a memory; the mapping has room for so many canaries */

/* The application's static buffers (DORY_L1, DORY_L2). The linker defines these names where there are any. */
extern uint8_t __start_dory_l1[] __attribute__((weak));
extern uint8_t __stop_dory_l1[] __attribute__((weak));
extern uint8_t __start_dory_l2[] __attribute__((weak));
extern uint8_t __stop_dory_l2[] __attribute__((weak));

struct mapping {
    uint8_t *base; /* behind the guard page */
    size_t bytes;
    size_t limit;    /* what may be handed out: the memory's size less the application's static data */
    size_t reserved; /* bytes handed out, without canaries */
    size_t next;     /* where the next reservation goes */
    unsigned reservations;
    bool static_data_fit;
};

static struct mapping mappings[2]; /* by enum hal_memory */
static struct range *ranges;

const char *memory_name(enum hal_memory memory) { return memory == HAL_L1 ? "L1" : "L2"; }

void poison_address_range(const void *address, size_t bytes)
{
#ifdef ADDRESS_SANITIZER
    __asan_poison_memory_region(address, bytes);
#else
    (void)address, (void)bytes;
#endif
}

void unpoison_address_range(const void *address, size_t bytes)
{
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(address, bytes);
#else
    (void)address, (void)bytes;
#endif
}

static void *need(void *allocated)
{
    if (!allocated) {
        fputs("dory hal: the host is out of memory\n", stderr);
        abort();
    }
    return allocated;
}

/* ---- ranges ------------------------------------------------------------------------------------------------ */

static struct range *range_add(enum hal_memory memory, enum range_origin origin, uint8_t *base, size_t bytes)
{
    struct range *range = need(calloc(1, sizeof *range));
    range->next = ranges;
    range->memory = memory;
    range->origin = origin;
    range->base = base;
    range->bytes = bytes;
    range->marks = need(calloc(bytes, sizeof *range->marks));
    ranges = range;
    return range;
}

static void range_remove(struct range **link)
{
    struct range *range = *link;
    *link = range->next;
    free(range->marks);
    free(range);
}

static void ranges_remove_origin(enum range_origin origin)
{
    struct range **link = &ranges;
    while (*link) {
        if ((*link)->origin == origin)
            range_remove(link);
        else
            link = &(*link)->next;
    }
}

struct range *memory_find(enum hal_memory memory, const uint8_t *address)
{
    for (struct range *range = ranges; range; range = range->next) {
        if (range->memory == memory && address >= range->base && (size_t)(address - range->base) < range->bytes)
            return range;
    }
    return NULL;
}

static bool ranges_overlap(const uint8_t *base, size_t bytes)
{
    for (struct range *range = ranges; range; range = range->next) {
        if (base < range->base + range->bytes && range->base < base + bytes)
            return true;
    }
    return false;
}

int hal_host_register_memory(enum hal_memory memory, void *address, size_t bytes)
{
    if (!address || bytes == 0 || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    int status = DORY_OK;
    host_enter();
    if (ranges_overlap(address, bytes))
        status = host_violation(DORY_ERROR_ARGUMENT, "hal_host_register_memory(%s, %p, %zu) overlaps memory already known",
                                memory_name(memory), address, bytes);
    else
        range_add(memory, RANGE_REGISTERED, address, bytes);
    host_leave();
    return status;
}

int hal_host_unregister_memory(void *address)
{
    int status = DORY_ERROR_ARGUMENT;
    host_enter();
    for (struct range **link = &ranges; *link; link = &(*link)->next) {
        if ((*link)->base != address || (*link)->origin != RANGE_REGISTERED)
            continue;
        if ((*link)->in_flight > 0) {
            status =
                host_violation(DORY_ERROR_ARGUMENT, "hal_host_unregister_memory(%p) with a transfer in flight", address);
        } else {
            range_remove(link);
            status = DORY_OK;
        }
        break;
    }
    host_leave();
    return status;
}

/* ---- mappings ---------------------------------------------------------------------------------------------- */

static struct pattern canary = {.word = 0x01010101u * CANARY};

/* Pages of canary between two guard pages; their end is rounded up, so the rest of the last page is left to the canaries. */
static uint8_t *map_between_guards(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (bytes + page - 1) / page * page;
    uint8_t *all = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return need(all == MAP_FAILED ? NULL : pattern_map(&canary, all + page, bytes));
}

static void unmap_between_guards(uint8_t *base, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (bytes + page - 1) / page * page;
    munmap(base - page, body + 2 * page);
}

/* Nothing handed out: all canary, which it is already. */
static void mapping_start(struct mapping *mapping)
{
    poison_address_range(mapping->base, mapping->bytes);
    mapping->next = CANARY_BYTES;
    mapping->reserved = 0;
    mapping->reservations = 0;
}

static void mapping_clear(struct mapping *mapping)
{
    need(pattern_map(&canary, mapping->base, mapping->bytes));
    mapping_start(mapping);
}

static void mapping_setup(enum hal_memory memory, size_t level_bytes, uint8_t *static_start, uint8_t *static_end)
{
    struct mapping *mapping = &mappings[memory];
    size_t static_bytes = (size_t)(static_end - static_start);
    if (mapping->base) {
        unpoison_address_range(mapping->base, mapping->bytes);
        unmap_between_guards(mapping->base, mapping->bytes);
    }
    mapping->bytes = level_bytes + (MAXIMUM_RESERVATIONS + 1) * CANARY_BYTES;
    mapping->base = map_between_guards(mapping->bytes);
    mapping_start(mapping);
    mapping->static_data_fit = static_bytes <= level_bytes;
    mapping->limit = mapping->static_data_fit ? level_bytes - static_bytes : 0;
    if (static_bytes)
        range_add(memory, RANGE_STATIC, static_start, static_bytes);
    if (!mapping->static_data_fit)
        host_violation(DORY_ERROR_MEMORY, "static data marked DORY_%s take %zu bytes, but %s has %zu", memory_name(memory),
                       static_bytes, memory_name(memory), level_bytes);
}

void memory_setup(void)
{
    ranges_remove_origin(RANGE_RESERVED);
    ranges_remove_origin(RANGE_STATIC);
    mapping_setup(HAL_L1, host_options.l1_bytes, __start_dory_l1, __stop_dory_l1);
    mapping_setup(HAL_L2, host_options.l2_bytes, __start_dory_l2, __stop_dory_l2);
}

bool memory_static_data_fit(void) { return mappings[HAL_L1].static_data_fit && mappings[HAL_L2].static_data_fit; }

/* ---- reservations ------------------------------------------------------------------------------------------ */

static void reserve_in(enum hal_memory memory, size_t bytes, size_t rounded, void **address)
{
    struct mapping *mapping = &mappings[memory];
    uint8_t *base = mapping->base + mapping->next;
    unpoison_address_range(base, bytes);
    memset(base, HAL_HOST_FRESH, bytes);
    if (bytes)
        range_add(memory, RANGE_RESERVED, base, bytes);
    mapping->next += rounded + CANARY_BYTES;
    mapping->reserved += rounded;
    mapping->reservations++;
    host_counters.l1_bytes_reserved = mappings[HAL_L1].reserved;
    *address = base;
}

int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address)
{
    if (!address || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    int status = DORY_OK;
    *address = NULL;
    host_enter();
    struct mapping *mapping = &mappings[memory];
    size_t left = mapping->limit - mapping->reserved;
    size_t rounded = (bytes + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    if (host_fault(HAL_HOST_MEMORY_RESERVE) || bytes > left || rounded > left ||
        mapping->reservations == MAXIMUM_RESERVATIONS)
        status = DORY_ERROR_MEMORY;
    else
        reserve_in(memory, bytes, rounded, address);
    host_leave();
    return status;
}

/* The first reservation at or behind an address of the mapping; null: none. */
static const struct range *next_reservation(enum hal_memory memory, const uint8_t *address)
{
    const struct range *next = NULL;
    for (const struct range *range = ranges; range; range = range->next) {
        bool is_behind = range->origin == RANGE_RESERVED && range->memory == memory && range->base >= address;
        if (is_behind && (!next || range->base < next->base))
            next = range;
    }
    return next;
}

/* The first byte that is no canary, or `end`. */
HOST_BOOKKEEPING static const uint8_t *behind_canary(const uint8_t *byte, const uint8_t *end)
{
    uint64_t word = 0, sound = 0x0101010101010101u * CANARY;
    for (; end - byte >= (ptrdiff_t)sizeof word; byte += sizeof word) {
        memcpy(&word, byte, sizeof word);
        if (word != sound)
            break;
    }
    while (byte < end && *byte == CANARY)
        byte++;
    return byte;
}

/* What lies in no reservation must still be canary. */
static int mapping_check(enum hal_memory memory)
{
    struct mapping *mapping = &mappings[memory];
    const uint8_t *byte = mapping->base;
    unpoison_address_range(mapping->base, mapping->bytes);
    for (;;) {
        const struct range *next = next_reservation(memory, byte);
        const uint8_t *end = next ? next->base : mapping->base + mapping->bytes;
        byte = behind_canary(byte, end);
        if (byte < end)
            return host_violation(DORY_ERROR_MEMORY,
                                  "%s was written outside every reservation, at %p (byte %zu of the mapping)",
                                  memory_name(memory), (const void *)byte, (size_t)(byte - mapping->base));
        if (!next)
            return DORY_OK;
        byte += next->bytes;
    }
}

static int check_no_reservation_is_busy(void)
{
    for (struct range *range = ranges; range; range = range->next) {
        if (range->origin == RANGE_RESERVED && range->in_flight > 0)
            return host_violation(DORY_ERROR_MEMORY, "hal_memory_reset with a transfer in flight in %s",
                                  memory_name(range->memory));
    }
    return DORY_OK;
}

int hal_memory_reset(void)
{
    host_enter();
    int status = check_no_reservation_is_busy();
    if (status == DORY_OK) {
        int l1_status = mapping_check(HAL_L1);
        int l2_status = mapping_check(HAL_L2);
        status = l1_status ? l1_status : l2_status;
        ranges_remove_origin(RANGE_RESERVED);
        mapping_clear(&mappings[HAL_L1]);
        mapping_clear(&mappings[HAL_L2]);
        host_counters.l1_bytes_reserved = 0;
    }
    host_leave();
    return status;
}
