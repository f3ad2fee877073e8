/* The list of a tile's output pixels, row after row, and where in the input tile each one's receptive field starts.
 * Words: docs/glossary.md. */
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
    bool even = row_bytes == tile->columns * step; /* all pixels are one row */
    return (struct dory_walk){
        .input = (const uint8_t *)tile->input + row * row_bytes + column * step,
        .column = even ? pixel : column,
        .columns = even ? UINT32_MAX : tile->columns,
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

static inline void dory_walk_back(struct dory_walk *walk, uint32_t pixels)
{
    for (; pixels > 0; pixels--) {
        if (walk->column == 0) {
            walk->column = walk->columns;
            walk->input -= walk->row_step;
        }
        walk->column--;
        walk->input -= walk->step;
    }
}

/* The next four pixels where they lie, of which `count` exist. */
static inline void dory_walk_pixels(struct dory_walk *walk, struct dory_pixels *pixels, uint32_t count)
{
    int32_t step = walk->step;
    pixels->input = walk->input;
    if (walk->column + 4 <= walk->columns) {
        pixels->offset[0] = step - 4;
        pixels->offset[1] = 2 * step - 4;
        pixels->offset[2] = 3 * step - 4;
        walk->input += 3 * step;
        walk->column += 3;
    } else {
        for (unsigned i = 0; i < 3; i++) {
            dory_walk_on(walk);
            pixels->offset[i] = (int32_t)(walk->input - pixels->input) - 4;
        }
    }
    dory_walk_on(walk);
    for (; count < 4; count++) {
        pixels->offset[count - 1] = DORY_MISSING_PIXEL;
    }
}

#endif
