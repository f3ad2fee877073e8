/* Computes additions, multiplications, squared differences and quotients of two tensors of bytes, of the same shape or the
 * second one a pixel or a channel that is repeated. Sums: both inputs scaled and added in 32 bits, or by a table for each
 * input and a scale in the high half of a product; products and squares with such a scale. Products, also to 16 bits, and
 * quotients, by a table for each input: a floor in 32 bits.
 *
 * Each core takes a part of the pixels. Inner loop: four elements in 33 instructions, by tables or of products in 37. */
#include "dory/share.h"

#include "armv7em.h"
#include "line.h"
#include "scale.h"

static inline uint32_t byte_of(uint32_t word, uint32_t i) { return word >> 8 * i & 0xFF; }

/* From the line's products, without the addend. */
static inline __attribute__((always_inline)) uint32_t finish_line(const struct dory_line *line, bool clips,
                                                                  uint32_t products)
{
    int32_t sum = (int32_t)(products + (uint32_t)line->addend) >> line->shift;
    return clips ? (uint32_t)(sum < line->minimum   ? line->minimum
                              : sum > line->maximum ? line->maximum
                                                    : sum)
                 : dory_byte_of(sum);
}

/* Elements one after the other; of the second input, too, or the same four bytes for all. */
struct run {
    const uint8_t *first, *second;
    uint8_t *output;
    uint32_t count;
    uint32_t second_step;  /* 4 or 0 */
    uint32_t output_bytes; /* of an element */
};

/* What a kind does with an element of either input. */
struct combination {
    struct dory_line line;
    struct dory_scale scale;
    const int32_t *terms;
    uint32_t signs[2];  /* 0x80808080 where an input is signed */
    int32_t addends[2]; /* of factors */
};

enum kind { LINE, TERMS, FACTORS, SQUARES, PRODUCTS, QUOTIENTS };

/* `rounding` is that of a scale. */
static inline __attribute__((always_inline)) uint32_t combine(const struct combination *work, enum kind kind,
                                                              enum dory_finish rounding, bool clips, uint32_t a, uint32_t b)
{
    const struct dory_line *line = &work->line;
    if (kind == LINE) {
        return finish_line(line, clips, (uint32_t)line->first * a + (uint32_t)line->second * b);
    }
    if (kind == QUOTIENTS) {
        return finish_line(line, clips, (uint32_t)((int64_t)work->terms[a] * work->terms[256 + b] >> 32));
    }
    bool is_product = kind == FACTORS || kind == PRODUCTS;
    int32_t value = is_product ? ((int32_t)a + work->addends[0]) * ((int32_t)b + work->addends[1])
                               : (int32_t)((uint32_t)work->terms[a] + (uint32_t)work->terms[256 + b]);
    value = kind == SQUARES ? value * value : value;
    if (kind == PRODUCTS) {
        return finish_line(line, clips, (uint32_t)line->first * (uint32_t)value);
    }
    return dory_finish_sum(rounding, clips, &work->scale, value);
}

static inline __attribute__((always_inline)) void combine_run(const struct combination *work, enum kind kind,
                                                              enum dory_finish rounding, bool clips, struct run run)
{
    struct combination here = *work;
    for (; run.count >= 4; run.count -= 4, run.first += 4, run.second += run.second_step, run.output += 4) {
        uint32_t first = dory_word_at(run.first) ^ here.signs[0], second = dory_word_at(run.second) ^ here.signs[1];
#pragma GCC unroll 4
        for (uint32_t i = 0; i < 4; i++) {
            run.output[i] = (uint8_t)combine(&here, kind, rounding, clips, byte_of(first, i), byte_of(second, i));
        }
    }
    for (; run.count > 0; run.count--, run.second += run.second_step / 4) {
        uint32_t first = *run.first++ ^ (here.signs[0] & 0xFF), second = *run.second ^ (here.signs[1] & 0xFF);
        *run.output++ = (uint8_t)combine(&here, kind, rounding, clips, first, second);
    }
}

/* The same into elements of one byte or two. */
static void products(const struct combination *work, struct run run)
{
    struct combination here = *work;
    uint32_t second_step = run.second_step / 4, mask = 0xFF;
    for (; run.count > 0; run.count--, run.second += second_step, run.output += run.output_bytes) {
        uint32_t first = *run.first++ ^ (here.signs[0] & mask), second = *run.second ^ (here.signs[1] & mask);
        uint32_t value = combine(&here, PRODUCTS, DORY_FINISH_HIGH, true, first, second);
        if (run.output_bytes == 1) {
            *run.output = (uint8_t)value;
        } else {
            dory_put_half(run.output, value);
        }
    }
}

typedef void run_function(const struct combination *work, struct run run);

#define RUN(name, kind, rounding, clips)                                                                                    \
    static void name(const struct combination *work, struct run run) { combine_run(work, kind, rounding, clips, run); }
