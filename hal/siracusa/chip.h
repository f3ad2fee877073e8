/* What hal/pulp does otherwise on each chip; here on Siracusa. */
#ifndef DORY_SIRACUSA_CHIP_H
#define DORY_SIRACUSA_CHIP_H

#define CHIP_HYPERBUS          4u
#define CHIP_HYPERBUS_CHANNELS 2u

#include "pulp_soc.h"

#endif
