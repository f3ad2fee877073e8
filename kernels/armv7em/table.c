/* Computes any function of one byte, by a table of its 256 values. Shapes: any.
 *
 * Each core takes a part of the words. Inner loop: a word is taken apart, four bytes are looked up and put together: 16
 * instructions. */
#include "dory/share.h"

#include "armv7em.h"
#include "instructions.h"

static inline uint32_t look_up_four(const uint8_t *table, uint32_t bytes)
{
    uint32_t low = table[bytes & 0xFF] | (uint32_t)table[bytes >> 8 & 0xFF] << 8;
    uint32_t high = table[bytes >> 16 & 0xFF] | (uint32_t)table[bytes >> 24] << 8;
    return dory_pack_bottoms(low, high);
}

void dory_armv7em_table(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_share words = dory_share_of((bytes + 3) / 4, core, cores);
    const uint8_t *table = layer->constants.table, *input = tile->input;
    uint8_t *output = tile->output;
    uint32_t i = 4 * words.first, end = dory_minimum(4 * words.end, bytes);
    for (; i + 4 <= end; i += 4) {
        dory_put_word(output + i, look_up_four(table, dory_word_at(input + i)));
    }
    for (; i < end; i++) {
        output[i] = table[input[i]];
    }
}
