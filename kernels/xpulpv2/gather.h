/* Copies what pixels of a convolution read, run by run, to where they are whole words.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_GATHER_H
#define DORY_XPULPV2_GATHER_H

#include "product.h"
#include "walk.h"

/* What a group of runs has of one kind: `columns` words (or bytes) of each of its runs. */
struct dory_gather_piece {
    uint32_t columns;
    int32_t output_step;             /* from a run's word (byte) of the last pixel to the next run's of the first */
    int32_t input_back, output_back; /* from behind the last run to the next column of the first */
};

struct dory_gather {
    struct dory_walk walk;
    uint8_t *buffer, *rests; /* of this core: pixels, in each the words of all runs and then the rests of all runs */
    int32_t pixel_bytes;
    uint32_t groups, group_step; /* kernel rows where dilation separates the columns, else one group of all runs */
    uint32_t runs, run_step;     /* in a group; steps are bytes of the input */
    struct dory_gather_piece words, bytes;
    uint32_t group_words_bytes, group_rests_bytes; /* of a pixel */
};

/* The layer's pixels from number `pixel` of the tile on, to a buffer. */
void dory_gather_start(struct dory_gather *gather, const struct dory_layer *layer, const struct dory_tile *tile,
                       uint32_t pixel, uint8_t *buffer);

/* The next four pixels, of which `count` exist. */
void dory_gather_four(struct dory_gather *gather, uint32_t count);

/* Where the next four go. */
static inline void dory_gather_to(struct dory_gather *gather, uint8_t *buffer)
{
    gather->buffer = buffer;
    gather->rests = buffer + gather->groups * gather->group_words_bytes;
}

#endif
