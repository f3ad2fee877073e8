/* Element-wise addition of bytes. The input stages are linear unless they divide or clip, and so is the sum's up to its
 * shift: where that is so, one multiplication an input is enough. */
#include "share.h"
#include "stage.h"
#include "xpulpv2.h"
#include "dory/normalise.h"

/* y = clip((first * x + second * y + addend) >> shift) */
struct folded {
    int32_t first, second, addend, shift, minimum, maximum;
};

struct addition {
    const uint8_t *first, *second;
    uint8_t *output;
    uint32_t count;
    uint8_t first_sign, second_sign; /* 0x80 where signed */
    struct dory_narrow_stage input[2], sum[2];
};

static bool divides_or_clips(const struct dory_narrow_stage *stage)
{
    return stage->shift != 0 || stage->minimum != INT32_MIN || stage->maximum != INT32_MAX;
}

static int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

static bool fold(struct folded *folded, const struct addition *work)
{
    const struct dory_narrow_stage *a = &work->input[0], *b = &work->input[1], *sum = &work->sum[0];
    bool second_does_nothing = work->sum[1].multiplier == 1 && work->sum[1].addend == 0 && work->sum[1].shift == 0;
    if (divides_or_clips(a) || divides_or_clips(b) || !second_does_nothing || work->first_sign || work->second_sign) {
        return false;
    }
    int64_t first = (int64_t)a->multiplier * sum->multiplier, second = (int64_t)b->multiplier * sum->multiplier;
    int64_t addend = ((int64_t)a->addend + b->addend) * sum->multiplier + sum->addend;
    if (!dory_fits_32(first) || !dory_fits_32(second) || !dory_fits_32(addend) ||
        !dory_fits_32(255 * (magnitude(first) + magnitude(second)) + magnitude(addend))) {
        return false;
    }
    const struct dory_narrow_stage *last = &work->sum[1];
    *folded = (struct folded){(int32_t)first, (int32_t)second, (int32_t)addend, sum->shift,
                              p_min(p_max(sum->minimum, last->minimum), last->maximum),
                              p_min(p_max(sum->maximum, last->minimum), last->maximum)};
    return true;
}

static inline uint8_t add_folded(struct folded folded, uint32_t x, uint32_t y)
{
    int32_t sum = p_mac((int32_t)x * folded.first, (int32_t)y, folded.second);
    int32_t value = p_addnr(sum, folded.addend, folded.shift);
    return (uint8_t)p_min(p_max(value, folded.minimum), folded.maximum);
}

/* Four elements a round: products and loads are not used by the next instruction. */
static void run_folded(const struct addition *work, struct folded folded)
{
    const uint8_t *x = work->first, *y = work->second;
    uint8_t *output = work->output, *end = output + (work->count & ~3u);
    for (; output != end; x += 4, y += 4, output += 4) {
        uint32_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
        output[0] = add_folded(folded, x0, y0);
        output[1] = add_folded(folded, x1, y1);
        output[2] = add_folded(folded, x2, y2);
        output[3] = add_folded(folded, x3, y3);
    }
    for (uint32_t left = work->count & 3; left > 0; left--) {
        *output++ = add_folded(folded, *x++, *y++);
    }
}

static inline int32_t with_sign(uint8_t byte, uint8_t sign) { return (byte ^ sign) - sign; }

static void run_narrow(const struct addition *work)
{
    for (uint32_t i = 0; i < work->count; i++) {
        int32_t sum = dory_narrow_stage_apply(&work->input[0], with_sign(work->first[i], work->first_sign)) +
                      dory_narrow_stage_apply(&work->input[1], with_sign(work->second[i], work->second_sign));
        work->output[i] = (uint8_t)dory_narrow_stage_apply(&work->sum[1], dory_narrow_stage_apply(&work->sum[0], sum));
    }
}

static void run_wide(const struct addition *work, const struct dory_layer *layer)
{
    for (uint32_t i = 0; i < work->count; i++) {
        int64_t sum = dory_stage_apply(&layer->input_stage[0], with_sign(work->first[i], work->first_sign)) +
                      dory_stage_apply(&layer->input_stage[1], with_sign(work->second[i], work->second_sign));
        work->output[i] = (uint8_t)dory_stages_apply(layer, sum);
    }
}

/* Whether all stages do with 32 bits. */
static bool narrow(struct addition *work, const struct dory_layer *layer)
{
    struct dory_range first = dory_byte_range(work->first_sign), second = dory_byte_range(work->second_sign);
    if (!dory_narrow_stage_of(&work->input[0], &layer->input_stage[0], &first) ||
        !dory_narrow_stage_of(&work->input[1], &layer->input_stage[1], &second)) {
        return false;
    }
    struct dory_range sum = {first.least + second.least, first.most + second.most};
    return dory_fits_32(sum.least) && dory_fits_32(sum.most) && dory_narrow_stages_of(work->sum, layer, sum);
}

void dory_xpulpv2_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_grid_share share = dory_grid_share_of(1, (bytes + 3) / 4, core, cores); /* words */
    uint32_t start = 4 * share.first;
    struct addition work = {
        .first = (const uint8_t *)tile->input + start,
        .second = (const uint8_t *)tile->second_input + start,
        .output = (uint8_t *)tile->output + start,
        .count = start < bytes ? dory_minimum(4 * share.items, bytes - start) : 0,
        .first_sign = layer->input_is_signed ? 0x80 : 0,
        .second_sign = layer->second_input_is_signed ? 0x80 : 0,
    };
    struct folded folded;
    if (!narrow(&work, layer)) {
        run_wide(&work, layer);
    } else if (fold(&folded, &work)) {
        run_folded(&work, folded);
    } else {
        run_narrow(&work);
    }
}
