/* What the descriptions of the kernels for Armv7E-M share. */
#ifndef DORY_ARMV7EM_DESCRIPTION_H
#define DORY_ARMV7EM_DESCRIPTION_H

#include "armv7em.h"
#include "dory/engine.h"

#define DORY_ARMV7EM_DESCRIPTION(name) extern const struct dory_kernel_description dory_armv7em_##name##_description;
DORY_ARMV7EM_KERNELS(DORY_ARMV7EM_DESCRIPTION)
#undef DORY_ARMV7EM_DESCRIPTION

/* Behind the sum of an element. */
uint32_t dory_armv7em_finish_instructions(const struct dory_layer *layer);

/* A product of four pixels by two channels, or of one pixel by four, behind laying: instructions for so many groups of four
 * terms. */
uint64_t dory_armv7em_pair_instructions(const struct dory_layer *layer, uint64_t groups);
uint64_t dory_armv7em_quad_instructions(const struct dory_layer *layer, uint64_t groups);

#endif
