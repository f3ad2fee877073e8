/* The functions of dory/hal_inline.h as ordinary ones, for callers that do not include it. */
#undef DORY_HAL_INLINE
#include "dory/hal.h"
#include "dory/hal_inline.h"

unsigned hal_core_id(void) { return gap8_core_id(); }
unsigned hal_core_count(void) { return gap8_core_count(); }
void hal_barrier(void) { gap8_barrier(); }
void hal_meet(void) { gap8_meet(); }
void hal_notify(void) { gap8_notify(); }
void hal_await_notice(void) { gap8_await_notice(); }
int hal_is_driver(void) { return gap8_is_fc(); }
int hal_is_core(void) { return !gap8_is_fc(); }
int hal_dma_open(hal_dma_ticket *ticket) { return gap8_dma_open(ticket); }
int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy) { return gap8_dma_copy(ticket, copy); }
int hal_dma_wait(hal_dma_ticket ticket) { return gap8_dma_wait(ticket); }
uint32_t hal_cycles(void) { return gap8_cycles(); }
