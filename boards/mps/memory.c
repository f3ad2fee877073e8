/* What data and stack leave of the SRAM, for check programs and tests: as much for L1 as chips of this kind have, and the
 * rest for L2. What images leave of the board's PSRAM is RAM. */
#include "dory/hal_cortexm.h"

/* From mps.ld. */
extern uint8_t dory_sram_free[], dory_stack[], dory_ram[], dory_ram_end[];

#define L1_BYTES ((size_t)128 * 1024)

void hal_cortexm_region(enum hal_memory memory, uint8_t **start, size_t *bytes)
{
    *start = memory == HAL_L1 ? dory_sram_free : dory_sram_free + L1_BYTES;
    *bytes = memory == HAL_L1 ? L1_BYTES : (size_t)(dory_stack - *start);
}

void hal_cortexm_ram(uint8_t **start, size_t *bytes)
{
    *start = dory_ram;
    *bytes = (size_t)(dory_ram_end - dory_ram);
}
