#include <stdbool.h>

#include "dory/normalise.h"
#include "elements.h"
#include "reference.h"

/* What does not change from pixel to pixel. */
struct view {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t runs_per_row;   /* 1, or kernel_width where dilation separates the columns */
    uint32_t pixels_per_run; /* kernel_width, or 1 */
    uint32_t run_elements;
    uint32_t run_weight_bytes; /* of four channels */
    uint32_t quad_bytes;       /* in this tile */
    uint32_t constants_offset; /* in a quad */
    uint32_t input_pixel_bytes, output_pixel_bytes;
};

static struct view view_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    bool contiguous = layer->dilation_width == 1;
    struct view view = {.layer = layer, .tile = tile};
    view.runs_per_row = contiguous ? 1 : layer->kernel_width;
    view.pixels_per_run = contiguous ? layer->kernel_width : 1;
    view.run_elements = view.pixels_per_run * tile->input_channels;
    view.run_weight_bytes = dory_divide_up(view.run_elements, 4) * 2 * layer->weight_bits;
    view.constants_offset = layer->kernel_height * view.runs_per_row * view.run_weight_bytes;
    view.quad_bytes = view.constants_offset + (tile->last_chunk ? dory_constants_bytes(layer) : 0);
    view.input_pixel_bytes = dory_element_bytes(tile->input_channels, layer->input_bits);
    view.output_pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    return view;
}

static const uint8_t *run_start(const struct view *view, uint32_t y, uint32_t x, uint32_t run)
{
    const struct dory_layer *layer = view->layer;
    uint32_t row = y * layer->stride_height + run / view->runs_per_row * layer->dilation_height;
    uint32_t column = x * layer->stride_width + run % view->runs_per_row * layer->dilation_width;
    return (const uint8_t *)view->tile->input + (row * view->tile->input_columns + column) * view->input_pixel_bytes;
}

/* Four channels, 8-bit elements: the run is contiguous bytes on both sides. */
static void accumulate_bytes(const struct view *view, const uint8_t *input, const int8_t *weights, int32_t accumulator[4])
{
    bool is_signed = view->layer->input_is_signed;
    for (uint32_t element = 0; element < view->run_elements; element++) {
        const int8_t *column = weights + (element / 4) * 16 + element % 4;
        int32_t x = is_signed ? (int8_t)input[element] : input[element];
        for (unsigned lane = 0; lane < 4; lane++) {
            accumulator[lane] += x * column[4 * lane];
        }
    }
}

/* Four channels, elements and weights of any width. Byte i of a word of weights belongs to element i of four, and to the
 * channels that follow one another in it. */
static void accumulate_elements(const struct view *view, const uint8_t *input, const uint8_t *weights,
                                int32_t accumulator[4])
{
    const struct dory_layer *layer = view->layer;
    uint32_t channels = view->tile->input_channels, per_byte = 8u / layer->weight_bits;
    for (uint32_t element = 0; element < view->run_elements; element++) {
        const uint8_t *pixel = input + element / channels * view->input_pixel_bytes;
        int32_t x = dory_read_element(pixel, element % channels, layer->input_bits, layer->input_is_signed);
        const uint8_t *column = weights + element / 4 * 2 * layer->weight_bits + element % 4;
        for (unsigned lane = 0; lane < 4; lane++) {
            accumulator[lane] += x * dory_read_element(column + lane / per_byte * 4, lane % per_byte, layer->weight_bits, 1);
        }
    }
}

static void accumulate(const struct view *view, uint32_t y, uint32_t x, const uint8_t *quad, int32_t accumulator[4])
{
    uint32_t runs = view->layer->kernel_height * view->runs_per_row;
    bool bytes = view->layer->input_bits == 8 && view->layer->weight_bits == 8;
    for (uint32_t run = 0; run < runs; run++) {
        const uint8_t *input = run_start(view, y, x, run);
        const uint8_t *weights = quad + run * view->run_weight_bytes;
        if (bytes) {
            accumulate_bytes(view, input, (const int8_t *)weights, accumulator);
        } else {
            accumulate_elements(view, input, weights, accumulator);
        }
    }
}

static void compute_item(const struct view *view, uint32_t pixel, uint32_t quad)
{
    const struct dory_tile *tile = view->tile;
    const uint8_t *weights = (const uint8_t *)tile->weights + quad * view->quad_bytes;
    uint32_t first = quad * 4, lanes = dory_minimum(4, tile->channels - first);
    int32_t fresh[4] = {0};
    int32_t *accumulator = fresh;
    if (tile->accumulators) {
        accumulator = tile->accumulators + pixel * dory_round_up(tile->channels, 4) + first;
        if (tile->first_chunk) {
            memset(accumulator, 0, sizeof fresh);
        }
    }
    accumulate(view, pixel / tile->columns, pixel % tile->columns, weights, accumulator);
    if (!tile->last_chunk) {
        return;
    }
    uint8_t *output = (uint8_t *)tile->output + pixel * view->output_pixel_bytes;
    for (unsigned lane = 0; lane < lanes; lane++) {
        int32_t value = dory_normalise(view->layer, weights + view->constants_offset, lane, accumulator[lane]);
        dory_write_element(output, first + lane, view->layer->output_bits, value);
    }
}

void dory_reference_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct view view = view_of(layer, tile);
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, quads = dory_divide_up(tile->channels, 4);
    struct dory_share share = dory_share_of(pixels * quads, core, cores);
    for (uint32_t item = share.first; item < share.end; item++) {
        compute_item(&view, item % pixels, item / pixels);
    }
}
