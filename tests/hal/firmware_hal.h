/* What the parts of firmware_hal have in common. */
#ifndef DORY_FIRMWARE_HAL_H
#define DORY_FIRMWARE_HAL_H

#include "dory/hal.h"

#define L1_BYTES 8192
#define L2_BYTES 16384

extern uint8_t l1[L1_BYTES];
extern uint8_t l2[L2_BYTES];

/* Evenly, from 0 to limit - 1: the generator of the C standard's example, its upper bits. */
uint32_t random_below(uint32_t limit);

/* Parts of the contract (dory/hal.h). */
void test_driver(void);
void test_start(void);
void test_notices(void);

#endif
