/* Lays what the windows of a tile read, pixel after pixel, so that N-EUREKA computes any window as one of 1x1.
 *
 * Input: HWC with its border. Output: of each pixel the words of all rows of its window, then what is left of them byte by
 * byte, see dory_neureka_input_of(). Each core takes rows, or of few rows columns. Inner loop: a word of a window's row from
 * each pixel of an output row; two pixels take two loads and two stores. */
#include "../xpulpv2/xpulp.h"
#include "dory/share.h"

#include "finish.h"
#include "neureka.h"

/* From pixel to pixel. */
struct steps {
    uint32_t input, output; /* bytes */
};

#if defined(DORY_XPULPV2)

/* clang-format off */
#define COPY_PAIRS(load, store)                                                                                             \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n"                                                                                      \
                     LP_SETUP("x0", "%[pairs]", 4, "1")                                                                     \
                     load("t0", "%[input_step]", "%[from]") load("t1", "%[input_step]", "%[from]")                          \
                     store("t0", "%[output_step]", "%[to]")                                                                 \
                     "1: " store("t1", "%[output_step]", "%[to]")                                                           \
                     ".option pop\n"                                                                                        \
                     : [from] "+r"(from), [to] "+r"(to)                                                                     \
                     : [pairs] "r"(pixels / 2), [input_step] "r"(steps.input), [output_step] "r"(steps.output)              \
                     : "t0", "t1", "memory")
/* clang-format on */

#else

#define COPY_PAIRS(load, store)                                                                                             \
    for (uint32_t pair = 0; pair < pixels / 2; pair++, from += 2 * steps.input, to += 2 * steps.output) {                   \
        store(load(from), to);                                                                                              \
        store(load(from + steps.input), to + steps.output);                                                                 \
    }
#define P_LW_STEP(from)     dory_load_word(from)
#define P_SW_STEP(word, to) dory_store_word(to, word)
#define P_LBU_STEP(from)    (*(from))
#define P_SB_STEP(byte, to) *(to) = (byte)

#endif

static __attribute__((noinline)) void copy_words(const uint8_t *from, uint8_t *to, uint32_t pixels, struct steps steps)
{
    if (pixels >= 2) {
        COPY_PAIRS(P_LW_STEP, P_SW_STEP);
    }
    if (pixels % 2 != 0) {
        dory_store_word(to, dory_load_word(from));
    }
}

static __attribute__((noinline)) void copy_bytes(const uint8_t *from, uint8_t *to, uint32_t pixels, struct steps steps)
{
    if (pixels >= 2) {
        COPY_PAIRS(P_LBU_STEP, P_SB_STEP);
    }
    if (pixels % 2 != 0) {
        *to = *from;
    }
}

/* What so many pixels side by side read. */
static void gather_row(const struct dory_layer *layer, const uint8_t *from, uint32_t row_bytes, uint8_t *to, uint32_t pixels)
{
    struct steps steps = {(uint32_t)layer->stride_width * layer->input_channels, dory_neureka_pixel_bytes(layer)};
    uint32_t run = dory_neureka_run_bytes(layer), words_bytes = run & ~3u;
    uint8_t *rest = to + layer->kernel_height * words_bytes;
    for (uint32_t row = 0; row < layer->kernel_height; row++, from += row_bytes) {
        for (uint32_t byte = 0; byte < words_bytes; byte += 4) {
            copy_words(from + byte, to, pixels, steps);
            to += 4;
        }
        for (uint32_t byte = words_bytes; byte < run; byte++) {
            copy_bytes(from + byte, rest++, pixels, steps);
        }
    }
}

static uint8_t *gathered(const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t constants = layer->block_bytes - layer->chunk_bytes;
    return (uint8_t *)tile->scratch + DORY_NEUREKA_QUEUE_BYTES +
           (dory_is_in_place(layer->l1.weights) ? dory_blocks(layer, tile->channels) * constants : 0);
}

void dory_neureka_gather(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint8_t *to = gathered(layer, tile);
    bool by_rows = tile->rows >= cores;
    struct dory_share share = dory_share_of(by_rows ? tile->rows : tile->columns, core, cores);
    uint32_t first_column = by_rows ? 0 : share.first, columns = by_rows ? tile->columns : share.end - share.first;
    uint32_t row_bytes = (uint32_t)tile->input_columns * layer->input_channels, bytes = dory_neureka_pixel_bytes(layer);
    const uint8_t *from = (const uint8_t *)tile->input + first_column * layer->stride_width * layer->input_channels;
    for (uint32_t row = by_rows ? share.first : 0; row < (by_rows ? share.end : tile->rows); row++) {
        gather_row(layer, from + row * layer->stride_height * row_bytes, row_bytes,
                   to + (row * tile->columns + first_column) * bytes, columns);
    }
}
