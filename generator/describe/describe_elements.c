/* Layers that make each element of others in its place, or near it: interpolations, tables, softmax, the largest. */
#include <limits.h>
#include <string.h>

#include "describe/description.h"
#include "describe/row_window.h"

/* Places that exponentials, of which the first is the largest, have to spare in a sum of 31 bits: quotients stay what they
 * are, and kernels have more of each to guess from. */
static uint32_t spare_places(const struct description *d)
{
    uint64_t most = (uint64_t)d->layer->exponentials[0] * (uint64_t)d->input->channels;
    uint32_t places = 0;
    while (places < 31 && most << (places + 1) <= (uint64_t)1 << 31)
        places++;
    return places;
}

/* Whole numbers for exponentials, and the thresholds of their quotients behind them. */
static void describe_exact_softmax(struct description *d)
{
    int32_t *words = arena_array(d->arena, int32_t, 256 + DORY_THRESHOLDS);
    d->record->operation = DORY_SOFTMAX;
    d->record->stages = NULL;
    for (int i = 0; i < 256; i++)
        words[i] = (int32_t)(d->layer->exponentials[i] << spare_places(d));
    d->record->constants.exponentials = (const uint32_t *)words;
    d->record->softmax.group_channels = (uint16_t)d->layer->group_channels;
    if (!same_shape(d->input, d->output) || d->input->bits != 8 || d->input->is_signed)
        REFUSE(d, NULL, "a softmax of elements that are no bytes without a sign, or into another shape");
    else
        describe_thresholds(d, described_accumulator(d), words + 256);
}

static int32_t *add_taps(int32_t *next, const struct layer_tap *taps, int count)
{
    for (int i = 0; i < count; i++, next += 4) {
        memcpy(next, taps[i].positions, sizeof taps[i].positions);
        memcpy(next + 2, taps[i].weights, sizeof taps[i].weights);
    }
    return next;
}

/* One scale where that is proven, which the chip's own kernel takes, else thresholds in front of the taps; returns where
 * these are. */
static int32_t *describe_sums(struct description *d, int32_t *words)
{
    int64_t bias;
    if (describe_high_stage(d, described_accumulator(d), &bias)) {
        d->stages->input[0] = d->stages->input[1] = (struct dory_stage){1, 0, 1, INT32_MIN, INT32_MAX};
        d->stages->input[0].addend = bias;
        return words;
    }
    d->record->stages = NULL;
    describe_thresholds(d, described_accumulator(d), words);
    return words + DORY_THRESHOLDS;
}

static void find_summed_rows(const struct description *d, struct row_span *spans)
{
    const struct layer_taps *taps = &d->layer->taps;
    for (int i = 0; i < d->output->height; i++) {
        spans[i] = (struct row_span){INT_MAX, -1};
        for (int k = 0; k < 2 * taps->row_pairs; k++) {
            int row = taps->rows[i * taps->row_pairs + k / 2].positions[k % 2];
            spans[i].first = row < spans[i].first ? row : spans[i].first;
            spans[i].last = row > spans[i].last ? row : spans[i].last;
        }
    }
}

/* As of a mapped copy, but for channels, each of which comes from itself: a tile needs no others. */
void describe_interpolation(struct description *d)
{
    const struct tensor *x = d->input, *y = d->output;
    const struct layer_taps *taps = &d->layer->taps;
    int rows = y->height * taps->row_pairs, columns = y->width * taps->column_pairs;
    int32_t *words = arena_array(d->arena, int32_t, 4 * ((size_t)rows + (size_t)columns) + DORY_THRESHOLDS);
    struct row_span *spans = arena_array(d->arena, struct row_span, (size_t)y->height);
    d->record->operation = DORY_INTERPOLATION;
    d->record->interpolation.row_pairs = (uint16_t)taps->row_pairs;
    d->record->interpolation.column_pairs = (uint16_t)taps->column_pairs;
    find_summed_rows(d, spans);
    set_row_window(d->record, find_row_window(spans, y->height, x->height));
    d->record->constants.taps = words;
    if (taps->row_pairs > 255 || taps->column_pairs > 255)
        REFUSE(d, NULL, "sums of %d rows and %d columns; up to %d of each are supported", 2 * taps->row_pairs,
               2 * taps->column_pairs, 2 * 255);
    else if (x->channels != y->channels || x->bits != 8 || x->is_signed || y->bits != 8 || y->is_signed)
        REFUSE(d, NULL, "interpolates elements that are no bytes without a sign, or into other channels");
    else
        add_taps(add_taps(describe_sums(d, words), taps->rows, rows), taps->columns, columns);
}

/* Functions of bytes by a table. */
void describe_table(struct description *d)
{
    const struct layer *layer = d->layer;
    bool is_softmax = layer->kind == LAYER_SOFTMAX;
    if (is_softmax && !layer->is_fixed_point) {
        describe_exact_softmax(d);
        return;
    }
    d->record->operation = is_softmax ? DORY_SOFTMAX : DORY_TABLE;
    d->record->minimum = INT32_MIN;
    d->record->maximum = INT32_MAX;
    d->record->stages = NULL;
    if (is_softmax)
        d->record->constants.exponentials = layer->exponentials;
    else
        d->record->constants.table = layer->table;
    if (!same_shape(d->input, d->output) || layer->stage_count > 0)
        REFUSE(d, NULL,
               "there is no firmware for a function of elements with stages, or of another shape; 'dory run' computes it");
    if (d->input->bits != 8 || d->input->is_signed || d->output->bits != 8 || d->output->is_signed)
        REFUSE(d, NULL, "a function of elements that are no bytes without a sign");
}

void describe_largest(struct description *d)
{
    const struct tensor *x = d->input, *y = d->output;
    d->record->operation = DORY_LARGEST;
    d->record->stages = NULL;
    describe_clip(d, NULL);
    if (x->height != y->height || x->width != y->width || y->channels != 1 || d->layer->stage_count > 0)
        REFUSE(d, NULL, "gives more than one element a pixel");
    if (x->bits != 8 || x->is_signed || y->bits < 8 || y->is_signed)
        REFUSE(d, NULL, "of elements that are no bytes without a sign");
}
