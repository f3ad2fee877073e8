/* Bytes between the pixels of a tensor: weighted sums of two rows and two columns, in the form DORY_NORMALISE_HIGH. */
#include "share.h"
#include "stage.h"
#include "xpulpv2.h"

/* Words of a row or column in `taps`: two positions, two weights. */
#define TAP_WORDS 4u

/* A scale of 2^-n: the high half of a product with 2^30 is a quarter of what is shifted to the left. */
#define UNIT       (1 << 30)
#define UNIT_SHIFT 2

struct interpolation {
    struct dory_high high;
    int32_t bias, above;   /* above: rows of the input above the tile */
    uint32_t weight_shift; /* where is_shift: the weights have the shift in them */
    bool is_shift, is_window;
};

struct pixel {
    const uint8_t *corners[4]; /* of the input: two rows, of each two columns */
    int32_t weights[4];
};

static inline struct pixel find_pixel(const struct interpolation *work, const struct dory_tile *tile, const int32_t *row,
                                      const int32_t *column, uint32_t input_width)
{
    const uint8_t *input = tile->input;
    uint32_t top = (uint32_t)(row[0] - work->above) * input_width, bottom = (uint32_t)(row[1] - work->above) * input_width;
    uint32_t channels = tile->channels;
    uint32_t left = (uint32_t)column[0], right = (uint32_t)column[1];
    int32_t upper = row[2] * (1 << work->weight_shift), lower = row[3] * (1 << work->weight_shift);
    return (struct pixel){{input + (top + left) * channels, input + (top + right) * channels,
                           input + (bottom + left) * channels, input + (bottom + right) * channels},
                          {upper * column[2], upper * column[3], lower * column[2], lower * column[3]}};
}

/* The loops have all that they need in registers: stores to the output could change what lies elsewhere. */
static inline int32_t sum_of(struct pixel pixel, uint32_t channel, int32_t bias)
{
    int32_t sum = p_mac(bias, pixel.corners[0][channel], pixel.weights[0]);
    sum = p_mac(sum, pixel.corners[1][channel], pixel.weights[1]);
    sum = p_mac(sum, pixel.corners[2][channel], pixel.weights[2]);
    return p_mac(sum, pixel.corners[3][channel], pixel.weights[3]);
}

static void interpolate(const struct interpolation *work, struct pixel pixel, uint8_t *output, uint32_t channels)
{
    const struct dory_high high = work->high;
    const int32_t bias = work->bias;
    for (uint32_t channel = 0; channel < channels; channel++) {
        output[channel] = (uint8_t)dory_high_apply(&high, sum_of(pixel, channel, bias), 0);
    }
}

static void interpolate_to_even(const struct interpolation *work, struct pixel pixel, uint8_t *output, uint32_t channels)
{
    const int32_t bias = work->bias, addend = work->high.addend, shift = work->high.shift;
    const int32_t most = work->high.normaliser.maximum, least = work->high.normaliser.minimum;
#pragma GCC unroll 4
    for (uint32_t channel = 0; channel < channels; channel++) {
        int32_t sum = sum_of(pixel, channel, bias);
        sum += sum >> shift & 1;
        output[channel] = (uint8_t)p_min(p_max(p_addnr(sum, addend, shift), least), most);
    }
}

static void interpolate_away(const struct interpolation *work, struct pixel pixel, uint8_t *output, uint32_t channels)
{
    const int32_t bias = work->bias, addend = work->high.addend, shift = work->high.shift;
    const int32_t away = work->high.normaliser.away; /* 0 for a floor */
    const int32_t most = work->high.normaliser.maximum, least = work->high.normaliser.minimum;
#pragma GCC unroll 4
    for (uint32_t channel = 0; channel < channels; channel++) {
        int32_t sum = sum_of(pixel, channel, bias);
        sum -= sum >> 31 & away;
        output[channel] = (uint8_t)p_min(p_max(p_addnr(sum, addend, shift), least), most);
    }
}

/* More than one pair of rows and columns, as windows take that leave the image: up to 6 x 6 elements with all addresses at
 * hand. */
