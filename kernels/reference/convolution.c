/* Computes convolutions and fully connected layers. Shapes: any kernel, stride, dilation, groups; elements and weights of
 * any bits; input HWC, output HWC or CHW.
 *
 * Each core takes a part of the pixels by quads of channels. Inner loop: one input element times the weights of a quad.
 * Border that the input does not have, because it is in place, counts as border_value. */
#include <stdbool.h>

#include "dory/normalise.h"
#include "elements.h"
#include "quads.h"
#include "reference.h"

/* What does not change from pixel to pixel. */
struct view {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t runs, runs_per_row; /* in a row: 1, or kernel_width where dilation separates the columns */
    uint32_t run_elements;
    uint32_t lanes;            /* of a quad in the blob */
    uint32_t quad_bytes;       /* in this tile */
    uint32_t constants_offset; /* in a quad */
    uint32_t input_pixel_bytes, output_pixel_bytes;
    struct dory_border_rows border; /* that the input does not have */
};

static struct view view_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    bool taps = dory_fills_taps(layer); /* each is a run */
    struct view view = {.layer = layer, .tile = tile, .lanes = dory_lanes(layer)};
    view.runs = taps ? layer->kernel_width : dory_runs(layer);
    view.runs_per_row = view.runs / layer->kernel_height;
    view.run_elements = taps ? tile->input_channels : dory_run_elements(layer, tile->input_channels);
    view.constants_offset = dory_chunk_bytes(layer, tile->input_channels);
    view.quad_bytes = view.constants_offset + (tile->last_chunk ? dory_constants_bytes(layer) : 0);
    view.input_pixel_bytes = dory_element_bytes(tile->input_channels, layer->input_bits);
    view.output_pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    view.border = dory_border_of(layer, tile);
    return view;
}

/* Where an element of the input is, or would be. */
struct place {
    int32_t row, column;
};

static struct place place_of(const struct view *view, uint32_t y, uint32_t x, uint32_t tap_row, uint32_t tap_column)
{
    const struct dory_layer *layer = view->layer;
    uint32_t row = y * layer->stride_height + tap_row * layer->dilation_height - view->border.top;
    uint32_t column = x * layer->stride_width + tap_column * layer->dilation_width - view->border.left;
    return (struct place){(int32_t)row, (int32_t)column}; /* negative in the border */
}

static const uint8_t *pixel_at(const struct view *view, struct place place)
{
    intptr_t pixel = place.row * view->tile->input_columns + place.column;
    return (const uint8_t *)((uintptr_t)view->tile->input + (uintptr_t)(pixel * (intptr_t)view->input_pixel_bytes));
}

/* Elements `first` to `end` of a run, whose weights come one after the other in the quad. */
struct span {
    uint32_t first, end;
    uint32_t position; /* of the first one in the chunk */
};

/* The part of a span in front of an element of the run, which is taken off it. */
static struct span cut_front(struct span *span, uint32_t element)
{
    struct span front = {span->first, element < span->first ? span->first : dory_minimum(element, span->end),
                         span->position};
    span->position += front.end - front.first;
    span->first = front.end;
    return front;
}

/* All channels of a quad, 8-bit elements. */
static void accumulate_bytes(const struct view *view, const uint8_t *input, const uint8_t *quad, struct span span,
                             int32_t accumulator[4])
{
    bool is_signed = view->layer->input_is_signed;
    for (; span.first < span.end; span.first++, span.position++) {
        const int8_t *column = (const int8_t *)quad + span.position / 4 * 4 * view->lanes + span.position % 4;
        int32_t x = is_signed ? (int8_t)input[span.first] : input[span.first];
        for (unsigned lane = 0; lane < view->lanes; lane++) {
            accumulator[lane] += x * column[4 * lane];
        }
    }
}

/* Four channels, elements and weights of any width. Byte i of a word of weights belongs to element i of four, and to the
 * channels that follow one another in it. */
