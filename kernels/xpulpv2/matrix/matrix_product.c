/* Computes products of two activations of bytes without a sign. Shapes: any, HWC; bytes or words come out.
 *
 * First each core copies a part of the second factor, quad by quad, as a convolution has its weights: bytes less 128, which
 * have a sign, and the requantisation of each channel with what the zero points and the sum of its weights add to it. It
 * also adds up pixels of the first factor, which is what their sums start from; those of fewer than four elements it copies
 * into words of their own. Then (`.finish`) each core takes a part of
 * the fours of pixels by fours of channels. Inner loop: product.h, with 16 instructions more a block.
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
    uint32_t terms, words, quads, quad_bytes, constants_bytes;
    bool has_wide_constants;
    int32_t first_addend, second_addend; /* A, B + 128 */
    uint32_t rest;                       /* bytes of the last word of a pixel; 0: all four */
    bool is_short;                       /* pixels are read where they are copied to */
};

static struct matrix matrix_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    return (struct matrix){
        .layer = layer,
        .tile = tile,
        .rows = grid.rows,
        .columns = grid.columns,
        .terms = layer->input_channels,
        .words = dory_matrix_words(layer),
        .quads = dory_divide_up(tile->channels, 4),
        .quad_bytes = dory_matrix_quad_bytes(layer),
        .constants_bytes = dory_channel_constants_bytes(layer),
        .has_wide_constants = dory_matrix_has_wide_constants(layer),
        .first_addend = (int32_t)layer->stages->input[0].addend,
        .second_addend = (int32_t)layer->stages->input[1].addend + 128,
        .rest = layer->input_channels % 4u,
        .is_short = dory_matrix_is_short(layer),
    };
}

static int32_t *pixel_sums(const struct matrix *matrix)
{
    uint32_t bytes = matrix->rows * matrix->quads * matrix->quad_bytes;
    return (int32_t *)(void *)((uint8_t *)matrix->tile->scratch + bytes);
}

/* Copies of the tile's last four pixels, or of all: see dory_matrix_copies_bytes(). */
static uint8_t *copies_of_pixels(const struct matrix *matrix)
{
    return (uint8_t *)(pixel_sums(matrix) + matrix->rows * dory_matrix_pixels(matrix->columns));
}

/* ---- the first part ---- */

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
    uint32_t word = 0, signs = matrix->rest ? SIGNS >> (32 - 8 * matrix->rest) : SIGNS;
    for (uint32_t left = matrix->words - 1; left > 0; left--, input += 4, quad += 16) {
        word = dory_load_word(input) ^ SIGNS;
        sum = pv_sdotsp_b(sum, word, ONES);
        dory_store_word(quad, word);
    }
    word = last_word(matrix, input) ^ signs;
    dory_store_word(quad, word);
    return pv_sdotsp_b(sum, word, ONES);
}

static void clear_channel(const struct matrix *matrix, uint8_t *quad)
{
    for (uint32_t left = matrix->words; left > 0; left--, quad += 16) {
        dory_store_word(quad, 0);
    }
}

