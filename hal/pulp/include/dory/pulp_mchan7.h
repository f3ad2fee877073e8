/* The words of a command of MCHAN v7, the cluster's DMA of Siracusa and PULP-open; for their dory/pulp_chip.h. */
#ifndef DORY_PULP_MCHAN7_H
#define DORY_PULP_MCHAN7_H

#include <stdint.h>

/* First word: bits 0-16 are the size in bytes; then follow the L1 address, the external address and, for a 2-D command, the
 * shape. */
#define PULP_MCHAN_TO_LOCAL  (1u << 17)
#define PULP_MCHAN_INCREMENT (1u << 18)
#define PULP_MCHAN_2D        (1u << 19)
#define PULP_MCHAN_EVENT     (1u << 20) /* PULP_EVENT_DMA to this core when the counter has reached zero */
#define PULP_MCHAN_LIMIT     0xFFFFu    /* of the size, and of what it is made of: what gvsoc's model is tried with */

/* The shape of a 2-D command, which applies to the external side: two words. */
static inline __attribute__((always_inline)) void pulp_mchan_shape(volatile uint32_t *queue, uint32_t run_bytes,
                                                                   uint32_t stride)
{
    *queue = run_bytes;
    *queue = stride;
}

#endif