static void accumulate_elements(const struct view *view, const uint8_t *input, const uint8_t *quad, struct span span,
                                int32_t accumulator[4])
{
    const struct dory_layer *layer = view->layer;
    uint32_t channels = view->tile->input_channels, per_byte = 8u / layer->weight_bits;
    for (; span.first < span.end; span.first++, span.position++) {
        const uint8_t *pixel = input + span.first / channels * view->input_pixel_bytes;
        int32_t x = dory_read_element(pixel, span.first % channels, layer->input_bits, layer->input_is_signed);
        const uint8_t *column = quad + span.position / 4 * 2 * layer->weight_bits + span.position % 4;
        for (unsigned lane = 0; lane < 4; lane++) {
            accumulator[lane] += x * dory_read_element(column + lane / per_byte * 4, lane % per_byte, layer->weight_bits, 1);
        }
    }
}

/* Elements of border, of any width; their layers have whole quads. */
static void accumulate_border(const struct view *view, const uint8_t *quad, struct span span, int32_t accumulator[4])
{
    uint32_t bits = view->layer->weight_bits, per_byte = 8u / bits;
    for (; span.first < span.end; span.first++, span.position++) {
        const uint8_t *column = quad + span.position / 4 * 2 * bits + span.position % 4;
        for (unsigned lane = 0; lane < 4; lane++) {
            accumulator[lane] +=
                view->layer->border_value * dory_read_element(column + lane / per_byte * 4, lane % per_byte, bits, 1);
        }
    }
}

/* The elements of a run that are there, `end` behind them. None where its row is border. */
static struct span span_inside(const struct view *view, struct place start)
{
    const struct dory_tile *tile = view->tile;
    int32_t left = start.column < 0 ? -start.column : 0, right = tile->input_columns - start.column;
    bool is_row = start.row >= 0 && start.row < tile->input_rows;
    return (struct span){.first = (uint32_t)left * tile->input_channels,
                         .end = is_row && right > left ? (uint32_t)right * tile->input_channels : 0};
}

static void accumulate_run(const struct view *view, uint32_t y, uint32_t x, uint32_t run, const uint8_t *quad,
                           int32_t accumulator[4])
{
    uint32_t rest = dory_fills_taps(view->layer) ? 0 : view->run_elements % 4;
    uint32_t first = view->run_elements - rest, step = dory_round_up(first, 4); /* not apart: all, and from tap to tap */
    struct span spans[2] = {{0, first, run * step}, {first, first + rest, view->runs * step + run * rest}};
    bool bytes = view->layer->input_bits == 8 && view->layer->weight_bits == 8;
    struct place start = place_of(view, y, x, run / view->runs_per_row, run % view->runs_per_row);
    struct span there = span_inside(view, start);
    for (unsigned i = 0; i < 2; i++) {
        struct span front = cut_front(&spans[i], dory_minimum(there.first, there.end)),
                    inside = cut_front(&spans[i], there.end);
        accumulate_border(view, quad, front, accumulator);
        if (bytes) {
            accumulate_bytes(view, pixel_at(view, start), quad, inside, accumulator);
        } else {
            accumulate_elements(view, pixel_at(view, start), quad, inside, accumulator);
        }
        accumulate_border(view, quad, spans[i], accumulator);
    }
}

static void finish_item(const struct view *view, uint32_t pixel, uint32_t quad, const uint8_t *constants,
                        const int32_t accumulator[4])
{
    const struct dory_tile *tile = view->tile;
    uint8_t *output = tile->output;
    uint32_t first = quad * 4, lanes = dory_minimum(4, tile->channels - first);
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    for (unsigned lane = 0; lane < lanes; lane++) {
        int32_t value = dory_normalise(view->layer, constants, lane, accumulator[lane]);
        if (view->layer->output_layout == DORY_CHW) {
            output[(first + lane) * pixels + pixel] = (uint8_t)value;
        } else {
            dory_write_element(output + pixel * view->output_pixel_bytes, first + lane, view->layer->output_bits, value);
        }
    }
}

