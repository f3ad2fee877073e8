/* Computes the element-wise addition of two tensors of bytes. Shapes: any, HWC, both inputs and the output equal, or the
 * second input of one pixel, or of one channel, which is repeated.
 *
 * Each core takes every eighth part of the words. Inner loop: four elements in 27 instructions, one multiply and one
 * multiply-add each, then shift, clip and pack; in 17 where both factors are bytes. That is where both input stages and the
 * sum's fold into one line; where one divides or clips, elements go through their stages one by one. */
#include "dory/normalise.h"
#include "folded.h"
#include "repeated.h"
#include "share.h"
#include "stage.h"
#include "xpulpv2.h"

struct addition {
    const uint8_t *first, *second;
    uint8_t *output;
    uint32_t count, start;           /* of the tile's elements; the first */
    uint8_t first_sign, second_sign; /* 0x80 where signed */
    struct dory_narrow_stage input[2], sum[2];
};

static bool divides_or_clips(const struct dory_narrow_stage *stage)
{
    return stage->shift != 0 || stage->minimum != INT32_MIN || stage->maximum != INT32_MAX;
}

/* Of bytes without a sign. In between sums may exceed 32 bits, which wraps around and back. */
static bool sum_fits(int64_t first, int64_t second, int64_t addend)
{
    int64_t least = addend + 255 * ((first < 0 ? first : 0) + (second < 0 ? second : 0));
    int64_t most = addend + 255 * ((first > 0 ? first : 0) + (second > 0 ? second : 0));
    return dory_fits_32(least) && dory_fits_32(most);
}

/* Up to the shift of the sum's first stage; its bounds are that stage's. */
static bool fold_first(struct folded *folded, const struct addition *work)
{
    const struct dory_narrow_stage *a = &work->input[0], *b = &work->input[1], *sum = &work->sum[0];
    if (divides_or_clips(a) || divides_or_clips(b) || sum->shift == DORY_DIVIDES || work->first_sign || work->second_sign) {
        return false;
    }
    int64_t first = (int64_t)a->multiplier * sum->multiplier, second = (int64_t)b->multiplier * sum->multiplier;
    int64_t addend = ((int64_t)a->addend + b->addend) * sum->multiplier + sum->addend;
    if (!dory_fits_32(first) || !dory_fits_32(second) || !sum_fits(first, second, addend)) {
        return false;
    }
    *folded = (struct folded){(int32_t)first, (int32_t)second, (int32_t)addend, sum->shift, sum->minimum, sum->maximum};
    return true;
}

/* The second stage only clips: its bounds are those of both. */
static bool fold(struct folded *folded, const struct addition *work)
{
    const struct dory_narrow_stage *last = &work->sum[1];
    if (last->multiplier != 1 || last->addend != 0 || last->shift != 0 || !fold_first(folded, work)) {
        return false;
    }
    folded->minimum = p_min(p_max(folded->minimum, last->minimum), last->maximum);
    folded->maximum = p_min(p_max(folded->maximum, last->minimum), last->maximum);
    return true;
}