/* Four pixels whose words are whole. */
static void pack_four(const struct matrix *matrix, const uint8_t *input, uint8_t *quad, int32_t sums[4])
{
    uint32_t terms = matrix->terms;
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (const uint8_t *end = input + terms; input < end; input += 4, quad += 16) {
        uint32_t word0 = dory_load_word(input) ^ SIGNS, word1 = dory_load_word(input + terms) ^ SIGNS;
        uint32_t word2 = dory_load_word(input + 2 * terms) ^ SIGNS, word3 = dory_load_word(input + 3 * terms) ^ SIGNS;
        dory_store_word(quad, word0);
        dory_store_word(quad + 4, word1);
        dory_store_word(quad + 8, word2);
        dory_store_word(quad + 12, word3);
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

/* Word by word, of all four channels at once: each lies as far behind the one before as a channel's constants are long. */
static void store_constants(const struct matrix *matrix, const struct dory_matrix_constants *same, const int32_t sums[4],
                            uint8_t *constants)
{
    uint32_t bytes = matrix->constants_bytes;
    int32_t addend = matrix->first_addend, all = (int32_t)matrix->terms * addend * matrix->second_addend;
    const int32_t lacks[4] = {addend * sums[0] + all, addend * sums[1] + all, addend * sums[2] + all,
                              addend * sums[3] + all};
    for (uint32_t i = 0; i < bytes / 4; i++) {
        uint32_t word = same->words[i], factor = same->factors[i];
        uint8_t *channel = constants + 4 * i;
        dory_store_word(channel, word + factor * (uint32_t)lacks[0]);
        dory_store_word(channel += bytes, word + factor * (uint32_t)lacks[1]);
        dory_store_word(channel += bytes, word + factor * (uint32_t)lacks[2]);
        dory_store_word(channel + bytes, word + factor * (uint32_t)lacks[3]);
    }
    for (uint32_t lane = 0; matrix->has_wide_constants && lane < 4; lane++) {
        int64_t wide = dory_matrix_addend(matrix->layer, lacks[lane]);
        memcpy(constants + lane * bytes + 8, &wide, sizeof wide);
    }
}

/* Quads of the tile, counted over all of its rows. */
static void pack_quads(const struct matrix *matrix, uint32_t index, uint32_t end)
{
    const struct dory_tile *tile = matrix->tile;
    uint32_t row = index < end && matrix->quads > 1 ? dory_quotient(index, matrix->quads) : index;
    uint32_t first = 4 * (index - row * matrix->quads);
    const uint8_t *input = (const uint8_t *)tile->second_input + (row * tile->channels + first) * matrix->terms;
    uint8_t *quad = (uint8_t *)tile->scratch + index * matrix->quad_bytes;
    struct dory_matrix_constants same = dory_matrix_constants(matrix->layer);
    for (; index < end; index++, quad += matrix->quad_bytes) {
        uint32_t count = dory_minimum(4, tile->channels - first);
        int32_t sums[4];
        if (count == 4 && matrix->rest == 0) {
            pack_four(matrix, input, quad, sums);
        } else {
            pack_some(matrix, input, count, quad, sums);
        }
        store_constants(matrix, &same, sums, quad + 16 * matrix->words);
        input += count * matrix->terms;
        first = first + 4 < tile->channels ? first + 4 : 0;
    }
}

/* What a pixel of the first factor, counted over all rows of the tile, adds to its sums. Copies it where it is short. */
static int32_t pixel_sum(const struct matrix *matrix, uint32_t pixel)
{
    const uint8_t *input = (const uint8_t *)matrix->tile->input + pixel * matrix->terms;
    int32_t sum = 0;
    for (uint32_t left = matrix->words - 1; left > 0; left--, input += 4) {
        sum = pv_sdotusp_b(sum, dory_load_word(input), ONES);
    }
    uint32_t word = last_word(matrix, input);
    if (matrix->is_short) {
        dory_store_word(copies_of_pixels(matrix) + 4 * pixel, word);
    }
    return matrix->second_addend * pv_sdotusp_b(sum, word, ONES);
}

static void add_pixels(const struct matrix *matrix, unsigned core, unsigned cores)
{
    uint32_t columns = matrix->columns, room = dory_matrix_pixels(columns), row = 0;
    struct dory_grid_share share = dory_grid_share_of(1, matrix->rows * columns, core, cores);
    int32_t *sums = pixel_sums(matrix);
    row = share.items ? dory_quotient(share.first, columns) : 0;
    for (uint32_t pixel = share.first, column = pixel - row * columns; pixel < share.first + share.items; pixel++) {
        sums[row * room + column] = pixel_sum(matrix, pixel);
        if (++column == columns) {
            column = 0;
            row++;
        }
    }
}

/* Those that there are. */
static void copy_last_pixels(const struct matrix *matrix)
{
    uint32_t count = dory_minimum(4, matrix->columns);
    const uint8_t *input = (const uint8_t *)matrix->tile->input + (matrix->rows * matrix->columns - count) * matrix->terms;
    uint8_t *last = copies_of_pixels(matrix);
    for (uint32_t pixel = 0; pixel < count; pixel++) {
        for (uint32_t word = 0; word < matrix->words; word++, last += 4) {
            bool is_last = word == matrix->words - 1;
            dory_store_word(last, is_last ? last_word(matrix, input) : dory_load_word(input));
            input += is_last ? matrix->rest : 4;
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
    if (matrix.rest && !matrix.is_short && core == cores - 1) {
        copy_last_pixels(&matrix);
    }
}

/* ---- the second part ---- */

struct pixels {
    struct dory_blocks *blocks;
    const uint8_t *input;
    const int32_t *sums;
    int32_t step;        /* bytes of a pixel */
    const uint8_t *end;  /* of the tile, where its last pixels have copies; else null */
    const uint8_t *last; /* those */
    int32_t last_step;
    uint32_t last_count;
};

static void next_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct pixels *from = state;
    int32_t step = from->step;
    from->input -= (int32_t)back * step;
    from->sums -= back;
    pixels->input = from->input;
    if (from->input + (int32_t)count * step == from->end) {
        step = from->last_step;
        pixels->input = from->last + (int32_t)(from->last_count - count) * step;
    }
    pixels->offset[0] = step - 4;
    pixels->offset[1] = 2 * step - 4;
    pixels->offset[2] = 3 * step - 4;
    from->blocks->starts = from->sums;
    from->input += 4 * from->step;
    from->sums += 4;
    for (; count < 4; count++) {
        pixels->offset[count - 1] = DORY_MISSING_PIXEL;
    }
}

/* From the four `four` of a row on. */
static inline __attribute__((always_inline)) struct pixels pixels_of(const struct matrix *matrix, struct dory_blocks *blocks,
                                                                     uint32_t row, uint32_t four)
{
    uint32_t columns = matrix->columns, step = matrix->is_short ? 4 : matrix->terms;
    const uint8_t *copies = copies_of_pixels(matrix);
    const uint8_t *input = matrix->is_short ? copies : (const uint8_t *)matrix->tile->input;
    bool has_last = matrix->rest && !matrix->is_short;
    return (struct pixels){
        .blocks = blocks,
        .input = input + (row * columns + 4 * four) * step,
        .sums = pixel_sums(matrix) + row * dory_matrix_pixels(columns) + 4 * four,
        .step = (int32_t)step,
        .end = has_last ? input + matrix->rows * columns * step : NULL,
        .last = copies,
        .last_step = (int32_t)(4 * matrix->words),
        .last_count = dory_minimum(4, columns),
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
    product->output = (uint8_t *)tile->output + row * matrix->columns * product->output_pixel_bytes;
    run(product, share, next_pixels, &pixels);
}

static inline __attribute__((always_inline)) void multiply(const struct dory_layer *layer, const struct dory_tile *tile,
                                                           unsigned core, unsigned cores, enum dory_direct direct,
                                                           dory_product_runner *run)
{
    struct matrix matrix = matrix_of(layer, tile);
    struct dory_product product;
    dory_product_start(&product, layer, tile, direct, 4 * matrix.words, 1, 0);
    uint32_t fours = dory_divide_up(matrix.columns, 4);
    product.pixel_count = matrix.columns;
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

/* One for each way to finish, as convolutions have them. The first one is also for all that is not direct. */
#define MATRIX_PRODUCT(suffix, kind, end, direct, normalise)                                                                \
    DORY_DEFINE_MULTIPLY_FROM_STARTS(from##suffix, kind, end)                                                               \
    static void finish##suffix(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,  \
                               uint32_t pixels, uint32_t quad)                                                              \
    {                                                                                                                       \
        dory_product_finish_by(product, sum, constants, index, pixels, quad, normalise);                                    \
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