static void compute_item(const struct view *view, uint32_t pixel, uint32_t quad)
{
    const struct dory_tile *tile = view->tile;
    const uint8_t *weights = (const uint8_t *)tile->weights + quad * view->quad_bytes;
    int32_t fresh[4] = {0};
    int32_t *accumulator = fresh;
    if (tile->accumulators) {
        accumulator = tile->accumulators + pixel * dory_round_up(tile->channels, 4) + quad * 4;
        if (tile->first_chunk) {
            memset(accumulator, 0, sizeof fresh);
        }
    }
    for (uint32_t run = 0; run < view->runs; run++) {
        accumulate_run(view, pixel / tile->columns, pixel % tile->columns, run, weights, accumulator);
    }
    if (tile->last_chunk) {
        finish_item(view, pixel, quad, weights + view->constants_offset, accumulator);
    }
}

void dory_reference_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct view view = view_of(layer, tile);
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, quads = dory_divide_up(tile->channels, 4);
    struct dory_share share = dory_share_of(pixels * quads, core, cores);
    for (uint32_t item = share.first; item < share.end; item++) {
        compute_item(&view, item / quads, item % quads);
    }
}

/* ---- in groups ------------------------------------------------------------------------------------------------- */

/* The elements of a quad's window of a pixel, those that there are; `position` is that of their weights. `pixel` null: it is
 * border. */
static void accumulate_window(const struct view *view, const uint8_t *pixel, uint32_t start, const uint8_t *quad,
                              uint32_t position, int32_t accumulator[4])
{
    const struct dory_layer *layer = view->layer;
    uint32_t end = dory_minimum(start + dory_window_channels(layer), layer->input_channels),
             per_byte = 8u / layer->weight_bits;
    for (; start < end; start++, position++) {
        int32_t x = pixel ? dory_read_element(pixel, start, layer->input_bits, layer->input_is_signed) : layer->border_value;
        const uint8_t *column = quad + position / 4 * 2 * layer->weight_bits + position % 4;
        for (unsigned lane = 0; lane < 4; lane++) {
            accumulator[lane] += x * dory_read_element(column + lane / per_byte * 4, lane % per_byte, layer->weight_bits, 1);
        }
    }
}

static void compute_grouped_item(const struct view *view, uint32_t pixel, uint32_t quad)
{
    const struct dory_layer *layer = view->layer;
    const uint8_t *weights = (const uint8_t *)view->tile->weights + quad * view->quad_bytes;
    uint32_t start = dory_window_start(layer, view->tile->first_channel / 4u + quad), window = dory_window_channels(layer);
    uint32_t row_elements = dory_chunk_elements(layer, window) / layer->kernel_height;
    uint32_t y = pixel / view->tile->columns, x = pixel % view->tile->columns;
    int32_t accumulator[4] = {0};
    for (uint32_t tap = 0; tap < (uint32_t)layer->kernel_height * layer->kernel_width; tap++) {
        uint32_t tap_row = tap / layer->kernel_width, tap_column = tap % layer->kernel_width;
        struct place place = place_of(view, y, x, tap_row, tap_column);
        bool is_there = (uint32_t)place.row < view->tile->input_rows && (uint32_t)place.column < view->tile->input_columns;
        accumulate_window(view, is_there ? pixel_at(view, place) : NULL, start, weights,
                          tap_row * row_elements + tap_column * window, accumulator);
    }
    finish_item(view, pixel, quad, weights + view->constants_offset, accumulator);
}

void dory_reference_grouped(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct view view = view_of(layer, tile);
    view.constants_offset = dory_depthwise_quad_weight_bytes(layer);
    view.quad_bytes = view.constants_offset + dory_constants_bytes(layer);
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, quads = dory_divide_up(tile->channels, 4);
    struct dory_share share = dory_share_of(pixels * quads, core, cores);
    for (uint32_t item = share.first; item < share.end; item++) {
        compute_grouped_item(&view, item / quads, item % quads);
    }
}
