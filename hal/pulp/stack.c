/* Stacks of the fabric controller, in its own memory, and of the cores, side by side at the top of L1: core n overflows into
 * core n + 1, the last one into what the application has in L1. */
#include <stdbool.h>

#include "stack.h"

#include "internal.h"

static uint8_t *core_stack_end(unsigned core) { return __core_stacks_end - core * (uint32_t)(uintptr_t)__core_stack_bytes; }
static uint8_t *core_stack_start(unsigned core) { return core_stack_end(core + 1); }

/* The cores of PULP can compare each address that they form with sp with two registers, and stop at the very instruction. */
void pulp_stack_watch(const void *start, const void *end)
{
#ifdef DORY_PULP_STACK_CHECK
    __asm__ volatile("csrw 0x7D1, %0\n\tcsrw 0x7D2, %1\n\tcsrwi 0x7D0, 1" : : "r"(start), "r"(end));
#else
    (void)start, (void)end;
#endif
}

void pulp_stack_prepare_own(void)
{
    uint32_t hart = pulp_hart();
    bool is_fc = hart >> 5 == PULP_FC_CLUSTER_NUMBER;
    uint8_t *start = is_fc ? __fc_stack_start : core_stack_start(hart & 31);
    const void *used;
    __asm__("mv %0, sp" : "=r"(used));
    stack_paint(start, used);
    pulp_stack_watch(start, is_fc ? __fc_stack_end : core_stack_end(hart & 31));
}

int pulp_stack_core_is_sound(unsigned core) { return stack_is_sound(core_stack_start(core), PULP_STACK_GUARD_BYTES); }

static void report(const char *whose)
{
    hal_log("dory hal: the stack of ");
    hal_log(whose);
    hal_log(" has grown beyond its end\n");
}

int pulp_stacks_check(unsigned cores)
{
    int status = DORY_OK;
    for (unsigned core = 0; core < cores; core++) {
        const char whose[] = {'c', 'o', 'r', 'e', ' ', (char)('0' + core), 0};
        if (!pulp_stack_core_is_sound(core)) {
            report(whose);
            status = DORY_ERROR_STACK;
        }
    }
    if (!stack_is_sound(__fc_stack_start, PULP_STACK_GUARD_BYTES)) {
        report("the fabric controller");
        status = DORY_ERROR_STACK;
    }
    return status;
}

int hal_stack_peak(unsigned core, struct hal_stack *stack)
{
    if (!stack || (core != HAL_FABRIC_CONTROLLER && core >= hal_core_count()))
        return DORY_ERROR_ARGUMENT;
    if (pulp_beside_refuses())
        return DORY_ERROR_BUSY;
    *stack = core == HAL_FABRIC_CONTROLLER
                 ? stack_measure(__fc_stack_start, __fc_stack_end, PULP_STACK_GUARD_BYTES)
                 : stack_measure(core_stack_start(core), core_stack_end(core), PULP_STACK_GUARD_BYTES);
    return DORY_OK;
}
