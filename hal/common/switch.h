/* Two stacks for one core: switch.S. */
#ifndef DORY_HAL_SWITCH_H
#define DORY_HAL_SWITCH_H

#include <stdint.h>

/* What a call must keep goes to the stack, and that stack to *from; goes on with what was left at `to`. */
void hal_switch(void **from, void *to);

#define SWITCH_WORDS 16

/* A stack from whose end on `entry`, which must not return, begins when it is switched to. */
static inline void *switch_prepare(void *stack_end, void (*entry)(void))
{
    uint32_t *frame = (uint32_t *)stack_end - SWITCH_WORDS;
    frame[0] = (uint32_t)(uintptr_t)entry;
    return frame;
}

#endif