RUN(line, LINE, DORY_FINISH_HIGH, false)
RUN(line_clipped, LINE, DORY_FINISH_HIGH, true)
RUN(terms, TERMS, DORY_FINISH_HIGH, false)
RUN(terms_away, TERMS, DORY_FINISH_HIGH_AWAY, false)
RUN(terms_even, TERMS, DORY_FINISH_HIGH_EVEN, false)
RUN(terms_clipped, TERMS, DORY_FINISH_HIGH, true)
RUN(terms_away_clipped, TERMS, DORY_FINISH_HIGH_AWAY, true)
RUN(terms_even_clipped, TERMS, DORY_FINISH_HIGH_EVEN, true)
RUN(factors, FACTORS, DORY_FINISH_HIGH, true)
RUN(factors_away, FACTORS, DORY_FINISH_HIGH_AWAY, true)
RUN(factors_even, FACTORS, DORY_FINISH_HIGH_EVEN, true)
RUN(squares, SQUARES, DORY_FINISH_HIGH, true)
RUN(squares_away, SQUARES, DORY_FINISH_HIGH_AWAY, true)
RUN(squares_even, SQUARES, DORY_FINISH_HIGH_EVEN, true)
RUN(quotients, QUOTIENTS, DORY_FINISH_HIGH, true)

/* Pixels whose second input is one element each, or the same one for all. */
static void combine_channels(const struct combination *work, run_function *combine_all, struct run run, uint32_t pixels,
                             bool is_same)
{
    const uint8_t *second = run.second;
    const uint32_t output_bytes = run.count * run.output_bytes;
    for (; pixels > 0; pixels--, run.first += run.count, run.output += output_bytes, second += !is_same) {
        uint32_t word = *second * 0x01010101u;
        run.second = (const uint8_t *)&word;
        combine_all(work, run);
    }
}

/* A core's share: whole pixels, one after the other. */
static void combine_share(const struct combination *work, run_function *combine_all, const struct dory_layer *layer,
                          const struct dory_tile *tile, struct dory_share share)
{
    bool is_same = layer->second_repeats & DORY_REPEATS_PIXEL, is_channel = layer->second_repeats & DORY_REPEATS_CHANNEL;
    uint32_t channels = tile->channels, offset = share.first * channels, pixels = share.end - share.first;
    const uint32_t output_bytes = layer->output_bits / 8u;
    struct run run = {.first = (const uint8_t *)tile->input + offset,
                      .second = tile->second_input,
                      .output = (uint8_t *)tile->output + offset * output_bytes,
                      .count = channels,
                      .second_step = is_channel ? 0 : 4,
                      .output_bytes = output_bytes};
    run.second += is_same ? 0 : is_channel ? share.first : offset;
    if (is_channel) {
        combine_channels(work, combine_all, run, pixels, is_same);
        return;
    }
    run.count = is_same ? channels : pixels * channels;
    for (uint32_t runs = is_same ? pixels : 1; runs > 0; runs--) {
        combine_all(work, run);
        run.first += channels;
        run.output += channels * output_bytes;
    }
}

static void set_scale(struct combination *work, const struct dory_layer *layer, uint32_t left_shift)
{
    work->scale = dory_stage_scale_of(layer);
    work->scale.left_shift = left_shift;
}

void dory_armv7em_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    static run_function *const by_terms[2][3] = {{terms, terms_away, terms_even},
                                                 {terms_clipped, terms_away_clipped, terms_even_clipped}};
    struct combination work = {.terms = layer->constants.terms};
    run_function *function = by_terms[dory_clips(layer)][layer->rounding % 3];
    if (layer->normalisation == DORY_NORMALISE_HIGH) { /* the tables are indexed by bytes as they are, and shifted */
        set_scale(&work, layer, 0);
    } else {
        work.signs[0] = layer->input_is_signed ? 0x80808080u : 0;
        work.signs[1] = layer->second_input_is_signed ? 0x80808080u : 0;
        dory_fold_addition(layer, &work.line);
        function = work.line.minimum == 0 && work.line.maximum == 255 ? line : line_clipped;
    }
    combine_share(&work, function, layer, tile, dory_share_of((uint32_t)tile->rows * tile->columns, core, cores));
}

/* Of factors: signed bytes are read as 128 more. */
static struct combination factors_of(const struct dory_layer *layer)
{
    struct combination work = {
        .signs = {layer->input_is_signed ? 0x80808080u : 0, layer->second_input_is_signed ? 0x80808080u : 0}};
    for (unsigned i = 0; i < 2; i++) {
        work.addends[i] = (int32_t)layer->stages->input[i].addend - (work.signs[i] ? 128 : 0);
    }
    return work;
}

void dory_armv7em_multiplication(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    static run_function *const by_rounding[3] = {factors, factors_away, factors_even};
    struct combination work = factors_of(layer);
    set_scale(&work, layer, layer->left_shift & 31);
    combine_share(&work, by_rounding[layer->rounding % 3], layer, tile,
                  dory_share_of((uint32_t)tile->rows * tile->columns, core, cores));
}

/* The tables are indexed by bytes as they are. */
void dory_armv7em_squared_difference(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    static run_function *const by_rounding[3] = {squares, squares_away, squares_even};
    struct combination work = {.terms = layer->constants.terms};
    set_scale(&work, layer, layer->left_shift & 31);
    combine_share(&work, by_rounding[layer->rounding % 3], layer, tile,
                  dory_share_of((uint32_t)tile->rows * tile->columns, core, cores));
}

void dory_armv7em_multiplication_floor(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                       unsigned cores)
{
    struct combination work = factors_of(layer);
    dory_fold_product(layer, &work.line);
    combine_share(&work, products, layer, tile, dory_share_of((uint32_t)tile->rows * tile->columns, core, cores));
}

void dory_armv7em_quotient(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct combination work = {.terms = layer->constants.terms};
    dory_fold_quotient(layer, &work.line);
    combine_share(&work, quotients, layer, tile, dory_share_of((uint32_t)tile->rows * tile->columns, core, cores));
}
