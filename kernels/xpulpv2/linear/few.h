/* How the cores share a fully connected layer with fewer outputs than there are cores: each has a slice of the input of one
 * quad.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_FEW_H
#define DORY_XPULPV2_FEW_H

#include "dory/layer.h"

#define DORY_FEW_OUTPUTS 7 /* at most; of GAP8's eight cores one at least would have nothing to do */

struct dory_slices {
    uint32_t quads, slices; /* slices: of a quad */
    uint32_t words;         /* of a slice but the last ones, which may have fewer or none; even, for two go together */
};

/* `words` are those of the tile's input. */
static inline struct dory_slices dory_slices_of(uint32_t channels, uint32_t words, unsigned cores)
{
    uint32_t quads = channels > 4 ? 2 : 1, slices = cores >= 2 * quads ? cores / quads : 1;
    return (struct dory_slices){quads, slices, dory_round_up(dory_divide_up(words, slices), 2)};
}

/* A slice leaves the sums of four channels. */
static inline uint32_t dory_slices_bytes(const struct dory_slices *slices) { return slices->quads * slices->slices * 16; }

#endif
