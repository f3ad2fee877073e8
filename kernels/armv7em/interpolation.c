/* Computes interpolation of bytes: weighted sums of rows and columns. Shapes: any, HWC.
 *
 * Each core takes a part of the pixels, and lists what a pixel of the output is made of, but for what weighs nothing. Inner
 * loop: a word of each of these pixels, four channels. */
#include "dory/share.h"

#include "armv7em.h"
#include "scale.h"

/* Words of a pair of rows or columns in `taps`: two positions, two weights. */
#define PAIR_WORDS 4u

/* A pixel of the input. */
struct part {
    uint32_t offset;
    int32_t weight;
};

struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    const int32_t *rows, *columns; /* of the tile's first pixel */
    uint32_t above;                /* rows of the input */
    struct part *parts;
    struct dory_scale scale;
    int32_t start; /* of sums */
};

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile};
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    const int32_t *rows = layer->constants.taps + (has_thresholds ? DORY_THRESHOLDS : 0);
    const int32_t *columns = rows + PAIR_WORDS * layer->output_height * layer->interpolation.row_pairs;
    uint32_t pairs = (uint32_t)layer->interpolation.row_pairs * layer->interpolation.column_pairs;
    work.rows = rows + PAIR_WORDS * layer->interpolation.row_pairs * tile->first_row;
    work.columns = columns + PAIR_WORDS * layer->interpolation.column_pairs * tile->first_column;
    work.above = (uint32_t)dory_first_input_row(layer, tile->first_row) + dory_border_of(layer, tile).top;
    work.parts = (struct part *)tile->scratch + core * 4 * pairs;
    if (!has_thresholds) {
        work.scale = dory_stage_scale_of(layer);
        work.start = (int32_t)layer->stages->input[0].addend;
    }
    return work;
}

/* Those of an output pixel; returns how many there are. */
static uint32_t list_parts(const struct work *work, uint32_t y, uint32_t x)
{
    uint32_t count = 0, pairs = work->layer->interpolation.column_pairs;
    const int32_t *row = work->rows + PAIR_WORDS * work->layer->interpolation.row_pairs * y;
    for (uint32_t i = 0; i < 2u * work->layer->interpolation.row_pairs; i++, row += i % 2 ? 1 : PAIR_WORDS - 1) {
        const int32_t *column = work->columns + PAIR_WORDS * pairs * x;
        for (uint32_t k = 0; k < 2 * pairs; k++, column += k % 2 ? 1 : PAIR_WORDS - 1) {
            uint32_t pixel = ((uint32_t)row[0] - work->above) * work->layer->input_width + (uint32_t)column[0];
            work->parts[count] = (struct part){pixel * work->tile->channels, row[2] * column[2]};
            count += work->parts[count].weight != 0;
        }
    }
    return count;
}

static uint8_t finish(const struct work *work, enum dory_finish kind, int32_t sum)
{
    return (uint8_t)(kind == DORY_FINISH_ANY ? dory_count_thresholds(work->tile->weights, sum)
                                             : dory_finish_sum(kind, true, &work->scale, sum));
}

static inline __attribute__((always_inline)) void blend(const struct work *work, enum dory_finish kind, uint32_t count,
                                                        uint8_t *output)
{
    const uint8_t *input = work->tile->input;
    uint32_t channels = work->tile->channels, channel = 0;
    for (; channel + 4 <= channels; channel += 4) {
        uint32_t a = (uint32_t)work->start, b = a, c = a, d = a;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t word = dory_word_at(input + work->parts[i].offset + channel), weight = (uint32_t)work->parts[i].weight;
            a += weight * (word & 0xFF);
            b += weight * (word >> 8 & 0xFF);
            c += weight * (word >> 16 & 0xFF);
            d += weight * (word >> 24);
        }
        output[channel] = finish(work, kind, (int32_t)a);
        output[channel + 1] = finish(work, kind, (int32_t)b);
        output[channel + 2] = finish(work, kind, (int32_t)c);
        output[channel + 3] = finish(work, kind, (int32_t)d);
    }
    for (; channel < channels; channel++) {
        uint32_t sum = (uint32_t)work->start;
        for (uint32_t i = 0; i < count; i++) {
            sum += (uint32_t)work->parts[i].weight * input[work->parts[i].offset + channel];
        }
        output[channel] = finish(work, kind, (int32_t)sum);
    }
}

typedef void blend_function(const struct work *work, uint32_t count, uint8_t *output);

#define BLEND(name, kind)                                                                                                   \
    static void name(const struct work *work, uint32_t count, uint8_t *output) { blend(work, kind, count, output); }
BLEND(blend_high, DORY_FINISH_HIGH)
BLEND(blend_away, DORY_FINISH_HIGH_AWAY)
BLEND(blend_even, DORY_FINISH_HIGH_EVEN)
BLEND(blend_thresholds, DORY_FINISH_ANY)

void dory_armv7em_interpolation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    static blend_function *const by_rounding[3] = {blend_high, blend_away, blend_even};
    struct work work = work_of(layer, tile, core);
    blend_function *blend_pixel =
        layer->normalisation == DORY_NORMALISE_THRESHOLDS ? blend_thresholds : by_rounding[layer->rounding % 3];
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint32_t count = list_parts(&work, pixel / tile->columns, pixel % tile->columns);
        blend_pixel(&work, count, (uint8_t *)tile->output + pixel * tile->channels);
    }
}
