/* Convolutions of few pixels, above all of one: a fully connected layer. One pixel times 4 channels: 5 loads for 4 dot
 * products, each core its own range of channels. (Eight channels at a time would be 6 % faster, where they divide evenly.)
 */
#include "dots.h"
#include "product.h"
#include "walk.h"
#include "xpulpv2.h"

static inline void store(const struct dory_product *product, uint32_t packed, uint32_t pixel, uint32_t quad)
{
    uint32_t channels = product->blocks.channels;
    uint8_t *output = product->output + pixel * channels + 4 * quad;
    if (4 * quad + 4 <= channels) {
        dory_store_word(output, packed);
        return;
    }
    for (uint32_t lane = 4 * quad; lane < channels; lane++, packed >>= 8) {
        *output++ = (uint8_t)packed;
    }
}

/* A byte of each lane in the direct kinds, and in the high one whatever its bounds and its rounding: what the way that takes
 * every kind spends on calls is a third of such a layer. Not unrolled: the cores' cache of 4 kB holds the tile loop, too. */
static inline void finish_directly(const struct dory_product *product, const int32_t sum[4], const uint8_t *constants,
                                   uint32_t pixel, uint32_t quad)
{
    const struct dory_normaliser *normaliser = &product->blocks.normaliser;
    uint32_t bytes = dory_direct_constants_bytes(normaliser), packed = 0;
#pragma GCC unroll 1
    for (uint32_t lane = 0; lane < 4; lane++, constants += bytes) {
        int32_t element = sum[lane];
        dory_normalise_some_in_their_kind(normaliser, &element, 1, 1, constants);
        packed = packed >> 8 | (uint32_t)element << 24;
    }
    store(product, packed, pixel, quad);
}

/* The same where the scale is the layer's: it stays in registers. */
static void finish_by_one_scale(const struct dory_product *product, const int32_t sum[4], const uint8_t *biases,
                                uint32_t pixel, uint32_t quad)
{
    uint32_t packed = 0;
#pragma GCC unroll 1
    for (uint32_t lane = 0; lane < 4; lane++) {
        int32_t element = dory_normalise_by_one_scale(&product->blocks.normaliser, sum[lane], biases + 4 * lane);
        packed = packed >> 8 | (uint32_t)element << 24;
    }
    store(product, packed, pixel, quad);
}

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
    if (product->direct == DORY_BY_ONE_SCALE) {
        finish_by_one_scale(product, sum, weights, pixel, quad);
        return;
    }
    if (product->direct != DORY_NOT_DIRECT) {
        finish_directly(product, sum, weights, pixel, quad);
        return;
    }
    int32_t kept[4] = {sum[0], sum[1], sum[2], sum[3]};
    dory_product_finish(product, kept, weights, pixel, 1, quad);
}

/* Anything but DORY_NOT_DIRECT will do where the normaliser knows which kind it is. */
static enum dory_direct direct_of(const struct dory_layer *layer)
{
    if (layer->output_bits == 8 && layer->normalisation == DORY_NORMALISE_SHARED) {
        return DORY_BY_ONE_SCALE;
    }
    bool is_high = layer->normalisation == DORY_NORMALISE_HIGH && layer->output_bits == 8;
    return is_high ? DORY_DIRECT_HIGH : dory_direct_of(layer);
}

void dory_xpulpv2_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct_of(layer), run_bytes, layer->kernel_height,
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
