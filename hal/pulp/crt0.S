/* Start-up of the fabric controller and of the cluster's cores, and the vector table that they share.
 *
 * The boot ROM loads the ELF file's segments from flash and jumps to _start on the FC. A cluster core starts 0x80 bytes
 * behind its boot address, which is the same place. Interrupts are off until a run is started that goes on by them, on the FC
 * (beside.c); otherwise the HAL sleeps on events. Exceptions
 * go to fixed offsets from the table: 0x84 illegal instruction, 0x88 ecall, 0x8C a failed load or store; with
 * CHIP_TRAPS_AT_VECTOR_0, to its first entry. */

    .section .vectors, "ax"
    .option norvc
    .balign 256
    .globl pulp_vectors
pulp_vectors:
#ifdef CHIP_TRAPS_AT_VECTOR_0
    j interrupt_or_trap
    .rept 31
#else
    .rept 32
#endif
    j pulp_interrupt_entry
    .endr
    .globl _start
_start:                             /* offset 0x80 */
    j start
    j trap_illegal_instruction
    j trap_ecall
    j trap_memory

#ifdef CHIP_TRAPS_AT_VECTOR_0          /* with interrupts of line 0; the cause does not tell one trap from another */
interrupt_or_trap:
    csrw 0x340, t0                  /* mscratch */
    csrr t0, 0x342                  /* mcause, negative for an interrupt */
    bgez t0, trap_of_any_kind
    csrr t0, 0x340
    j pulp_interrupt_entry
trap_of_any_kind:
    li a0, -1
    j report
#endif

start:
    la t0, pulp_vectors
    csrw 0x305, t0                  /* mtvec */
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    csrr a0, 0xF14                  /* mhartid: cluster << 5 | core */
    srli a1, a0, 5
    andi a0, a0, 31
    bnez a1, start_fc

    /* A cluster core: stack n counts from the top of L1 down. */
    la sp, __core_stacks_end
    la t0, __core_stack_bytes
    mul t0, t0, a0
    sub sp, sp, t0
    call pulp_core_main             /* (core number); does not return */

start_fc:
    la sp, __fc_stack_end
    la a0, __bss_start
    la a1, __bss_end
    call clear_words
    la a0, __fc_bss_start
    la a1, __fc_bss_end
    call clear_words
    call pulp_fc_main
    call pulp_exit                  /* (main's status) */

clear_words:                        /* from a0 up to a1; both multiples of 4 */
    bgeu a0, a1, 2f
1:  sw zero, 0(a0)
    addi a0, a0, 4
    bltu a0, a1, 1b
2:  ret

/* The vector tells the cause; gvsoc's mcause of a cluster core does not. Nothing of the program is kept, not even what is on
 * the stack, which may be what is broken: there is no way back. */
trap_illegal_instruction:
    li a0, 2
    j report
trap_ecall:
    li a0, 11
    j report
trap_memory:
    li a0, 5
report:
    csrr a1, 0x341                  /* mepc */
    csrr a2, 0xF14
    la sp, __fc_stack_end
    srli t0, a2, 5
    bnez t0, 1f
    la sp, __core_stacks_end
    la t0, __core_stack_bytes
    andi t1, a2, 31
    mul t0, t0, t1
    sub sp, sp, t0
1:  call pulp_trap                  /* does not return */
