/* Computes interpolation of bytes: weighted sums of rows and columns, of one or more pairs of either. Shapes: any, HWC.
 *
 * Each core takes a part of the output pixels. Inner loop: one product of a row's and a column's weight and an element. */
#include <stdbool.h>

#include "dory/normalise.h"
#include "elements.h"
#include "reference.h"

/* Words of a pair of rows or columns in `taps`: two positions, two weights. */
#define PAIR_WORDS 4u

/* The pairs of a pixel of the output. */
struct pixel {
    const int32_t *row, *column;
};

static struct pixel find_pixel(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x)
{
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    const int32_t *rows = layer->constants.taps + (has_thresholds ? DORY_THRESHOLDS : 0);
    const int32_t *columns = rows + PAIR_WORDS * layer->output_height * layer->interpolation.row_pairs;
    return (struct pixel){rows + PAIR_WORDS * layer->interpolation.row_pairs * (tile->first_row + y),
                          columns + PAIR_WORDS * layer->interpolation.column_pairs * (tile->first_column + x)};
}

static int32_t sum_of(const struct dory_layer *layer, const struct dory_tile *tile, struct pixel pixel, uint32_t channel)
{
    struct dory_border_rows border = dory_border_of(layer, tile);
    int32_t sum = 0;
    for (uint32_t i = 0; i < 2u * layer->interpolation.row_pairs; i++) {
        const int32_t *row = pixel.row + PAIR_WORDS * (i / 2) + i % 2;
        for (uint32_t k = 0; k < 2u * layer->interpolation.column_pairs; k++) {
            const int32_t *column = pixel.column + PAIR_WORDS * (k / 2) + k % 2;
            uint32_t inside = (uint32_t)(row[0] - dory_first_input_row(layer, tile->first_row)) - border.top;
            uint32_t position = inside * layer->input_width + (uint32_t)column[0];
            sum += row[2] * column[2] * ((const uint8_t *)tile->input)[position * tile->channels + channel];
        }
    }
    return sum;
}

static int32_t finish(const struct dory_layer *layer, const int32_t *thresholds, int32_t sum)
{
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return (int32_t)dory_count_thresholds(thresholds, sum);
    }
    uint32_t biased = (uint32_t)sum + (uint32_t)layer->stages->input[0].addend;
    return dory_normalise_high_stages(layer, (int32_t)(biased << (layer->left_shift & 31)));
}

void dory_reference_interpolation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t i = share.first; i < share.end; i++) {
        uint8_t *output = (uint8_t *)tile->output + i * tile->channels;
        struct pixel pixel = find_pixel(layer, tile, i / tile->columns, i % tile->columns);
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            output[channel] = (uint8_t)finish(layer, tile->weights, sum_of(layer, tile, pixel, channel));
        }
    }
}
