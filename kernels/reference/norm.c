/* Computes norms of bytes over the channels of each pixel. Shapes: any, HWC. */
#include "dory/norm.h"
#include "dory/normalise.h"
#include "elements.h"
#include "reference.h"

/* Elements first .. first + count - 1 of the result; `pixel` is counted in the image; `root`: of a norm that has any. */
static void norm_row(const struct dory_layer *layer, const uint8_t *input, const uint8_t *root, uint8_t *output,
                     uint32_t pixel, uint32_t first, uint32_t count)
{
    const struct dory_norm *norm = layer->constants.norm;
    uint32_t sum = 0, squares = 0, n = layer->input_channels;
    for (uint32_t i = 0; i < n; i++) {
        sum += input[i];
        squares += (uint32_t)input[i] * input[i];
    }
    const struct dory_norm_row row = norm->arithmetic ? dory_norm_row_other(norm, n, sum, squares)
                                     : root           ? dory_norm_row_with(norm, n, sum, *root)
                                                      : dory_norm_row_of(norm, n, sum, squares);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t run = (pixel * (n / norm->run) + (first + i) / norm->run) % norm->count;
        const struct dory_norm_constants *constants = &dory_norm_constants(norm)[run];
        int32_t y = (norm->arithmetic ? dory_norm_apply_other : dory_norm_apply)(norm, &row, constants, input[first + i]);
        output[i] = (uint8_t)dory_clip(y, layer->minimum, layer->maximum);
    }
}

void dory_reference_norm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint32_t row = tile->first_row + pixel / tile->columns, column = tile->first_column + pixel % tile->columns;
        const uint8_t *root = layer->constants.norm->has_roots ? (const uint8_t *)tile->second_input + pixel : NULL;
        norm_row(layer, (const uint8_t *)tile->input + pixel * layer->input_channels, root,
                 (uint8_t *)tile->output + pixel * tile->channels, row * layer->output_width + column, tile->first_channel,
                 tile->channels);
    }
}
