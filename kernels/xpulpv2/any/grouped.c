/* Computes convolutions in groups, and depth-wise ones with a multiplier, of elements and weights of 2, 4 or 8 bits.
 * Shapes: any kernel, stride and group, no dilation along a row; HWC.
 *
 * A quad of output channels reads a window of the input's channels (dory/layer.h). Each core copies the rows of a window
 * that a band of output rows reads to its scratch, where they are the input of a convolution as any other. Inner loop:
 * product.h. */
#include "../packed/packed.h"
#include "../packed/unpack.h"
#include "../product.h"
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "quads.h"

struct grouped {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint8_t *buffer; /* of this core */
    uint32_t window, pixel_bytes;
    uint32_t quads_of_window; /* as many quads in a row have the same window */
    uint32_t band_rows;       /* of the output */
    struct dory_product product;
};

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    dory_walk_pixels(state, pixels, count);
    (void)back;
}

/* The same where all fours lie in a row, as those before did: only where they start differs. */
static void next_in_row(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct dory_walk *walk = state;
    pixels->input = walk->input;
    walk->input += 4 * walk->step;
    walk->column += 4;
    if (walk->column == walk->columns) {
        walk->column = 0;
        walk->input += walk->row_step;
    }
    (void)count;
    (void)back;
}

/* ---- the window of some rows ----------------------------------------------------------------------------------- */

/* A word of each pixel, two pixels at a time: 4 instructions. */
#if defined(DORY_XPULPV2)

static inline void copy_column(uint8_t *output, const uint8_t *input, uint32_t pairs, uint32_t pixel_bytes, uint32_t window)
{
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[pairs]", 4, "1") P_LW_STEP("t0", "%[pixel_bytes]", "%[input]")
                         P_LW_STEP("t1", "%[pixel_bytes]", "%[input]") P_SW_STEP(
                             "t0", "%[window]", "%[output]") "1: " P_SW_STEP("t1", "%[window]", "%[output]") ".option pop\n"
                     : [input] "+r"(input), [output] "+r"(output)
                     : [pairs] "r"(pairs), [pixel_bytes] "r"(pixel_bytes), [window] "r"(window)
                     : "t0", "t1", "memory");
}

/* Two pixels at a time, too: a loaded one is not stored at once. Of an odd number the last one is copied twice. */
#define COPY_NARROW(load, store)                                                                                            \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[pairs]", 4, "1") load("t0", "%[pixel_bytes]", "%[input]")          \
                         load("t1", "%[pixel_bytes]", "%[input]") store("t0", "%[window]", "%[output]") "1: " store(        \
                             "t1", "%[window]", "%[output]") ".option pop\n"                                                \
                     : [input] "+r"(input), [output] "+r"(output)                                                           \
                     : [pairs] "r"(pairs), [pixel_bytes] "r"(pixel_bytes), [window] "r"(window)                             \
                     : "t0", "t1", "memory")

#else

#define COPY_NARROW(load, store)                                                                                            \
    for (uint32_t i = 0; i < 2 * pairs; i++, input += pixel_bytes, output += window) {                                      \
        memcpy(output, input, window);                                                                                      \
    }

static void copy_column(uint8_t *output, const uint8_t *input, uint32_t pairs, uint32_t pixel_bytes, uint32_t window)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        dory_store_word(output + i * window, dory_load_word(input + i * pixel_bytes));
    }
}

#endif

/* One or two bytes of each pixel. */
static inline void copy_narrow(uint8_t *output, const uint8_t *input, uint32_t pixels, uint32_t pixel_bytes, uint32_t window)
{
    uint32_t last = pixels - 1, pairs = pixels / 2;
    output[last * window] = input[last * pixel_bytes];
    output[(last + 1) * window - 1] = input[last * pixel_bytes + window - 1];
    if (pairs == 0) {
        return;
    }
    if (window == 1) {
        COPY_NARROW(P_LBU_STEP, P_SB_STEP);
    } else {
        COPY_NARROW(P_LHU_STEP, P_SH_STEP);
    }
}

