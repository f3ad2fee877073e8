/* Stages of pools and additions that are one line in 32 bits. Pure functions, compiled into the planner, too. */
#ifndef DORY_ARMV7EM_LINE_H
#define DORY_ARMV7EM_LINE_H

#include "dory/normalise.h"

/* y = clip((first * x + second * z + addend) >> shift), of which no part exceeds 32 bits. */
struct dory_line {
    int32_t first, second, addend, shift, minimum, maximum;
};

static inline bool dory_fits_word(int64_t value) { return value == (int32_t)value; }

static inline bool dory_is_power(int64_t divisor) { return (divisor & (divisor - 1)) == 0 && divisor <= 1 << 30; }

/* What an input's stage does: multiplies and adds, in 32 bits. */
static inline bool dory_is_plain(const struct dory_stage *stage)
{
    return stage->divisor == 1 && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX &&
           dory_fits_word(stage->multiplier) && dory_fits_word(stage->addend);
}

/* Adds the least and most that a product can be. */
static inline void dory_widen(int64_t range[2], int64_t multiplier, int64_t least, int64_t most)
{
    range[0] += multiplier * (multiplier < 0 ? most : least);
    range[1] += multiplier * (multiplier < 0 ? least : most);
}

/* The stage behind the sum first * x + second * z + addend, whose x and z are from `least` to `most`. */
static inline bool dory_fold_line(const struct dory_layer *layer, int64_t first, int64_t second, int64_t addend,
                                  int32_t least, int32_t most, struct dory_line *line)
{
    const struct dory_stage *stage = &layer->stages->first;
    int32_t low = stage->minimum, high = stage->maximum;
    if (layer->stages->has_second || !dory_is_power(stage->divisor) || !dory_fits_word(stage->multiplier) ||
        !dory_fits_word(stage->addend) || !dory_fits_word(first * stage->multiplier) ||
        !dory_fits_word(second * stage->multiplier) || !dory_fits_word(addend)) {
        return false;
    }
    first *= stage->multiplier;
    second *= stage->multiplier;
    addend = addend * stage->multiplier + stage->addend;
    int64_t range[2] = {addend, addend};
    dory_widen(range, first, least, most);
    dory_widen(range, second, least, most);
    low = low < layer->minimum ? layer->minimum : low > layer->maximum ? layer->maximum : low;
    high = high < layer->minimum ? layer->minimum : high > layer->maximum ? layer->maximum : high;
    *line = (struct dory_line){
        (int32_t)first, (int32_t)second, (int32_t)addend, (int32_t)dory_exponent((uint64_t)stage->divisor), low, high};
    return dory_fits_word(addend) && dory_fits_word(range[0]) && dory_fits_word(range[1]);
}

/* An addition whose inputs are only scaled. Signed bytes are read as 128 more. */
static inline bool dory_fold_addition(const struct dory_layer *layer, struct dory_line *line)
{
    const struct dory_stage *a = &layer->stages->input[0], *b = &layer->stages->input[1];
    if (!dory_is_plain(a) || !dory_is_plain(b)) {
        return false;
    }
    int64_t signs =
        (layer->input_is_signed ? 128 * a->multiplier : 0) + (layer->second_input_is_signed ? 128 * b->multiplier : 0);
    return dory_fold_line(layer, a->multiplier, b->multiplier, a->addend + b->addend - signs, 0, 255, line);
}

/* A byte and an addend of so many at most, either way, whose product with another has 20 bits and a sign. */
#define DORY_MOST_ADDEND 640

static inline bool dory_is_factor(const struct dory_stage *stage)
{
    return dory_is_plain(stage) && stage->multiplier == 1 && stage->addend >= -DORY_MOST_ADDEND &&
           stage->addend <= DORY_MOST_ADDEND;
}

/* A product of two bytes, to each of which something is added. */
static inline bool dory_fold_product(const struct dory_layer *layer, struct dory_line *line)
{
    return dory_is_factor(&layer->stages->input[0]) && dory_is_factor(&layer->stages->input[1]) &&
           dory_fold_line(layer, 1, 0, 0, -(1 << 20), 1 << 20, line);
}

/* The high half of the product of two terms, which has 30 bits. */
static inline bool dory_fold_quotient(const struct dory_layer *layer, struct dory_line *line)
{
    return layer->stages->first.multiplier == 1 && dory_fold_line(layer, 1, 0, 0, -(1 << 29), 1 << 29, line);
}

/* Bytes whose sum has 16 bits. */
#define DORY_POOL_TAPS (65535 / 255)

/* An average of so many bytes, whose sum is without a sign: signed bytes are read as 128 more. */
static inline bool dory_fold_average(const struct dory_layer *layer, uint32_t taps, struct dory_line *line)
{
    return dory_fold_line(layer, 1, 0, layer->input_is_signed ? -128 * (int64_t)taps : 0, 0, (int32_t)(255 * taps), line);
}

/* Whether bytes are stored as they are. */
static inline bool dory_is_identity(const struct dory_layer *layer, bool is_signed)
{
    const struct dory_stage *stage = &layer->stages->first;
    int32_t least = is_signed ? -128 : 0, most = least + 255;
    return !layer->stages->has_second && stage->multiplier == 1 && stage->addend == 0 && stage->divisor == 1 &&
           stage->minimum <= least && stage->maximum >= most && layer->minimum <= least && layer->maximum >= most;
}

#endif