static bool is_linear(const struct dory_stage *stage)
{
    return stage->divisor == 1 && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

/* The usual case: the product of the sum fits 32 bits, so that low words are enough for all that
 * leads there. No range need be followed through the stages, which takes as long as some hundred elements. */
static bool fold_proven(struct folded *folded, const struct addition *work, const struct dory_layer *layer)
{
    const struct dory_stage *a = &layer->stages->input[0], *b = &layer->stages->input[1], *sum = &layer->stages->first;
    if (!dory_sum_has_32_bits(layer) || layer->stages->has_second || work->first_sign || work->second_sign ||
        !is_linear(a) || !is_linear(b)) {
        return false;
    }
    uint32_t factor = (uint32_t)sum->multiplier, addend = (uint32_t)a->addend + (uint32_t)b->addend;
    folded->first = (int32_t)((uint32_t)a->multiplier * factor);
    folded->second = (int32_t)((uint32_t)b->multiplier * factor);
    folded->addend = (int32_t)(addend * factor + (uint32_t)sum->addend);
    folded->shift = (int32_t)dory_minimum(dory_exponent((uint64_t)sum->divisor), 31);
    folded->minimum = p_min(p_max(sum->minimum, layer->minimum), layer->maximum);
    folded->maximum = p_min(p_max(sum->maximum, layer->minimum), layer->maximum);
    return true;
}

static void run_folded(const struct addition *work, const struct folded *folded)
{
    uint32_t fours = folded->minimum >= 0 && folded->maximum <= 255 ? work->count / 4 : 0;
    if (fours != 0) { /* a hardware loop of no rounds is not allowed */
        (is_in_halves(folded) ? add_fours_in_halves : add_fours)(folded, work->first, work->second, work->output, fours);
    }
    for (uint32_t i = 4 * fours; i < work->count; i++) {
        work->output[i] = add_folded(folded, work->first[i], work->second[i]);
    }
}

/* ---- with a second stage ------------------------------------------------------------------------------------- */

/* A sum that is scaled and, behind it, an activation that scales once more: NEMO's residual blocks. */
static bool fold_twice(struct folded *folded, const struct addition *work)
{
    const struct dory_narrow_stage *sum = &work->sum[0], *last = &work->sum[1];
    return last->shift != DORY_DIVIDES && last->minimum >= 0 && last->maximum <= 255 && sum->minimum == INT32_MIN &&
           sum->maximum == INT32_MAX && fold_first(folded, work);
}

static inline uint8_t add_twice(struct folded folded, const struct dory_narrow_stage *last, uint32_t x, uint32_t y)
{
    int32_t sum = p_mac((int32_t)(x * (uint32_t)folded.first), (int32_t)y, folded.second);
    int32_t value = p_addnr(p_addnr(sum, folded.addend, folded.shift) * last->multiplier, last->addend, last->shift);
    return (uint8_t)p_min(p_max(value, last->minimum), last->maximum);
}

#if defined(DORY_XPULPV2)

#define SUM_SHIFT(x)    P_ADDNR("%[" x "]", "%[sum_addend]", "%[sum_shift]")
#define LAST_PRODUCT(x) "mul %[" x "], %[" x "], %[last_factor]\n"

/* Four elements in 36 instructions. */
static void add_fours_twice(struct folded folded, const struct addition *work, uint32_t fours)
{
    const struct dory_narrow_stage *last = &work->sum[1];
    const uint8_t *first = work->first, *second = work->second;
    uint8_t *output = work->output;
    uint32_t x[4], y[4];
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 36, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)
            DORY_FOUR(FIRST_PRODUCT) DORY_FOUR_PAIRS(SECOND_PRODUCT) DORY_FOUR(SUM_SHIFT) DORY_FOUR(LAST_PRODUCT)
                DORY_HIGH_STORE("1: ") ".option pop\n"
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])
        : [fours] "r"(fours), [one] "r"(1), [first_factor] "r"(folded.first), [second_factor] "r"(folded.second),
          [sum_addend] "r"(folded.addend), [sum_shift] "r"(folded.shift), [last_factor] "r"(last->multiplier),
          [addend] "r"(last->addend), [shift] "r"(last->shift), [maximum] "r"(last->maximum),
          [least] "r"((uint32_t)last->minimum * 0x01010101u)
        : "memory");
}

#else

static void add_fours_twice(struct folded folded, const struct addition *work, uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        work->output[i] = add_twice(folded, &work->sum[1], work->first[i], work->second[i]);
    }
}

#endif

static void run_twice(const struct addition *work, struct folded folded)
{
    uint32_t fours = work->count / 4;
    if (fours != 0) {
        add_fours_twice(folded, work, fours);
    }
    for (uint32_t i = 4 * fours; i < work->count; i++) {
        work->output[i] = add_twice(folded, &work->sum[1], work->first[i], work->second[i]);
    }
}

/* ---- by tables --------------------------------------------------------------------------------------------- */

