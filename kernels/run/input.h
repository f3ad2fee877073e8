/* What cores lay in L1 beside what the DMA brings: the border round a tile, a layer's table, its struct. Each core does part
 * `share` of `shares`; a barrier behind it makes it whole. */
#ifndef DORY_INPUT_H
#define DORY_INPUT_H

#include "dory/network.h"

/* The border round `valid`, the part of the tile's input that the DMA fills, or has filled. */
void dory_fill_border(const struct dory_layer *layer, const struct dory_tile *tile, const struct dory_valid *valid,
                      unsigned share, unsigned shares);

/* The layer's table (or its terms), to where the tile's weights are. It is among the program's constants, which no DMA need
 * reach. */
void dory_copy_table(const struct dory_layer *layer, const struct dory_tile *tile, unsigned share, unsigned shares);

typedef uintptr_t __attribute__((may_alias)) dory_member;

/* A struct whose members are as large as a pointer, or smaller. */
static inline void dory_copy_struct(void *to, const void *from, uint32_t bytes, unsigned share, unsigned shares)
{
    const dory_member *source = from;
    dory_member *target = to;
    for (uint32_t i = share; i < bytes / sizeof *source; i += shares) {
        target[i] = source[i];
    }
}

/* A layer, which all read for every tile. */
void dory_copy_layer(struct dory_layer *to, struct dory_stages *stages, const struct dory_layer *from, unsigned share,
                     unsigned shares);

#endif