static inline void copy_words(uint8_t *output, const uint8_t *input, uint32_t pixels, uint32_t pixel_bytes, uint32_t window)
{
    uint32_t last = pixels - 1;
    for (uint32_t i = 0; i < window; i += 4) {
        if (pixels > 1) {
            copy_column(output + i, input + i, pixels / 2, pixel_bytes, window);
        }
        dory_store_word(output + i + last * window, dory_load_word(input + i + last * pixel_bytes));
    }
}

/* Elements of 2 and 4 bits that start with a byte: four are one or two of them. */
static inline __attribute__((always_inline)) void unpack_fours(const struct grouped *grouped, uint8_t *output,
                                                               const uint8_t *input, uint32_t pixels, uint32_t bits,
                                                               bool is_signed)
{
    uint32_t pixel_bytes = grouped->pixel_bytes, window = grouped->window;
    for (; pixels > 0; pixels--, input += pixel_bytes) {
        const uint8_t *packed = input;
        for (uint32_t left = window; left > 0; left -= 4, output += 4, packed += bits / 2) {
            uint32_t four = bits == 4 ? packed[0] | (uint32_t)packed[1] << 8 : *packed;
            dory_store_word(output, dory_unpack_four(four, bits, is_signed));
        }
    }
}

static void unpack_window(const struct grouped *grouped, const uint8_t *input, uint32_t pixels)
{
    bool is_signed = grouped->layer->input_is_signed;
    uint8_t *output = grouped->buffer;
    if (grouped->layer->input_bits == 4) {
        is_signed ? unpack_fours(grouped, output, input, pixels, 4, true)
                  : unpack_fours(grouped, output, input, pixels, 4, false);
    } else {
        is_signed ? unpack_fours(grouped, output, input, pixels, 2, true)
                  : unpack_fours(grouped, output, input, pixels, 2, false);
    }
}

/* Elements that do not start with a byte, or fewer than a window has: one by one. What is not there has weights of zero. */
static void copy_elements(const struct grouped *grouped, uint8_t *output, const uint8_t *input, uint32_t start,
                          uint32_t pixels)
{
    uint32_t bits = grouped->layer->input_bits, unused = 32 - bits;
    uint32_t count = dory_minimum(grouped->window, grouped->layer->input_channels - start);
    bool is_signed = grouped->layer->input_is_signed;
    for (; pixels > 0; pixels--, input += grouped->pixel_bytes, output += grouped->window) {
        for (uint32_t i = 0, bit = start * bits; i < count; i++, bit += bits) {
            uint32_t value = (uint32_t)input[bit / 8] >> (bit % 8) << unused;
            output[i] = (uint8_t)(is_signed ? (uint32_t)((int32_t)value >> unused) : value >> unused);
        }
    }
}

static void copy_window(const struct grouped *grouped, uint32_t start, uint32_t first_row, uint32_t rows)
{
    const struct dory_layer *layer = grouped->layer;
    uint32_t columns = grouped->tile->input_columns,
             pixels = columns * dory_input_extent(rows, layer->kernel_height, layer->stride_height, layer->dilation_height);
    const uint8_t *input =
        (const uint8_t *)grouped->tile->input + first_row * layer->stride_height * columns * grouped->pixel_bytes;
    bool is_there = layer->input_channels >= grouped->window;
    if (is_there && grouped->window < 3) {
        copy_narrow(grouped->buffer, input + start, pixels, grouped->pixel_bytes, grouped->window);
    } else if (layer->input_bits == 8 && is_there) {
        copy_words(grouped->buffer, input + start, pixels, grouped->pixel_bytes, grouped->window);
    } else if (is_there && start * layer->input_bits % 8 == 0) {
        unpack_window(grouped, input + start * layer->input_bits / 8, pixels);
    } else {
        copy_elements(grouped, grouped->buffer, input, start, pixels);
    }
}

/* ---- the product ----------------------------------------------------------------------------------------------- */

/* The quads of a window, as if they were all. */
static void choose_quads(struct grouped *grouped, uint32_t first, uint32_t count)
{
    struct dory_product *product = &grouped->product;
    const struct dory_tile *tile = grouped->tile;
    product->weights = (const uint8_t *)tile->weights + first * product->quad_bytes;
    product->output = (uint8_t *)tile->output + first * product->output_bits / 2;
    product->quads = count;
    product->blocks.channels = dory_minimum(4 * count, tile->channels - 4 * first);
}

