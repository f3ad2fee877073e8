/* How cores divide a softmax: what its kernel does, and the planner knows. */
#ifndef DORY_XPULPV2_SOFTMAX_SHARE_H
#define DORY_XPULPV2_SOFTMAX_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether cores take whole pixels, not parts of them, of each of which a core finds the sum of all of its pixel. */
static inline bool dory_softens_pixels(uint32_t pixels, uint32_t cores) { return pixels >= 12 * cores; }

#endif
