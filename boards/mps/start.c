/* Reset of a Cortex-M of QEMU's MPS boards, and its faults: nothing that faults can go on, so the machine stops. */
#include <picolibc.h>
#include <picotls.h>
#include <stdint.h>
#include <stdlib.h>

#include "board.h"

/* From mps.ld. */
extern uint8_t __tls_base[], __bss_start[], __bss_end[], dory_stack[], dory_stack_end[];
void __libc_init_array(void);
int main(int count, char **arguments);

#define SYSTEM_CONTROL(offset) (*(volatile uint32_t *)(0xE000ED00u + (offset)))
#define VECTOR_TABLE           SYSTEM_CONTROL(0x08)
#define FAULT_STATUS           SYSTEM_CONTROL(0x28)
#define COPROCESSOR_ACCESS     SYSTEM_CONTROL(0x88)
#define FLOATS_AND_VECTORS     (0xFu << 20) /* full access to coprocessors 10 and 11 */

static void clear(uint8_t *start, const uint8_t *end)
{
    for (volatile uint8_t *byte = start; byte < end; byte++)
        *byte = 0;
}

static _Noreturn void start(void)
{
    clear(__bss_start, __bss_end);
    _set_tls(__tls_base);
    __libc_init_array();
    exit(main(0, NULL));
}

_Noreturn void board_reset(void);
_Noreturn void board_fault(const uint32_t *frame);

/* A stacked frame has the address of what faulted as its seventh word. */
_Noreturn void board_fault(const uint32_t *frame) { board_stop_with_fault(FAULT_STATUS, frame[6]); }

static __attribute__((naked)) void fault(void) { __asm__ volatile("mov r0, sp\n\tb board_fault"); }

/* Entries 1 to 15 of Armv7-M and Armv8-M; of the board's interrupts there are none. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    dory_stack_end, (void *)board_reset, (void *)fault, (void *)fault,
    (void *)fault,  (void *)fault,       (void *)fault, (void *)fault,
};

_Noreturn void board_reset(void)
{
    VECTOR_TABLE = (uint32_t)(uintptr_t)vectors;
    COPROCESSOR_ACCESS |= FLOATS_AND_VECTORS; /* of a core without them: without effect */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    start();
}
