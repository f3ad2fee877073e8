/* The functions of dory/hal_inline.h as ordinary ones, for callers that do not include it. */
#undef DORY_HAL_INLINE
#include "dory/hal.h"
#include "dory/hal_inline.h"

unsigned hal_core_id(void) { return pulp_core_id(); }
unsigned hal_core_count(void) { return pulp_core_count(); }
void hal_barrier(void) { pulp_barrier(); }
void hal_meet(void) { pulp_meet(); }
void hal_notify(void) { pulp_notify(); }
void hal_await_notice(void) { pulp_await_notice(); }
int hal_is_driver(void) { return pulp_is_fc(); }
int hal_is_core(void) { return !pulp_is_fc(); }
int hal_dma_open(hal_dma_ticket *ticket) { return pulp_dma_open(ticket); }
int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy) { return pulp_dma_copy(ticket, copy); }
int hal_dma_wait(hal_dma_ticket ticket) { return pulp_dma_wait(ticket); }
uint32_t hal_cycles(void) { return pulp_cycles(); }
