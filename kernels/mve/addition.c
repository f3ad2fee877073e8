/* Computes additions of two tensors of bytes of the same shape, or whose second one is a pixel that is repeated: both inputs
 * scaled and added in 32 bits, or by a table for each input and a scale in the high half of a product.
 *
 * Each core takes a part of the pixels. Inner loop: four elements in 13 instructions, by tables in about 20. */
#include "dory/share.h"

#include "lanes.h"
#include "line.h"
#include "mve.h"

/* Elements one after the other. */
struct run {
    const uint8_t *first, *second;
    uint8_t *output;
    uint32_t count;
};

/* What a kind does with an element of either input. */
struct sum {
    struct dory_line line;
    struct dory_scale scale;
    const int32_t *terms;
    uint32_t signs[2]; /* 0x80 where an input is signed */
};

enum kind { LINE, SIGNED_LINE, TERMS };

/* A line's scale is its bounds, its shift, and its addend. */
static inline __attribute__((always_inline)) int32x4_t add_four(const struct sum *sum, enum kind kind,
                                                                enum dory_finish rounding,
                                                                const struct dory_lanes_scale *scale, uint32x4_t first,
                                                                uint32x4_t second)
{
    if (kind == TERMS) {
        int32x4_t terms = vaddq_s32(vldrwq_gather_shifted_offset_s32(sum->terms, first),
                                    vldrwq_gather_shifted_offset_s32(sum->terms + 256, second));
        return dory_finish_lanes(rounding, scale, terms);
    }
    if (kind == SIGNED_LINE) {
        first = veorq_u32(first, vdupq_n_u32(sum->signs[0]));
        second = veorq_u32(second, vdupq_n_u32(sum->signs[1]));
    }
    int32x4_t value = vmlaq_n_s32(scale->addend, vreinterpretq_s32_u32(first), sum->line.first);
    value = vshlq_s32(vmlaq_n_s32(value, vreinterpretq_s32_u32(second), sum->line.second), scale->shift);
    return vmaxq_s32(vminq_s32(value, scale->maximum), scale->minimum);
}

static inline __attribute__((always_inline)) void add_run(const struct sum *all, enum kind kind, enum dory_finish rounding,
                                                          struct run run)
{
    struct sum sum = *all;
    struct dory_lanes_scale scale = dory_lanes_scale_of(&sum.scale);
    for (uint32_t fours = run.count / 4; fours > 0; fours--, run.first += 4, run.second += 4, run.output += 4) {
        uint32x4_t first = vldrbq_u32(run.first), second = vldrbq_u32(run.second);
        vstrbq_s32((int8_t *)run.output, add_four(&sum, kind, rounding, &scale, first, second));
    }
    if (run.count % 4 != 0) {
        mve_pred16_t there = vctp32q(run.count % 4);
        uint32x4_t first = vldrbq_z_u32(run.first, there), second = vldrbq_z_u32(run.second, there);
        vstrbq_p_s32((int8_t *)run.output, add_four(&sum, kind, rounding, &scale, first, second), there);
    }
}

typedef void run_function(const struct sum *sum, struct run run);

#define RUN(name, kind, rounding)                                                                                           \
    static void name(const struct sum *sum, struct run run) { add_run(sum, kind, rounding, run); }
RUN(line, LINE, DORY_FINISH_HIGH)
RUN(signed_line, SIGNED_LINE, DORY_FINISH_HIGH)
RUN(terms, TERMS, DORY_FINISH_HIGH)
RUN(terms_away, TERMS, DORY_FINISH_HIGH_AWAY)
RUN(terms_even, TERMS, DORY_FINISH_HIGH_EVEN)

static run_function *use_terms(const struct dory_layer *layer, struct sum *sum)
{
    static run_function *const by_rounding[3] = {terms, terms_away, terms_even};
    sum->scale = dory_stage_scale_of(layer);
    sum->scale.left_shift = 0; /* of terms, which are shifted */
    return by_rounding[layer->rounding % 3];
}

static run_function *use_line(const struct dory_layer *layer, struct sum *sum)
{
    dory_fold_addition(layer, &sum->line);
    sum->scale.addend = sum->line.addend;
    sum->scale.shift = (uint32_t)sum->line.shift;
    sum->scale.minimum = sum->line.minimum;
    sum->scale.maximum = sum->line.maximum;
    sum->signs[0] = layer->input_is_signed ? 0x80 : 0;
    sum->signs[1] = layer->second_input_is_signed ? 0x80 : 0;
    return sum->signs[0] | sum->signs[1] ? signed_line : line;
}

void dory_mve_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    bool is_repeated = layer->second_repeats != 0; /* the pixel */
    uint32_t channels = tile->channels, offset = share.first * channels, pixels = share.end - share.first;
    struct sum sum = {.terms = layer->constants.terms};
    run_function *add = layer->normalisation == DORY_NORMALISE_HIGH ? use_terms(layer, &sum) : use_line(layer, &sum);
    struct run run = {(const uint8_t *)tile->input + offset,
                      (const uint8_t *)tile->second_input + (is_repeated ? 0 : offset), (uint8_t *)tile->output + offset,
                      is_repeated ? channels : pixels * channels};
    for (uint32_t runs = is_repeated ? pixels : 1; runs > 0; runs--) {
        add(&sum, run);
        run.first += channels;
        run.output += channels;
    }
}
