/* Computes products of two activations of bytes without a sign. Shapes: any, HWC; bytes or words come out.
 *
 * First each core copies a part of the second factor, quad by quad, as a convolution has its weights: bytes less 128, which
 * have a sign, behind what the sums of each channel start from. It also adds up pixels of the first factor, for what the
 * sums of each pixel start from; those that are no whole words it copies into words of their own. Then (`.finish`) each core
 * takes a part of the fours of pixels by fours of channels. Inner loop: product.h; a block starts by 26 instructions, and
 * all of its channels end by the same constants, which it loads once.
 *
 * With a = x + A, b = y + B: sum(a b) = sum(x w) + (B + 128) sum(x) + A sum(w) + K A (B + 128), where w = y - 128. */
#include "matrix.h"

#include "../normalise.h"
#include "../product_block.h"
#include "../product_run.h"
#include "../share.h"
#include "../xpulpv2.h"
#include "dory/matrix_product.h"

#define ONES  0x01010101u
#define SIGNS 0x80808080u

struct matrix {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t rows, columns;
    uint32_t terms, words, quads, quad_bytes;
    uint32_t row_bytes;                  /* from a row of the output to the next one */
    int32_t first_addend, second_addend; /* A, B + 128 */
    uint32_t rest;                       /* bytes of the last word of a pixel; 0: all four */
    uint32_t last_ones;                  /* a 1 for each of them */
};

static struct matrix matrix_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    uint32_t rest = layer->input_channels % 4u, pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    return (struct matrix){
        .layer = layer,
        .tile = tile,
        .rows = grid.rows,
        .columns = grid.columns,
        .terms = layer->input_channels,
        .words = dory_matrix_words(layer),
        .quads = dory_divide_up(tile->channels, 4),
        .quad_bytes = dory_matrix_quad_bytes(layer),
        .row_bytes = dory_joins_rows(layer) ? pixel_bytes : grid.columns * pixel_bytes,
        .first_addend = (int32_t)layer->stages->input[0].addend,
        .second_addend = (int32_t)layer->stages->input[1].addend + 128,
        .rest = rest,
        .last_ones = rest ? ONES >> (32 - 8 * rest) : ONES,
    };
}

static int32_t *pixel_sums(const struct matrix *matrix)
{
    uint32_t bytes = matrix->rows * matrix->quads * matrix->quad_bytes;
    return (int32_t *)(void *)((uint8_t *)matrix->tile->scratch + bytes);
}

/* See dory_matrix_copies_bytes(). */
static uint8_t *copies_of_pixels(const struct matrix *matrix)
{
    return (uint8_t *)(pixel_sums(matrix) + matrix->rows * dory_matrix_pixels(matrix->columns));
}

/* So many bytes apart. */
static inline void store_words(uint8_t *to, uint32_t step, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3)
{
    dory_store_word(to, word0);
    dory_store_word(to + step, word1);
    dory_store_word(to + 2 * step, word2);
    dory_store_word(to + 3 * step, word3);
}

/* ---- the first part: the second factor ---- */

/* The last word of a pixel, with zeros behind it. */
static uint32_t last_word(const struct matrix *matrix, const uint8_t *input)
{
    uint32_t word = 0;
    if (matrix->rest == 0) {
        return dory_load_word(input);
    }
    for (uint32_t i = matrix->rest; i > 0; i--) {
        word = word << 8 | input[i - 1];
    }
    return word;
}

/* A pixel of the second factor as every fourth word of a quad; returns the sum of its weights. */
static int32_t pack_channel(const struct matrix *matrix, const uint8_t *input, uint8_t *quad)
{
    int32_t sum = 0;
    uint32_t word = 0;
    for (uint32_t left = matrix->words - 1; left > 0; left--, input += 4, quad += 16) {
        word = dory_load_word(input) ^ SIGNS;
        sum = pv_sdotsp_b(sum, word, ONES);
        dory_store_word(quad, word);
    }
    word = last_word(matrix, input) ^ matrix->last_ones << 7;
    dory_store_word(quad, word);
    return pv_sdotsp_b(sum, word, ONES);
}

static void clear_channel(const struct matrix *matrix, uint8_t *quad)
{
    for (uint32_t left = matrix->words; left > 0; left--, quad += 16) {
        dory_store_word(quad, 0);
    }
}

