/* An engine computes layers: a chip's cores with their instructions, plain C, an accelerator. This is what the generator
 * knows of one. A target's description names its engines in order of preference, and each layer of a network goes to the
 * first of them that has a kernel for it. */
#ifndef DORY_ENGINE_H
#define DORY_ENGINE_H

#include "dory/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dory_engine {
    const char *name; /* in "engines" of a target's description */

    /* Null-terminated, in order of preference where cycles are equal. */
    const struct dory_kernel_description *const *kernels;
};

extern const struct dory_engine dory_portable_engine; /* kernels/reference: portable C, every layer */
extern const struct dory_engine dory_xpulpv2_engine;  /* kernels/xpulpv2: RISC-V cores with XpulpV2, such as GAP8's */

/* Cycles of the engine's fastest kernel for a layer, were it one tile on so many cores. UINT64_MAX: it has no kernel for the
 * layer. */
uint64_t dory_engine_cycles(const struct dory_engine *engine, const struct dory_layer *layer, unsigned cores);

#ifdef __cplusplus
}
#endif

#endif
