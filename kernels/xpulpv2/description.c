/* The list of the kernels, as the planner knows it. */
#include "description.h"

#include <stddef.h>

#define DESCRIPTION(name) &dory_xpulpv2_##name##_description,

const struct dory_kernel_description *const dory_xpulpv2_kernels[] = {DORY_XPULPV2_KERNELS(DESCRIPTION) NULL};
