/* Stacks that are painted while they are new: how far a stack has grown is where the paint ends. The lowest bytes of each
 * are a guard that nothing may use. A frame may leave bytes of its own untouched, so the guard is as wide as a kernel's
 * whole set of saved registers, and all of it is looked at. */
#ifndef DORY_HAL_STACK_H
#define DORY_HAL_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "dory/hal.h"

#define STACK_PAINT 0x5AFEC0DEu

/* Whoever looks at a stack reads what compilers' checks take for nobody's business. */
#define STACK_READER __attribute__((no_sanitize_address)) __attribute__((no_sanitize_thread))

/* From `start` up to `end`, which are multiples of 4. */
STACK_READER static inline void fill_words(void *start, const void *end, uint32_t value)
{
    for (volatile uint32_t *word = start; (const volatile void *)word < end; word++)
        *word = value;
}

/* `start` is the end that the stack grows to. */
STACK_READER static inline void stack_paint(void *start, const void *end) { fill_words(start, end, STACK_PAINT); }

/* `guard_bytes` is a multiple of 16. */
STACK_READER static inline int stack_is_sound(const void *start, size_t guard_bytes)
{
    uint32_t difference = 0;
    const volatile uint32_t *word = start, *end = word + guard_bytes / sizeof *word;
    for (; word < end; word += 4) /* at the end of every run: not one by one */
        difference |= (word[0] ^ STACK_PAINT) | (word[1] ^ STACK_PAINT) | (word[2] ^ STACK_PAINT) | (word[3] ^ STACK_PAINT);
    return difference == 0;
}

/* The guard counts neither as a part of the stack nor as used. */
STACK_READER static inline struct hal_stack stack_measure(const void *start, const void *end, size_t guard_bytes)
{
    const volatile uint32_t *word = start;
    while ((const volatile void *)word < end && *word == STACK_PAINT)
        word++;
    size_t bytes = (size_t)((const uint8_t *)end - (const uint8_t *)start) - guard_bytes;
    size_t peak_bytes = (size_t)((const volatile uint8_t *)end - (const volatile uint8_t *)word);
    return (struct hal_stack){.bytes = (uint32_t)bytes, .peak_bytes = (uint32_t)peak_bytes};
}

#endif
