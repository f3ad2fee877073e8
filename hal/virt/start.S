/* Reset of all harts, the switch to another stack, and traps. */

        .section .text.start, "ax"
        .global _start
_start:
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        la      t0, trap
        csrw    mtvec, t0
        csrwi   mie, 8          /* software interrupts end a wfi; mstatus.MIE stays 0, so they do not trap */
        csrr    a0, mhartid
        bnez    a0, start_core

/* Hart 0 is the fabric controller. Zero data are cleared before any other hart may look at them: those sleep. */
        la      sp, dory_fc_stack_end
        la      t0, __bss_start
        la      t1, __bss_end
1:      bgeu    t0, t1, 2f
        sw      zero, 0(t0)
        addi    t0, t0, 4
        j       1b
2:      call    thread_local_data
        call    __libc_init_array
        la      a0, dory_fc_stack
        mv      a1, sp
        call    virt_stack_paint
        li      a0, 0
        li      a1, 0
        call    main
        call    exit
3:      wfi
        j       3b

/* Harts 1 to 7 are cores 1 to 7 of the cluster; more than that sleep for ever. */
start_core:
        li      t0, 8
        bgeu    a0, t0, 3b
        la      sp, dory_core_stacks
        la      t0, dory_core_stack_bytes
        addi    t1, a0, 1
        mul     t0, t0, t1
        add     sp, sp, t0
        call    thread_local_data
        call    virt_core_main
        j       3b

/* Copies the template of thread-local data below sp, moves sp below it and points tp at it. Keeps a0. */
thread_local_data:
        la      t0, __tls_bytes
        sub     sp, sp, t0
        add     t1, sp, t0      /* end */
        mv      tp, sp
        mv      t2, sp
        la      t3, __tls_data
        la      t4, __tls_data_bytes
        add     t4, t4, sp      /* end of what has initial values */
1:      bgeu    t2, t1, 3f
        li      t5, 0
        bgeu    t2, t4, 2f
        lbu     t5, 0(t3)
        addi    t3, t3, 1
2:      sb      t5, 0(t2)
        addi    t2, t2, 1
        j       1b
3:      ret

/* void virt_call_on_stack(void (*entry)(void *), void *argument, void *stack_end) */
        .section .text.virt_call_on_stack, "ax"
        .global virt_call_on_stack
virt_call_on_stack:
        addi    a2, a2, -16
        sw      ra, 12(a2)
        sw      sp, 8(a2)
        mv      sp, a2
        mv      t0, a0
        mv      a0, a1
        jalr    t0
        lw      ra, 12(sp)
        lw      sp, 8(sp)
        ret

/* Nothing that traps can go on: say what and where, and stop the machine. The stack may be what is broken. */
        .section .text.trap, "ax"
        .balign 4
trap:
        mv      a4, sp
        la      t0, trap_taken
        li      t1, 1
        amoswap.w t1, t1, (t0)
1:      beqz    t1, 2f
        wfi                     /* another hart was first */
        j       1b
2:      la      sp, trap_stack_end
        csrr    a0, mhartid
        csrr    a1, mcause
        csrr    a2, mepc
        csrr    a3, mtval
        call    virt_trap

/* int32_t virt_semihosting(uint32_t operation, const void *argument): the three instructions that QEMU (and any
 * debugger) takes for a semihosting call, from "RISC-V Semihosting", version 0.3. They must not cross a page. */
        .section .text.virt_semihosting, "ax"
        .balign 16
        .global virt_semihosting
virt_semihosting:
        .option push
        .option norvc
        slli    zero, zero, 0x1f
        ebreak
        srai    zero, zero, 7
        .option pop
        ret

        .section .data.trap_taken, "aw"
        .balign 4
trap_taken:
        .word   0
        .section .bss.trap_stack, "aw", %nobits
        .balign 16
        .space  1024
trap_stack_end:
