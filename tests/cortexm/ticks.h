/* Counts instructions under QEMU. */
#ifndef TEST_TICKS_H
#define TEST_TICKS_H

#include <stdint.h>

uint32_t count_start(void);
uint32_t count_ticks_since(uint32_t before); /* what count_start() returned; fewer than 2^24 ticks */
uint32_t count_instructions(uint32_t ticks);

#endif
