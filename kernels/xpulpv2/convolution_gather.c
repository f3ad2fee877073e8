/* Convolutions whose runs are no whole words, as in a network's first layer, or are torn apart by dilation: each core copies
 * what four pixels read into its scratch, aligned (im2col), for all output channels at once. */
#include "product.h"
#include "scratch.h"
#include "walk.h"
#include "xpulpv2.h"

struct gather {
    struct dory_walk walk;
    uint8_t *buffer; /* of this core: four pixels */
    uint32_t pixel_bytes;
    uint32_t rows, runs;            /* kernel rows; runs in each */
    uint32_t run_bytes, full_words; /* words of a run without the last one */
    uint32_t row_step, run_step;    /* in the input */
};

/* The last word of a run, which may be part of one, without a read outside the run. */
static inline uint32_t last_word(const uint8_t *run, uint32_t run_bytes)
{
    if (run_bytes >= 4) {
        return dory_load_word(run + run_bytes - 4) >> (8 * (-run_bytes & 3));
    }
    uint32_t word = run[0];
    if (run_bytes > 1) {
        word |= (uint32_t)run[1] << 8;
    }
    if (run_bytes > 2) {
        word |= (uint32_t)run[2] << 16;
    }
    return word;
}

static inline void copy_words(uint8_t **output, const uint8_t *input, uint32_t words)
{
#if defined(DORY_XPULPV2)
    uint32_t word;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[words]", 2, "1")
                         P_LW_NEXT("%[word]", "%[input]") "1: " P_SW_NEXT("%[word]", "%[output]") ".option pop\n"
                     : [input] "+r"(input), [output] "+r"(*output), [word] "=&r"(word)
                     : [words] "r"(words)
                     : "memory");
#else
    for (; words > 0; words--, input += 4, *output += 4) {
        dory_store_word(*output, dory_load_word(input));
    }
#endif
}

static uint8_t *copy_run(uint8_t *output, const uint8_t *run, uint32_t run_bytes, uint32_t full_words)
{
    if (full_words > 0) {
        copy_words(&output, run, full_words);
    }
    dory_store_word(output, last_word(run, run_bytes));
    return output + 4;
}

static void copy_pixel(const struct gather *gather, uint8_t *output, const uint8_t *input)
{
    for (uint32_t row = gather->rows; row > 0; row--, input += gather->row_step) {
        const uint8_t *run = input;
        for (uint32_t left = gather->runs; left > 0; left--, run += gather->run_step) {
            output = copy_run(output, run, gather->run_bytes, gather->full_words);
        }
    }
}

/* One run of 9 to 12 bytes a kernel row, as in a 3x3 layer of three channels: 18 cycles a run. */
static inline void copy_pixel_of_three_words(const struct gather *gather, uint8_t *output, const uint8_t *input)
{
    uint32_t row_step = gather->row_step, last = gather->run_bytes - 4, shift = 8 * (-gather->run_bytes & 3);
    const uint8_t *end = output + gather->pixel_bytes;
    do {
        uint32_t first = dory_load_word(input), second = dory_load_word(input + 4), third = dory_load_word(input + last);
        dory_store_word(output, first);
        dory_store_word(output + 4, second);
        dory_store_word(output + 8, third >> shift);
        input += row_step;
        output += 12;
    } while (output < end);
}

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count)
{
    struct gather *gather = state;
    uint8_t *output = gather->buffer;
    pixels->input = output;
    for (uint32_t i = 0; i < count; i++, output += gather->pixel_bytes) {
        if (gather->full_words == 2 && gather->runs == 1) {
            copy_pixel_of_three_words(gather, output, gather->walk.input);
        } else {
            copy_pixel(gather, output, gather->walk.input);
        }
        dory_walk_on(&gather->walk);
    }
    for (uint32_t i = 1; i < 4; i++) {
        pixels->offset[i - 1] = i < count ? (int32_t)(i * gather->pixel_bytes) - 4 : DORY_MISSING_PIXEL;
    }
}

void dory_xpulpv2_convolution_gather(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    uint32_t channels = tile->input_channels, row_bytes = tile->input_columns * channels;
    uint32_t contiguous = layer->dilation_width == 1, width = layer->kernel_width;
    struct gather gather = {
        .pixel_bytes = dory_gather_pixel_bytes(layer, channels),
        .rows = layer->kernel_height,
        .runs = contiguous ? 1 : width,
        .run_bytes = contiguous ? width * channels : channels,
        .row_step = row_bytes * layer->dilation_height,
        .run_step = layer->dilation_width * channels,
    };
    gather.full_words = (gather.run_bytes + 3) / 4 - 1;
    gather.buffer = (uint8_t *)tile->scratch + core * 4 * gather.pixel_bytes;
    struct dory_product product;
    dory_product_start(&product, layer, tile, gather.pixel_bytes, 1, 0);
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    gather.walk = dory_walk_from(layer, tile, 4 * share.row);
    dory_product_run(&product, share, next_pixels, &gather);
}
