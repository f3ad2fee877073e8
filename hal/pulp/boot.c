/* From the reset to main(), and to the end of the program. */
#include "internal.h"

int main(void);
int pulp_fc_main(void);
void pulp_trap(uint32_t cause, uint32_t address, uint32_t hart) __attribute__((noreturn));
void _exit(int status) __attribute__((noreturn));

/* Status of a program that ended in an exception. */
#define TRAP_STATUS 126

/* Constructors of C++ objects, and of GCC's attribute. */
extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);

static void construct(void)
{
    for (void (*const *constructor)(void) = __init_array_start; constructor < __init_array_end; constructor++)
        (*constructor)();
}

int pulp_fc_main(void)
{
    *CHIP_FC_CACHE = UINT32_MAX; /* else every line of 16 bytes of code costs an access to L2 */
    chip_forget_events();
    pulp_stack_prepare_own();
    int status = chip_set_up();
    if (status) /* rather than to run on at the clock of the start, and to be wrong about every time */
        return status;
    construct();
    status = main();
    int stack_status = pulp_stacks_check(0);
    return status ? status : stack_status;
}

void pulp_exit(int status)
{
    if (status && (status & 0xFF) == 0)
        status = 1; /* a PC passes 8 bits on; a failure must not look like success */
    chip_end(status);
    for (;;)
        __asm__ volatile("wfi");
}

/* What a C library calls. */
void _exit(int status) { pulp_exit(status); }

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
    if (hart >> 5 == PULP_FC_CLUSTER_NUMBER) {
        hal_log(" on the fabric controller\n");
    } else {
        hal_log(" on cluster core ");
        hal_log(number);
        hal_log("\n");
    }
}

/* From crt0.S, on the stack of the core that failed, from its beginning. */
void pulp_trap(uint32_t cause, uint32_t address, uint32_t hart)
{
    hal_log("\ntrap: ");
    hal_log(cause_name(cause));
    hal_log(", cause ");
    log_hexadecimal(cause);
    hal_log(", at ");
    log_hexadecimal(address);
    log_core(hart);
    pulp_stacks_check(hart >> 5 == PULP_FC_CLUSTER_NUMBER ? 0 : pulp_team.cores); /* a frequent reason */
    pulp_exit(TRAP_STATUS);
}
