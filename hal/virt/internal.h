/* What the files of the virt HAL share. */
#ifndef DORY_HAL_VIRT_INTERNAL_H
#define DORY_HAL_VIRT_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dory/hal.h"

#define MAXIMUM_CORES 8

/* ---- start.S ---- */
void virt_call_on_stack(void (*entry)(void *), void *argument, void *stack_end);
int32_t virt_semihosting(uint32_t operation, const void *argument);

/* ---- console.c ---- */
_Noreturn void virt_stop(int status); /* ends QEMU with this exit status */

/* ---- memory.c ---- */
bool virt_is_in(enum hal_memory memory, const void *address, uint64_t extent);
void virt_stack_paint(void *start, const void *end);
void virt_stacks_paint(void); /* of the cores, as far as sleeping ones do not use them */
int virt_stacks_check(void);  /* 0 or DORY_ERROR_STACK, after it named them in the log */
void *virt_core_0_stack_end(void);

/* ---- cluster.c ---- */
bool virt_is_running(void); /* a function, on the cluster */

int virt_begin_run(void (*entry)(void *argument), void *argument); /* on all harts but 0 */
int virt_finish_run(void);                                         /* when hart 0 is through */

/* ---- beside.c ---- */
bool virt_beside_refuses(void); /* is the caller the application, while something goes on beside it? */
bool virt_beside_yields(void);  /* is the caller core 0, which the application polls? */
void virt_beside_yield(void);   /* then: lets the application go on until it does */

/* ---- dma.c ---- */
bool virt_is_late(uint32_t stream, uint32_t index);
int dma_end_of_run(void);

/* ---- small things ---- */

typedef struct {
    atomic_uint taken;
} spinlock;

static inline void lock(spinlock *lock)
{
    while (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        ;
}

static inline void unlock(spinlock *lock) { atomic_store_explicit(&lock->taken, 0, memory_order_release); }

static inline unsigned virt_hart(void)
{
    unsigned hart;
    __asm__("csrr %0, mhartid" : "=r"(hart));
    return hart;
}

#endif
