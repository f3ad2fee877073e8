/* Computes the element-wise addition and multiplication of elements of 8, 16 or 32 bits, where the faster kernels'
 * 32 bits are not proven to hold the sums: QDQ's sums of several tensors, sums of convolutions, factors of norms. Shapes:
 * any, HWC, the second input repeated for all pixels or for all channels, too.
 *
 * Each core takes a part of the elements. Inner loop: sixteen elements of both inputs become integers, each of which goes
 * through its stages in 64 bits; what a stage would not change is left out. */
#include <stdbool.h>

#include "../share.h"
#include "../stage.h"
#include "../xpulpv2.h"
#include "dory/normalise.h"
#include "wide.h"

enum end { END_PLAIN, END_SCALE, END_HIGH, END_THRESHOLDS, END_ANY };

struct wide {
    const struct dory_layer *layer;
    struct dory_wide_scale input[2], sum;
    struct dory_high high;
    const int32_t *thresholds;
    enum end end;
    int32_t minimum, maximum;
};

static inline int32_t shift_a_word(const struct dory_wide_scale *scale, int64_t scaled)
{
    return p_min(p_max((int32_t)(scaled >> 32) >> (scale->shift - 32), scale->minimum), scale->maximum);
}

static inline int32_t scale_apply(const struct dory_wide_scale *scale, int64_t value)
{
    int64_t scaled = scale->multiplier * value + scale->addend;
    if (scale->scaling == DORY_WIDE_SHIFTS_A_WORD) {
        return shift_a_word(scale, scaled);
    }
    scaled = scale->scaling == DORY_WIDE_DIVIDES ? dory_floor_divide(scaled, scale->divisor) : scaled >> scale->shift;
    return dory_clip(scaled, scale->minimum, scale->maximum);
}

static void start(struct wide *wide, const struct dory_layer *layer)
{
    const struct dory_stages *stages = layer->stages;
    wide->layer = layer;
    wide->thresholds = layer->constants.thresholds;
    wide->input[0] = dory_wide_scale_of(&stages->input[0], layer->input_bits);
    wide->input[1] = dory_wide_scale_of(&stages->input[1], layer->second_input_bits);
    wide->sum = dory_wide_scale_of(&stages->first, layer->operation == DORY_ADDITION ? 33 : 64);
    wide->minimum = layer->minimum;
    wide->maximum = layer->maximum;
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        wide->end = END_HIGH;
        dory_high_start(&wide->high, layer, layer->left_shift);
    } else if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        wide->end = END_THRESHOLDS;
    } else if (stages->has_second) {
        wide->end = END_ANY;
    } else {
        wide->end = wide->sum.scaling == DORY_WIDE_KEEPS ? END_PLAIN : END_SCALE;
    }
}

/* ---- elements ---- */

typedef uint16_t __attribute__((may_alias)) half;
typedef int16_t __attribute__((may_alias)) signed_half;
typedef int32_t __attribute__((may_alias)) word;

#define READ_AS(type)                                                                                                       \
    for (uint32_t i = 0; i < count; i++) {                                                                                  \
        values[i] = ((const type *)from)[i];                                                                                \
    }

static void read_elements(int32_t *values, const uint8_t *from, uint32_t count, uint32_t bits, bool is_signed)
{
    if (bits == 8 && !is_signed) {
        READ_AS(uint8_t)
    } else if (bits == 8) {
        READ_AS(int8_t)
    } else if (bits == 16 && !is_signed) {
        READ_AS(half)
    } else if (bits == 16) {
        READ_AS(signed_half)
    } else {
        READ_AS(word)
    }
}

static void write_elements(uint8_t *to, const int32_t *values, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; i++, to += bits / 8) {
        dory_store_element(to, values[i], bits / 8);
    }
}

/* ---- arithmetic ---- */

/* In 64 bits by the two words of the multiplier. */
static void shift_all(const struct dory_wide_scale scale, int32_t *values, uint32_t count)
{
    uint32_t low = (uint32_t)scale.multiplier, high = (uint32_t)(scale.multiplier >> 32);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t product = (uint64_t)((int64_t)values[i] * low) + ((uint64_t)((uint32_t)values[i] * high) << 32);
        values[i] = shift_a_word(&scale, (int64_t)(product + (uint64_t)scale.addend));
    }
}

static void scale_all(const struct dory_wide_scale *scale, int32_t *values, uint32_t count)
{
    switch (scale->scaling) {
    case DORY_WIDE_KEEPS: return;
    case DORY_WIDE_ADDS:
        for (uint32_t i = 0; i < count; i++) {
            values[i] += (int32_t)scale->addend;
        }
        return;
    case DORY_WIDE_SHIFTS_A_WORD: shift_all(*scale, values, count); return;
    default:
        for (uint32_t i = 0; i < count; i++) {
            values[i] = scale_apply(scale, values[i]);
        }
    }
}

