/* Element-wise addition of bytes. The input stages are linear unless they divide or clip, and so is the sum's up to its
 * shift: where that is so, one multiplication an input is enough. */
#include "dory/normalise.h"
#include "share.h"
#include "stage.h"
#include "xpulpv2.h"

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
    if (divides_or_clips(a) || divides_or_clips(b) || sum->shift == DORY_DIVIDES || !second_does_nothing ||
        work->first_sign || work->second_sign) {
        return false;
    }
    int64_t first = (int64_t)a->multiplier * sum->multiplier, second = (int64_t)b->multiplier * sum->multiplier;
    int64_t addend = ((int64_t)a->addend + b->addend) * sum->multiplier + sum->addend;
    if (!dory_fits_32(first) || !dory_fits_32(second) || !dory_fits_32(addend) ||
        !dory_fits_32(255 * (magnitude(first) + magnitude(second)) + magnitude(addend))) {
        return false;
    }
    const struct dory_narrow_stage *last = &work->sum[1];
    *folded = (struct folded){(int32_t)first,
                              (int32_t)second,
                              (int32_t)addend,
                              sum->shift,
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

/* Two elements, each step for both, for a product is not ready for the next instruction. */
static inline void add_pair(struct folded folded, const uint8_t *x, const uint8_t *y, uint8_t *output)
{
#if defined(DORY_XPULPV2)
    int32_t a = x[0], b = x[1], y0 = y[0], y1 = y[1];
    __asm__("mul %0, %0, %4\n"
            "mul %1, %1, %4\n" P_MAC("%0", "%2", "%5") P_MAC("%1", "%3", "%5") P_ADDNR("%0", "%6", "%7")
                P_ADDNR("%1", "%6", "%7") P_MAX("%0", "%0", "%8") P_MAX("%1", "%1", "%8") P_MIN("%0", "%0", "%9")
                    P_MIN("%1", "%1", "%9")
            : "+r"(a), "+r"(b)
            : "r"(y0), "r"(y1), "r"(folded.first), "r"(folded.second), "r"(folded.addend), "r"(folded.shift),
              "r"(folded.minimum), "r"(folded.maximum));
    output[0] = (uint8_t)a;
    output[1] = (uint8_t)b;
#else
    output[0] = add_folded(folded, x[0], y[0]);
    output[1] = add_folded(folded, x[1], y[1]);
#endif
}

static void run_folded(const struct addition *work, struct folded folded)
{
    const uint8_t *x = work->first, *y = work->second;
    uint8_t *output = work->output, *end = output + (work->count & ~3u);
    for (; output != end; x += 4, y += 4, output += 4) {
        add_pair(folded, x, y, output);
        add_pair(folded, x + 2, y + 2, output + 2);
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
        int64_t sum = dory_stage_apply(&layer->stages->input[0], with_sign(work->first[i], work->first_sign)) +
                      dory_stage_apply(&layer->stages->input[1], with_sign(work->second[i], work->second_sign));
        work->output[i] = (uint8_t)dory_stages_apply(layer, sum);
    }
}

/* Whether all stages do with 32 bits. */
static bool narrow(struct addition *work, const struct dory_layer *layer)
{
    struct dory_range first = dory_byte_range(work->first_sign), second = dory_byte_range(work->second_sign);
    if (!dory_narrow_stage_of(&work->input[0], &layer->stages->input[0], &first) ||
        !dory_narrow_stage_of(&work->input[1], &layer->stages->input[1], &second)) {
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
    struct addition work; /* field by field: an initialiser would clear the rest */
    work.first = (const uint8_t *)tile->input + start;
    work.second = (const uint8_t *)tile->second_input + start;
    work.output = (uint8_t *)tile->output + start;
    work.count = start < bytes ? dory_minimum(4 * share.items, bytes - start) : 0;
    work.first_sign = layer->input_is_signed ? 0x80 : 0;
    work.second_sign = layer->second_input_is_signed ? 0x80 : 0;
    struct folded folded;
    if (!narrow(&work, layer)) {
        run_wide(&work, layer);
    } else if (fold(&folded, &work)) {
        run_folded(&work, folded);
    } else {
        run_narrow(&work);
    }
}
