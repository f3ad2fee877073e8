/* What only the virt HAL has. */
#ifndef DORY_HAL_VIRT_H
#define DORY_HAL_VIRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Decides which transfers happen early, when they are started, and which late, when they are waited for. An
 * application may define this variable itself; the HAL's own definition is weak. */
extern uint32_t hal_virt_seed;

/* In the destination of a late transfer. */
#define HAL_VIRT_POISON 0xDB

#ifdef __cplusplus
}
#endif

#endif
