/* Convolutions whose runs are no whole words, as in a network's first layer, or are torn apart by dilation: each core copies
 * what four pixels read into its scratch (im2col), for all output channels at once. */
#include "product.h"
#include "scratch.h"
#include "walk.h"
#include "xpulpv2.h"

struct gather {
    struct dory_walk walk;
    uint8_t *buffer; /* of this core: four pixels, in each the words of all runs and then the rests of all runs */
    uint32_t pixel_bytes;
    uint32_t groups, group_step; /* kernel rows where dilation separates the columns, else one group of all runs */
    uint32_t runs, run_step;     /* in a group; steps are bytes of the input */
    uint32_t run_words, run_rest, words_bytes;
};

/* What a group of runs has of one kind: `columns` words (or bytes) of each of its `runs` runs. */
struct piece {
    uint32_t columns, runs;
    uint32_t input_step, output_step; /* from run to run */
    uint32_t pixel_bytes;             /* of the output */
};

#if defined(DORY_XPULPV2)

/* Four pixels at once, so that no load is waited for: 8 instructions for as many words (or bytes) of a column as there are
 * runs, and 3 from column to column. `size` is that of an element. */
#define COPY(size, load_at, load_step, store_at, store_step)                                                                \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x1", "%[columns]", 11, "2") LP_SETUP("x0", "%[runs]", 8, "1")                           \
            load_at("t0", "%[from1]", "%[input]") load_at("t1", "%[from2]", "%[input]")                                     \
                load_at("t2", "%[from3]", "%[input]") load_step("t3", "%[input_step]", "%[input]")                          \
                    store_at("t0", "%[to1]", "%[output]") store_at("t1", "%[to2]", "%[output]")                             \
                        store_at("t2", "%[to3]", "%[output]") "1: " store_step(                                             \
                            "t3", "%[output_step]", "%[output]") "add %[input], %[input], %[input_back]\n"                  \
                                                                 "2: add %[output], %[output], "                            \
                                                                 "%[output_back]\n"                                         \
                                                                 ".option pop\n"                                            \
        : [input] "+r"(input), [output] "+r"(output)                                                                        \
        : [columns] "r"(piece->columns), [runs] "r"(piece->runs), [from1] "r"(from[0] + 4), [from2] "r"(from[1] + 4),       \
          [from3] "r"(from[2] + 4), [to1] "r"(piece->pixel_bytes), [to2] "r"(2 * piece->pixel_bytes),                       \
          [to3] "r"(3 * piece->pixel_bytes), [input_step] "r"(piece->input_step), [output_step] "r"(piece->output_step),    \
          [input_back] "r"(size - piece->runs * piece->input_step),                                                         \
          [output_back] "r"(size - piece->runs * piece->output_step)                                                        \
        : "t0", "t1", "t2", "t3", "memory")

static inline void copy_words(const struct piece *piece, const uint8_t *input, const int32_t from[3], uint8_t *output)
{
    COPY(4, P_LW_AT, P_LW_STEP, P_SW_AT, P_SW_STEP);
}

static inline void copy_bytes(const struct piece *piece, const uint8_t *input, const int32_t from[3], uint8_t *output)
{
    COPY(1, P_LBU_AT, P_LBU_STEP, P_SB_AT, P_SB_STEP);
}

#else

static void copy(const struct piece *piece, const uint8_t *input, const int32_t from[3], uint8_t *output, uint32_t size)
{
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *pixel = i == 0 ? input : input + (from[i - 1] + 4);
        for (uint32_t run = 0; run < piece->runs; run++) {
            memcpy(output + i * piece->pixel_bytes + run * piece->output_step, pixel + run * piece->input_step,
                   piece->columns * size);
        }
    }
}

static void copy_words(const struct piece *piece, const uint8_t *input, const int32_t from[3], uint8_t *output)
{
    copy(piece, input, from, output, 4);
}

static void copy_bytes(const struct piece *piece, const uint8_t *input, const int32_t from[3], uint8_t *output)
{
    copy(piece, input, from, output, 1);
}

#endif

/* One group of runs: its whole words and its rests. */
static inline void copy_group(const struct gather *gather, const uint8_t *input, const int32_t from[3], uint8_t *words,
                              uint8_t *rests)
{
    struct piece piece = {.columns = gather->run_words,
                          .runs = gather->runs,
                          .input_step = gather->run_step,
                          .output_step = 4 * gather->run_words,
                          .pixel_bytes = gather->pixel_bytes};
    if (piece.columns != 0) { /* a hardware loop of no rounds is not allowed */
        copy_words(&piece, input, from, words);
    }
    piece.columns = piece.output_step = gather->run_rest;
    if (piece.columns != 0) {
        copy_bytes(&piece, input + 4 * gather->run_words, from, rests);
    }
}

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count)
{
    struct gather *gather = state;
    dory_walk_pixels(&gather->walk, pixels, count);
    const uint8_t *input = pixels->input;
    uint8_t *words = gather->buffer, *rests = words + gather->words_bytes;
    for (uint32_t group = gather->groups; group > 0; group--) {
        copy_group(gather, input, pixels->offset, words, rests);
        input += gather->group_step;
        words += 4 * gather->runs * gather->run_words;
        rests += gather->runs * gather->run_rest;
    }
    int32_t bytes = (int32_t)gather->pixel_bytes;
    *pixels = (struct dory_pixels){gather->buffer, {bytes - 4, 2 * bytes - 4, 3 * bytes - 4}};
}

void dory_xpulpv2_convolution_gather(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    uint32_t channels = tile->input_channels, row_bytes = tile->input_columns * channels * layer->dilation_height;
    bool contiguous = layer->dilation_width == 1;
    uint32_t run_bytes = contiguous ? layer->kernel_width * channels : channels;
    uint32_t pixel_bytes = dory_gather_pixel_bytes(layer, channels);
    struct dory_product product;
    dory_product_start(&product, layer, tile, pixel_bytes, 1, 0);
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct gather gather = {
        .walk = dory_walk_from(layer, tile, 4 * share.row),
        .buffer = (uint8_t *)tile->scratch + core * 4 * pixel_bytes,
        .pixel_bytes = pixel_bytes,
        .groups = contiguous ? 1 : layer->kernel_height,
        .group_step = row_bytes,
        .runs = contiguous ? layer->kernel_height : layer->kernel_width,
        .run_step = contiguous ? row_bytes : layer->dilation_width * channels,
        .run_words = run_bytes / 4,
        .run_rest = run_bytes % 4,
    };
    gather.words_bytes = 4 * gather.groups * gather.runs * gather.run_words;
    dory_product_run(&product, share, next_pixels, &gather);
}
