/* Computes norms of bytes over the channels of each pixel. Shapes: any, HWC.
 *
 * Each core takes a part of the pixels. Inner loops: four elements for both sums in 9 instructions; then an element at a
 * time, in runs that have one factor and term. */
#include "dory/norm.h"
#include "dory/share.h"

#include "armv7em.h"
#include "instructions.h"

#define ONES 0x00010001u

struct sums {
    int32_t sum, squares;
};

static struct sums sums_of(const uint8_t *input, uint32_t count)
{
    struct sums sums = {0, 0};
    for (; count >= 4; count -= 4, input += 4) {
        uint32_t word = dory_word_at(input), even = dory_even_bytes(word), odd = dory_odd_bytes(word);
        sums.sum = dory_smlad(even, ONES, dory_smlad(odd, ONES, sums.sum));
        sums.squares = dory_smlad(even, even, dory_smlad(odd, odd, sums.squares));
    }
    for (; count > 0; count--, input++) {
        sums.sum += *input;
        sums.squares += *input * *input;
    }
    return sums;
}

static struct dory_norm_row row_of(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel,
                                   const uint8_t *input)
{
    uint32_t n = layer->input_channels;
    struct sums sums = sums_of(input, n);
    if (layer->constants.norm->arithmetic != DORY_NORM_BY_ROOT) {
        return dory_norm_row_other(layer->constants.norm, n, (uint32_t)sums.sum, (uint32_t)sums.squares);
    }
    return layer->constants.norm->has_roots
               ? dory_norm_row_with(layer->constants.norm, n, (uint32_t)sums.sum,
                                    ((const uint8_t *)tile->second_input)[pixel])
               : dory_norm_row_of(layer->constants.norm, n, (uint32_t)sums.sum, (uint32_t)sums.squares);
}

/* Elements first .. first + count - 1 of a row, whose runs of constants begin with number `run`. */
static void apply(const struct dory_layer *layer, const struct dory_norm_row *row, const uint8_t *input, uint8_t *output,
                  uint32_t run, struct dory_share elements)
{
    const struct dory_norm *norm = layer->constants.norm;
    const struct dory_norm_row here = *row;
    uint32_t length = norm->run, left = length - elements.first % length;
    int32_t least = layer->minimum, most = layer->maximum;
    const struct dory_norm_constants *constants = dory_norm_constants(norm) + run + elements.first / length;
    for (uint32_t i = elements.first; i < elements.end; constants++, left = length) {
        for (uint32_t end = dory_minimum(elements.end, i + left); i < end; i++) {
            int32_t y = norm->arithmetic == DORY_NORM_BY_ROOT ? dory_norm_apply(norm, &here, constants, input[i])
                                                              : dory_norm_apply_other(norm, &here, constants, input[i]);
            *output++ = (uint8_t)(y < least ? least : y > most ? most : y);
        }
    }
}

void dory_armv7em_norm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t n = layer->input_channels, runs = n / layer->constants.norm->run, first = tile->first_channel;
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint32_t y = tile->first_row + pixel / tile->columns, x = tile->first_column + pixel % tile->columns;
        const uint8_t *input = (const uint8_t *)tile->input + pixel * n;
        struct dory_norm_row row = row_of(layer, tile, pixel, input);
        apply(layer, &row, input, (uint8_t *)tile->output + pixel * tile->channels,
              (y * layer->output_width + x) * runs % layer->constants.norm->count,
              (struct dory_share){first, first + tile->channels});
    }
}
