#include "placed_tile.h"

#define NO_KEY UINT64_MAX

static void operand_start(struct dory_operand *operand, const uint32_t offset[2])
{
    operand->offset[0] = offset[0];
    operand->offset[1] = offset[1];
    operand->key = NO_KEY;
    operand->current = 1; /* so that the first load goes to buffer 0 */
}

void dory_l1_state_start(struct dory_l1_state *state, const struct dory_layer *layer, uint8_t *l1)
{
    state->l1 = l1;
    operand_start(&state->input, layer->l1.input);
    operand_start(&state->second_input, layer->l1.second_input);
    operand_start(&state->weights, layer->l1.weights);
    state->output_buffer = 1;
    state->first = true;
}

/* True where the operand must be loaded for this key; it then goes to the other buffer. */
static bool operand_take(struct dory_operand *operand, uint64_t key)
{
    if (operand->key == key) {
        return false;
    }
    operand->key = key;
    operand->current ^= 1;
    return true;
}

static bool operand_is_single(const struct dory_operand *operand) { return operand->offset[0] == operand->offset[1]; }

void dory_cursor_first(struct dory_cursor *cursor, const struct dory_step *step)
{
    cursor->row = step->first_row;
    cursor->column = 0;
    cursor->channel = step->first_channel;
    cursor->chunk = 0;
}

/* Adds `increment`; at `end` goes back to `first` and reports the carry. */
static bool advance(uint16_t *value, uint32_t increment, uint32_t first, uint32_t end)
{
    uint32_t next = *value + increment;
    bool carry = next >= end;
    *value = (uint16_t)(carry ? first : next);
    return carry;
}

bool dory_cursor_next(struct dory_cursor *cursor, const struct dory_layer *layer, const struct dory_step *step)
{
    uint32_t channel_end = (uint32_t)step->first_channel + step->channels;
    uint32_t row_end = (uint32_t)step->first_row + step->rows;

    if (dory_reads_all_channels(layer) && !advance(&cursor->chunk, layer->tile_input_channels, 0, layer->input_channels)) {
        return true;
    }
    if (layer->tile_order == DORY_SPACE_OUTER &&
        !advance(&cursor->channel, layer->tile_channels, step->first_channel, channel_end)) {
        return true;
    }
    if (!advance(&cursor->column, layer->tile_columns, 0, layer->output_width)) {
        return true;
    }
    if (!advance(&cursor->row, layer->tile_rows, step->first_row, row_end)) {
        return true;
    }
    if (layer->tile_order == DORY_CHANNELS_OUTER) {
        return !advance(&cursor->channel, layer->tile_channels, step->first_channel, channel_end);
    }
    return false;
}

/* The part of [start, start + extent) that lies in [0, size), relative to start. */
static void clip_extent(int32_t start, uint32_t extent, uint32_t size, uint16_t *first, uint16_t *end)
{
    int32_t stop = start + (int32_t)extent;
    int32_t low = start < 0 ? 0 : start;
    int32_t high = stop > (int32_t)size ? (int32_t)size : stop;
    if (high < low) { /* nothing but border */
        high = low = start;
    }
    *first = (uint16_t)(low - start);
    *end = (uint16_t)(high - start);
}

static void place_output(struct dory_placed_tile *placed, const struct dory_layer *layer, const struct dory_step *step)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_cursor *at = &placed->at;
    uint32_t rows_left = (uint32_t)step->first_row + step->rows - at->row;
    uint32_t channels_left = (uint32_t)step->first_channel + step->channels - at->channel;
    tile->rows = (uint16_t)dory_minimum(layer->tile_rows, rows_left);
    tile->columns = (uint16_t)dory_minimum(layer->tile_columns, layer->output_width - (uint32_t)at->column);
    tile->channels = (uint16_t)dory_minimum(layer->tile_channels, channels_left);
    tile->first_channel = at->channel;
}

static void place_input(struct dory_placed_tile *placed, const struct dory_layer *layer)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_cursor *at = &placed->at;
    tile->input_channels = tile->channels;
    tile->first_chunk = tile->last_chunk = 1;
    if (dory_reads_all_channels(layer)) {
        uint32_t left = (uint32_t)layer->input_channels - at->chunk;
        tile->input_channels = (uint16_t)dory_minimum(layer->tile_input_channels, left);
        tile->first_chunk = at->chunk == 0;
        tile->last_chunk = tile->input_channels == left;
    }
    tile->input_rows = (uint16_t)dory_input_extent(tile->rows, layer->kernel_height, layer->stride_height, layer->dilation_height);
    tile->input_columns =
        (uint16_t)dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    placed->input_row = at->row * layer->stride_height - layer->padding_top;
    placed->input_column = at->column * layer->stride_width - layer->padding_left;
    clip_extent(placed->input_row, tile->input_rows, layer->input_height, &placed->valid.top, &placed->valid.bottom);
    clip_extent(placed->input_column, tile->input_columns, layer->input_width, &placed->valid.left, &placed->valid.right);
}

static uint64_t key_of(uint32_t row, uint32_t column, uint32_t channel, uint32_t extra)
{
    return (uint64_t)(row << 16 | column) << 32 | channel << 16 | extra;
}

/* Decides the buffers. Equal starts mean equal extents as long as all channel blocks of a layer have the same row stripes;
 * the number of rows is in the key for plans where they have not. */
static void place_buffers(struct dory_placed_tile *placed, struct dory_l1_state *state, const struct dory_layer *layer)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_cursor *at = &placed->at;
    uint32_t input_channel = dory_reads_all_channels(layer) ? at->chunk : at->channel;
    bool overlaps = true;

    placed->load_input = operand_take(&state->input, key_of(at->row, at->column, input_channel, tile->rows));
    if (placed->load_input) {
        overlaps = !operand_is_single(&state->input);
        state->second_input.current = state->input.current;
    }
    placed->load_weights = false;
    if (layer->quad_bytes != 0) {
        placed->load_weights = operand_take(&state->weights, key_of(at->chunk, tile->channels, at->channel, 0));
        overlaps = overlaps && !(placed->load_weights && operand_is_single(&state->weights));
    }
    if (tile->first_chunk) {
        state->output_buffer ^= 1;
        overlaps = overlaps && layer->l1.output[0] != layer->l1.output[1];
    }
    placed->overlaps = overlaps && !state->first;
    state->first = false;
}

static void *l1_pointer(const struct dory_l1_state *state, uint32_t offset)
{
    return offset == DORY_NO_BUFFER ? 0 : state->l1 + offset;
}

void dory_place_tile(struct dory_placed_tile *placed, struct dory_l1_state *state, const struct dory_layer *layer,
                     const struct dory_step *step, const struct dory_cursor *cursor)
{
    struct dory_tile *tile = &placed->tile;
    placed->at = *cursor;
    place_output(placed, layer, step);
    place_input(placed, layer);
    place_buffers(placed, state, layer);
    placed->input_buffer = state->input.current;
    placed->output_buffer = state->output_buffer;
    tile->input = l1_pointer(state, state->input.offset[state->input.current]);
    tile->second_input = l1_pointer(state, state->second_input.offset[state->input.current]);
    tile->weights = l1_pointer(state, state->weights.offset[state->weights.current]);
    tile->output = l1_pointer(state, layer->l1.output[state->output_buffer]);
    tile->accumulators = l1_pointer(state, layer->l1.accumulators);
    tile->scratch = l1_pointer(state, layer->l1.scratch);
}
