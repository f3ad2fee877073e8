/* Computes convolutions with inputs or outputs of 16 bits, of elements and weights of any bits. Shapes: any kernel, stride
 * and dilation; HWC.
 *
 * What four pixels read is laid byte by byte in the order of the weights (im2col), and multiplied as four pixels of bytes.
 * Of 16 bits, low and high bytes are laid apart, and products of bytes are summed for either. Inner loop: sum_block.h. The
 * sums of up to 16 pixels of a quad of channels are requantised in one call, channel by channel. */
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "quads.h"
#include "store.h"
#include "sum_block.h"

struct splitter {
    struct dory_walk walk;
    uint8_t *low, *high; /* of this core: four pixels each, in the order of their weights; high: of 16 bits only */
    int32_t *sum;        /* [pixel][lane] */
    uint32_t pixel_bytes;
    uint32_t rows, runs;           /* kernel rows; runs in each */
    uint32_t row_step, run_step;   /* in the input, bytes */
    uint32_t fours, rest;          /* elements of a run: in whole words, and the others */
    uint32_t bits;                 /* of elements */
    uint32_t channels, pixel_step; /* of a pixel of the input: elements, bytes */
    bool is_signed;
};

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
    uint32_t bits = splitter->bits, unused = 32 - bits, bit = 0, left = splitter->channels;
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

/* A kernel row's runs, of whole words of 16-bit elements as most are: words of a run; bytes from behind its elements to the
 * next run's. */
struct row_of_words {
    uint32_t runs, words;
    int32_t input_gap;
};

#if defined(DORY_XPULPV2)

static inline void split_row(const struct row_of_words *row, const uint8_t *input, uint8_t **low, uint8_t **high)
{
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x1", "%[runs]", 9, "2") LP_SETUP("x0", "%[words]", 7, "1") P_LW_NEXT("t0", "%[input]")
            P_LW_NEXT("t1", "%[input]") "mv t2, t0\n" PV_SHUFFLE2_B("t0", "t1", "%[even]")
                PV_SHUFFLE2_B("t2", "t1", "%[odd]")
                    P_SW_NEXT("t0", "%[low]") "1: " P_SW_NEXT("t2", "%[high]") "2: add %[input], %[input], %[input_gap]\n"
                                                                               ".option pop\n"
        : [input] "+r"(input), [low] "+r"(*low), [high] "+r"(*high)
        : [runs] "r"(row->runs), [words] "r"(row->words), [input_gap] "r"(row->input_gap), [even] "r"(0x06040200),
          [odd] "r"(0x07050301)
        : "t0", "t1", "t2", "memory");
}

#else

static inline void split_row(const struct row_of_words *row, const uint8_t *input, uint8_t **low, uint8_t **high)
{
    for (uint32_t run = row->runs; run > 0; run--, input += row->input_gap) {
        for (uint32_t left = row->words; left > 0; left--, input += 8, *low += 4, *high += 4) {
            uint32_t first = dory_load_word(input), second = dory_load_word(input + 4);
            dory_store_word(*low, pv_shuffle2_b(first, second, 0x06040200));
            dory_store_word(*high, pv_shuffle2_b(first, second, 0x07050301));
        }
    }
}

#endif

static void split_words(const struct splitter *splitter, const uint8_t *input, uint32_t first)
{
    uint8_t *low = splitter->low + first, *high = splitter->high + first;
    uint32_t fours = splitter->fours, row_step = splitter->row_step;
    struct row_of_words row = {splitter->runs, fours / 4, (int32_t)splitter->run_step - 2 * (int32_t)fours};
    for (uint32_t left = splitter->rows; left > 0; left--, input += row_step) {
        split_row(&row, input, &low, &high);
    }
}

