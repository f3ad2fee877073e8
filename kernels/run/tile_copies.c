#include "tile_copies.h"

static uint32_t pixel_bytes(uint32_t channels, uint32_t bits) { return dory_element_bytes(channels, bits); }

/* A rectangle of `rows` x `columns` pixels of `channels` channels between an L2 window and a tile in L1.
 * row, column and channel are its place in the tensor, `pitch` the columns of the L1 tile. */
struct rectangle {
    const struct dory_window *window;
    uint32_t width, bits;
    uint32_t row, column, channel;
    uint32_t rows, columns, channels;
    uint8_t *local;
    uint32_t pitch;
    enum hal_direction direction;
    uint32_t pixel_pitch, row_pitch; /* in L2; 0: pixels and rows of the window follow each other */
};

/* The place of a tensor's row in a window, which may be a ring. */
static inline uint32_t row_in_window(const struct dory_window *window, uint32_t row)
{
    uint32_t behind = row - window->first_row;
    return behind < window->rows ? behind : behind - window->rows;
}

/* `row`: in the window, behind which there are as many. */
static void describe_rows(struct hal_dma_copy *copy, uint8_t *l2, const struct rectangle *r, uint32_t row)
{
    const struct dory_window *window = r->window;
    uint32_t pixel = r->pixel_pitch ? r->pixel_pitch : pixel_bytes(window->channels, r->bits);
    uint32_t run = pixel_bytes(r->channels, r->bits);
    uint32_t row_bytes = r->row_pitch ? r->row_pitch : r->width * pixel;
    copy->local = r->local;
    copy->external =
        l2 + window->offset + row * row_bytes + r->column * pixel + pixel_bytes(r->channel - window->first_channel, r->bits);
    copy->direction = r->direction;
    bool whole_pixels = run == pixel; /* then a row is one run */
    /* then the pixels of all rows follow each other */
    bool whole_rows = !r->row_pitch && r->columns == r->width && r->pitch == r->columns;
    uint32_t planes = whole_pixels || whole_rows ? 1 : r->rows;
    copy->run_bytes = whole_pixels ? r->columns * pixel : run;
    copy->runs = whole_pixels ? r->rows : planes == 1 ? r->rows * r->columns : r->columns;
    copy->planes = planes;
    copy->external_run_stride = whole_pixels ? row_bytes : pixel;
    copy->local_run_stride = whole_pixels ? r->pitch * pixel : run;
    copy->external_plane_stride = row_bytes;
    copy->local_plane_stride = r->pitch * run;
}

/* The number of copies: two where a ring ends between its rows. */
static unsigned describe_rectangle(struct hal_dma_copy *copy, uint8_t *l2, struct rectangle *r)
{
    uint32_t row = row_in_window(r->window, r->row), there = r->window->rows - row, rows = r->rows;
    if (rows <= there) {
        describe_rows(copy, l2, r, row);
        return 1;
    }
    r->rows = there;
    describe_rows(&copy[0], l2, r, row);
    r->rows = rows - there;
    r->local += there * r->pitch * pixel_bytes(r->channels, r->bits);
    describe_rows(&copy[1], l2, r, 0);
    return 2;
}

/* Of planes, from row `row` of their window on: two copies where a ring ends between the rows. */
static unsigned split_planes(struct hal_dma_copy *copy, const struct dory_window *window, uint32_t width, uint32_t row,
                             uint32_t rows)
{
    uint32_t there = window->rows - row;
    if (rows <= there) {
        return 1;
    }
    copy[1] = copy[0];
    copy[0].run_bytes = there * width;
    copy[1].run_bytes = (rows - there) * width;
    copy[1].local = (uint8_t *)copy[0].local + there * width;
    copy[1].external = (uint8_t *)copy[0].external - row * width;
    return 2;
}

/* In CHW. What comes behind a plane's rows that exist, where rows of border are to lie in L1, are rows of the next plane: so
 * one command moves all planes, and the border is laid over them afterwards. Behind the last plane there is nothing to be
 * read. Where a ring goes round between the rows, or has hardly any behind them, they are moved exactly. */
