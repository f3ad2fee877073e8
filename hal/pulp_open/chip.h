/* What hal/pulp does otherwise on each chip; here on PULP-open. */
#ifndef DORY_PULP_OPEN_CHIP_H
#define DORY_PULP_OPEN_CHIP_H

#define CHIP_HYPERBUS          8u
#define CHIP_HYPERBUS_CHANNELS 8u

#include "pulp_soc.h"

#endif