static inline uint8_t add_by_tables(const struct dory_high *high, const uint8_t *tables, uint8_t x, uint8_t y)
{
    uint32_t sum = dory_load_word(tables + 4 * x) + dory_load_word(tables + 1024 + 4 * y);
    return (uint8_t)dory_high_apply(high, (int32_t)sum, 0);
}

#if defined(DORY_XPULPV2)

#define OFFSETS(x, y)                                                                                                       \
    "slli %[" x "], %[" x "], 2\n"                                                                                          \
    "slli %[" y "], %[" y "], 2\n"
#define LOOK_UP(x, y) P_LW_AT("%[" x "]", "%[" x "]", "%[first_table]") P_LW_AT("%[" y "]", "%[" y "]", "%[second_table]")
#define QUARTER(x)    "srai %[" x "], %[" x "], 2\n"
#define ADD(x, y)     "add %[" x "], %[" x "], %[" y "]\n"

/* Four elements; 40 instructions beside `products`. */
#define ADD_FOURS(products, count_of_them)                                                                                  \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 40 + count_of_them, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)       \
            DORY_FOUR_PAIRS(OFFSETS) DORY_FOUR_PAIRS(LOOK_UP) DORY_FOUR_PAIRS(ADD)                                          \
                products DORY_HIGH_STORE("1: ") ".option pop\n"                                                             \
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),            \
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])        \
        : [fours] "r"(fours), [one] "r"(1), [first_table] "r"(tables), [second_table] "r"(tables + 1024),                   \
          [multiplier] "r"(high->multiplier), [away] "r"(high->normaliser.away), [addend] "r"(high->addend),                \
          [shift] "r"(high->shift), [maximum] "r"(high->normaliser.maximum), [least] "r"(high->least)                       \
        : "memory")

static void add_fours_by_tables(const struct dory_high *high, const uint8_t *tables, const struct addition *work,
                                uint32_t fours)
{
    const uint8_t *first = work->first, *second = work->second;
    uint8_t *output = work->output;
    uint32_t x[4], y[4];
    if (high->is_unrounded && high->multiplier == DORY_QUARTER) {
        ADD_FOURS(DORY_FOUR(QUARTER), 4);
    } else if (high->is_unrounded) {
        ADD_FOURS(DORY_FOUR(DORY_HIGH), 4);
    } else if (high->is_even) { /* with this multiplier alone: addition_terms has no other */
        ADD_FOURS(DORY_FOUR(QUARTER) DORY_FOUR_PAIRS(DORY_EVEN), 16);
    } else {
        ADD_FOURS(DORY_FOUR_PAIRS(DORY_HIGH_AWAY), 12);
    }
}

#else

static void add_fours_by_tables(const struct dory_high *high, const uint8_t *tables, const struct addition *work,
                                uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        work->output[i] = add_by_tables(high, tables, work->first[i], work->second[i]);
    }
}

#endif

static void run_by_tables(const struct addition *work, const struct dory_layer *layer, const uint8_t *tables)
{
    struct dory_high high;
    dory_high_start(&high, layer, 0); /* the tables have done it */
    bool is_fast = high.is_byte && (!high.is_even || high.multiplier == DORY_QUARTER);
    uint32_t fours = is_fast ? work->count / 4 : 0;
    if (fours != 0) {
        add_fours_by_tables(&high, tables, work, fours);
    }
    for (uint32_t i = 4 * fours; i < work->count; i++) {
        work->output[i] = add_by_tables(&high, tables, work->first[i], work->second[i]);
    }
}

