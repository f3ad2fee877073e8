/* What hal/pulp has to know of PULP-open where calls are inlined. */
#ifndef DORY_PULP_CHIP_H
#define DORY_PULP_CHIP_H

#include "dory/pulp_mchan7.h"

#define PULP_CORES             8u  /* of the nine, those that have a stack and a share of the work */
#define PULP_FC_CLUSTER_NUMBER 31u /* mhartid is cluster number << 5 | core number; the cluster's cores are cluster 0 */
#define PULP_L1_BYTES          0x10000u

#endif
