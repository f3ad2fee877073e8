/* Computes convolutions of bytes. Shapes: any kernel and stride, no dilation along a row; input channels that divide by 4;
 * input HWC, output HWC or CHW.
 *
 * Nothing is copied: a row of a receptive field is contiguous in the bordered tile. Pixels are taken four at a time from
 * the list of all, across the ends of rows. Inner loop: product.h, 4 pixels x 4 channels. */
#include "product.h"
#include "walk.h"
#include "xpulpv2.h"

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    dory_walk_back(state, back);
    dory_walk_pixels(state, pixels, count);
}

/* Any convolution whose runs are aligned words: the rows of a receptive field are contiguous in the bordered tile, so that
 * nothing is copied. Pixels are taken four at a time from the list of all, across the ends of rows. */
static inline __attribute__((always_inline)) void convolve(const struct dory_layer *layer, const struct dory_tile *tile,
                                                           unsigned core, unsigned cores, enum dory_direct direct,
                                                           dory_product_runner *run)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct, run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    product.steps_back = true;
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, 4 * share.row);
    run(&product, share, next_pixels, &walk);
}

DORY_PRODUCT_KERNELS(convolution, convolve)
