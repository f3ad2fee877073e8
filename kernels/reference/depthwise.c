/* Computes depth-wise layers. Shapes: any kernel, stride, dilation; elements of any bits; input HWC or CHW, output HWC.
 *
 * Each core takes a part of the pixels by quads of channels. Inner loop: one product. Border that the input does not have
 * counts as border_value: all of it where it is in place, columns of planes. */
#include "dory/normalise.h"
#include "elements.h"
#include "quads.h"
#include "reference.h"

static int32_t accumulate(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                          uint32_t channel, const uint8_t *weights)
{
    uint32_t row_bytes = dory_round_up(layer->kernel_width, 4);
    uint32_t pixel_bytes = dory_element_bytes(tile->input_channels, layer->input_bits);
    struct dory_border_rows border = dory_border_of(layer, tile);
    int32_t sum = 0;
    for (uint32_t ky = 0; ky < layer->kernel_height; ky++) {
        uint32_t row = y * layer->stride_height + ky * layer->dilation_height - border.top; /* may wrap */
        for (uint32_t kx = 0; kx < layer->kernel_width; kx++) {
            uint32_t column = x * layer->stride_width + kx * layer->dilation_width - border.left;
            int32_t value = layer->border_value;
            if (row < tile->input_rows && column < tile->input_columns) {
                const uint8_t *pixel = (const uint8_t *)tile->input + (row * tile->input_columns + column) * pixel_bytes;
                value = dory_read_element(pixel, channel, layer->input_bits, layer->input_is_signed);
            }
            sum += value * (int8_t)weights[ky * row_bytes + kx];
        }
    }
    return sum;
}

/* In CHW columns of border are never there. */
static int32_t accumulate_chw(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                              uint32_t channel, const uint8_t *weights)
{
    uint32_t row_bytes = dory_round_up(layer->kernel_width, 4),
             plane_bytes = (uint32_t)tile->input_rows * tile->input_columns;
    const uint8_t *plane = (const uint8_t *)tile->input + channel * plane_bytes;
    struct dory_border_rows border = dory_border_of(layer, tile);
    int32_t sum = 0;
    for (uint32_t ky = 0; ky < layer->kernel_height; ky++) {
        uint32_t row = y * layer->stride_height + ky * layer->dilation_height - border.top; /* may wrap */
        for (uint32_t kx = 0; kx < layer->kernel_width; kx++) {
            uint32_t column = x * layer->stride_width + kx * layer->dilation_width - layer->padding_left; /* may wrap */
            int32_t value = layer->border_value;
            if (row < tile->input_rows && column < tile->input_columns) {
                value = dory_read_element(plane + row * tile->input_columns, column, 8, layer->input_is_signed);
            }
            sum += value * (int8_t)weights[ky * row_bytes + kx];
        }
    }
    return sum;
}

typedef int32_t accumulate_function(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t y, uint32_t x,
                                    uint32_t channel, const uint8_t *weights);

/* Quads of channels, not channels, are what the cores share: elements below 8 bits of two cores must not meet in a byte. */
static void compute_item(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel, uint32_t quad)
{
    uint32_t channel_bytes = dory_depthwise_quad_weight_bytes(layer) / 4;
    const uint8_t *weights = (const uint8_t *)tile->weights + quad * (4 * channel_bytes + dory_constants_bytes(layer));
    uint8_t *output = (uint8_t *)tile->output + pixel * dory_element_bytes(tile->channels, layer->output_bits);
    accumulate_function *sum_of = layer->input_layout == DORY_CHW ? accumulate_chw : accumulate;
    for (uint32_t lane = 0; lane < 4 && quad * 4 + lane < tile->channels; lane++) {
        uint32_t channel = quad * 4 + lane;
        int32_t sum =
            sum_of(layer, tile, pixel / tile->columns, pixel % tile->columns, channel, weights + lane * channel_bytes);
        int32_t value = dory_normalise(layer, weights + 4 * channel_bytes, lane, sum);
        dory_write_element(output, channel, layer->output_bits, value);
    }
}

static void compute(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, quads = dory_divide_up(tile->channels, 4);
    struct dory_share share = dory_share_of(pixels * quads, core, cores);
    for (uint32_t item = share.first; item < share.end; item++) {
        compute_item(layer, tile, item / quads, item % quads);
    }
}

void dory_reference_depthwise(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    compute(layer, tile, core, cores);
}

void dory_reference_depthwise_chw(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    compute(layer, tile, core, cores);
}
