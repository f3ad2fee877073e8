#include "placed_tile.h"

#include "dory/transposition.h"

void dory_place_nothing(struct dory_placed_tile *placed)
{
    placed->at = (struct dory_cursor){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    placed->input_buffer = placed->weights_buffer = placed->output_buffer = 1; /* so that the first loads go to buffer 0 */
    placed->tile.rows = placed->tile.channels = 0;
}

void dory_cursor_first(struct dory_cursor *cursor, const struct dory_step *step)
{
    cursor->row = step->first_row;
    cursor->column = 0;
    cursor->channel = step->first_channel;
    cursor->chunk = 0;
}

/* Adds `increment`; at `end` goes back to `first` and reports the carry. */
static inline bool advance(uint32_t *value, uint32_t increment, uint32_t first, uint32_t end)
{
    uint32_t next = *value + increment;
    bool carry = next >= end;
    *value = carry ? first : next;
    return carry;
}

bool dory_cursor_next(struct dory_cursor *cursor, const struct dory_layer *layer, const struct dory_step *step)
{
    uint32_t channel_end = (uint32_t)step->first_channel + step->channels;
    uint32_t row_end = (uint32_t)step->first_row + step->rows;
    bool channels_inside = layer->tile_order == DORY_SPACE_OUTER;

    if (dory_reads_all_channels(layer) && !advance(&cursor->chunk, layer->tile.input_channels, 0, layer->input_channels)) {
        return true;
    }
    if (channels_inside && !advance(&cursor->channel, layer->tile.channels, step->first_channel, channel_end)) {
        return true;
    }
    if (!advance(&cursor->column, layer->tile.columns, 0, layer->output_width) ||
        !advance(&cursor->row, layer->tile.rows, step->first_row, row_end)) {
        return true;
    }
    return !channels_inside && !advance(&cursor->channel, layer->tile.channels, step->first_channel, channel_end);
}

/* The part of [start, start + extent) that lies in [0, size), relative to start. */
static inline void clip_extent(int32_t start, uint32_t extent, uint32_t size, uint16_t *first, uint16_t *end)
{
    int32_t stop = (int32_t)size - start;
    int32_t low = start < 0 ? -start : 0;
    int32_t high = stop < (int32_t)extent ? stop : (int32_t)extent;
    if (high < low) { /* nothing but border */
        high = low = 0;
    }
    *first = (uint16_t)low;
    *end = (uint16_t)high;
}

static inline void place_output(struct dory_placed_tile *placed, const struct dory_layer *layer)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_step *step = placed->step;
    const struct dory_cursor *at = &placed->at;
    uint32_t rows_left = (uint32_t)step->first_row + step->rows - at->row;
    uint32_t channels_left = (uint32_t)step->first_channel + step->channels - at->channel;
    tile->rows = (uint16_t)dory_minimum(layer->tile.rows, rows_left);
    tile->columns = (uint16_t)dory_minimum(layer->tile.columns, layer->output_width - at->column);
    tile->channels = (uint16_t)dory_minimum(layer->tile.channels, channels_left);
    tile->first_channel = (uint16_t)at->channel;
    tile->first_row = (uint16_t)at->row;
    tile->first_column = (uint16_t)at->column;
}

/* Of a transposition: what a tile has of a dimension of the output it has of the input's dimension that is the same. */
static void place_transposed_input(struct dory_placed_tile *placed, const struct dory_layer *layer)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_cursor *at = &placed->at;
    const uint32_t starts[3] = {at->row, at->column, at->channel};
    const uint16_t extents[3] = {tile->rows, tile->columns, tile->channels};
    tile->first_chunk = tile->last_chunk = 1;
    tile->input_rows = extents[dory_axis(layer, 0)];
    tile->input_columns = extents[dory_axis(layer, 1)];
    tile->input_channels = extents[dory_axis(layer, 2)];
    placed->input_row = (int32_t)starts[dory_axis(layer, 0)];
    placed->input_column = (int32_t)starts[dory_axis(layer, 1)];
    placed->input_channel = starts[dory_axis(layer, 2)];
    placed->valid = (struct dory_valid){0, tile->input_rows, 0, tile->input_columns};
    placed->has_border = false;
}