/* Each channel with its own scale. */
static void run_by_channels(const struct addition *work, const struct dory_layer *layer, const struct dory_tile *tile)
{
    const uint8_t *tables = tile->weights, *first = work->first, *second = work->second;
    const uint8_t *scales = tables + 4 * dory_channel_scale(layer, tile->first_channel), *end = scales + 16 * tile->channels;
    const uint8_t *scale = end - 16 * (tile->channels - work->start % tile->channels);
    struct dory_high high;
    dory_high_start(&high, layer, 0);
    for (uint8_t *output = work->output, *last = output + work->count; output < last; scale += 16) {
        scale = scale == end ? scales : scale;
        high.multiplier = (int32_t)dory_load_word(scale + 4);
        high.addend = (int32_t)dory_load_word(scale + 8);
        high.shift = (int32_t)dory_load_word(scale + 12);
        *output++ = add_by_tables(&high, tables, *first++, *second++);
    }
}

/* ---- by shifts --------------------------------------------------------------------------------------------- */

/* Inputs that are requantised each, and a sum that is only clipped, without signs: what Quantlab's additions are. Bounds of
 * the inputs that no element exceeds are none (stage.c). */
static bool only_shifts(const struct addition *work)
{
    const struct dory_narrow_stage *sum = work->sum;
    for (unsigned i = 0; i < 2; i++) {
        const struct dory_narrow_stage *input = &work->input[i];
        if (input->shift == DORY_DIVIDES || input->minimum != INT32_MIN || input->maximum != INT32_MAX ||
            sum[i].multiplier != 1 || sum[i].addend != 0 || sum[i].shift != 0) {
            return false;
        }
    }
    return !work->first_sign && !work->second_sign && sum[1].minimum >= 0 && sum[1].maximum <= 255 &&
           sum[0].minimum <= sum[1].minimum && sum[0].maximum >= sum[1].maximum;
}

static inline uint8_t add_shifted(const struct addition *work, uint8_t first, uint8_t second)
{
    const struct dory_narrow_stage *a = &work->input[0], *b = &work->input[1], *last = &work->sum[1];
    int32_t sum = p_addnr(first * a->multiplier, a->addend, a->shift) + p_addnr(second * b->multiplier, b->addend, b->shift);
    return (uint8_t)p_min(p_max(sum, last->minimum), last->maximum);
}

#if defined(DORY_XPULPV2)

#define SHIFTED_PRODUCTS(x, y)                                                                                              \
    "mul %[" x "], %[" x "], %[first_factor]\n"                                                                             \
    "mul %[" y "], %[" y "], %[second_factor]\n"
#define SHIFTS(x, y)                                                                                                        \
    P_ADDNR("%[" x "]", "%[first_addend]", "%[first_shift]") P_ADDNR("%[" y "]", "%[second_addend]", "%[second_shift]")

/* Four elements in 36 instructions. */
static void add_fours_shifted(const struct addition *work, uint32_t fours)
{
    const struct dory_narrow_stage *a = &work->input[0], *b = &work->input[1], *last = &work->sum[1];
    const uint8_t *first = work->first, *second = work->second;
    uint8_t *output = work->output;
    uint32_t x[4], y[4];
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 36, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)
            DORY_FOUR_PAIRS(SHIFTED_PRODUCTS) DORY_FOUR_PAIRS(SHIFTS) DORY_FOUR_PAIRS(ADD) DORY_FOUR(DORY_HIGH_CLIP)
                DORY_CLIPPED_STORE("1: ") ".option pop\n"
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])
        : [fours] "r"(fours), [one] "r"(1), [first_factor] "r"(a->multiplier), [second_factor] "r"(b->multiplier),
          [first_addend] "r"(a->addend), [second_addend] "r"(b->addend), [first_shift] "r"(a->shift),
          [second_shift] "r"(b->shift), [maximum] "r"(last->maximum), [least] "r"((uint32_t)last->minimum * 0x01010101u)
        : "memory");
}

#else

static void add_fours_shifted(const struct addition *work, uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        work->output[i] = add_shifted(work, work->first[i], work->second[i]);
    }
}

#endif

static void run_shifted(const struct addition *work)
{
    uint32_t fours = work->count / 4;
    if (fours != 0) {
        add_fours_shifted(work, fours);
    }
    for (uint32_t i = 4 * fours; i < work->count; i++) {
        work->output[i] = add_shifted(work, work->first[i], work->second[i]);
    }
}

