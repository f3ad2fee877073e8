/* What pixels of a convolution read, laid one element behind the other. */
#ifndef DORY_MVE_WINDOW_H
#define DORY_MVE_WINDOW_H

#include "dory/layer.h"

/* Where the windows of a tile lie. */
struct dory_mve_window {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_border_rows border;
    uint8_t flip;                         /* 0x80 where elements have no sign: they are laid as 128 less, with a sign */
    uint32_t taps;                        /* of a row of the kernel that lie one behind the other */
    uint32_t row_bytes;                   /* of the input */
    uint32_t inside_rows, inside_columns; /* where a window that begins there has no border, and rows of `taps` taps */
};

struct dory_mve_window dory_mve_window_of(const struct dory_layer *layer, const struct dory_tile *tile);

/* Lays what some output pixels read, `pixel_bytes` apart; writes up to 15 bytes behind each. */
void dory_mve_lay(const struct dory_mve_window *window, uint32_t first, uint32_t pixels, uint8_t *to, uint32_t pixel_bytes);

#endif
