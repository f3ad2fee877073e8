/* Bytes between the pixels of a tensor: weighted sums of two rows and two columns, and their thresholds. */
#include <stdbool.h>

#include "dory/normalise.h"
#include "elements.h"
#include "reference.h"

struct pixel {
    const uint8_t *corners[4]; /* of the input: two rows, of each two columns */
    int32_t weights[4];
};

/* Words of a row or column in `taps`: two positions, two weights. */
#define TAP_WORDS 4

static void find_pixel(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                       struct pixel *pixel)
{
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    const int32_t *taps = layer->taps + (has_thresholds ? DORY_THRESHOLDS : 0),
                  *row = taps + (size_t)TAP_WORDS * (tile->first_row + y);
    const int32_t *column = taps + (size_t)TAP_WORDS * ((size_t)layer->output_height + tile->first_column + x);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t position = (uint32_t)row[i / 2] * layer->input_width + (uint32_t)column[i % 2];
        pixel->corners[i] = (const uint8_t *)tile->input + position * tile->channels;
        pixel->weights[i] = row[2 + i / 2] * column[2 + i % 2];
    }
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
        struct pixel pixel;
        find_pixel(layer, tile, i / tile->columns, i % tile->columns, &pixel);
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            int32_t sum = 0;
            for (uint32_t corner = 0; corner < 4; corner++) {
                sum += pixel.weights[corner] * pixel.corners[corner][channel];
            }
            output[channel] = (uint8_t)finish(layer, tile->weights, sum);
        }
    }
}
