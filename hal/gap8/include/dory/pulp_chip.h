/* What hal/pulp has to know of GAP8 where calls are inlined. */
#ifndef DORY_PULP_CHIP_H
#define DORY_PULP_CHIP_H

#include <stdint.h>

#define PULP_CORES             8u
#define PULP_FC_CLUSTER_NUMBER 32u /* mhartid is cluster number << 5 | core number; the cluster's cores are cluster 0 */

/* First word of a command of MCHAN (v6): bits 0-15 are the size in bytes; then follow the L1 address, the external address
 * and, for a 2-D command, the shape. */
#define PULP_MCHAN_TO_LOCAL  (1u << 16)
#define PULP_MCHAN_INCREMENT (1u << 17)
#define PULP_MCHAN_2D        (1u << 18)
#define PULP_MCHAN_EVENT     (1u << 19) /* PULP_EVENT_DMA to this core when the counter has reached zero */
#define PULP_MCHAN_LIMIT     0xFFFFu    /* of the size */
#define PULP_L1_BYTES        0x10000u

/* The shape of a 2-D command, which applies to the external side: 15 bits each; a longer run never ends (tried on gvsoc). */
static inline __attribute__((always_inline)) void pulp_mchan_shape(volatile uint32_t *queue, uint32_t run_bytes,
                                                                   uint32_t stride)
{
    *queue = stride << 16 | run_bytes;
}

#endif