static unsigned describe_planes(struct hal_dma_copy *copy, const struct dory_placed_tile *placed,
                                const struct dory_layer *layer, uint8_t *l2)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    const struct dory_window *window = &placed->step->input[0];
    uint32_t width = layer->input_width, plane = window->rows * width;
    uint32_t there = (valid->bottom - valid->top) * width, here = tile->input_rows * width;
    uint32_t row = row_in_window(window, (uint32_t)(placed->input_row + (int32_t)valid->top));
    bool exactly = row * width + there > plane || row * width + here > 2 * plane;
    uint32_t together = here == there || exactly ? tile->input_channels : tile->input_channels - 1u;
    *copy = (struct hal_dma_copy){
        .local = (uint8_t *)(uintptr_t)tile->input + valid->top * width,
        .external = l2 + window->offset + (placed->at.channel - window->first_channel) * plane + row * width,
        .run_bytes = exactly ? there : here,
        .runs = together,
        .planes = 1,
        .external_run_stride = plane,
        .local_run_stride = here,
        .direction = HAL_TO_LOCAL,
    };
    if (together == tile->input_channels) {
        return split_planes(copy, window, width, row, valid->bottom - valid->top);
    }
    if (together) {
        copy[1] = copy[0];
    }
    copy->local = (uint8_t *)copy->local + together * here;
    copy->external = (uint8_t *)copy->external + together * plane;
    copy->run_bytes = there;
    copy->runs = 1;
    return together ? 2 : 1;
}

/* Of a matrix product: the second input has a pixel for each channel of the output. Rows of a part are parts of the pixels
 * of its first row. */
static void find_factor(struct rectangle *r, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                        unsigned which)
{
    uint32_t pitch = which ? layer->second_pixel_bytes : layer->pixel_bytes,
             own = pixel_bytes(layer->input_channels, r->bits);
    if (which) {
        r->width = layer->output_channels;
        r->row = dory_second_row(layer, r->row);
        r->rows = dory_second_rows(layer, r->rows);
        r->column = placed->at.channel;
        r->columns = r->pitch = placed->tile.channels;
    }
    if (pitch > own) {
        r->pixel_pitch = pitch;
        r->row_pitch = own;
    }
}

/* The number of copies: none where the tile is nothing but border. */
static unsigned describe_input(struct hal_dma_copy *copy, const struct dory_placed_tile *placed,
                               const struct dory_layer *layer, uint8_t *l2, unsigned which)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    uint32_t bits = which ? layer->second_input_bits : layer->input_bits;
    bool has_all =
        layer->operation == DORY_CONCATENATION || layer->operation == DORY_LSTM || dory_repeats_channel(layer, which);
    uint32_t channels = has_all ? dory_input_channels(layer, which) : tile->input_channels;
    if (valid->top == valid->bottom || valid->left == valid->right) {
        return 0;
    }
    if (layer->input_layout == DORY_CHW) {
        return describe_planes(copy, placed, layer, l2);
    }
    uint8_t *base = (uint8_t *)(uintptr_t)(which ? tile->second_input : tile->input);
    struct rectangle rectangle = {
        .window = &placed->step->input[which],
        .width = layer->input_width,
        .bits = bits,
        .row = (uint32_t)(placed->input_row + (int32_t)valid->top),
        .column = (uint32_t)(placed->input_column + (int32_t)valid->left),
        .channel = dory_repeats_channel(layer, which) ? 0 : placed->input_channel,
        .rows = (uint32_t)valid->bottom - valid->top,
        .columns = (uint32_t)valid->right - valid->left,
        .channels = channels,
        .local = base + ((uint32_t)valid->top * tile->input_columns + valid->left) * pixel_bytes(channels, bits),
        .pitch = tile->input_columns,
        .direction = HAL_TO_LOCAL,
    };
    if (which && (layer->second_repeats & DORY_REPEATS_PIXEL)) {
        rectangle.width = rectangle.rows = rectangle.columns = rectangle.pitch = 1;
        rectangle.row = rectangle.column = 0;
        rectangle.local = base;
    }
    if (layer->operation == DORY_MATRIX_PRODUCT) {
        find_factor(&rectangle, placed, layer, which);
    }
    return describe_rectangle(copy, l2, &rectangle);
}

