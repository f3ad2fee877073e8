/* How products of two activations divide their scratch: the second factor as a convolution's weights, quads with what each
 * channel's sums start from, for each row of the tile; behind them what those of each pixel do; and copies of pixels. Pure
 * functions, compiled into the planner, too.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_MATRIX_H
#define DORY_XPULPV2_MATRIX_H

#include "dory/layer.h"

#define DORY_MATRIX_MOST_TERMS 8191 /* sums of as many are far from where 32 bits end, also without what pixels add */

static inline uint32_t dory_matrix_words(const struct dory_layer *layer) { return (layer->input_channels + 3u) / 4; }

static inline uint32_t dory_matrix_quad_bytes(const struct dory_layer *layer) { return 16 + 16 * dory_matrix_words(layer); }

/* Of one row of the tile. */
static inline uint32_t dory_matrix_weights_bytes(const struct dory_layer *layer, uint32_t channels)
{
    return dory_divide_up(channels, 4) * dory_matrix_quad_bytes(layer);
}

/* Pixels of a row, with those that are missing in its last four. */
static inline uint32_t dory_matrix_pixels(uint32_t columns) { return dory_round_up(columns, 4); }

/* Where pixels are no whole words, copies of all of them in words of their own: no load is misaligned or goes beyond the
 * tile. */
static inline uint32_t dory_matrix_copies_bytes(const struct dory_layer *layer, uint32_t pixels)
{
    return layer->input_channels % 4 ? 4 * dory_matrix_words(layer) * pixels : 0;
}

#endif
