/* What pixels of a convolution read, laid as pairs of halves for product.h. */
#ifndef DORY_ARMV7EM_PIXELS_H
#define DORY_ARMV7EM_PIXELS_H

#include "dory/layer.h"

/* Room for the bytes of a window that reaches into the border of an input in place. */
static inline uint32_t dory_window_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return dory_round_up((uint32_t)layer->kernel_height * layer->kernel_width * input_channels, 4);
}

/* Whether a fully connected layer's pixel needs scratch to lie in: where input channels are tiled, for the last of them. */
static inline bool dory_lays_linear(const struct dory_layer *layer)
{
    return layer->input_channels % 4 != 0 || layer->output_channels < 4;
}

/* Where the elements of a pixel's window lie in a tile, in the order of its weights (kernels/quads): runs of contiguous
 * elements, of all of them the whole words first, then the rests. */
struct dory_window {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_border_rows border;
    uint32_t inside_rows, inside_columns; /* where a window that begins there has no border */
    uint8_t *room;                        /* of dory_window_bytes() */
    uint32_t channels;                    /* of the tile's input */
    uint32_t rows, runs_per_row;          /* of runs */
    uint32_t row_bytes, run_bytes;        /* of the input, from row to row of runs, and from run to run */
    uint32_t elements;                    /* of a run */
    uint32_t groups;                      /* of four elements, of all runs */
    bool is_signed;
    bool fills_taps; /* each run is filled up to whole words; otherwise, has_ends: the ends of all runs come together */
    bool has_ends;
};

/* All but `room`, which is needed where the layer has a border. */
struct dory_window dory_window_of(const struct dory_layer *layer, const struct dory_tile *tile);

/* Lays an output pixel for dory_product_quad(), or four of them for dory_product_pair(). */
void dory_lay_pixel(const struct dory_window *window, uint32_t index, uint32_t *pairs);
void dory_lay_four(const struct dory_window *window, uint32_t first, uint32_t *pairs);

#endif
