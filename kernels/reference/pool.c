/* Computes maximum and average pools, additions, multiplications, concatenations and matrix products. Shapes: any, elements
 * of any bits, HWC.
 *
 * Each core takes a part of the pixels. Inner loop: one element of a window, or one of each input. Border that a pool's
 * input does not have, because it is in place, counts as border_value. */
#include <stdbool.h>

#include "dory/matrix_product.h"
#include "dory/normalise.h"
#include "elements.h"
#include "reference.h"

static int32_t pool(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x, uint32_t channel)
{
    bool maximum = layer->operation == DORY_MAXIMUM_POOL;
    uint32_t pixel_bytes = dory_element_bytes(tile->channels, layer->input_bits);
    int32_t result = maximum ? INT32_MIN : 0, lowest = layer->input_is_signed ? INT32_MIN >> (32 - layer->input_bits) : 0;
    int32_t outside = maximum ? lowest : layer->border_value;
    struct dory_border_rows border = dory_border_of(layer, tile);
    for (uint32_t ky = 0; ky < layer->kernel_height; ky++) {
        uint32_t row = y * layer->stride_height + ky * layer->dilation_height - border.top; /* may wrap */
        for (uint32_t kx = 0; kx < layer->kernel_width; kx++) {
            uint32_t column = x * layer->stride_width + kx * layer->dilation_width - border.left;
            int32_t value = outside;
            if (row < tile->input_rows && column < tile->input_columns) {
                const uint8_t *pixel = (const uint8_t *)tile->input + (row * tile->input_columns + column) * pixel_bytes;
                value = dory_read_element(pixel, channel, layer->input_bits, layer->input_is_signed);
            }
            result = !maximum ? result + value : value > result ? value : result;
        }
    }
    return result;
}

static int32_t finish(const struct dory_layer *layer, int64_t accumulator)
{
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        bool is_pool = layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL;
        int64_t biased = accumulator + (is_pool ? layer->stages->input[0].addend : 0);
        return dory_normalise_high_stages(layer, (int32_t)((uint32_t)biased << (layer->left_shift & 31)));
    }
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return (int32_t)dory_count_thresholds(layer->constants.thresholds, (int32_t)accumulator);
    }
    int64_t value = dory_stage_apply(&layer->stages->first, accumulator);
    if (layer->stages->has_second) {
        value = dory_stage_apply(&layer->stages->second, value);
    }
    return dory_clip(value, layer->minimum, layer->maximum);
}

void dory_reference_pool(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t output_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint8_t *output = (uint8_t *)tile->output + pixel * output_bytes;
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            int32_t accumulator = pool(layer, tile, pixel / tile->columns, pixel % tile->columns, channel);
            dory_write_element(output, channel, layer->output_bits, finish(layer, accumulator));
        }
    }
}

/* Element `channel` of a pixel of one of two inputs, as it is. */
static int32_t input_element(const struct dory_layer *layer, const struct dory_tile *tile, unsigned which, uint32_t pixel,
                             uint32_t channel)
{
    uint32_t bits = which ? layer->second_input_bits : layer->input_bits;
    const uint8_t *start = which ? tile->second_input : tile->input;
    uint32_t channels = tile->channels;
    if (which && (layer->second_repeats & DORY_REPEATS_PIXEL)) {
        pixel = 0;
    }
    if (dory_repeats_channel(layer, which)) {
        channel = 0;
        channels = 1;
    }
    return dory_read_element(start + pixel * dory_element_bytes(channels, bits), channel, bits,
                             which ? layer->second_input_is_signed : layer->input_is_signed);
}

/* With the channel's own scale. */
static int32_t finish_channel(const struct dory_layer *layer, int32_t accumulator, uint32_t channel)
{
    const int32_t *scale = layer->constants.scales + dory_channel_scale(layer, channel);
    return dory_normalise_high(layer, (const uint8_t *)scale, accumulator);
}

static int32_t add(const struct dory_layer *layer, int32_t a, int32_t b, uint32_t channel)
{
    if (!dory_adds_terms(layer)) {
        return finish(layer, dory_stage_apply(&layer->stages->input[0], a) + dory_stage_apply(&layer->stages->input[1], b));
    }
    uint32_t first = (uint32_t)layer->constants.terms[(uint8_t)a],
             second = (uint32_t)layer->constants.terms[256 + (uint8_t)b];
    int32_t sum = (int32_t)(first + second);
    return layer->normalisation == DORY_NORMALISE_CHANNELS ? finish_channel(layer, sum, channel)
                                                           : dory_normalise_high_stages(layer, sum);
}

static int32_t multiply(const struct dory_layer *layer, int32_t a, int32_t b, uint32_t channel)
{
    int64_t product = dory_stage_apply(&layer->stages->input[0], a) * dory_stage_apply(&layer->stages->input[1], b);
    return layer->normalisation == DORY_NORMALISE_CHANNELS ? finish_channel(layer, (int32_t)product, channel)
                                                           : finish(layer, product);
}

typedef int32_t combine_function(const struct dory_layer *layer, int32_t a, int32_t b, uint32_t channel);

