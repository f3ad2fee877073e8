/* Convolutions of few pixels, above all of one: a fully connected layer. One pixel times 4 channels, each core its own range
 * of channels. What weights are and how sums end is a kernel's own; all is inlined there.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_LINEAR_H
#define DORY_XPULPV2_LINEAR_H

#include "../product.h"
#include "../walk.h"

/* Adds to each of four sums the dot products of `words` words of input with the weights beside them; both addresses move on.
 */
typedef void dory_linear_dots(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words,
                              bool is_signed);

/* From the sums of a pixel to the elements of a quad of channels in the output. */
typedef void dory_linear_finish(const struct dory_product *product, const int32_t sum[4], const uint8_t *constants,
                                uint32_t pixel, uint32_t quad);

static inline __attribute__((always_inline)) void dory_linear_quad(const struct dory_product *product, const uint8_t *input,
                                                                   uint32_t pixel, uint32_t quad, dory_linear_dots *add,
                                                                   dory_linear_finish *finish)
{
    const struct dory_blocks *blocks = &product->blocks;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    bool is_signed = product->input_is_signed;
    int32_t sum[4] = {0};
    add(sum, &input, &weights, blocks->words, is_signed);
    for (uint32_t run = blocks->more_runs; run > 0; run--) {
        input += blocks->jump;
        add(sum, &input, &weights, blocks->words, is_signed);
    }
    finish(product, sum, weights, pixel, quad);
}

static inline __attribute__((always_inline)) void dory_linear_run(const struct dory_layer *layer,
                                                                  const struct dory_tile *tile, unsigned core,
                                                                  unsigned cores, enum dory_direct direct,
                                                                  dory_linear_dots *add, dory_linear_finish *finish)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct, run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    struct dory_grid_share share = dory_grid_share_of(product.pixel_count, product.quads, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, share.row);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, product.quads);
        for (uint32_t quad = share.first; quad < end; quad++) {
            dory_linear_quad(&product, walk.input, share.row, quad, add, finish);
        }
        dory_walk_on(&walk);
        dory_grid_share_next_row(&share, end);
    }
}

#endif
