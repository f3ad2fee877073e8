/* Bytes that are next to each other in both tiles. */
#ifndef DORY_XPULPV2_COPY_RUN_H
#define DORY_XPULPV2_COPY_RUN_H

#include <stdbool.h>

#include "../xpulp.h"
#include "dory/layer.h"

/* Whether a copy, in tiles of all channels, moves all bytes of a tile as they are: its border is in the tile's input. */
static inline bool dory_copies_all(const struct dory_layer *layer, uint32_t channels)
{
    return !layer->constants.map && layer->stride_height == 1 && layer->stride_width == 1 &&
           channels == layer->input_channels;
}

/* Channels of a copy by a map: of a run that is copied at once, and that are picked one by one. */
#define DORY_LEAST_RUN      8u
#define DORY_PICKED_AT_ONCE 64u

/* Channels of the pixels of a concatenation, or of a copy by a map, that one core copies at a time: all, or, where pixels
 * are fewer than cores, as many whole words as leave each core a part. */
static inline uint32_t dory_joined_length(uint32_t pixels, uint32_t channels, uint32_t cores)
{
    return pixels >= cores ? channels : dory_round_up(dory_divide_up(pixels * channels, cores), 8);
}

/* Unaligned words are two accesses each on RI5CY, still fewer than bytes. */
static inline void dory_copy_run(const uint8_t *from, uint8_t *to, uint32_t bytes)
{
    for (; bytes >= 8; bytes -= 8, from += 8, to += 8) {
        uint32_t first = dory_load_word(from), second = dory_load_word(from + 4);
        dory_store_word(to, first);
        dory_store_word(to + 4, second);
    }
    for (; bytes != 0; bytes--) {
        *to++ = *from++;
    }
}

#endif
