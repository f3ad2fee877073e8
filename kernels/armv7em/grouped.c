/* Computes convolutions in groups of bytes. Shapes: any groups, kernel, stride, dilation; HWC.
 *
 * Each core takes a part of the pixels. Of each pixel and quad of channels, the window of input channels (kernels/quads) is
 * gathered, laid as halves, and multiplied by four channels at a time: product.h. */
#include "dory/share.h"

#include "armv7em.h"
#include "product.h"
#include "quads.h"
#include "scale.h"

struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    dory_finish_function *finish;
    struct dory_border_rows border;
    uint32_t window, row_elements, groups; /* channels of a window; elements of a row of its kernel; fours of all */
    uint8_t *room;                         /* the window's bytes; laid: the core's scratch */
    uint32_t *pairs;
    uint32_t constants_offset, quad_bytes; /* of weights */
};

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile, .finish = dory_finish_function_of(layer)};
    work.border = dory_border_of(layer, tile);
    work.window = dory_window_channels(layer);
    uint32_t elements = dory_chunk_elements(layer, work.window);
    work.row_elements = elements / layer->kernel_height;
    work.groups = elements / 4;
    work.room = (uint8_t *)tile->scratch + core * 3 * elements;
    work.pairs = (uint32_t *)(void *)(work.room + elements);
    work.constants_offset = dory_depthwise_quad_weight_bytes(layer);
    work.quad_bytes = work.constants_offset + dory_constants_bytes(layer);
    return work;
}

/* Channels of a tap; `from` null: it is border. */
static inline void put_tap(uint8_t *to, const uint8_t *from, uint32_t channels, uint32_t border)
{
    for (; channels >= 4; channels -= 4, to += 4) {
        dory_put_word(to, from ? dory_word_at(from) : border);
        from = from ? from + 4 : from;
    }
    for (uint32_t i = 0; i < channels; i++) {
        to[i] = from ? from[i] : (uint8_t)border;
    }
}

/* The channels from `start` on that all taps of a pixel read. Weights of what is not written are zero. */
static void gather(const struct work *work, uint32_t pixel, uint32_t start)
{
    const struct dory_layer *layer = work->layer;
    const struct dory_tile *tile = work->tile;
    uint32_t channels = dory_minimum(work->window, layer->input_channels - start);
    uint32_t border = (uint8_t)layer->border_value * 0x01010101u;
    uint32_t row = pixel / tile->columns * layer->stride_height - work->border.top; /* may wrap */
    uint32_t left = pixel % tile->columns * layer->stride_width - work->border.left;
    for (uint32_t y = 0; y < layer->kernel_height; y++, row += layer->dilation_height) {
        uint8_t *to = work->room + y * work->row_elements;
        for (uint32_t x = 0, column = left; x < layer->kernel_width; x++, column += layer->dilation_width) {
            bool is_there = row < tile->input_rows && column < tile->input_columns;
            uint32_t offset = (row * tile->input_columns + column) * layer->input_channels + start;
            put_tap(to, is_there ? (const uint8_t *)tile->input + offset : 0, channels, border);
            to += work->window;
        }
    }
}

static void lay(const struct work *work)
{
    bool is_signed = work->layer->input_is_signed;
    for (uint32_t i = 0; i < work->groups; i++) {
        uint32_t word = dory_word_at(work->room + 4 * i);
        work->pairs[2 * i] = is_signed ? dory_even_signed(word) : dory_even_bytes(word);
        work->pairs[2 * i + 1] = is_signed ? dory_odd_signed(word) : dory_odd_bytes(word);
    }
}

static void compute_quad(const struct work *work, uint32_t pixel, uint32_t quad, bool has_bias)
{
    const uint8_t *weights = (const uint8_t *)work->tile->weights + quad * work->quad_bytes;
    const uint8_t *constants = weights + work->constants_offset;
    uint32_t element_bytes = work->layer->output_bits / 8u, channels = work->tile->channels;
    int32_t sums[4] = {0};
    for (uint32_t lane = 0; has_bias && lane < 4; lane++) {
        sums[lane] = (int32_t)dory_word_at(constants + lane * dory_channel_constants_bytes(work->layer));
    }
    dory_product_quad(work->pairs, weights, sums, work->groups);
    struct dory_sums block = {.sums = sums, .pixels = 1, .in_pixel = 4, .pixel_bytes = channels * element_bytes};
    block.output = (uint8_t *)work->tile->output + (pixel * channels + 4 * quad) * element_bytes;
    block.channels = dory_minimum(4, channels - 4 * quad);
    work->finish(work->layer, constants, &block);
}

void dory_armv7em_grouped(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    bool has_bias = dory_has_bias(dory_finish_of(layer));
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        for (uint32_t quad = 0; quad < dory_divide_up(tile->channels, 4); quad++) {
            gather(&work, pixel, dory_window_start(layer, tile->first_channel / 4u + quad));
            lay(&work);
            compute_quad(&work, pixel, quad, has_bias);
        }
    }
}
