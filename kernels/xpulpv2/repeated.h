/* Second inputs of fewer elements than the first: a core lays as many of them beside each other as it takes at once, so that
 * the loops over elements need not know. */
#ifndef DORY_XPULPV2_REPEATED_H
#define DORY_XPULPV2_REPEATED_H

#include "dory/layer.h"
#include "xpulp.h"

/* Elements that a core takes at once, a multiple of 4: enough for a loop's start to be little, and no more of L1. */
#define DORY_REPEATED_BATCH 256u

static inline uint32_t dory_repeated_scratch_bytes(const struct dory_layer *layer, unsigned cores)
{
    return layer->second_repeats ? cores * DORY_REPEATED_BATCH : 0;
}

static inline void dory_fill_bytes(uint8_t *to, uint8_t byte, uint32_t count)
{
    uint32_t word = byte * 0x01010101u, words = count / 4;
    for (uint32_t i = 0; i < words; i++, to += 4) {
        dory_store_word(to, word);
    }
    for (uint32_t i = 0; i < count % 4; i++) {
        to[i] = byte;
    }
}

/* The second input's elements for `count` of the tile's, from element `first` on. */
static inline void dory_repeat(uint8_t *to, const struct dory_layer *layer, const struct dory_tile *tile, uint32_t first,
                               uint32_t count)
{
    const uint8_t *from = tile->second_input;
    bool has_channels = !(layer->second_repeats & DORY_REPEATS_CHANNEL);
    uint32_t channels = tile->channels, pixel = first / channels, channel = first % channels;
    uint32_t next = layer->second_repeats & DORY_REPEATS_PIXEL ? 0 : 1;
    for (from += pixel * next; count > 0; from += next, channel = 0) {
        uint32_t run = dory_minimum(channels - channel, count);
        if (has_channels) {
            for (uint32_t i = 0; i < run; i++) {
                to[i] = from[channel + i];
            }
        } else {
            dory_fill_bytes(to, *from, run);
        }
        to += run;
        count -= run;
    }
}

#endif
