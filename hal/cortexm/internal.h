/* What the files of the Cortex-M HAL share. */
#ifndef DORY_HAL_CORTEXM_INTERNAL_H
#define DORY_HAL_CORTEXM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dory/hal_cortexm.h"

/* ---- cluster.c ---- */
bool cortexm_is_running(void); /* is a function running on the core as the cluster's? */

/* ---- cycles.c ---- */
void cortexm_cycles_open(void);

/* ---- dma.c ---- */
int cortexm_dma_end_of_run(void); /* DORY_ERROR_DMA: a ticket was never waited for */

#endif
