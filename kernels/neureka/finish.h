/* The cores' part: pixels that N-EUREKA reads, and elements of the sums that it left. */
#ifndef DORY_NEUREKA_FINISH_H
#define DORY_NEUREKA_FINISH_H

#include "../xpulpv2/xpulp.h"
#include "dory/kernel.h"
#include "neureka.h"

struct dory_neureka_elements {
    const int32_t *sums;  /* of channel 0 of the first pixel */
    uint8_t *output;      /* likewise */
    uint32_t sum_step;    /* words to the next pixel's */
    uint32_t output_step; /* bytes */
    uint32_t pixels;      /* of a row */
    uint32_t rows;
    uint32_t sum_skip, output_skip; /* words and bytes more, from the last pixel of a row to the next row */
    uint32_t first_channel, end_channel;
    const uint8_t *constants; /* of a block */
    uint32_t first_constant;  /* the channel of the block that is channel 0 */
};

/* A WIDE channel's record. */
struct dory_neureka_record {
    int32_t addend, shift, zero;
    uint32_t step;
};

static inline struct dory_neureka_record dory_neureka_load_record(const uint8_t *record)
{
    return (struct dory_neureka_record){(int32_t)dory_load_word(record), (int32_t)dory_load_word(record + 4),
                                        (int32_t)dory_load_word(record + 8), dory_load_word(record + 12)};
}

void dory_neureka_finish(const struct dory_layer *layer, const struct dory_neureka_elements *elements);

/* Of a layer that may be WIDE, whose `constants` are a block's. */
void dory_neureka_finish_wide(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                              const struct dory_neureka_records *of_block);

/* The same of a layer with stages, to whose elements others are added: from channel 0 of the first pixel on, as far apart as
 * those of the output, without what that leaves out behind a row. */
void dory_neureka_add(const struct dory_layer *layer, const struct dory_neureka_elements *elements, const uint8_t *other);
void dory_neureka_add_wide(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                           const uint8_t *other, const struct dory_neureka_records *of_block);

/* Of a layer that dory_neureka_gathers(): this core's share of the tile's pixels, dory_neureka_pixel_bytes() each. They lie
 * behind the constants in scratch. */
void dory_neureka_gather(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores);

#endif
