/* What only the Cortex-M HAL has: functions that a firmware may replace by its own of the same name. Those of the HAL are
 * weak. */
#ifndef DORY_HAL_CORTEXM_H
#define DORY_HAL_CORTEXM_H

#include "dory/hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a copy between SRAM or flash and the L1 part. May return before it is complete. The HAL's own calls memcpy for each
 * run, and is complete at its return. One with a DMA controller and a data cache (M7) also has to clean the lines of
 * its source before it starts; the lines of its destination it invalidates before it starts and again at the wait, and
 * cleans first what shares a line with other data. Returns DORY_OK or DORY_ERROR_DMA. */
int hal_cortexm_copy(const struct hal_dma_copy *copy);

/* Waits until all copies that were started are complete. */
int hal_cortexm_copy_wait(void);

/* RAM beside the SRAM that lies in the address space, such as a PSRAM behind an octo-SPI controller: where it starts,
 * aligned to DORY_ALIGNMENT, and its bytes, of which dory may use all. The HAL's own has none. Networks whose tensors do not
 * fit the SRAM have some of them there, if the target's description has `ram`. */
void hal_cortexm_ram(uint8_t **start, size_t *bytes);

/* Starts a transfer between flash or that RAM and SRAM; `mapped` is its address there. As hal_cortexm_copy, with which it
 * may share a DMA controller: may return before it is complete, has the same cache maintenance in its contract, and returns
 * DORY_OK or DORY_ERROR_L3. The HAL's own calls memcpy for each run. */
int hal_cortexm_l3_copy(const struct hal_l3_copy *copy, uint8_t *mapped);

/* Waits until all of those are complete. */
int hal_cortexm_l3_wait(void);

/* What hal_memory_reserve may hand out: the start of a part of the SRAM, aligned to DORY_ALIGNMENT, and its bytes. The HAL's
 * own has nothing to give: applications own arrays marked DORY_L1 and DORY_L2. Only check programs and tests need it. */
void hal_cortexm_region(enum hal_memory memory, uint8_t **start, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