static inline void place_input(struct dory_placed_tile *placed, const struct dory_layer *layer)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_cursor *at = &placed->at;
    struct dory_valid *valid = &placed->valid;
    if (layer->operation == DORY_TRANSPOSITION) {
        place_transposed_input(placed, layer);
        return;
    }
    tile->input_channels = tile->channels;
    tile->first_chunk = tile->last_chunk = 1;
    placed->input_channel = at->channel;
    if (dory_reads_all_channels(layer)) {
        uint32_t left = (uint32_t)layer->input_channels - at->chunk;
        tile->input_channels = (uint16_t)dory_minimum(layer->tile.input_channels, left);
        tile->first_chunk = at->chunk == 0;
        tile->last_chunk = tile->input_channels == left;
        placed->input_channel = at->chunk;
    }
    tile->input_rows = (uint16_t)dory_input_rows(layer, tile->rows);
    tile->input_columns =
        (uint16_t)dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    placed->input_row = dory_first_input_row(layer, at->row);
    placed->input_column = (int32_t)(at->column * layer->stride_width) - layer->padding_left;
    if (layer->input_layout == DORY_CHW) { /* all columns, without border: the kernel knows it */
        tile->input_columns = layer->input_width;
        placed->input_column = 0;
    }
    clip_extent(placed->input_row, tile->input_rows, layer->input_height, &valid->top, &valid->bottom);
    clip_extent(placed->input_column, tile->input_columns, layer->input_width, &valid->left, &valid->right);
    placed->has_border =
        (valid->top | valid->left) != 0 || valid->bottom != tile->input_rows || valid->right != tile->input_columns;
}

/* One buffer, in which a tile must wait for the one before. */
static inline bool is_single(const uint32_t offset[2]) { return offset[0] == offset[1] && offset[0] != DORY_IN_PLACE; }

/* What must be loaded, to where, and whether that can be done while the tile before is computed. */
static inline void place_buffers(struct dory_placed_tile *placed, const struct dory_placed_tile *before,
                                 const struct dory_layer *layer)
{
    const struct dory_cursor *at = &placed->at, *then = &before->at;
    const struct dory_tile *tile = &placed->tile;
    bool new_channels = at->channel != then->channel || tile->channels != before->tile.channels;
    bool new_chunk = at->chunk != then->chunk;
    bool new_space = at->row != then->row || at->column != then->column || tile->rows != before->tile.rows;

    placed->load_input =
        !dory_is_in_place(layer->l1.input) && (new_space || (dory_loads_by_channels(layer) ? new_channels : new_chunk));
    bool first_of_layer = before->tile.rows == 0;
    placed->load_weights =
        !dory_is_in_place(layer->l1.weights) &&
        (layer->block_bytes != 0 ? new_channels || new_chunk : first_of_layer && dory_table_bytes(layer) != 0);
    placed->input_buffer = before->input_buffer ^ placed->load_input;
    placed->weights_buffer = before->weights_buffer ^ placed->load_weights;
    placed->output_buffer = before->output_buffer ^ tile->first_chunk;
    placed->overlaps = !(placed->load_input && is_single(layer->l1.input)) &&
                       !(placed->load_weights && is_single(layer->l1.weights)) &&
                       !(tile->first_chunk && is_single(layer->l1.output)) && !(placed->starts_step && placed->step->drain);
}

/* ---- operands in place ---- */

/* Of rows of so many bytes, the one that is row `row` of the tensor, or the nearest. */
static const uint8_t *row_in_place(const struct dory_window *window, const uint8_t *l2, int32_t row, uint32_t row_bytes)
{
    uint32_t inside = row < 0 ? 0 : (uint32_t)row - window->first_row;
    return l2 + window->offset + inside * row_bytes;
}

/* What is there of the tensor in HWC: all of its columns, and the rows from the first one that the tile reads on. */
static void find_input(struct dory_placed_tile *placed, const struct dory_layer *layer, const uint8_t *l2)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_window *window = placed->step->input;
    uint32_t pixels = layer->operation == DORY_MATRIX_PRODUCT ? layer->output_channels : layer->input_width;
    uint32_t bytes = dory_element_bytes(window[0].channels, layer->input_bits),
             second_bytes = dory_element_bytes(window[1].channels, layer->second_input_bits);
    bool is_pixel = dory_has_second_input(layer) && (layer->second_repeats & DORY_REPEATS_PIXEL) != 0;
    tile->input_columns = layer->input_width;
    placed->has_border = false;
    int32_t second_row = is_pixel ? 0 : placed->input_row;
    if (second_row > 0) {
        second_row = (int32_t)dory_second_row(layer, (uint32_t)second_row);
    }
    tile->second_input = row_in_place(&window[1], l2, second_row, pixels * second_bytes);
    if (layer->input_layout == DORY_CHW) {
        tile->input_rows = layer->input_height;
        tile->input =
            l2 + window->offset + (placed->input_channel - window->first_channel) * layer->input_height * layer->input_width;
        return;
    }
    tile->input_rows = (uint16_t)(placed->valid.bottom - placed->valid.top);
    tile->input = row_in_place(&window[0], l2, placed->input_row, layer->input_width * bytes);
}

