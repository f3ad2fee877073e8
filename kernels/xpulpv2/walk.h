/* The list of a tile's output pixels, row after row, and where in the input tile each one's receptive field starts. */
#ifndef DORY_XPULPV2_WALK_H
#define DORY_XPULPV2_WALK_H

#include "dory/layer.h"
#include "product.h"
#include "share.h"

struct dory_walk {
    const uint8_t *input;
    uint32_t column, columns;
    int32_t step, row_step; /* bytes to the next pixel; from one behind the last of a row to the first of the next */
};

static inline struct dory_walk dory_walk_from(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel)
{
    uint32_t step = (uint32_t)layer->stride_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)layer->stride_height * tile->input_columns * tile->input_channels;
    uint32_t row = dory_quotient(pixel, tile->columns), column = pixel - row * tile->columns;
    return (struct dory_walk){
        .input = (const uint8_t *)tile->input + row * row_bytes + column * step,
        .column = column,
        .columns = tile->columns,
        .step = (int32_t)step,
        .row_step = (int32_t)(row_bytes - tile->columns * step),
    };
}

static inline void dory_walk_on(struct dory_walk *walk)
{
    walk->input += walk->step;
    if (++walk->column == walk->columns) {
        walk->column = 0;
        walk->input += walk->row_step;
    }
}

/* The next four pixels where they lie, of which `count` exist. */
static inline void dory_walk_pixels(struct dory_walk *walk, struct dory_pixels *pixels, uint32_t count)
{
    pixels->input = walk->input;
    if (walk->column + 4 < walk->columns || walk->row_step == 0) {
        int32_t step = walk->step;
        for (int i = 0; i < 3; i++) {
            pixels->offset[i] = i + 1 < (int)count ? (i + 1) * step - 4 : DORY_MISSING_PIXEL;
        }
        walk->input += 4 * step;
        walk->column += 4; /* not reset at the end of a row: where row_step is 0, columns do not matter */
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        dory_walk_on(walk);
        pixels->offset[i] = i + 1 < count ? (int32_t)(walk->input - pixels->input) - 4 : DORY_MISSING_PIXEL;
    }
    dory_walk_on(walk);
}

#endif