/* Four pixels, `words` of each; of those, bytes that are not in the mask become 0. */
static inline __attribute__((always_inline)) void pack_words(const uint8_t *input, uint32_t terms, uint32_t words,
                                                             uint32_t mask, uint8_t *quad, int32_t sums[4])
{
    int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    uint32_t signs = SIGNS & mask;
    for (const uint8_t *end = input + 4 * words; input < end; input += 4, quad += 16) {
        uint32_t word0 = (dory_load_word(input) & mask) ^ signs, word1 = (dory_load_word(input + terms) & mask) ^ signs;
        uint32_t word2 = (dory_load_word(input + 2 * terms) & mask) ^ signs,
                 word3 = (dory_load_word(input + 3 * terms) & mask) ^ signs;
        store_words(quad, 4, word0, word1, word2, word3);
        sum0 = pv_sdotsp_b(sum0, word0, ONES);
        sum1 = pv_sdotsp_b(sum1, word1, ONES);
        sum2 = pv_sdotsp_b(sum2, word2, ONES);
        sum3 = pv_sdotsp_b(sum3, word3, ONES);
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

/* The words of four pixels, of which there are `left` before the tile ends, are all within it: where their last one is
 * whole, or there are others behind them. */
static bool has_words(const struct matrix *matrix, uint32_t left)
{
    return left * matrix->terms >= 3 * matrix->terms + 4 * matrix->words;
}

/* Four pixels that have their words. */
static void pack_four(const struct matrix *matrix, const uint8_t *input, uint8_t *quad, int32_t sums[4])
{
    uint32_t words = matrix->terms / 4;
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
    pack_words(input, matrix->terms, words, UINT32_MAX, quad, sums);
    if (matrix->rest != 0) {
        pack_words(input + 4 * words, matrix->terms, 1, 255 * matrix->last_ones, quad + 16 * words, sums);
    }
}

/* As many pixels as there are; channels of the quad that there are not have no weights. */
static void pack_some(const struct matrix *matrix, const uint8_t *input, uint32_t count, uint8_t *quad, int32_t sums[4])
{
    for (uint32_t lane = 0; lane < 4; lane++, input += matrix->terms, quad += 4) {
        sums[lane] = 0;
        if (lane < count) {
            sums[lane] = pack_channel(matrix, input, quad);
        } else {
            clear_channel(matrix, quad);
        }
    }
}

/* What all sums start from; of kinds that add a number of the layer first, that, too. */
static uint32_t common_start(const struct matrix *matrix, const struct dory_matrix_constants *constants)
{
    uint32_t all = matrix->terms * (uint32_t)(matrix->first_addend * matrix->second_addend);
    return all + (dory_matrix_has_bias(matrix->layer) ? constants->words[0] : 0);
}

/* Quads of the tile, counted over all of its rows. */
static void pack_quads(const struct matrix *matrix, uint32_t index, uint32_t end)
{
    const struct dory_tile *tile = matrix->tile;
    uint32_t row = index < end && matrix->quads > 1 ? dory_quotient(index, matrix->quads) : index;
    uint32_t first = 4 * (index - row * matrix->quads), left = (matrix->rows - row) * tile->channels - first;
    const uint8_t *input = (const uint8_t *)tile->second_input + (row * tile->channels + first) * matrix->terms;
    uint8_t *quad = (uint8_t *)tile->scratch + index * matrix->quad_bytes;
    const struct dory_matrix_constants constants = dory_matrix_constants(matrix->layer);
    uint32_t start = common_start(matrix, &constants), addend = (uint32_t)matrix->first_addend;
    for (; index < end; index++, quad += matrix->quad_bytes) {
        uint32_t count = dory_minimum(4, tile->channels - first);
        int32_t sums[4];
        if (count == 4 && has_words(matrix, left)) {
            pack_four(matrix, input, quad + 16, sums);
        } else {
            pack_some(matrix, input, count, quad + 16, sums);
        }
        for (uint32_t lane = 0; lane < 4; lane++) {
            dory_store_word(quad + 4 * lane, start + addend * (uint32_t)sums[lane]);
        }
        input += count * matrix->terms;
        left -= count;
        first = first + 4 < tile->channels ? first + 4 : 0;
    }
}

/* ---- the first part: the first factor ---- */

/* Up to four pixels: what their sums start from, and copies of those that are no whole words, with what is behind them,
 * which meets weights of 0. Those that are missing are the first one. */
static inline __attribute__((always_inline)) void add_four(const struct matrix *matrix, const uint8_t *input, uint32_t count,
                                                           int32_t *sums, uint8_t *copy, bool copies, bool is_last)
{
    uint32_t terms = matrix->terms, bytes = 4 * matrix->words;
    uint32_t step1 = count > 1 ? terms : 0, step2 = count > 2 ? 2 * terms : 0, step3 = count > 3 ? 3 * terms : 0;
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, factor = matrix->second_addend;
    uint32_t word0 = 0, word1 = 0, word2 = 0, word3 = 0;
    for (const uint8_t *end = input + terms / 4 * 4; input < end; input += 4, copy += copies ? 4 : 0) {
        word0 = dory_load_word(input), word1 = dory_load_word(input + step1);
        word2 = dory_load_word(input + step2), word3 = dory_load_word(input + step3);
        if (copies) {
            store_words(copy, bytes, word0, word1, word2, word3);
        }
        sum0 = pv_sdotusp_b(sum0, word0, ONES);
        sum1 = pv_sdotusp_b(sum1, word1, ONES);
        sum2 = pv_sdotusp_b(sum2, word2, ONES);
        sum3 = pv_sdotusp_b(sum3, word3, ONES);
    }
    if (copies) {
        word0 = is_last ? last_word(matrix, input) : dory_load_word(input);
        word1 = is_last ? last_word(matrix, input + step1) : dory_load_word(input + step1);
        word2 = is_last ? last_word(matrix, input + step2) : dory_load_word(input + step2);
        word3 = is_last ? last_word(matrix, input + step3) : dory_load_word(input + step3);
        store_words(copy, bytes, word0, word1, word2, word3);
        sum0 = pv_sdotusp_b(sum0, word0, matrix->last_ones);
        sum1 = pv_sdotusp_b(sum1, word1, matrix->last_ones);
        sum2 = pv_sdotusp_b(sum2, word2, matrix->last_ones);
        sum3 = pv_sdotusp_b(sum3, word3, matrix->last_ones);
    }
    sums[0] = factor * sum0;
    sums[1] = factor * sum1;
    sums[2] = factor * sum2;
    sums[3] = factor * sum3;
}

/* A core's part of all rows' fours of pixels. */
static void add_pixels(const struct matrix *matrix, unsigned core, unsigned cores)
{
    uint32_t columns = matrix->columns, fours = dory_divide_up(columns, 4), pixels = matrix->rows * columns;
    struct dory_grid_share share = dory_grid_share_of(matrix->rows, fours, core, cores);
    uint32_t four = share.row * fours + share.first, pixel = share.row * columns + 4 * share.first;
    int32_t *sums = pixel_sums(matrix) + 4 * four;
    uint8_t *copy = copies_of_pixels(matrix) + 16 * matrix->words * four;
    for (; share.items > 0; share.items--, sums += 4, copy += 16 * matrix->words) {
        const uint8_t *input = (const uint8_t *)matrix->tile->input + pixel * matrix->terms;
        uint32_t count = dory_minimum(4, columns - 4 * share.first);
        bool is_last = !has_words(matrix, pixels - pixel);
        pixel += count;
        share.first = share.first + 1 < fours ? share.first + 1 : 0;
        if (matrix->rest == 0) {
            add_four(matrix, input, count, sums, copy, false, false);
        } else {
            add_four(matrix, input, count, sums, copy, true, is_last);
        }
    }
}

static __attribute__((noinline)) void prepare(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                              unsigned cores)
{
    struct matrix matrix = matrix_of(layer, tile);
    struct dory_grid_share share = dory_grid_share_of(1, matrix.rows * matrix.quads, core, cores);
    pack_quads(&matrix, share.first, share.first + share.items);
    add_pixels(&matrix, core, cores);
}

/* ---- the second part ---- */

struct pixels {
    struct dory_blocks *blocks;
    const uint8_t *input;
    const int32_t *sums;
    int32_t step; /* bytes of a pixel */
};

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct pixels *from = state;
    int32_t step = from->step;
    from->input -= (int32_t)back * step;
    from->sums -= back;
    pixels->input = from->input;
    pixels->offset[0] = step - 4;
    pixels->offset[1] = 2 * step - 4;
    pixels->offset[2] = 3 * step - 4;
    from->blocks->starts = from->sums;
    from->input += 4 * step;
    from->sums += 4;
    for (; count < 4; count++) {
        pixels->offset[count - 1] = DORY_MISSING_PIXEL;
    }
}

/* From the four `four` of a row on. */
static inline __attribute__((always_inline)) struct pixels pixels_of(const struct matrix *matrix, struct dory_blocks *blocks,
                                                                     uint32_t row, uint32_t four)
{
    uint32_t room = dory_matrix_pixels(matrix->columns), bytes = 4 * matrix->words;
    const uint8_t *input = matrix->rest ? copies_of_pixels(matrix) + row * room * bytes
                                        : (const uint8_t *)matrix->tile->input + row * matrix->columns * bytes;
    return (struct pixels){
        .blocks = blocks,
        .input = input + 4 * four * bytes,
        .sums = pixel_sums(matrix) + row * room + 4 * four,
        .step = (int32_t)bytes,
    };
}

/* Items of one row of the tile, from its four share.row on. */
static inline __attribute__((always_inline)) void multiply_row(const struct matrix *matrix, struct dory_product *product,
                                                               uint32_t row, struct dory_grid_share share,
                                                               dory_product_runner *run)
{
    const struct dory_tile *tile = matrix->tile;
    struct pixels pixels = pixels_of(matrix, &product->blocks, row, share.row);
    product->weights = (const uint8_t *)tile->scratch + row * matrix->quads * matrix->quad_bytes;
    product->output = (uint8_t *)tile->output + row * matrix->row_bytes;
    run(product, share, next_pixels, &pixels);
}

static inline __attribute__((always_inline)) void multiply(const struct dory_layer *layer, const struct dory_tile *tile,
                                                           unsigned core, unsigned cores, enum dory_direct direct,
                                                           dory_product_runner *run)
{
    struct matrix matrix = matrix_of(layer, tile);
    struct dory_matrix_constants same = dory_matrix_constants(layer);
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct, 4 * matrix.words, 1, 0);
    uint32_t fours = dory_divide_up(matrix.columns, 4);
    if (dory_matrix_has_bias(layer)) {
        same.words[0] = 0; /* sums start with it */
    }
    product.blocks.same = same.words;
    product.quad_bytes = matrix.quad_bytes;
    product.constants_bytes = 0;
    product.pixel_count = matrix.columns;
    if (dory_joins_rows(layer)) {
        product.pixel_step *= matrix.rows;
        product.blocks.output_step = (int32_t)product.pixel_step;
    }
    product.steps_back = true;
    struct dory_grid_share share = dory_grid_share_of(matrix.rows * fours, matrix.quads, core, cores);
    uint32_t row = share.items ? dory_quotient(share.row, fours) : 0;
    share.row -= row * fours;
    for (; share.items > 0; row++) {
        uint32_t items = dory_minimum(share.items, (fours - share.row) * matrix.quads - share.first);
        multiply_row(&matrix, &product, row, (struct dory_grid_share){share.row, share.first, items}, run);
        share.items -= items;
        share.first = share.row = 0;
    }
}