/* The tile's blocks, or the layer's table. */
static const void *find_weights(const struct dory_placed_tile *placed, const struct dory_layer *layer,
                                const uint8_t *weights)
{
    uint32_t block = (placed->at.channel - placed->step->first_channel) >> layer->block_shift;
    return layer->block_bytes ? weights + placed->step->weights_offset + block * layer->block_bytes : layer->constants.any;
}

static void *find_output(const struct dory_placed_tile *placed, const struct dory_layer *layer, uint8_t *l2)
{
    const struct dory_window *window = &placed->step->output;
    const struct dory_cursor *at = &placed->at;
    uint32_t width = layer->output_width, row_bytes = width * dory_element_bytes(window->channels, layer->output_bits);
    if (layer->output_layout == DORY_CHW) {
        return l2 + window->offset + (at->channel - window->first_channel) * window->rows * width;
    }
    return l2 + window->offset + (at->row - window->first_row) * row_bytes;
}

static void place_operands(struct dory_placed_tile *placed, const struct dory_layer *layer, const struct dory_bases *bases)
{
    struct dory_tile *tile = &placed->tile;
    if (dory_is_in_place(layer->l1.input)) {
        find_input(placed, layer, bases->l2);
    }
    if (dory_is_in_place(layer->l1.weights)) {
        tile->weights = find_weights(placed, layer, bases->weights);
    }
    if (dory_is_in_place(layer->l1.output)) {
        tile->output = find_output(placed, layer, bases->l2);
    }
}

/* ---- a tile ---- */

/* DORY_NO_BUFFER gives a pointer that nobody uses; only that of the accumulators has a meaning. */
static inline void *l1_pointer(uint8_t *l1, uint32_t offset) { return (void *)((uintptr_t)l1 + offset); }

void dory_place_tile(struct dory_placed_tile *placed, const struct dory_placed_tile *before, const struct dory_layer *layer,
                     const struct dory_bases *bases)
{
    struct dory_tile *tile = &placed->tile;
    const struct dory_l1_map *map = &layer->l1;
    uint8_t *l1 = bases->l1;
    place_output(placed, layer);
    place_input(placed, layer);
    place_buffers(placed, before, layer);
    tile->input = l1_pointer(l1, map->input[placed->input_buffer]);
    tile->second_input = l1_pointer(l1, map->second_input[placed->input_buffer]);
    tile->weights = l1_pointer(l1, map->weights[placed->weights_buffer]);
    tile->output = l1_pointer(l1, map->output[placed->output_buffer]);
    tile->accumulators = map->accumulators == DORY_NO_BUFFER ? 0 : l1_pointer(l1, map->accumulators);
    tile->scratch = l1_pointer(l1, map->scratch);
    if (dory_is_in_place(map->input) || dory_is_in_place(map->weights) || dory_is_in_place(map->output)) {
        place_operands(placed, layer, bases);
    }
}

bool dory_needs_border(struct dory_bordered bordered[2], const struct dory_placed_tile *placed,
                       const struct dory_layer *layer)
{
    const struct dory_tile *tile = &placed->tile;
    const uint32_t *input = layer->l1.input;
    struct dory_bordered *last = &bordered[input[0] == input[1] ? 0 : placed->input_buffer];
    if (!placed->load_input) {
        return false;
    }
    if (layer->input_layout == DORY_CHW) { /* the copies have gone over it */
        return placed->has_border;
    }
    bool same = last->input_rows == tile->input_rows && last->input_columns == tile->input_columns &&
                last->input_channels == tile->input_channels && last->valid.top == placed->valid.top &&
                last->valid.bottom == placed->valid.bottom && last->valid.left == placed->valid.left &&
                last->valid.right == placed->valid.right;
    *last = (struct dory_bordered){placed->valid, tile->input_rows, tile->input_columns, tile->input_channels};
    return placed->has_border && !same;
}