static void split_pixel(const struct splitter *splitter, const uint8_t *input, uint32_t fours)
{
    uint32_t rests = fours + splitter->rows * splitter->runs * splitter->fours;
    if (splitter->bits == 16 && splitter->rest == 0) {
        split_words(splitter, input, fours);
        return;
    }
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
static void split_pixels(struct splitter *splitter, uint32_t count, uint32_t offset)
{
    for (uint32_t i = 0; i < count; i++) {
        split_pixel(splitter, splitter->walk.input, offset + i * splitter->pixel_bytes);
        dory_walk_on(&splitter->walk);
    }
}

/* Runs of whole rows of the kernel, or of single taps where these lie apart. */
static void start_runs(struct splitter *splitter, const struct dory_layer *layer, uint32_t channels)
{
    uint32_t elements = dory_run_elements(layer, channels);
    splitter->runs = dory_runs(layer) / layer->kernel_height;
    splitter->fours = elements & ~3u;
    splitter->rest = elements & 3;
}

static void splitter_start(struct splitter *splitter, const struct dory_layer *layer, const struct dory_tile *tile,
                           unsigned core)
{
    uint32_t pixel_step = dory_element_bytes(tile->input_channels, layer->input_bits);
    start_runs(splitter, layer, tile->input_channels);
    splitter->pixel_bytes = dory_gather_pixel_bytes(layer, tile->input_channels);
    splitter->bits = layer->input_bits;
    splitter->is_signed = layer->input_is_signed;
    splitter->channels = tile->input_channels;
    splitter->pixel_step = pixel_step;
    splitter->low = (uint8_t *)tile->scratch + core * dory_any_core_bytes(layer, tile->input_channels);
    uint32_t laid_bytes = dory_any_laid_bytes(layer, tile->input_channels);
    splitter->high = splitter->low + laid_bytes / 2;
    splitter->sum = (int32_t *)(splitter->low + laid_bytes);
    splitter->rows = layer->kernel_height;
    splitter->row_step = pixel_step * tile->input_columns * layer->dilation_height;
    splitter->run_step = pixel_step * layer->dilation_width;
}

/* From an output pixel on. */
static void splitter_go_to(struct splitter *splitter, const struct dory_layer *layer, const struct dory_tile *tile,
                           uint32_t pixel)
{
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes */
    bytes.input_channels = (uint16_t)splitter->pixel_step;
    splitter->walk = dory_walk_from(layer, &bytes, pixel);
}

/* ---- from sums to elements ------------------------------------------------------------------------------------- */

/* Fours of pixels. */
static void store_directly(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                           uint32_t pixels, uint32_t quad)
{
    const struct dory_normaliser kept = product->blocks.normaliser; /* in registers, whatever is stored */
    uint32_t bytes = dory_direct_constants_bytes(&kept), channels = product->blocks.channels;
    uint8_t *output = product->output + index * channels + 4 * quad;
    for (; pixels > 0; pixels -= 4, sum += 16) {
        for (uint32_t lane = 0; lane < 4; lane++) {
            dory_normalise_in_its_kind(&kept, sum + lane, 4, 4, constants + lane * bytes);
        }
        for (uint32_t p = 0; p < 4; p++, output += channels) {
            dory_store_word(output, dory_pack_bytes(sum + 4 * p));
        }
    }
}

static void finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                   uint32_t pixels, uint32_t quad)
{
    bool whole = pixels % 4 == 0 && 4 * quad + 4 <= product->blocks.channels;
    if (!product->first_chunk || !product->last_chunk) {
        if (dory_product_normalise(product, sum, constants, index, pixels, quad, dory_normalise_lane)) {
            dory_store_any(product, sum, index, pixels, quad);
        }
    } else if (whole && product->blocks.normaliser.direct && product->output_bits == 8) {
        store_directly(product, sum, constants, index, pixels, quad);
    } else {
        dory_finish_sums(product, sum, 1, 4, constants, index, pixels, quad);
    }
}

/* ---- the kernels ----------------------------------------------------------------------------------------------- */

/* Whole rows of the grid that are finished at once, from `row` on. */
static inline uint32_t rows_at_once(const struct dory_grid_share *share, uint32_t quads, uint32_t batch)
{
    uint32_t whole = 1;
    while (share->first == 0 && whole < batch && share->items >= (whole + 1) * quads) {
        whole++;
    }
    return whole;
}

/* Quads `first` to `end` - 1 of up to four rows. */
static inline __attribute__((always_inline)) void compute_rows(struct dory_product *product, struct splitter *splitter,
                                                               struct dory_laid_block *block, uint32_t index, uint32_t rows,
                                                               uint32_t first, uint32_t end, dory_sum_block *sum_block)
{
    uint32_t pixels = dory_minimum(4 * rows, product->pixel_count - index);
    uint32_t row_bytes = end - first > 1 ? 4 * splitter->pixel_bytes : 0; /* else laid once, and read once */
    bool halves = splitter->bits == 16;
    int32_t *sum = splitter->sum;
    for (uint32_t quad = first; quad < end; quad++) {
        const uint8_t *weights = product->weights + quad * product->quad_bytes;
        for (uint32_t row = 0; row < rows; row++) {
            uint8_t *low = splitter->low + row * row_bytes;
            if (quad == first) {
                split_pixels(splitter, dory_minimum(4, pixels - 4 * row), row * row_bytes);
            }
            block->input = halves ? splitter->high + row * row_bytes : low;
            block->low = halves ? low : NULL;
            block->weights = weights;
            block->sum = sum + 16 * row;
            sum_block(block, product->input_is_signed);
        }
        finish(product, sum, block->weights, index, pixels, quad);
    }
}

/* A core's share is a range of the grid of pixel quads by quads of channels. */
static inline __attribute__((always_inline)) void compute(const struct dory_layer *layer, const struct dory_tile *tile,
                                                          unsigned core, unsigned cores, dory_sum_block *sum_block)
{
    struct splitter splitter;
    struct dory_product product;
    splitter_start(&splitter, layer, tile, core);
    int32_t bytes = (int32_t)splitter.pixel_bytes;
    dory_product_start(&product, layer, tile, dory_direct_of(layer), splitter.pixel_bytes, 1, 0);
    struct dory_laid_block block = {.offset = {bytes - 4, 2 * bytes - 4, 3 * bytes - 4},
                                    .words = product.blocks.words,
                                    .more_words = product.blocks.more_words};
    bool is_whole = product.first_chunk && product.last_chunk;
    uint32_t quads = product.quads, batch = !is_whole ? 1 : quads == 1 ? 4 : dory_any_batch(splitter.pixel_bytes);
    struct dory_grid_share share = dory_grid_share_of((product.pixel_count + 3) / 4, quads, core, cores);
    splitter_go_to(&splitter, layer, tile, 4 * share.row);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, quads), rows = rows_at_once(&share, quads, batch);
        compute_rows(&product, &splitter, &block, 4 * share.row, rows, share.first, end, sum_block);
        share.items -= rows * (end - share.first);
        share.first = 0;
        share.row += rows;
    }
}

#define KERNEL(bits)                                                                                                        \
    void dory_xpulpv2_convolution_any_##bits(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,   \
                                             unsigned cores)                                                                \
    {                                                                                                                       \
        compute(layer, tile, core, cores, sum_##bits);                                                                      \
    }

KERNEL(8)
KERNEL(4)
KERNEL(2)
