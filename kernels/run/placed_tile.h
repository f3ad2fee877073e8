/* Where a tile lies: in the tensors, in L1, and what of it must be loaded. Every core computes this for itself, from
 * constants, which is cheaper than telling each other. */
#ifndef DORY_PLACED_TILE_H
#define DORY_PLACED_TILE_H

#include <stdbool.h>

#include "dory/layer.h"

/* First output row, column, channel and first input channel (chunk) of a tile, in the tensor. */
struct dory_cursor {
    uint16_t row, column, channel, chunk;
};

/* The input rectangle that exists; the rest of the tile is border. In tile coordinates, ends exclusive. */
struct dory_valid {
    uint16_t top, bottom, left, right;
};

/* What the two L1 buffers of an operand hold. A key is the operand's place in its tensor, so that data which are
 * there already are not loaded again, be it the next tile or the next step that wants them. */
struct dory_operand {
    uint32_t offset[2];
    uint64_t key;
    uint8_t current; /* the buffer that `key` is in */
};

struct dory_placed_tile {
    struct dory_tile tile;
    struct dory_cursor at;
    struct dory_valid valid;
    int32_t input_row, input_column; /* of the tile's first input row and column in the tensor; negative in the border */
    uint8_t input_buffer, output_buffer;
    bool load_input, load_weights;
    bool overlaps; /* may be loaded while the tile before is computed */
};

/* The buffers' state, carried from tile to tile. */
struct dory_l1_state {
    uint8_t *l1;
    struct dory_operand input, second_input, weights;
    uint8_t output_buffer;
    bool first; /* no tile yet */
};

void dory_l1_state_start(struct dory_l1_state *state, const struct dory_layer *layer, uint8_t *l1);

/* Cursor of the first tile of a step; false from dory_cursor_next when the step has no further tile. */
void dory_cursor_first(struct dory_cursor *cursor, const struct dory_step *step);
bool dory_cursor_next(struct dory_cursor *cursor, const struct dory_layer *layer, const struct dory_step *step);

/* Fills `placed` for the tile at `cursor` and advances the buffers' state. */
void dory_place_tile(struct dory_placed_tile *placed, struct dory_l1_state *state, const struct dory_layer *layer,
                     const struct dory_step *step, const struct dory_cursor *cursor);

#endif
