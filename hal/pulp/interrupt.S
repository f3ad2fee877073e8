/* Interrupts of the FC. */

    /* From the vector table: any interrupt of the FC. What a call may change goes to the stack of whoever was interrupted. */
    .section .text.pulp_interrupt_entry, "ax"
    .globl pulp_interrupt_entry
pulp_interrupt_entry:
    addi sp, sp, -96
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw t3, 16(sp)
    sw t4, 20(sp)
    sw t5, 24(sp)
    sw t6, 28(sp)
    sw a0, 32(sp)
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
#ifdef DORY_PULP_TOOLCHAIN              /* its compiler makes hardware loops, for the driver as for the application */
    csrr t0, 0x7B0
    csrr t1, 0x7B1
    csrr t2, 0x7B2
    csrr t3, 0x7B4
    csrr t4, 0x7B5
    csrr t5, 0x7B6
    sw t0, 64(sp)
    sw t1, 68(sp)
    sw t2, 72(sp)
    sw t3, 76(sp)
    sw t4, 80(sp)
    sw t5, 84(sp)
#endif
    csrr a0, 0x342                      /* mcause: the interrupt's line in its lowest bits */
    andi a0, a0, 31
    call pulp_interrupt
#ifdef DORY_PULP_TOOLCHAIN
    lw t0, 64(sp)
    lw t1, 68(sp)
    lw t2, 72(sp)
    lw t3, 76(sp)
    lw t4, 80(sp)
    lw t5, 84(sp)
    csrw 0x7B0, t0
    csrw 0x7B1, t1
    csrw 0x7B2, t2
    csrw 0x7B4, t3
    csrw 0x7B5, t4
    csrw 0x7B6, t5
#endif
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw t3, 16(sp)
    lw t4, 20(sp)
    lw t5, 24(sp)
    lw t6, 28(sp)
    lw a0, 32(sp)
    lw a1, 36(sp)
    lw a2, 40(sp)
    lw a3, 44(sp)
    lw a4, 48(sp)
    lw a5, 52(sp)
    lw a6, 56(sp)
    lw a7, 60(sp)
    addi sp, sp, 96
    mret
