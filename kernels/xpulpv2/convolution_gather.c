/* Computes convolutions of bytes whose kernel rows are no whole words, as in a network's first layer, or are torn apart by
 * dilation. Shapes: any; input HWC, output HWC or CHW.
 *
 * Each core copies what four pixels read to its scratch (im2col), for all output channels at once. Inner loop: product.h. */
#include "gather.h"
#include "quads.h"
#include "scratch.h"
#include "xpulpv2.h"

#if defined(DORY_XPULPV2)

/* Four pixels at once, so that no load is waited for: 8 instructions for as many words (or bytes) of a column as there are
 * runs. */
#define COPY(piece, load_step, store_step)                                                                                  \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x1", "%[columns]", 13, "2") LP_SETUP("x0", "%[runs]", 8, "1")              \
                         load_step("t0", "%[step1]", "%[input]") load_step("t1", "%[step2]", "%[input]")                    \
                             load_step("t2", "%[step3]", "%[input]") load_step("t3", "%[step0]", "%[input]")                \
                                 store_step("t0", "%[pixel]", "%[output]") store_step("t1", "%[pixel]", "%[output]")        \
                                     store_step("t2", "%[pixel]", "%[output]") "1: " store_step(                            \
                                         "t3", "%[next]", "%[output]") "lw t0, %[input_back]\n"                             \
                                                                       "lw t1, %[output_back]\n"                            \
                                                                       "add %[input], %[input], t0\n"                       \
                                                                       "2: add %[output], %[output], t1\n"                  \
                                                                       ".option pop\n"                                      \
                     : [input] "+r"(input), [output] "+r"(output)                                                           \
                     : [columns] "r"((piece)->columns), [runs] "r"(runs), [step0] "r"(step0), [step1] "r"(step1),           \
                       [step2] "r"(step2), [step3] "r"(step3), [pixel] "r"(pixel_bytes), [next] "r"((piece)->output_step),  \
                       [input_back] "m"((piece)->input_back), [output_back] "m"((piece)->output_back)                       \
                     : "t0", "t1", "t2", "t3", "memory")

/* One group of runs of four pixels: whole words, then rests. A hardware loop of no rounds is not allowed. */
static __attribute__((noinline)) void copy_group(const struct dory_gather *gather, const struct dory_pixels *from,
                                                 uint8_t *words, uint8_t *rests)
{
    const uint8_t *input = from->input;
    const int32_t *offset = from->offset;
    int32_t step1 = offset[0] + 4, step2 = offset[1] - offset[0], step3 = offset[2] - offset[1];
    int32_t step0 = (int32_t)gather->run_step - offset[2] - 4;
    int32_t pixel_bytes = gather->pixel_bytes;
    uint32_t runs = gather->runs;
    uint8_t *output = words;
    if (gather->words.columns != 0) {
        COPY(&gather->words, P_LW_STEP, P_SW_STEP);
    }
    output = rests;
    if (gather->bytes.columns != 0) {
        COPY(&gather->bytes, P_LBU_STEP, P_SB_STEP);
    }
}

#else

static void copy_group(const struct dory_gather *gather, const struct dory_pixels *from, uint8_t *words, uint8_t *rests)
{
    uint32_t words_bytes = 4 * gather->words.columns, rest = gather->bytes.columns;
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *run = i == 0 ? from->input : from->input + (from->offset[i - 1] + 4);
        for (uint32_t left = gather->runs; left > 0; left--, run += gather->run_step) {
            memcpy(words, run, words_bytes);
            memcpy(rests, run + words_bytes, rest);
            words += words_bytes;
            rests += rest;
        }
        words += (uint32_t)gather->pixel_bytes - gather->runs * words_bytes;
        rests += (uint32_t)gather->pixel_bytes - gather->runs * rest;
    }
}

#endif

static __attribute__((noinline)) void copy_groups_behind_first(const struct dory_gather *gather,
                                                               const struct dory_pixels *from)
{
    struct dory_pixels group = *from;
    uint8_t *words = gather->buffer, *rests = gather->rests;
    for (uint32_t left = gather->groups - 1; left > 0; left--) {
        group.input += gather->group_step;
        words += gather->group_words_bytes;
        rests += gather->group_rests_bytes;
        copy_group(gather, &group, words, rests);
    }
}

static inline __attribute__((always_inline)) void gather_four(struct dory_gather *gather, uint32_t count)
{
    struct dory_pixels from;
    dory_walk_pixels(&gather->walk, &from, count);
    copy_group(gather, &from, gather->buffer, gather->rests);
    if (gather->groups > 1) {
        copy_groups_behind_first(gather, &from);
    }
}

/* The product's pixels always are those of the buffer. */
static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct dory_gather *gather = state;
    (void)pixels;
    dory_walk_back(&gather->walk, back);
    gather_four(gather, count);
}

void dory_gather_four(struct dory_gather *gather, uint32_t count) { gather_four(gather, count); }

/* `size` is that of a word or a byte. */
static struct dory_gather_piece piece_of(const struct dory_gather *gather, uint32_t columns, uint32_t size)
{
    int32_t output_step = (int32_t)(columns * size), runs = (int32_t)gather->runs;
    return (struct dory_gather_piece){
        .columns = columns,
        .output_step = output_step - 3 * gather->pixel_bytes,
        .input_back = (int32_t)size - runs * (int32_t)gather->run_step,
        .output_back = (int32_t)size - runs * output_step,
    };
}

void dory_gather_start(struct dory_gather *gather, const struct dory_layer *layer, const struct dory_tile *tile,
                       uint32_t pixel, uint8_t *buffer)
{
    uint32_t channels = tile->input_channels, row_bytes = tile->input_columns * channels * layer->dilation_height;
    uint32_t run_bytes = dory_run_elements(layer, channels);
    bool contiguous = layer->dilation_width == 1;
    gather->walk = dory_walk_from(layer, tile, pixel);
    gather->pixel_bytes = (int32_t)dory_gather_pixel_bytes(layer, channels);
    gather->groups = contiguous ? 1 : layer->kernel_height;
    gather->group_step = row_bytes;
    gather->runs = contiguous ? layer->kernel_height : layer->kernel_width;
    gather->run_step = contiguous ? row_bytes : layer->dilation_width * channels;
    gather->words = piece_of(gather, run_bytes / 4, 4);
    gather->bytes = piece_of(gather, run_bytes % 4, 1);
    gather->group_words_bytes = gather->runs * (run_bytes & ~3u);
    gather->group_rests_bytes = gather->runs * (run_bytes % 4);
    dory_gather_to(gather, buffer);
}

void dory_gather_and_run(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                         enum dory_direct direct, dory_product_runner *run)
{
    uint32_t pixel_bytes = dory_gather_pixel_bytes(layer, tile->input_channels);
    int32_t bytes = (int32_t)pixel_bytes;
    struct dory_product product;
    struct dory_gather gather;
    dory_product_start(&product, layer, tile, direct, pixel_bytes, 1, 0);
    product.steps_back = true;
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    dory_gather_start(&gather, layer, tile, 4 * share.row, (uint8_t *)tile->scratch + core * 4 * pixel_bytes);
    product.blocks.pixels = (struct dory_pixels){gather.buffer, {bytes - 4, 2 * bytes - 4, 3 * bytes - 4}};
    run(&product, share, next_pixels, &gather);
}

DORY_PRODUCT_KERNELS(convolution_gather, dory_gather_and_run)