/* The next pixels, of which a whole number of fours lies in a row. */
static dory_pixel_source *source_in_rows(struct dory_pixels *pixels, int32_t step)
{
    for (int32_t i = 0; i < 3; i++) {
        pixels->offset[i] = (i + 1) * step - 4;
    }
    return next_in_row;
}

/* Pixel quads `first` to `end` - 1 of the window's quads, band by band. */
static void compute_window(struct grouped *grouped, uint32_t start, uint32_t first, uint32_t end, dory_product_runner *run)
{
    const struct dory_tile *tile = grouped->tile;
    struct dory_blocks *blocks = &grouped->product.blocks;
    struct dory_tile compact = *tile;
    compact.input = grouped->buffer;
    compact.input_channels = (uint16_t)grouped->window;
    while (first < end) {
        uint32_t row = dory_quotient(4 * first, tile->columns), rows = dory_minimum(grouped->band_rows, tile->rows - row);
        uint32_t last = row + rows == tile->rows ? end : dory_minimum(end, (row + rows) * tile->columns / 4);
        copy_window(grouped, start, row, rows);
        struct dory_walk walk = dory_walk_from(grouped->layer, &compact, 4 * first - row * tile->columns);
        struct dory_grid_share share = {first, 0, (last - first) * grouped->product.quads};
        blocks->output_step = (int32_t)grouped->product.pixel_step; /* a run leaves another one behind */
        run(&grouped->product, share, tile->columns % 4 == 0 ? source_in_rows(&blocks->pixels, walk.step) : next_pixels,
            &walk);
        first = last;
    }
}

static inline void grouped_start(struct grouped *grouped, const struct dory_layer *layer, const struct dory_tile *tile,
                                 unsigned core, enum dory_direct direct)
{
    uint32_t window = dory_window_channels(layer), run_bytes = layer->kernel_width * window;
    uint32_t row_bytes = tile->input_columns * window * layer->dilation_height;
    grouped->layer = layer;
    grouped->tile = tile;
    grouped->window = window;
    grouped->pixel_bytes = dory_element_bytes(tile->input_channels, layer->input_bits);
    grouped->quads_of_window = layer->grouped.outputs % 4 == 0 ? layer->grouped.outputs / 4 : 1;
    grouped->band_rows = dory_grouped_band_rows(tile->rows);
    grouped->buffer = (uint8_t *)tile->scratch + core * dory_grouped_core_bytes(layer, tile->rows, tile->input_columns);
    dory_product_start(&grouped->product, layer, tile, direct, run_bytes, layer->kernel_height,
                       row_bytes - dory_round_up(run_bytes, 4));
}

/* A core's share is a range of the grid of windows by pixel quads. */
static inline void compute(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                           enum dory_direct direct, dory_product_runner *run)
{
    struct grouped grouped;
    grouped_start(&grouped, layer, tile, core, direct);
    uint32_t first_quad = tile->first_channel / 4u, quads = grouped.product.quads, each = grouped.quads_of_window;
    uint32_t before = each == 1 ? 0 : first_quad - dory_quotient(first_quad, each) * each; /* quads of the first window */
    uint32_t pixel_quads = (grouped.product.pixel_count + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of(dory_divide_up(before + quads, each), pixel_quads, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixel_quads);
        uint32_t first = share.row == 0 ? 0 : share.row * each - before;
        choose_quads(&grouped, first, dory_minimum((share.row + 1) * each - before, quads) - first);
        compute_window(&grouped, dory_window_start(layer, first_quad + first), share.first, end, run);
        dory_grid_share_next_row(&share, end);
    }
}

DORY_PRODUCT_KERNELS(grouped, compute)
DORY_PRODUCT_KERNEL(packed_grouped_8, compute, dory_packed_direct_of(layer), dory_packed_run_8)
DORY_PRODUCT_KERNEL(packed_grouped_4, compute, dory_packed_direct_of(layer), dory_packed_run_4)
DORY_PRODUCT_KERNEL(packed_grouped_2, compute, dory_packed_direct_of(layer), dory_packed_run_2)