#define MAXIMUM_PAIRS 9u

static void interpolate_windows(const struct interpolation *work, const struct pixel *pixels, uint32_t count,
                                uint8_t *output, uint32_t channels)
{
    const struct dory_high high = work->high;
    for (uint32_t channel = 0; channel < channels; channel++) {
        int32_t sum = work->bias;
        for (uint32_t i = 0; i < count; i++) {
            sum = sum_of(pixels[i], channel, sum);
        }
        output[channel] = (uint8_t)dory_high_apply(&high, sum, 0);
    }
}

static void interpolate_large_windows(const struct interpolation *work, const struct dory_layer *layer,
                                      const struct dory_tile *tile, const int32_t *row, const int32_t *column,
                                      uint8_t *output)
{
    const struct dory_high high = work->high;
    for (uint32_t channel = 0; channel < tile->channels; channel++) {
        int32_t sum = work->bias;
        for (uint32_t i = 0; i < layer->row_pairs; i++) {
            for (uint32_t k = 0; k < layer->column_pairs; k++) {
                sum = sum_of(find_pixel(work, tile, row + TAP_WORDS * i, column + TAP_WORDS * k, layer->input_width),
                             channel, sum);
            }
        }
        output[channel] = (uint8_t)dory_high_apply(&high, sum, 0);
    }
}

static void interpolate_window(const struct interpolation *work, const struct dory_layer *layer,
                               const struct dory_tile *tile, const int32_t *row, const int32_t *column, uint8_t *output)
{
    struct pixel pixels[MAXIMUM_PAIRS];
    uint32_t count = 0;
    if ((uint32_t)layer->row_pairs * layer->column_pairs > MAXIMUM_PAIRS) {
        interpolate_large_windows(work, layer, tile, row, column, output);
        return;
    }
    for (uint32_t i = 0; i < layer->row_pairs; i++) {
        for (uint32_t k = 0; k < layer->column_pairs; k++) {
            pixels[count++] = find_pixel(work, tile, row + TAP_WORDS * i, column + TAP_WORDS * k, layer->input_width);
        }
    }
    interpolate_windows(work, pixels, count, output, tile->channels);
}

static void start(struct interpolation *work, const struct dory_layer *layer)
{
    dory_high_start(&work->high, layer, layer->left_shift);
    work->bias = (int32_t)layer->stages->input[0].addend;
    work->weight_shift = 0;
    work->is_window = layer->row_pairs > 1 || layer->column_pairs > 1;
    work->is_shift = !work->is_window && work->high.multiplier == UNIT && layer->left_shift >= UNIT_SHIFT;
    if (work->is_shift) {
        work->weight_shift = layer->left_shift - UNIT_SHIFT;
        work->bias = (int32_t)((uint32_t)work->bias << work->weight_shift);
    }
}

void dory_xpulpv2_interpolation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct interpolation work;
    const uint32_t row_words = TAP_WORDS * layer->row_pairs, column_words = TAP_WORDS * layer->column_pairs;
    const int32_t *rows = layer->taps + row_words * tile->first_row;
    const int32_t *columns = layer->taps + row_words * layer->output_height + column_words * tile->first_column;
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    uint8_t *output = (uint8_t *)tile->output + (share.row * tile->columns + share.first) * tile->channels;
    start(&work, layer);
    work.above = dory_first_input_row(layer, tile->first_row);
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        const int32_t *row = rows + row_words * share.row;
        for (uint32_t column = share.first; column < end; column++, output += tile->channels) {
            struct pixel pixel = find_pixel(&work, tile, row, columns + column_words * column, layer->input_width);
            if (work.is_window) {
                interpolate_window(&work, layer, tile, row, columns + column_words * column, output);
            } else if (!work.is_shift) {
                interpolate(&work, pixel, output, tile->channels);
            } else if (layer->rounding == DORY_ROUND_EVEN) {
                interpolate_to_even(&work, pixel, output, tile->channels);
            } else {
                interpolate_away(&work, pixel, output, tile->channels);
            }
        }
        dory_grid_share_next_row(&share, end);
    }
}
