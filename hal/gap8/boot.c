/* From the reset to main(), and to the end of the program. */
#include "internal.h"

int main(void);
int gap8_fc_main(void);
void gap8_trap(uint32_t cause, uint32_t address, uint32_t hart) __attribute__((noreturn));
void _exit(int status) __attribute__((noreturn));

/* Status of a program that ended in an exception. */
#define TRAP_STATUS 126

#define END_OF_COMPUTATION 0x80000000u

/* Constructors of C++ objects, and of GCC's attribute. */
extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);

static void construct(void)
{
    for (void (*const *constructor)(void) = __init_array_start; constructor < __init_array_end; constructor++)
        (*constructor)();
}

/* What started this program may have been one with events and interrupts of its own, like the AI-deck's bootloader. */
static void forget_events(void)
{
    GAP8_FC_EVENTS->interrupt_mask = 0;
    GAP8_FC_EVENTS->mask = 0;
    GAP8_FC_EVENTS->buffer_clear = UINT32_MAX;
}

int gap8_fc_main(void)
{
    *GAP8_FC_CACHE = UINT32_MAX; /* else every line of 16 bytes of code costs an access to L2 */
    forget_events();
    gap8_stack_prepare_own();
    int status = gap8_set_configured_clocks();
    if (status) /* rather than to run on at the clock of the start, and to be wrong about every time */
        return status;
    construct();
    status = main();
    int stack_status = gap8_stacks_check(0);
    return status ? status : stack_status;
}

void gap8_exit(int status)
{
    if (status && (status & 0xFF) == 0)
        status = 1; /* a PC passes 8 bits on; a failure must not look like success */
    GAP8_SOC_CONTROL->core_status = END_OF_COMPUTATION | (uint32_t)status;
    for (;;)
        __asm__ volatile("wfi");
}

/* What a C library calls. */
void _exit(int status) { gap8_exit(status); }

static const char *cause_name(uint32_t cause)
{
    switch (cause & 31) {
    case 2: return "illegal instruction";
    case 3: return "breakpoint";
    case 5: return "failed load or store";
    case 11: return "ecall";
    default: return "exception";
    }
}

static void log_hexadecimal(uint32_t value)
{
    char text[11] = "0x";
    for (int digit = 0; digit < 8; digit++)
        text[2 + digit] = "0123456789abcdef"[value >> (28 - 4 * digit) & 15];
    text[10] = '\0';
    hal_log(text);
}

static void log_core(uint32_t hart)
{
    char number[2] = {(char)('0' + (hart & 31)), '\0'};
    if (hart >> 5 == GAP8_FC_CLUSTER_NUMBER) {
        hal_log(" on the fabric controller\n");
    } else {
        hal_log(" on cluster core ");
        hal_log(number);
        hal_log("\n");
    }
}

/* From crt0.S, on the stack of the core that failed, from its beginning. */
void gap8_trap(uint32_t cause, uint32_t address, uint32_t hart)
{
    hal_log("\ntrap: ");
    hal_log(cause_name(cause));
    hal_log(", cause ");
    log_hexadecimal(cause);
    hal_log(", at ");
    log_hexadecimal(address);
    log_core(hart);
    gap8_stacks_check(hart >> 5 == GAP8_FC_CLUSTER_NUMBER ? 0 : gap8_team.cores); /* a frequent reason */
    gap8_exit(TRAP_STATUS);
}