/* The sums of a block, of whatever channels, become elements together. */
static inline __attribute__((always_inline)) void finish_block(const struct dory_product *product, int32_t *sum,
                                                               uint32_t index, uint32_t pixels, uint32_t quad,
                                                               dory_lane_normaliser *normalise)
{
    const struct dory_blocks *blocks = &product->blocks;
    normalise(&blocks->normaliser, (const uint8_t *)blocks->same, 0, sum, 1, 4 * pixels);
    dory_product_store(product, sum, index, pixels, quad);
}

/* One for each way to finish, as convolutions have them. The first one is also for all that is not direct. */
#define MATRIX_PRODUCT(suffix, kind, end, direct, normalise)                                                                \
    DORY_DEFINE_MULTIPLY_FROM_STARTS(from##suffix, kind, end)                                                               \
    static void finish##suffix(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,  \
                               uint32_t pixels, uint32_t quad)                                                              \
    {                                                                                                                       \
        (void)constants;                                                                                                    \
        finish_block(product, sum, index, pixels, quad, normalise);                                                         \
    }                                                                                                                       \
    static void run##suffix(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,          \
                            void *state)                                                                                    \
    {                                                                                                                       \
        dory_product_run_with(product, share, source, state, multiply_from##suffix, NULL, finish##suffix, NULL);            \
    }                                                                                                                       \
    void dory_xpulpv2_matrix_product##suffix(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,   \
                                             unsigned cores)                                                                \
    {                                                                                                                       \
        prepare(layer, tile, core, cores);                                                                                  \
    }                                                                                                                       \
    void dory_xpulpv2_finish_matrix_product##suffix(const struct dory_layer *layer, const struct dory_tile *tile,           \
                                                    unsigned core, unsigned cores)                                          \
    {                                                                                                                       \
        multiply(layer, tile, core, cores, direct(layer), run##suffix);                                                     \
    }

MATRIX_PRODUCT(, DIRECT, LOW, dory_direct_32_of, dory_normalise_lane)
MATRIX_PRODUCT(_clamped, CLAMPED, LOW, dory_direct_clamped_of, dory_normalise_lane_clamped)
MATRIX_PRODUCT(_split, SPLIT, HIGH, dory_direct_split_of, dory_normalise_lane_split)
MATRIX_PRODUCT(_high, HIGH, LOW, dory_direct_high_of, dory_normalise_lane_high)
