/* What pixels of a convolution read, laid one element behind the other. */
#ifndef DORY_MVE_WINDOW_H
#define DORY_MVE_WINDOW_H

#include "dory/layer.h"

/* Where the windows of a tile lie. */
struct dory_mve_window {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_border_rows border;
    uint8_t flip;       /* 0x80 where elements have no sign: they are laid as 128 less, with a sign */
    uint32_t taps;      /* of a row of the kernel that lie one behind the other */
    uint32_t row_bytes; /* of the input */
};

struct dory_mve_window dory_mve_window_of(const struct dory_layer *layer, const struct dory_tile *tile);

/* Lays what an output pixel reads; writes up to 15 bytes behind it. */
void dory_mve_lay(const struct dory_mve_window *window, uint32_t index, uint8_t *to);

#endif
