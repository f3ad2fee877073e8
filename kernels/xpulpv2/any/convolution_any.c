/* Convolutions of any elements, also in groups and with any dilation: what four pixels read is laid byte by byte in the
 * order of the weights, and is multiplied as four pixels of bytes.
 *
 * Of elements of 16 bits the low and high bytes are laid apart, and the product of bytes is done for either:
 * sum = low products + 256 * high products. That takes as long as products of halves would, and no weight need be widened.
 */

#include "../packed/packed_weights.h"
#include "../product_block.h"
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "store.h"

struct splitter {
    struct dory_walk walk;
    uint8_t *low, *high; /* of this core: four pixels each, in the order of their weights; high: of 16 bits only */
    uint32_t pixel_bytes;
    uint32_t rows, runs;           /* kernel rows; runs in each */
    uint32_t row_step, run_step;   /* in the input, bytes */
    uint32_t fours, rest;          /* elements of a run: in whole words, and the others */
    uint32_t advance;              /* from run to run, elements */
    bool rests_follow;             /* a run's rest is behind its words, not behind all words */
    uint32_t bits, first_bit;      /* of elements; of the window in a pixel */
    uint32_t channels, pixel_step; /* of a pixel of the input: elements, bytes */
    bool is_signed;
};

/* ---- the product, once for each size of weights ---------------------------------------------------------------- */

typedef void multiply_block(struct dory_blocks *blocks, bool is_signed);

/* Not in line, for the cores' cache of 4 kB has to hold all. */
DORY_DEFINE_MULTIPLIES(__attribute__((noinline)), DIRECT)

/* ---- bytes of pixels ------------------------------------------------------------------------------------------- */

static inline void split_halves(const struct splitter *splitter, const uint8_t *input, uint32_t fours, uint32_t rests)
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

static inline void copy_bytes(const struct splitter *splitter, const uint8_t *input, uint32_t fours, uint32_t rests)
{
    uint8_t *output = splitter->low + fours;
    for (uint32_t left = splitter->fours; left > 0; left -= 4, input += 4, output += 4) {
        dory_store_word(output, dory_load_word(input));
    }
    for (uint32_t i = 0; i < splitter->rest; i++) {
        splitter->low[rests + i] = input[i];
    }
}

/* Of pixels that are filled up to whole bytes. */
static void unpack_elements(const struct splitter *splitter, const uint8_t *input, uint32_t fours, uint32_t rests)
{
    uint32_t bits = splitter->bits, unused = 32 - bits, bit = splitter->first_bit, left = splitter->channels;
    for (uint32_t i = 0; i < splitter->fours + splitter->rest; i++, bit += bits) {
        if (left == 0) {
            left = splitter->channels;
            input += splitter->pixel_step;
            bit = 0;
        }
        left--;
        uint32_t value = (uint32_t)input[bit / 8] >> (bit % 8) << unused;
        value = splitter->is_signed ? (uint32_t)((int32_t)value >> unused) : value >> unused;
        splitter->low[i < splitter->fours ? fours + i : rests + i - splitter->fours] = (uint8_t)value;
    }
}

static inline void split_run(const struct splitter *splitter, const uint8_t *input, uint32_t fours, uint32_t rests)
{
    switch (splitter->bits) {
    case 16: split_halves(splitter, input, fours, rests); break;
    case 8: copy_bytes(splitter, input, fours, rests); break;
    default: unpack_elements(splitter, input, fours, rests); break;
    }
}

static void split_pixel(const struct splitter *splitter, const uint8_t *input, uint32_t fours)
{
    uint32_t rests = fours + splitter->rows * splitter->runs * splitter->fours;
    for (uint32_t row = splitter->rows; row > 0; row--, input += splitter->row_step) {
        const uint8_t *run = input;
        for (uint32_t left = splitter->runs; left > 0; left--, run += splitter->run_step) {
            split_run(splitter, run, fours, splitter->rests_follow ? fours + splitter->fours : rests);
            fours += splitter->advance;
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

/* Runs of whole rows of the kernel, or of single taps where these lie apart. */
static void start_runs(struct splitter *splitter, const struct dory_layer *layer, uint32_t channels)
{
    uint32_t elements = dory_run_elements(layer, channels);
    splitter->runs = dory_runs(layer) / layer->kernel_height;
    splitter->fours = splitter->advance = elements & ~3u;
    splitter->rest = elements & 3;
    splitter->rests_follow = false;
}

/* A run for each tap: the window of a quad of output channels. What of it is not there has weights of zero. */
static void start_windows(struct splitter *splitter, const struct dory_layer *layer)
{
    uint32_t window = dory_window_channels(layer), present = dory_minimum(window, layer->input_channels);
    splitter->runs = layer->kernel_width;
    splitter->fours = present & ~3u;
    splitter->rest = present & 3;
    splitter->advance = window;
    splitter->rests_follow = true;
}

static void splitter_start(struct splitter *splitter, const struct dory_layer *layer, const struct dory_tile *tile,
                           unsigned core)
{
    uint32_t pixel_step = dory_element_bytes(tile->input_channels, layer->input_bits);
    if (layer->operation == DORY_GROUPED) {
        start_windows(splitter, layer);
    } else {
        start_runs(splitter, layer, tile->input_channels);
    }
    splitter->pixel_bytes = dory_any_pixel_bytes(layer, tile->input_channels);
    splitter->bits = layer->input_bits;
    splitter->is_signed = layer->input_is_signed;
    splitter->channels = tile->input_channels;
    splitter->pixel_step = pixel_step;
    splitter->low = (uint8_t *)tile->scratch + core * dory_any_core_bytes(layer, tile->input_channels);
    splitter->high = splitter->low + 4 * splitter->pixel_bytes;
    splitter->rows = layer->kernel_height;
    splitter->row_step = pixel_step * tile->input_columns * layer->dilation_height;
    splitter->run_step = pixel_step * layer->dilation_width;
    splitter->first_bit = 0;
}

/* From an output pixel on, elements from a channel on. */
static void splitter_go_to(struct splitter *splitter, const struct dory_layer *layer, const struct dory_tile *tile,
                           uint32_t pixel, uint32_t channel)
{
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes */
    bytes.input_channels = (uint16_t)splitter->pixel_step;
    splitter->walk = dory_walk_from(layer, &bytes, pixel);
    if (splitter->bits >= 8) {
        splitter->walk.input += channel * splitter->bits / 8;
    } else {
        splitter->first_bit = channel * splitter->bits;
    }
}

/* ---- from sums to elements ------------------------------------------------------------------------------------- */

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
    } else if (dory_product_normalise(product, sum, constants, index, pixels, quad, dory_normalise_lane)) {
        dory_store_any(product, sum, index, pixels, quad);
    }
}

/* ---- the kernels ----------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void compute_block(struct dory_product *product,
                                                                const struct splitter *splitter, uint32_t index,
                                                                uint32_t pixels, uint32_t quad, multiply_block *multiply)
{
    struct dory_blocks *blocks = &product->blocks;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    int32_t low[16], high[16];
    blocks->weights = weights;
    blocks->pixels.input = splitter->low;
    blocks->sum = low;
    if (splitter->bits < 16) {
        multiply(blocks, product->input_is_signed);
    } else {
        multiply(blocks, false);
        blocks->weights = weights;
        blocks->pixels.input = splitter->high;
        blocks->sum = high;
        multiply(blocks, product->input_is_signed);
#pragma GCC unroll 4
        for (unsigned i = 0; i < 16; i++) {
            low[i] = (int32_t)((uint32_t)low[i] + ((uint32_t)high[i] << 8));
        }
    }
    blocks->sum = NULL; /* they do not outlive this call */
    finish(product, low, blocks->weights, index, pixels, quad);
}