void dory_describe_weights(struct hal_dma_copy *copy, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                           const uint8_t *weights)
{
    const struct dory_tile *tile = &placed->tile;
    uint32_t last = (1u << layer->block_shift) - 1, blocks = (tile->channels + last) >> layer->block_shift;
    uint32_t first = (placed->at.channel - placed->step->first_channel) >> layer->block_shift;
    uint8_t *external = /* only read */
        (uint8_t *)(uintptr_t)weights + placed->step->weights_offset + first * layer->block_bytes;
    copy->local = (void *)(uintptr_t)tile->weights;
    copy->external = external;
    copy->run_bytes = blocks * layer->block_bytes;
    copy->runs = 1;
    copy->planes = 1;
    copy->direction = HAL_TO_LOCAL;
    if (!(tile->first_chunk && tile->last_chunk)) {
        uint32_t chunk_start = placed->at.chunk / layer->tile.input_channels * layer->chunk_bytes;
        copy->external = external + chunk_start;
        copy->run_bytes = tile->last_chunk ? layer->block_bytes - chunk_start : layer->chunk_bytes;
        copy->runs = blocks;
        copy->external_run_stride = layer->block_bytes;
        copy->local_run_stride = copy->run_bytes;
    }
}

/* The largest copy last: whoever starts another behind it may wait for it. */
void dory_describe_loads(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                         uint8_t *l2, const uint8_t *weights)
{
    unsigned count = 0;
    if (placed->load_weights && layer->block_bytes != 0) {
        dory_describe_weights(&copies->loads[count++], placed, layer, weights);
    }
    if (placed->load_input) {
        count += describe_input(&copies->loads[count], placed, layer, l2, 0);
        if (dory_has_second_input(layer)) {
            count += describe_input(&copies->loads[count], placed, layer, l2, 1);
        }
    }
    copies->load_count = (uint8_t)count;
}

/* In CHW: as wide as the tensor. */
static void describe_store_of_planes(struct hal_dma_copy *copy, const struct dory_placed_tile *placed,
                                     const struct dory_layer *layer, uint8_t *l2)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_window *window = &placed->step->output;
    uint32_t width = layer->output_width, plane = window->rows * width, run = tile->rows * width;
    *copy = (struct hal_dma_copy){
        .local = tile->output,
        .external = l2 + window->offset + (placed->at.channel - window->first_channel) * plane +
                    row_in_window(window, placed->at.row) * width,
        .run_bytes = run,
        .runs = tile->channels,
        .planes = 1,
        .external_run_stride = plane,
        .local_run_stride = run,
        .direction = HAL_FROM_LOCAL,
    };
}

/* Rows side by side in each pixel: as many columns, and the columns are rows. */
static void join_rows(struct rectangle *r, const struct dory_layer *layer)
{
    uint32_t rows = r->rows;
    r->rows = r->columns;
    r->columns = r->pitch = rows;
    r->pixel_pitch = pixel_bytes(layer->output_channels, r->bits);
    r->row_pitch = layer->matrix_product.pixel_bytes;
}

bool dory_describe_store(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_layer *layer,
                         uint8_t *l2)
{
    const struct dory_tile *tile = &placed->tile;
    copies->store_count = tile->last_chunk && !dory_is_in_place(layer->l1.output);
    if (!copies->store_count) {
        return false;
    }
    copies->store_buffer = (uint8_t)placed->output_buffer;
    if (layer->output_layout == DORY_CHW) {
        describe_store_of_planes(&copies->store, placed, layer, l2);
        return true;
    }
    struct rectangle rectangle = {
        .window = &placed->step->output,
        .width = layer->output_width,
        .bits = layer->output_bits,
        .row = placed->at.row,
        .column = placed->at.column,
        .channel = placed->at.channel,
        .rows = tile->rows,
        .columns = tile->columns,
        .channels = tile->channels,
        .local = tile->output,
        .pitch = (uint32_t)tile->columns + dory_output_gap(layer),
        .direction = HAL_FROM_LOCAL,
    };
    uint32_t row = row_in_window(rectangle.window, rectangle.row);
    if (dory_joins_rows(layer)) {
        join_rows(&rectangle, layer);
        rectangle.column = row;
        row = placed->at.column;
    }
    describe_rows(&copies->store, l2, &rectangle, row);
    return true;
}