/* ---- in stages --------------------------------------------------------------------------------------------- */

static inline int32_t with_sign(uint8_t byte, uint8_t sign) { return (byte ^ sign) - sign; }

static void run_narrow(const struct addition *work)
{
    const struct addition kept = *work; /* which no store of an element changes */
    for (uint32_t i = 0; i < kept.count; i++) {
        int32_t sum = dory_narrow_stage_apply(&kept.input[0], with_sign(kept.first[i], kept.first_sign)) +
                      dory_narrow_stage_apply(&kept.input[1], with_sign(kept.second[i], kept.second_sign));
        kept.output[i] = (uint8_t)dory_narrow_stage_apply(&kept.sum[1], dory_narrow_stage_apply(&kept.sum[0], sum));
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

/* ---- all of a core's elements ------------------------------------------------------------------------------- */

enum way { BY_TABLES, BY_CHANNELS, FOLDED, TWICE, SHIFTED, NARROW, WIDE };

static enum way choose_way(struct addition *work, struct folded *folded, const struct dory_layer *layer)
{
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        return BY_TABLES;
    }
    if (layer->normalisation == DORY_NORMALISE_CHANNELS) {
        return BY_CHANNELS;
    }
    if (fold_proven(folded, work, layer)) {
        return FOLDED;
    }
    if (!dory_narrow_addition_of(work->input, work->sum, layer)) {
        return WIDE;
    }
    return fold(folded, work) ? FOLDED : fold_twice(folded, work) ? TWICE : only_shifts(work) ? SHIFTED : NARROW;
}

static void run(const struct addition *work, enum way way, const struct folded *folded, const struct dory_layer *layer,
                const struct dory_tile *tile)
{
    switch (way) {
    case BY_TABLES: run_by_tables(work, layer, tile->weights); break;
    case BY_CHANNELS: run_by_channels(work, layer, tile); break;
    case FOLDED: run_folded(work, folded); break;
    case TWICE: run_twice(work, *folded); break;
    case SHIFTED: run_shifted(work); break;
    case NARROW: run_narrow(work); break;
    case WIDE: run_wide(work, layer); break;
    }
}

/* Elements from `start` on that are done at once: up to the end of their row where there is a gap behind it. */
static uint32_t together(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t start, uint32_t end)
{
    uint32_t row_bytes = (uint32_t)tile->columns * tile->channels, count = end - start;
    if (layer->rows.output_gap) {
        count = dory_minimum(count, row_bytes - start % row_bytes);
    }
    return layer->second_repeats ? dory_minimum(count, DORY_REPEATED_BATCH) : count;
}

/* Where an element lies in the tile's output. */
static uint32_t place_of(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t start)
{
    uint32_t row_bytes = (uint32_t)tile->columns * tile->channels;
    return layer->rows.output_gap ? start + start / row_bytes * layer->rows.output_gap * tile->channels : start;
}

void dory_xpulpv2_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_line_share share = dory_line_share_of((bytes + 3) / 4, core, cores); /* words */
    uint32_t start = 4 * share.first, end = dory_minimum(start + 4 * share.items, bytes);
    uint8_t *laid = (uint8_t *)tile->scratch + core * DORY_REPEATED_BATCH;
    struct addition work; /* field by field: an initialiser would clear the rest */
    struct folded folded;
    work.first_sign = layer->input_is_signed ? 0x80 : 0;
    work.second_sign = layer->second_input_is_signed ? 0x80 : 0;
    enum way way = choose_way(&work, &folded, layer);
    for (; start < end; start += work.count) {
        work.count = together(layer, tile, start, end);
        work.start = start;
        work.first = (const uint8_t *)tile->input + start;
        work.second = (const uint8_t *)tile->second_input + start;
        work.output = (uint8_t *)tile->output + place_of(layer, tile, start);
        if (layer->second_repeats) {
            dory_repeat(laid, layer, tile, start, work.count);
            work.second = laid;
        }
        run(&work, way, &folded, layer, tile);
    }
}
