/* Computes convolutions of bytes along a row whose taps are filled up to words (dory_fills_taps): dilated ones, or with
 * channels that are no fours. Shapes: kernels of one row, stride 1, at least 8 outputs a row; HWC.
 *
 * Pixels that lie as far from each other as dilation tears the taps apart are a *line*. A core copies the input of some
 * fours of a line side by side, each pixel filled up to words as the weights are. Then each output reads one run, and
 * little is copied twice. Inner loop: product.h. */
#include "product.h"
#include "quads.h"
#include "scratch.h"
#include "share.h"
#include "xpulp.h"
#include "xpulpv2.h"

/* A word of each pixel. What is read beside it may be another pixel's. */
static inline void copy_words(uint8_t *output, uint32_t output_step, const uint8_t *input, uint32_t input_step,
                              uint32_t pixels)
{
    uint32_t rest = pixels;
#if defined(DORY_XPULPV2)
    uint32_t fours = pixels / 4;
    rest %= 4;
    if (fours != 0) { /* four at once, so that no load is waited for */
        __asm__ volatile(".option push\n"
                         ".balign 4\n"
                         ".option norvc\n" LP_SETUP("x0", "%[fours]", 8, "1") P_LW_STEP("t0", "%[in]", "%[input]")
                             P_LW_STEP("t1", "%[in]", "%[input]") P_LW_STEP("t2", "%[in]", "%[input]")
                                 P_LW_STEP("t3", "%[in]", "%[input]") P_SW_STEP("t0", "%[out]", "%[output]")
                                     P_SW_STEP("t1", "%[out]", "%[output]")
                                         P_SW_STEP("t2", "%[out]", "%[output]") "1: " P_SW_STEP("t3", "%[out]",
                                                                                                "%[output]") ".option pop\n"
                         : [input] "+r"(input), [output] "+r"(output)
                         : [fours] "r"(fours), [in] "r"(input_step), [out] "r"(output_step)
                         : "t0", "t1", "t2", "t3", "memory");
    }
#endif
    for (; rest > 0; rest--, input += input_step, output += output_step) {
        dory_store_word(output, dory_load_word(input));
    }
}

struct row {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t channels, pixel_bytes; /* of the input; of the copy */
    uint32_t lines, dilation;       /* lines of a row, which are as many as dilation, unless the row has fewer pixels */
    uint32_t fours;                 /* of the longest line */
    uint8_t *buffer;
    const uint8_t *next; /* in the copy, of the next four */
};

/* Copies pixels of the input, the first one at `input`. Behind the last there may be nothing to be read. */
static __attribute__((noinline)) void copy_pixels(const struct row *row, const uint8_t *input, uint32_t pixels)
{
    uint32_t channels = row->channels, words = channels & ~3u, step = row->dilation * channels, last = pixels - 1;
    uint32_t byte = 0;
    for (; byte < words; byte += 4) {
        copy_words(row->buffer + byte, row->pixel_bytes, input + byte, step, pixels);
    }
    if (byte < channels) {
        copy_words(row->buffer + byte, row->pixel_bytes, input + byte, step, last);
        for (; byte < channels; byte++) {
            row->buffer[last * row->pixel_bytes + byte] = input[last * step + byte];
        }
    }
}

/* Side by side, where their offsets stay. Those that do not exist read what is there. */
static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct row *row = state;
    pixels->input = row->next;
    row->next += 4 * row->pixel_bytes;
    (void)count;
    (void)back;
}

/* Items of one line, from its four share.row on. */
static inline __attribute__((always_inline)) void compute_part(struct row *row, struct dory_product *product, uint32_t line,
                                                               struct dory_grid_share share, dory_product_runner *run)
{
    const struct dory_tile *tile = row->tile;
    uint32_t y = row->lines == 1 ? line : dory_quotient(line, row->lines), x = line - y * row->lines;
    uint32_t pixels = row->lines == 1 ? tile->columns : dory_divide_up(tile->columns - x, row->dilation);
    uint32_t touched = product->quads == 1 ? share.items : dory_divide_up(share.first + share.items, product->quads);
    uint32_t first = 4 * share.row, there = dory_minimum(4 * touched, pixels - dory_minimum(first, pixels));
    uint32_t place = y * row->layer->stride_height * tile->input_columns + x + first * row->dilation;
    if (there == 0) { /* a shorter line */
        return;
    }
    copy_pixels(row, (const uint8_t *)tile->input + place * row->channels, there + row->layer->kernel_width - 1);
    row->next = row->buffer;
    product->pixel_count = pixels;
    product->output = (uint8_t *)tile->output + (y * tile->columns + x) * product->output_pixel_bytes;
    run(product, share, next_pixels, row);
}

/* Where lines divide the cores, none has a part of two; else the lines are one grid. */
static inline struct dory_grid_share share_of(const struct row *row, uint32_t quads, unsigned core, unsigned cores,
                                              uint32_t *line)
{
    uint32_t lines = row->tile->rows * row->lines, each = dory_quotient(cores, lines);
    if (each * lines == cores) {
        *line = dory_quotient(core, each);
        return dory_grid_share_of(row->fours, quads, core - *line * each, each);
    }
    struct dory_grid_share share = dory_grid_share_of(lines * row->fours, quads, core, cores);
    *line = dory_quotient(share.row, row->fours);
    share.row -= *line * row->fours;
    return share;
}

static inline __attribute__((always_inline)) void convolve(const struct dory_layer *layer, const struct dory_tile *tile,
                                                           unsigned core, unsigned cores, enum dory_direct direct,
                                                           dory_product_runner *run)
{
    uint32_t channels = tile->input_channels, pixel_bytes = dory_round_up(channels, 4), dilation = layer->dilation_width;
    struct row row = {.layer = layer,
                      .tile = tile,
                      .channels = channels,
                      .pixel_bytes = pixel_bytes,
                      .lines = dory_minimum(dilation, tile->columns),
                      .dilation = dilation,
                      .fours = dory_row_fours(layer, tile->columns),
                      .buffer = (uint8_t *)tile->scratch + core * dory_row_core_bytes(layer, tile->columns)};
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct, layer->kernel_width * pixel_bytes, 1, 0);
    product.pixel_step *= dilation;
    product.blocks.output_step *= (int32_t)dilation;
    int32_t bytes = (int32_t)pixel_bytes;
    product.blocks.pixels = (struct dory_pixels){row.buffer, {bytes - 4, 2 * bytes - 4, 3 * bytes - 4}};
    uint32_t line;
    struct dory_grid_share share = share_of(&row, product.quads, core, cores, &line);
    while (share.items > 0) {
        uint32_t fours = dory_minimum(DORY_ROW_BATCH, row.fours - share.row);
        uint32_t items = dory_minimum(share.items, fours * product.quads - share.first);
        compute_part(&row, &product, line, (struct dory_grid_share){share.row, share.first, items}, run);
        share.items -= items;
        share.first = 0;
        share.row += fours;
        if (share.row == row.fours) {
            share.row = 0;
            line++;
        }
    }
}

DORY_PRODUCT_KERNEL(convolution_row, convolve, dory_direct_32_of(layer), dory_product_run)
DORY_PRODUCT_KERNEL(convolution_row_clamped, convolve, dory_direct_clamped_of(layer), dory_product_run_clamped_part)
DORY_PRODUCT_KERNEL(convolution_row_high, convolve, dory_direct_high_of(layer), dory_product_run_high)
DORY_PRODUCT_KERNEL(convolution_row_split, convolve, dory_direct_split_of(layer), dory_product_run_split_part)
