#include "product.h"
#include "walk.h"
#include "xpulpv2.h"

/* The input of four pixels where it lies. */
static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count)
{
    struct dory_walk *walk = state;
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

/* Any convolution whose runs are aligned words: the rows of a receptive field are contiguous in the bordered tile, so that
 * nothing is copied. Pixels are taken four at a time from the list of all, across the ends of rows. */
void dory_xpulpv2_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, 4 * share.row);
    dory_product_run(&product, share, next_pixels, &walk);
}