/* The quads of output channels that read the same channels of the input: all, or some of a group's. */
struct quads {
    uint32_t each, before; /* of them; those of the first window that the tile does not have */
    uint32_t windows, first_quad;
};

static struct quads quads_of(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t quads)
{
    if (layer->operation != DORY_GROUPED) {
        return (struct quads){.each = quads, .windows = 1};
    }
    uint32_t each = layer->group_outputs % 4 == 0 ? layer->group_outputs / 4u : 1, first_quad = tile->first_channel / 4u;
    uint32_t before = each == 1 ? 0 : first_quad - dory_quotient(first_quad, each) * each;
    return (struct quads){each, before, dory_divide_up(before + quads, each), first_quad};
}

/* A core's share is a range of the grid of pixel quads, window by window, by the quads of a window. */
static inline __attribute__((always_inline)) void compute(const struct dory_layer *layer, const struct dory_tile *tile,
                                                          unsigned core, unsigned cores, multiply_block *multiply)
{
    struct splitter splitter;
    struct dory_product product;
    splitter_start(&splitter, layer, tile, core);
    int32_t bytes = (int32_t)splitter.pixel_bytes;
    dory_product_start(&product, layer, tile, dory_direct_of(layer), splitter.pixel_bytes, 1, 0);
    product.blocks.pixels = (struct dory_pixels){NULL, {bytes - 4, 2 * bytes - 4, 3 * bytes - 4}};
    product.blocks.direct = DORY_NOT_DIRECT;
    product.blocks.special = 1;
    struct quads quads = quads_of(layer, tile, product.quads);
    uint32_t pixel_quads = (product.pixel_count + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of(pixel_quads * quads.windows, quads.each, core, cores);
    uint32_t window = dory_quotient(share.row, pixel_quads), pixel_quad = share.row - window * pixel_quads;
    for (bool goes_on = false; share.items > 0; goes_on = true) {
        uint32_t index = 4 * pixel_quad, pixels = dory_minimum(4, product.pixel_count - index);
        uint32_t end = dory_grid_share_row_end(&share, quads.each), first = window * quads.each - quads.before;
        if (!goes_on || pixel_quad == 0) {
            bool is_grouped = layer->operation == DORY_GROUPED;
            splitter_go_to(&splitter, layer, tile, index,
                           is_grouped ? dory_window_start(layer, quads.first_quad + first) : 0);
        }
        split_pixels(&splitter, pixels);
        for (uint32_t quad = first + share.first; quad != first + end; quad++) {
            if (quad < product.quads) { /* others wrap, or are behind: a window's that are not in the tile */
                compute_block(&product, &splitter, index, pixels, quad, multiply);
            }
        }
        dory_grid_share_next_row(&share, end);
        if (++pixel_quad == pixel_quads) {
            pixel_quad = 0;
            window++;
        }
    }
}

#define KERNELS(bits)                                                                                                       \
    static __attribute__((noinline)) void compute_##bits(const struct dory_layer *layer, const struct dory_tile *tile,      \
                                                         unsigned core, unsigned cores)                                     \
    {                                                                                                                       \
        compute(layer, tile, core, cores, multiply_##bits);                                                                 \
    }                                                                                                                       \
    void dory_xpulpv2_convolution_any_##bits(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,   \
                                             unsigned cores)                                                                \
    {                                                                                                                       \
        compute_##bits(layer, tile, core, cores);                                                                           \
    }                                                                                                                       \
    void dory_xpulpv2_grouped_any_##bits(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,       \
                                         unsigned cores)                                                                    \
    {                                                                                                                       \
        compute_##bits(layer, tile, core, cores);                                                                           \
    }

KERNELS(8)
KERNELS(4)
KERNELS(2)
