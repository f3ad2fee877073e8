/* Where a tile lies: in the tensors, in L1, and what of it must be loaded. The driver computes this, a tile in advance, and
 * tells the cores what they need of it. */
#ifndef DORY_PLACED_TILE_H
#define DORY_PLACED_TILE_H

#include <stdbool.h>

#include "dory/network.h"

/* Where offsets count from. */
struct dory_bases {
    uint8_t *l1, *l2;
    const uint8_t *weights; /* those of weights_offset of a step */
};

/* First output row, column, channel and first input channel (chunk) of a tile, in the tensor. */
struct dory_cursor {
    uint32_t row, column, channel, chunk;
};

/* What an input buffer has been laid out for: the border of a tile of the same kind is still there. */
struct dory_bordered {
    struct dory_valid valid;
    uint16_t input_rows, input_columns, input_channels;
};

struct dory_placed_tile {
    struct dory_tile tile;
    const struct dory_step *step;
    struct dory_cursor at;
    struct dory_valid valid;
    int32_t input_row, input_column; /* of the tile's first input row and column in the tensor; negative in the border */
    uint32_t input_channel;
    uint32_t input_buffer, weights_buffer, output_buffer; /* index in struct dory_l1_map */
    uint32_t load_input, load_weights; /* truth values, these too; words, because only words have short instructions */
    uint32_t has_border;
    uint32_t starts_step;
    uint32_t overlaps; /* may be loaded while the tile before is computed */
};

/* A tile before the first one: it has nothing in common with any. */
void dory_place_nothing(struct dory_placed_tile *placed);

/* Cursor of the first tile of a step; false from dory_cursor_next when the step has no further tile. */
void dory_cursor_first(struct dory_cursor *cursor, const struct dory_step *step);
bool dory_cursor_next(struct dory_cursor *cursor, const struct dory_layer *layer, const struct dory_step *step);

/* Fills `placed`, whose cursor and step are set, for the tile behind `before`. Data that `before` has in L1 are not loaded
 * again, also when it belongs to another step; what is loaded goes to the other buffer of its operand. Operands in place are
 * never loaded. */
void dory_place_tile(struct dory_placed_tile *placed, const struct dory_placed_tile *before, const struct dory_layer *layer,
                     const struct dory_bases *bases);

/* Must the border be laid round the tile's input? Remembers in `bordered`, by input buffer, what each is laid out for. */
bool dory_needs_border(struct dory_bordered bordered[2], const struct dory_placed_tile *placed,
                       const struct dory_layer *layer);

#endif
