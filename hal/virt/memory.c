/* L1 and L2 of the virt HAL: what the linker script left, and the stacks in them. */
#include <stdio.h>

#include "internal.h"
#include "stack.h"

/* From virt.ld. Sizes are addresses of symbols. */
extern uint8_t dory_l1_start[], dory_l1_free[], dory_l2_start[], dory_l2_free[];
extern uint8_t __tls_bytes[]; /* likewise */
extern uint8_t dory_fc_stack[], dory_fc_stack_end[], dory_core_stacks[], dory_core_stack_bytes[];

#define STACK_GUARD_BYTES 128
#define HAL_FRAMES_BYTES  160 /* what a sleeping hart has on its stack, thread-local data aside */

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

void virt_stack_paint(void *start, const void *end) { stack_paint(start, end); }

/* Core 0 is the FC's hart, and has nothing on this stack outside a run. */
void virt_stacks_paint(void)
{
    for (unsigned core = 0; core < MAXIMUM_CORES; core++) {
        size_t kept = core == 0 ? 0 : (uintptr_t)__tls_bytes + HAL_FRAMES_BYTES;
        stack_paint(stack_of_core(core), (uint8_t *)stack_of_core(core + 1) - kept);
    }
}

int hal_stack_peak(unsigned core, struct hal_stack *stack)
{
    if (!stack || (core != HAL_FABRIC_CONTROLLER && core >= hal_core_count()))
        return DORY_ERROR_ARGUMENT;
    if (virt_beside_refuses())
        return DORY_ERROR_BUSY;
    *stack = core == HAL_FABRIC_CONTROLLER ? stack_measure(dory_fc_stack, dory_fc_stack_end, STACK_GUARD_BYTES)
                                           : stack_measure(stack_of_core(core), stack_of_core(core + 1), STACK_GUARD_BYTES);
    return DORY_OK;
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
    for (unsigned core = 0; core < hal_core_count(); core++) {
        char whose[] = {'c', 'o', 'r', 'e', ' ', (char)('0' + core), 0};
        if (!stack_is_sound(stack_of_core(core), STACK_GUARD_BYTES)) {
            report(whose);
            status = DORY_ERROR_STACK;
        }
    }
    if (!stack_is_sound(dory_fc_stack, STACK_GUARD_BYTES)) {
        report("the fabric controller");
        status = DORY_ERROR_STACK;
    }
    return status;
}
