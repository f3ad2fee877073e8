/* hal_memory_reserve from PMSIS' own allocators, so that network and application share what there is. A reservation has
 * a header in front, by which all are found again. */
#include "internal.h"

struct reservation {
    struct reservation *older;
    uint32_t bytes; /* with the header and what alignment has cost */
    void *chunk;
};

static struct reservation *newest[2]; /* by enum hal_memory */

static void *allocate(enum hal_memory memory, uint32_t bytes)
{
    if (memory == HAL_L2)
        return pi_l2_malloc((int)bytes);
    return pmsis_cluster() ? pi_cl_l1_malloc(pmsis_cluster(), bytes) : NULL; /* L1 has no power before */
}

static void release(enum hal_memory memory, void *chunk, uint32_t bytes)
{
    if (memory == HAL_L2)
        pi_l2_free(chunk, (int)bytes);
    else
        pi_cl_l1_free(pmsis_cluster(), chunk, (int)bytes);
}

static uintptr_t round_up(uintptr_t value) { return (value + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT; }

int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address)
{
    const uint32_t overhead = sizeof(struct reservation) + 2 * DORY_ALIGNMENT;
    if (!address || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    *address = NULL;
    if (bytes > INT32_MAX - overhead)
        return DORY_ERROR_MEMORY;
    uint32_t all = (uint32_t)bytes + overhead;
    void *chunk = allocate(memory, all);
    if (!chunk)
        return DORY_ERROR_MEMORY;
    struct reservation *reservation = (struct reservation *)round_up((uintptr_t)chunk);
    *reservation = (struct reservation){.older = newest[memory], .bytes = all, .chunk = chunk};
    newest[memory] = reservation;
    *address = (void *)round_up((uintptr_t)(reservation + 1));
    return DORY_OK;
}

static void release_all(enum hal_memory memory)
{
    while (newest[memory]) {
        struct reservation *reservation = newest[memory];
        newest[memory] = reservation->older;
        release(memory, reservation->chunk, reservation->bytes);
    }
}

void pmsis_release_l1(void) { release_all(HAL_L1); }

int hal_memory_reset(void)
{
    release_all(HAL_L1);
    release_all(HAL_L2);
    return DORY_OK;
}

/* The C library of gap_sdk's FreeRTOS has no memmove, which the network's input and output are brought and taken with; byte
 * by byte, that took 1.1 million cycles more for an image of 128 x 128. Compilers must not make calls of memmove of the
 * loops. */
#ifdef __riscv
#define LOOPS_STAY __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uint32_t __attribute__((may_alias)) word;

LOOPS_STAY static void move_up(uint8_t *to, const uint8_t *from, size_t words, size_t bytes)
{
    word *target = (word *)(void *)to;
    const word *source = (const word *)(const void *)from;
    for (size_t i = 0; i < words; i++)
        target[i] = source[i];
    for (size_t i = words * sizeof(word); i < bytes; i++)
        to[i] = from[i];
}

LOOPS_STAY static void move_down(uint8_t *to, const uint8_t *from, size_t words, size_t bytes)
{
    word *target = (word *)(void *)to;
    const word *source = (const word *)(const void *)from;
    for (size_t i = bytes; i-- > words * sizeof(word);)
        to[i] = from[i];
    for (size_t i = words; i-- > 0;)
        target[i] = source[i];
}

void *memmove(void *to, const void *from, size_t bytes);

__attribute__((weak)) void *memmove(void *to, const void *from, size_t bytes)
{
    size_t words = ((uintptr_t)to | (uintptr_t)from) % sizeof(word) ? 0 : bytes / sizeof(word);
    if ((uintptr_t)to < (uintptr_t)from)
        move_up(to, from, words, bytes);
    else
        move_down(to, from, words, bytes);
    return to;
}
#endif

/* Stacks are the operating system's. */
int hal_stack_peak(unsigned core, struct hal_stack *stack)
{
    (void)core;
    return stack ? DORY_ERROR_UNSUPPORTED : DORY_ERROR_ARGUMENT;
}
