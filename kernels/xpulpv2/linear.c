/* Convolutions of few pixels, above all of one: a fully connected layer. One pixel times 4 channels: 5 loads for 4 dot
 * products, each core its own range of channels. (Eight channels at a time would be 6 % faster, where they divide evenly.)
 */
#include "dots.h"
#include "product.h"
#include "walk.h"
#include "xpulpv2.h"

static void compute_quad(const struct dory_product *product, const uint8_t *input, uint32_t pixel, uint32_t quad)
{
    const struct dory_blocks *blocks = &product->blocks;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    bool is_signed = product->input_is_signed;
    int32_t sum[4] = {0};
    dory_dots(sum, &input, &weights, blocks->words, is_signed);
    for (uint32_t run = blocks->more_runs; run > 0; run--) {
        input += blocks->jump;
        dory_dots(sum, &input, &weights, blocks->words, is_signed);
    }
    int32_t kept[4] = {sum[0], sum[1], sum[2], sum[3]};
    dory_product_finish(product, kept, weights, pixel, 1, quad);
}

void dory_xpulpv2_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, DORY_NOT_DIRECT, run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    struct dory_grid_share share = dory_grid_share_of(product.pixel_count, product.quads, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, share.row);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, product.quads);
        for (uint32_t quad = share.first; quad < end; quad++) {
            compute_quad(&product, walk.input, share.row, quad);
        }
        dory_walk_on(&walk);
        dory_grid_share_next_row(&share, end);
    }
}
