/* Computes the addition of two tensors of bytes of the same shape: both scaled and added in 32 bits, or by a table for each
 * input and a scale in the high half of a product.
 *
 * Each core takes a part of the elements. Inner loop: four elements in 33 instructions, by tables in 37. */
#include "armv7em.h"
#include "finish.h"
#include "line.h"
#include "share.h"

static inline uint32_t byte_of(uint32_t word, uint32_t i) { return word >> 8 * i & 0xFF; }

static inline __attribute__((always_inline)) uint32_t add_line(const struct dory_line *line, bool clips, uint32_t a,
                                                               uint32_t b)
{
    int32_t sum = (int32_t)((uint32_t)line->first * a + (uint32_t)line->second * b + (uint32_t)line->addend) >> line->shift;
    return clips ? (uint32_t)(sum < line->minimum   ? line->minimum
                              : sum > line->maximum ? line->maximum
                                                    : sum)
                 : dory_byte_of(sum);
}

/* What a kind of addition does with an element of either input. */
struct addition {
    struct dory_line line;
    struct dory_scale scale;
    const int32_t *terms;
    uint32_t signs[2]; /* 0x80808080 where an input is signed */
};

enum kind { LINE, LINE_CLIPPED, TERMS, TERMS_AWAY, TERMS_EVEN, TERMS_CLIPPED };

static inline __attribute__((always_inline)) uint32_t add(const struct addition *work, enum kind kind,
                                                          enum dory_finish rounding, uint32_t a, uint32_t b)
{
    if (kind == LINE || kind == LINE_CLIPPED) {
        return add_line(&work->line, kind == LINE_CLIPPED, a, b);
    }
    int32_t sum = (int32_t)((uint32_t)work->terms[a] + (uint32_t)work->terms[256 + b]);
    return dory_finish_sum(rounding, kind == TERMS_CLIPPED, &work->scale, sum);
}

static inline __attribute__((always_inline)) void add_run(const struct addition *work, enum kind kind,
                                                          enum dory_finish rounding, const uint8_t *a, const uint8_t *b,
                                                          uint8_t *output, uint32_t count)
{
    struct addition here = *work;
    for (; count >= 4; count -= 4, a += 4, b += 4, output += 4) {
        uint32_t first = dory_word_at(a) ^ here.signs[0], second = dory_word_at(b) ^ here.signs[1];
#pragma GCC unroll 4
        for (uint32_t i = 0; i < 4; i++) {
            output[i] = (uint8_t)add(&here, kind, rounding, byte_of(first, i), byte_of(second, i));
        }
    }
    for (; count > 0; count--) {
        uint32_t first = *a++ ^ (here.signs[0] & 0xFF), second = *b++ ^ (here.signs[1] & 0xFF);
        *output++ = (uint8_t)add(&here, kind, rounding, first, second);
    }
}

static void add_all(const struct addition *work, enum kind kind, enum dory_finish rounding, const uint8_t *a,
                    const uint8_t *b, uint8_t *output, uint32_t count)
{
    switch (kind) {
    case LINE: add_run(work, LINE, DORY_FINISH_HIGH, a, b, output, count); break;
    case LINE_CLIPPED: add_run(work, LINE_CLIPPED, DORY_FINISH_HIGH, a, b, output, count); break;
    case TERMS: add_run(work, TERMS, DORY_FINISH_HIGH, a, b, output, count); break;
    case TERMS_AWAY: add_run(work, TERMS, DORY_FINISH_HIGH_AWAY, a, b, output, count); break;
    case TERMS_EVEN: add_run(work, TERMS, DORY_FINISH_HIGH_EVEN, a, b, output, count); break;
    default: add_run(work, TERMS_CLIPPED, rounding, a, b, output, count); break;
    }
}

/* The table is indexed by bytes as they are; its sums are shifted. */
static enum kind prepare(struct addition *work, const struct dory_layer *layer)
{
    if (layer->normalisation != DORY_NORMALISE_HIGH) {
        work->signs[0] = layer->input_is_signed ? 0x80808080u : 0;
        work->signs[1] = layer->second_input_is_signed ? 0x80808080u : 0;
        dory_fold_addition(layer, &work->line);
        return work->line.minimum == 0 && work->line.maximum == 255 ? LINE : LINE_CLIPPED;
    }
    const struct dory_stage *first = &layer->stages->first;
    work->terms = layer->terms;
    work->scale = dory_layer_scale_of(layer);
    work->scale.multiplier = (uint32_t)first->multiplier;
    work->scale.addend = (int32_t)first->addend;
    work->scale.shift = dory_exponent((uint64_t)first->divisor);
    work->scale.left_shift = 0;
    return dory_clips(layer) ? TERMS_CLIPPED : (enum kind)(TERMS + layer->rounding);
}

void dory_armv7em_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct addition work = {.signs = {0}};
    enum kind kind = prepare(&work, layer);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns * tile->channels, core, cores);
    add_all(&work, kind, (enum dory_finish)layer->rounding, (const uint8_t *)tile->input + share.first,
            (const uint8_t *)tile->second_input + share.first, (uint8_t *)tile->output + share.first,
            share.end - share.first);
}
