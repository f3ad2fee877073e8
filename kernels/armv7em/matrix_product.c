/* Computes products of two activations of bytes. Shapes: any, HWC; bytes or words come out.
 *
 * For each row (head), the second factor is copied to scratch as a convolution has its weights: quads of bytes with a sign.
 * Then four pixels of the first factor are laid as halves, and multiplied by two channels at a time; what is left of pixels
 * by fours is computed one by one. Inner loops: product.h.
 *
 * With a = x + A and b = w + B, where w is a byte with a sign: sum(a b) = sum((x + A) w) + B sum(x + A). Halves hold x + A.
 */
#include "dory/matrix_product.h"
#include "dory/share.h"

#include "armv7em.h"
#include "product.h"
#include "scale.h"

#define SIGNS 0x80808080u
#define ONES  0x00010001u

/* What does not change from row to row. */
struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    dory_finish_function *finish;
    uint32_t terms, groups; /* of four terms */
    uint32_t signs[2];      /* makes bytes of the first factor ones without a sign, of the second ones with */
    uint32_t addends;       /* A, in both halves */
    int32_t factor, bias;   /* B; what all sums start from */
    uint32_t *pairs;        /* four pixels; weights; the core's scratch */
    uint8_t *weights;
    uint32_t constants[4 * DORY_MATRIX_WORDS]; /* of four channels, which are alike */
};

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile, .finish = dory_finish_function_of(layer)};
    const struct dory_matrix_constants constants = dory_matrix_constants(layer);
    uint32_t words = dory_channel_constants_bytes(layer) / 4, quads = dory_divide_up(tile->channels, 4);
    for (uint32_t i = 0; i < 4 * words; i++) {
        work.constants[i] = constants.words[i % words];
    }
    work.terms = layer->input_channels;
    work.groups = dory_divide_up(work.terms, 4);
    work.signs[0] = layer->input_is_signed ? SIGNS : 0;
    work.signs[1] = layer->second_input_is_signed ? 0 : SIGNS;
    uint32_t addend = (uint32_t)layer->stages->input[0].addend - (layer->input_is_signed ? 128 : 0);
    work.addends = (addend & 0xFFFF) * ONES;
    work.factor = (int32_t)layer->stages->input[1].addend + (layer->second_input_is_signed ? 0 : 128);
    work.bias = dory_has_bias(dory_finish_of(layer)) ? (int32_t)constants.words[0] : 0;
    uint8_t *scratch = (uint8_t *)tile->scratch + core * (32 + 16 * quads) * work.groups;
    work.pairs = (uint32_t *)(void *)scratch;
    work.weights = scratch + 32 * work.groups;
    return work;
}

/* ---- laying ---- */

/* Every fourth word of a quad. Whatever is behind the last term is multiplied by 0. */
static void lay_channel(const struct work *work, const uint8_t *from, uint8_t *to)
{
    for (uint32_t words = work->terms / 4; words > 0; words--, from += 4, to += 16) {
        dory_put_word(to, dory_word_at(from) ^ work->signs[1]);
    }
    if (work->terms % 4 != 0) {
        dory_put_word(to, dory_end_of(from - work->terms / 4 * 4, work->terms) ^ work->signs[1]);
    }
}

/* The second factor of a row. Channels that fill up the last quad are not stored. */
static void lay_weights(const struct work *work, uint32_t row)
{
    uint32_t channels = work->tile->channels;
    const uint8_t *from = (const uint8_t *)work->tile->second_input + row * channels * work->terms;
    for (uint32_t channel = 0; channel < channels; channel++, from += work->terms) {
        lay_channel(work, from, work->weights + channel / 4 * 16 * work->groups + channel % 4 * 4);
    }
}

static inline __attribute__((always_inline)) int32_t lay_halves(uint32_t even, uint32_t odd, uint32_t *pairs, uint32_t step,
                                                                int32_t sum)
{
    pairs[0] = even;
    pairs[step] = odd;
    return dory_smlad(odd, ONES, dory_smlad(even, ONES, sum));
}

/* Lays a pixel of the first factor, whose words of a group are `step` apart; returns what its sums start from. */
static inline __attribute__((always_inline)) int32_t lay_pixel(const struct work *work, uint32_t pixel, uint32_t *pairs,
                                                               uint32_t step)
{
    uint32_t terms = work->terms, rest = terms % 4, addends = work->addends, signs = work->signs[0];
    const uint8_t *from = (const uint8_t *)work->tile->input + pixel * terms;
    int32_t sum = 0;
    for (uint32_t words = terms / 4; words > 0; words--, from += 4, pairs += 2 * step) {
        uint32_t word = dory_word_at(from) ^ signs;
        sum = lay_halves(dory_add_even_bytes(addends, word), dory_add_odd_bytes(addends, word), pairs, step, sum);
    }
    if (rest != 0) { /* halves behind the last term are 0 */
        uint32_t word = dory_end_of(from - terms / 4 * 4, terms) ^ signs >> (32 - 8 * rest);
        uint32_t even = rest == 3 ? addends : addends & 0xFFFF, odd = rest == 1 ? 0 : addends & 0xFFFF;
        sum = lay_halves(dory_add_even_bytes(even, word), dory_add_odd_bytes(odd, word), pairs, step, sum);
    }
    return (int32_t)((uint32_t)work->bias + (uint32_t)work->factor * (uint32_t)sum);
}

/* ---- products ---- */

static void finish(const struct work *work, struct dory_sums block, uint32_t pixel, uint32_t channel)
{
    uint32_t element_bytes = work->layer->output_bits / 8u, channels = work->tile->channels;
    block.pixel_bytes = channels * element_bytes;
    block.output = (uint8_t *)work->tile->output + (pixel * channels + channel) * element_bytes;
    block.channels = dory_minimum(block.in_pixel, channels - channel);
    work->finish(work->layer, (const uint8_t *)work->constants, &block);
}

static void compute_four(const struct work *work, uint32_t pixel)
{
    int32_t start[4], sums[8];
    for (uint32_t i = 0; i < 4; i++) {
        start[i] = lay_pixel(work, pixel + i, work->pairs + i, 4);
    }
    for (uint32_t channel = 0; channel < work->tile->channels; channel += 2) {
        for (uint32_t i = 0; i < 8; i++) {
            sums[i] = start[i / 2];
        }
        dory_product_pair(work->pairs, work->weights + channel / 4 * 16 * work->groups + channel % 4 * 4, sums,
                          work->groups);
        finish(work, (struct dory_sums){.sums = sums, .pixels = 4, .in_pixel = 2}, pixel, channel);
    }
}

static void compute_pixel(const struct work *work, uint32_t pixel)
{
    int32_t start = lay_pixel(work, pixel, work->pairs, 1);
    for (uint32_t channel = 0; channel < work->tile->channels; channel += 4) {
        int32_t sums[4] = {start, start, start, start};
        dory_product_quad(work->pairs, work->weights + channel * 4 * work->groups, sums, work->groups);
        finish(work, (struct dory_sums){.sums = sums, .pixels = 1, .in_pixel = 4}, pixel, channel);
    }
}

void dory_armv7em_matrix_product(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    uint32_t pixel = share.first;
    while (pixel < share.end) {
        uint32_t row = pixel / tile->columns, end = dory_minimum(share.end, (row + 1) * tile->columns);
        lay_weights(&work, row);
        for (; pixel + 4 <= end; pixel += 4) {
            compute_four(&work, pixel);
        }
        for (; pixel < end; pixel++) {
            compute_pixel(&work, pixel);
        }
    }
}
