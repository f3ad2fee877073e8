/* L1 and L2 of the virt HAL: what the linker script left, and the canaries of the stacks in them. */
#include <stdio.h>

#include "internal.h"

/* From virt.ld. Sizes are addresses of symbols. */
extern uint8_t dory_l1_start[], dory_l1_free[], dory_l2_start[], dory_l2_free[];
extern uint8_t dory_fc_stack[], dory_core_stacks[], dory_core_stack_bytes[];

#define CANARY       0x5AFE57ACu
#define CANARY_WORDS 4

static uint32_t reserved_bytes[2]; /* by enum hal_memory */

static uint8_t *free_start(enum hal_memory memory) { return memory == HAL_L1 ? dory_l1_free : dory_l2_free; }
static uint8_t *free_end(enum hal_memory memory) { return memory == HAL_L1 ? dory_core_stacks : dory_fc_stack; }

int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address)
{
    if (!address || (memory != HAL_L1 && memory != HAL_L2))
        return DORY_ERROR_ARGUMENT;
    size_t left = (size_t)(free_end(memory) - free_start(memory)) - reserved_bytes[memory];
    size_t rounded = (bytes + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    *address = NULL;
    if (bytes > left || rounded > left)
        return DORY_ERROR_MEMORY;
    *address = free_start(memory) + reserved_bytes[memory];
    reserved_bytes[memory] += rounded;
    return DORY_OK;
}

int hal_memory_reset(void)
{
    reserved_bytes[HAL_L1] = 0;
    reserved_bytes[HAL_L2] = 0;
    return DORY_OK;
}

bool virt_is_in(enum hal_memory memory, const void *address, uint64_t extent)
{
    uintptr_t start = (uintptr_t)(memory == HAL_L1 ? dory_l1_start : dory_l2_start);
    uintptr_t end = (uintptr_t)free_end(memory); /* stacks are no place for transfers */
    uintptr_t first = (uintptr_t)address;
    return first >= start && first < end && extent <= end - first;
}

/* ---- stacks ------------------------------------------------------------------------------------------------ */

static uint32_t *stack_of_core(unsigned core)
{
    return (uint32_t *)(void *)(dory_core_stacks + core * (uintptr_t)dory_core_stack_bytes);
}

void *virt_core_0_stack_end(void) { return stack_of_core(1); }

void virt_stack_paint(void *start, void *limit)
{
    uint32_t *word = start;
    for (unsigned i = 0; i < CANARY_WORDS && (void *)(word + i) < limit; i++)
        word[i] = CANARY;
}

static bool is_intact(const uint32_t *stack)
{
    for (unsigned i = 0; i < CANARY_WORDS; i++) {
        if (stack[i] != CANARY)
            return false;
    }
    return true;
}

void virt_stacks_paint(void)
{
    for (unsigned core = 0; core < MAXIMUM_CORES; core++)
        virt_stack_paint(stack_of_core(core), stack_of_core(core) + CANARY_WORDS);
}

static void report(const char *whose)
{
    hal_log("dory hal: the stack of ");
    hal_log(whose);
    hal_log(" has grown beyond its end\n");
}

int virt_stacks_check(void)
{
    int status = DORY_OK;
    for (unsigned core = 0; core < MAXIMUM_CORES; core++) {
        char whose[] = {'c', 'o', 'r', 'e', ' ', (char)('0' + core), 0};
        if (!is_intact(stack_of_core(core))) {
            report(whose);
            status = DORY_ERROR_STACK;
        }
    }
    if (!is_intact((uint32_t *)(void *)dory_fc_stack)) {
        report("the fabric controller");
        status = DORY_ERROR_STACK;
    }
    return status;
}
