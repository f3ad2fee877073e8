/* Convolutions of elements of 16 bits and weights of 8: four pixels' low and high bytes are laid apart, and the product of
 * bytes is done for either: sum = low products + 256 * high products. That takes as long as products of halves would, and no
 * weight need be widened. */
#include "../packed.h"
#include "../product_block.h"
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"

struct splitter {
    struct dory_walk walk;
    uint8_t *low, *high; /* of this core: four pixels each, in the order of their weights */
    uint32_t pixel_bytes;
    uint32_t rows, runs;         /* kernel rows; runs in each */
    uint32_t row_step, run_step; /* in the input, bytes */
    uint32_t fours, rest;        /* elements of a run: in whole words, and the others, which come behind all words */
};

#if defined(DORY_XPULPV2)

/* Not twice, for the cores' cache of 4 kB has to hold all. */
static __attribute__((noinline)) void multiply(struct dory_blocks *blocks, bool is_signed)
{
    if (is_signed) {
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTSP_B, PV_SDOTSP_B, "", DIRECT, LOW);
    } else {
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTUSP_B, PV_SDOTUSP_B, "", DIRECT, LOW);
    }
}

#else

static void multiply(struct dory_blocks *blocks, bool is_signed) { dory_multiply(blocks, is_signed, dory_unpack_bytes, 16); }

#endif

/* ---- low and high bytes ---------------------------------------------------------------------------------------- */

static inline void split_run(const struct splitter *splitter, const uint8_t *input, uint32_t fours, uint32_t rests)
{
    uint8_t *low = splitter->low + fours, *high = splitter->high + fours;
    for (uint32_t left = splitter->fours; left > 0; left -= 4, input += 8, low += 4, high += 4) {
        uint32_t first = dory_load_word(input), second = dory_load_word(input + 4);
        dory_store_word(low, pv_shuffle2_b(first, second, 0x06040200));
        dory_store_word(high, pv_shuffle2_b(first, second, 0x07050301));
    }
    for (uint32_t i = 0; i < splitter->rest; i++) {
        splitter->low[rests + i] = input[2 * i];
        splitter->high[rests + i] = input[2 * i + 1];
    }
}

static void split_pixel(const struct splitter *splitter, const uint8_t *input, uint32_t fours)
{
    uint32_t rests = fours + splitter->rows * splitter->runs * splitter->fours;
    for (uint32_t row = splitter->rows; row > 0; row--, input += splitter->row_step) {
        const uint8_t *run = input;
        for (uint32_t left = splitter->runs; left > 0; left--, run += splitter->run_step) {
            split_run(splitter, run, fours, rests);
            fours += splitter->fours;
            rests += splitter->rest;
        }
    }
}

/* The next four pixels, of which `count` exist; what is in place of the others is computed and not stored. */
static void split_pixels(struct splitter *splitter, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        split_pixel(splitter, splitter->walk.input, i * splitter->pixel_bytes);
        dory_walk_on(&splitter->walk);
    }
}

/* Zeros where no run fills the last word, for anything may be there: its weights are zero, but nothing else is known. */
static void splitter_start(struct splitter *splitter, const struct dory_layer *layer, const struct dory_tile *tile,
                           unsigned core)
{
    uint32_t channels = tile->input_channels, elements = dory_run_elements(layer, channels);
    splitter->pixel_bytes = dory_gather_pixel_bytes(layer, channels);
    splitter->low = (uint8_t *)tile->scratch + core * 8 * splitter->pixel_bytes;
    splitter->high = splitter->low + 4 * splitter->pixel_bytes;
    splitter->rows = layer->kernel_height;
    splitter->runs = dory_runs(layer) / splitter->rows;
    splitter->row_step = 2 * channels * tile->input_columns * layer->dilation_height;
    splitter->run_step = 2 * channels * layer->dilation_width;
    splitter->fours = elements & ~3u;
    splitter->rest = elements & 3;
}

/* ---- from sums to elements ------------------------------------------------------------------------------------- */

typedef uint16_t __attribute__((may_alias)) half;

static void store_halves(const struct dory_product *product, const int32_t *sum, uint32_t index, uint32_t pixels,
                         uint32_t quad)
{
    uint32_t channels = product->blocks.channels, lanes = dory_minimum(4, channels - 4 * quad);
    half *output = (half *)product->output + index * channels + 4 * quad;
    for (uint32_t p = 0; p < pixels; p++, sum += 4, output += channels) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            output[lane] = (uint16_t)sum[lane];
        }
    }
}

static void store_directly(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                           uint32_t quad)
{
    const struct dory_normaliser kept = product->blocks.normaliser; /* in registers, whatever is stored */
    uint32_t bytes = dory_direct_constants_bytes(&kept), channels = product->blocks.channels;
    uint8_t *output = product->output + index * channels + 4 * quad;
    for (uint32_t lane = 0; lane < 4; lane++) {
        dory_normalise_in_its_kind(&kept, sum + lane, 4, constants + lane * bytes);
    }
    for (uint32_t p = 0; p < 4; p++, output += channels) {
        dory_store_word(output, dory_pack_bytes(sum + 4 * p));
    }
}

static void finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                   uint32_t pixels, uint32_t quad)
{
    bool whole = product->first_chunk && product->last_chunk && pixels == 4 && 4 * quad + 4 <= product->blocks.channels;
    if (whole && product->blocks.normaliser.direct && product->output_bits == 8) {
        store_directly(product, sum, constants, index, quad);
    } else if (product->output_bits != 16) {
        dory_packed_finish(product, sum, constants, index, pixels, quad);
    } else if (dory_product_normalise(product, sum, constants, index, pixels, quad)) {
        store_halves(product, sum, index, pixels, quad);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------------------------ */

static void compute_block(struct dory_product *product, const struct splitter *splitter, uint32_t index, uint32_t pixels,
                          uint32_t quad)
{
    struct dory_blocks *blocks = &product->blocks;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    int32_t low[16], high[16];
    blocks->weights = weights;
    blocks->pixels.input = splitter->low;
    blocks->sum = low;
    multiply(blocks, false);
    blocks->weights = weights;
    blocks->pixels.input = splitter->high;
    blocks->sum = high;
    multiply(blocks, product->input_is_signed);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 16; i++) {
        low[i] = (int32_t)((uint32_t)low[i] + ((uint32_t)high[i] << 8));
    }
    finish(product, low, blocks->weights, index, pixels, quad);
}

void dory_xpulpv2_wide_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    struct splitter splitter;
    struct dory_product product;
    splitter_start(&splitter, layer, tile, core);
    int32_t bytes = (int32_t)splitter.pixel_bytes;
    dory_product_start(&product, layer, tile, dory_direct_of(layer), splitter.pixel_bytes, 1, 0);
    product.blocks.pixels = (struct dory_pixels){NULL, {bytes - 4, 2 * bytes - 4, 3 * bytes - 4}};
    product.blocks.direct = DORY_NOT_DIRECT;
    product.blocks.special = 1;
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct dory_tile halves = *tile; /* whose pixels take as many bytes as those of 16 bits */
    halves.input_channels = (uint16_t)(2 * tile->input_channels);
    splitter.walk = dory_walk_from(layer, &halves, 4 * share.row);
    while (share.items > 0) {
        uint32_t index = 4 * share.row, pixels = dory_minimum(4, product.pixel_count - index);
        uint32_t end = dory_grid_share_row_end(&share, product.quads);
        split_pixels(&splitter, pixels);
        for (uint32_t quad = share.first; quad < end; quad++) {
            compute_block(&product, &splitter, index, pixels, quad);
        }
        dory_grid_share_next_row(&share, end);
    }
}