static inline int32_t finish(const struct wide *wide, int64_t value)
{
    switch (wide->end) {
    case END_PLAIN: return dory_clip(value, wide->minimum, wide->maximum);
    case END_SCALE: return p_min(p_max(scale_apply(&wide->sum, value), wide->minimum), wide->maximum);
    case END_HIGH: return dory_high_apply(&wide->high, (int32_t)value, 0);
    case END_THRESHOLDS: return (int32_t)dory_count_thresholds(wide->thresholds, (int32_t)value);
    default: return dory_stages_apply(wide->layer, value);
    }
}

/* Sums, or products, of the scaled elements, in place of the first ones. */
static void combine(const struct wide *wide, int32_t *first, const int32_t *second, uint32_t count)
{
    if (wide->layer->operation == DORY_ADDITION) {
        for (uint32_t i = 0; i < count; i++) {
            first[i] = finish(wide, (int64_t)first[i] + second[i]);
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            first[i] = finish(wide, (int64_t)first[i] * second[i]);
        }
    }
}

/* `count` elements from `index` on; those of the second input from `second` on, or one for all of them. */
static void run(const struct wide *wide, const struct dory_tile *tile, uint32_t index, uint32_t second, uint32_t count)
{
    const struct dory_layer *layer = wide->layer;
    bool repeats = (layer->second_repeats & DORY_REPEATS_CHANNEL) != 0;
    const uint8_t *from[2] = {(const uint8_t *)tile->input + index * (layer->input_bits / 8u),
                              (const uint8_t *)tile->second_input + second * (layer->second_input_bits / 8u)};
    uint8_t *to = (uint8_t *)tile->output + index * (layer->output_bits / 8u);
    int32_t values[2][DORY_WIDE_BATCH];
    if (repeats) {
        read_elements(values[1], from[1], 1, layer->second_input_bits, layer->second_input_is_signed);
        scale_all(&wide->input[1], values[1], 1);
    }
    for (uint32_t i = 1; repeats && i < DORY_WIDE_BATCH; i++) {
        values[1][i] = values[1][0];
    }
    for (uint32_t done = 0; done < count; done += DORY_WIDE_BATCH) {
        uint32_t batch = dory_minimum(count - done, DORY_WIDE_BATCH);
        read_elements(values[0], from[0] + done * (layer->input_bits / 8u), batch, layer->input_bits,
                      layer->input_is_signed);
        scale_all(&wide->input[0], values[0], batch);
        if (!repeats) {
            read_elements(values[1], from[1] + done * (layer->second_input_bits / 8u), batch, layer->second_input_bits,
                          layer->second_input_is_signed);
            scale_all(&wide->input[1], values[1], batch);
        }
        combine(wide, values[0], values[1], batch);
        write_elements(to + done * (layer->output_bits / 8u), values[0], batch, layer->output_bits);
    }
}

static const int32_t *copy_thresholds(const struct dory_layer *layer, int32_t *to)
{
    for (uint32_t i = 0; i < DORY_THRESHOLDS; i++) {
        to[i] = layer->constants.thresholds[i];
    }
    return to;
}

/* Cores share elements; where the second input is repeated, runs end with their pixel. */
static void combine_tile(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct wide wide;
    uint32_t channels = tile->channels, repeats = layer->second_repeats;
    uint32_t columns = repeats ? channels : (uint32_t)tile->rows * tile->columns * channels;
    struct dory_grid_share share =
        dory_grid_share_of(repeats ? (uint32_t)tile->rows * tile->columns : 1, columns, core, cores);
    start(&wide, layer);
    if (wide.end == END_THRESHOLDS && share.items >= DORY_THRESHOLDS / 8) { /* from L2, where each search reads eight */
        wide.thresholds = copy_thresholds(layer, (int32_t *)tile->scratch + core * DORY_THRESHOLDS);
    }
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, columns), pixel = repeats & DORY_REPEATS_PIXEL ? 0 : share.row;
        uint32_t second = repeats & DORY_REPEATS_CHANNEL ? pixel : pixel * columns + share.first;
        run(&wide, tile, share.row * columns + share.first, second, end - share.first);
        dory_grid_share_next_row(&share, end);
    }
}

void dory_xpulpv2_addition_wide(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    combine_tile(layer, tile, core, cores);
}

void dory_xpulpv2_multiplication_wide(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                      unsigned cores)
{
    combine_tile(layer, tile, core, cores);
}