static void combine_inputs(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                           combine_function *combine)
{
    uint32_t output_bytes = dory_element_bytes(tile->channels, layer->output_bits),
             pixels = (uint32_t)tile->rows * tile->columns;
    /* of fewer pixels than cores each core takes a part of the channels, where no two of these share a byte */
    uint32_t parts = pixels < cores && layer->output_bits >= 8 ? cores / pixels : 1;
    struct dory_share share = dory_share_of(pixels * parts, core, cores);
    for (uint32_t item = share.first; item < share.end; item++) {
        uint32_t pixel = item / parts;
        struct dory_share channels = dory_share_of(tile->channels, item % parts, parts);
        for (uint32_t channel = channels.first; channel < channels.end; channel++) {
            int32_t a = input_element(layer, tile, 0, pixel, channel), b = input_element(layer, tile, 1, pixel, channel);
            dory_write_element((uint8_t *)tile->output + pixel * output_bytes, channel, layer->output_bits,
                               combine(layer, a, b, tile->first_channel + channel));
        }
    }
}

void dory_reference_addition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    combine_inputs(layer, tile, core, cores, add);
}

void dory_reference_multiplication(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    combine_inputs(layer, tile, core, cores, multiply);
}

/* The sum for one element: `second` is the pixel of the second input that belongs to its channel. */
static int32_t multiply_pixels(const struct dory_layer *layer, const uint8_t *first, const uint8_t *second)
{
    int32_t zeros[2] = {(int32_t)layer->stages->input[0].addend, (int32_t)layer->stages->input[1].addend};
    uint32_t sum = 0; /* of all that it can be in the end, 32 bits hold everything */
    for (uint32_t k = 0; k < layer->input_channels; k++) {
        int32_t a = dory_read_element(first, k, layer->input_bits, layer->input_is_signed);
        int32_t b = dory_read_element(second, k, layer->second_input_bits, layer->second_input_is_signed);
        sum += (uint32_t)((a + zeros[0]) * (b + zeros[1]));
    }
    return (int32_t)sum;
}

/* As a convolution's channel, or by thresholds. */
static int32_t finish_product(const struct dory_layer *layer, int32_t sum)
{
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return finish(layer, sum);
    }
    struct dory_matrix_constants constants = dory_matrix_constants(layer);
    return dory_normalise(layer, (const uint8_t *)constants.words, 0, sum);
}

void dory_reference_matrix_product(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    uint32_t output_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    uint32_t first_bytes = dory_element_bytes(layer->input_channels, layer->input_bits);
    uint32_t second_bytes = dory_element_bytes(layer->input_channels, layer->second_input_bits);
    struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    struct dory_share share = dory_share_of(grid.rows * grid.columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *first = (const uint8_t *)tile->input + pixel * first_bytes;
        uint32_t row = pixel / grid.columns;
        const uint8_t *second = (const uint8_t *)tile->second_input + row * tile->channels * second_bytes;
        uint8_t *output = (uint8_t *)tile->output + dory_matrix_place(layer, &grid, row, pixel) * output_bytes;
        for (uint32_t channel = 0; channel < tile->channels; channel++, second += second_bytes) {
            dory_write_element(output, channel, layer->output_bits,
                               finish_product(layer, multiply_pixels(layer, first, second)));
        }
    }
}

static int32_t square(const struct dory_layer *layer, int32_t a, int32_t b, uint32_t channel)
{
    (void)channel;
    uint32_t sum = (uint32_t)layer->constants.terms[(uint8_t)a] + (uint32_t)layer->constants.terms[256 + (uint8_t)b];
    return dory_normalise_high_stages(layer, (int32_t)(sum * sum << (layer->left_shift & 31)));
}

void dory_reference_squared_difference(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                       unsigned cores)
{
    combine_inputs(layer, tile, core, cores, square);
}

static int32_t divide(const struct dory_layer *layer, int32_t a, int32_t b, uint32_t channel)
{
    (void)channel;
    int64_t product = (int64_t)layer->constants.terms[(uint8_t)a] * layer->constants.terms[256 + (uint8_t)b];
    return finish(layer, (int32_t)(product >> 32));
}

void dory_reference_quotient(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    combine_inputs(layer, tile, core, cores, divide);
}

/* An element of the accumulator: channel `channel` of the output comes from one input or the other. */
static int64_t joined(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel, uint32_t channel)
{
    unsigned which = channel >= layer->input_channels;
    uint32_t bits = which ? layer->second_input_bits : layer->input_bits;
    const uint8_t *input = which ? tile->second_input : tile->input;
    const uint8_t *start = input + pixel * dory_element_bytes(dory_input_channels(layer, which), bits);
    uint32_t is_signed = which ? layer->second_input_is_signed : layer->input_is_signed;
    return dory_stage_apply(&layer->stages->input[which],
                            dory_read_element(start, which ? channel - layer->input_channels : channel, bits, is_signed));
}

void dory_reference_concatenation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    uint32_t output_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint8_t *output = (uint8_t *)tile->output + pixel * output_bytes;
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            int64_t accumulator = joined(layer, tile, pixel, tile->first_channel + channel);
            dory_write_element(output, channel, layer->output_bits, finish(layer, accumulator));
        }
    }
}
