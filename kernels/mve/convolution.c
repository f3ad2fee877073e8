/* Computes convolutions and fully connected layers of bytes. Shapes: any kernel, stride, dilation; HWC.
 *
 * Each core takes a part of the pixels. Three pixels are laid in scratch, then all channels computed in quads: 192 products
 * in 24 instructions, and 9 to 14 to finish four sums. Fully connected: a quad of one pixel, 64 products in 10. */
#include "lanes.h"
#include "mve.h"
#include "product.h"
#include "share.h"
#include "sixteens.h"
#include "window.h"

/* What does not change from pixel to pixel. */
struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_mve_window window;
    uint8_t *pixels; /* three of them, the core's scratch */
    uint32_t elements;
    uint32_t quad_bytes, element_bytes;
};

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, uint32_t pixels)
{
    struct work work = {.layer = layer, .tile = tile, .window = dory_mve_window_of(layer, tile)};
    work.elements = dory_sixteens_elements(layer, tile->input_channels);
    work.pixels = (uint8_t *)tile->scratch + core * (pixels * work.elements + 16);
    work.quad_bytes = 4 * work.elements + DORY_STARTS_BYTES + 4 * dory_channel_constants_bytes(layer);
    work.element_bytes = layer->output_bits / 8u;
    return work;
}

/* ---- from sums to elements ---- */

/* Sums of four channels of some pixels, of which so many channels are there. */
struct block {
    const int32_t *sums;
    const uint8_t *constants; /* from the starts on */
    uint8_t *output;
    uint32_t pixel_bytes, pixels, channels;
};

/* In forms that have no code of their own. */
static __attribute__((noinline)) void finish_any(const struct dory_layer *layer, const struct block *block)
{
    for (uint32_t i = 0; i < 4 * block->pixels; i++) {
        uint32_t lane = i % 4;
        uint8_t *output = block->output + i / 4 * block->pixel_bytes;
        if (lane < block->channels) {
            uint32_t sum = (uint32_t)block->sums[i] + dory_word_at(block->constants + 4 * lane);
            int32_t value = dory_normalise(layer, block->constants + DORY_STARTS_BYTES, lane, (int32_t)sum);
            if (layer->output_bits == 32) {
                dory_put_word(output + 4 * lane, (uint32_t)value);
            } else {
                output[lane] = (uint8_t)value;
            }
        }
    }
}

static inline __attribute__((always_inline)) void finish(enum dory_finish kind, bool is_shared,
                                                         const struct dory_layer *layer, const struct block *block)
{
    if (kind == DORY_FINISH_ANY) {
        finish_any(layer, block);
        return;
    }
    struct dory_scale all = dory_layer_scale_of(layer);
    struct dory_lanes_scale scale = dory_lanes_scale_of(&all);
    if (!is_shared) {
        dory_read_lanes(kind, block->constants + DORY_STARTS_BYTES, &scale);
    }
    int32x4_t start = vldrwq_s32((const int32_t *)(const void *)block->constants);
    for (uint32_t i = 0; i < block->pixels; i++) {
        int32x4_t value = dory_finish_lanes(kind, &scale, vaddq_s32(vldrwq_s32(block->sums + 4 * i), start));
        int8_t *to = (int8_t *)block->output + i * block->pixel_bytes;
        if (block->channels == 4) {
            vstrbq_s32(to, value);
        } else {
            vstrbq_p_s32(to, value, vctp32q(block->channels));
        }
    }
}

/* ---- blocks ---- */

/* Quads of one to three pixels. */
static inline __attribute__((always_inline)) void compute_quads(enum dory_finish kind, bool is_shared, bool is_linear,
                                                                const struct work *work, uint32_t pixel, uint32_t pixels,
                                                                struct dory_share quads)
{
    uint32_t channels = work->tile->channels, sixteens = work->elements / 16;
    int32_t sums[12] __attribute__((aligned(16)));
    struct block block = {.sums = sums, .pixel_bytes = channels * work->element_bytes, .pixels = pixels};
    block.output = (uint8_t *)work->tile->output + pixel * block.pixel_bytes + 4 * quads.first * work->element_bytes;
    const uint8_t *weights = (const uint8_t *)work->tile->weights + quads.first * work->quad_bytes;
    for (uint32_t quad = quads.first; quad < quads.end; quad++, weights += work->quad_bytes) {
        if (is_linear) {
            dory_mve_product_quad(work->pixels, weights, sixteens, sums);
        } else {
            dory_mve_product_pair(work->pixels, work->elements, weights, sixteens, sums);
            dory_mve_product_pair(work->pixels, work->elements, weights + 32, sixteens, sums + 2);
        }
        block.constants = weights + 4 * work->elements;
        block.channels = dory_minimum(4, channels - 4 * quad);
        finish(kind, is_shared, work->layer, &block);
        block.output += 4 * work->element_bytes;
    }
}

typedef void quads_function(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads);

#define QUADS(name, kind, is_shared)                                                                                        \
    static void pixels_##name(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads)            \
    {                                                                                                                       \
        compute_quads(kind, is_shared, false, work, pixel, pixels, quads);                                                  \
    }                                                                                                                       \
    static void linear_##name(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads)            \
    {                                                                                                                       \
        compute_quads(kind, is_shared, true, work, pixel, pixels, quads);                                                   \
    }
QUADS(high, DORY_FINISH_HIGH, false)
QUADS(high_away, DORY_FINISH_HIGH_AWAY, false)
QUADS(high_even, DORY_FINISH_HIGH_EVEN, false)
QUADS(shared, DORY_FINISH_HIGH, true)
QUADS(shared_away, DORY_FINISH_HIGH_AWAY, true)
QUADS(shared_even, DORY_FINISH_HIGH_EVEN, true)
QUADS(32, DORY_FINISH_32, false)
QUADS(any, DORY_FINISH_ANY, false)

/* By kind, shared scale, and whether it is one pixel. */
static quads_function *quads_of(const struct dory_layer *layer, bool is_linear)
{
    static quads_function *const functions[][2][2] = {
        [DORY_FINISH_HIGH] = {{pixels_high, linear_high}, {pixels_shared, linear_shared}},
        [DORY_FINISH_HIGH_AWAY] = {{pixels_high_away, linear_high_away}, {pixels_shared_away, linear_shared_away}},
        [DORY_FINISH_HIGH_EVEN] = {{pixels_high_even, linear_high_even}, {pixels_shared_even, linear_shared_even}},
        [DORY_FINISH_32] = {{pixels_32, linear_32}},
    };
    enum dory_finish kind = dory_finish_of(layer);
    if (kind > DORY_FINISH_32) {
        return is_linear ? linear_any : pixels_any;
    }
    return functions[kind][layer->normalisation == DORY_NORMALISE_SHARED][is_linear];
}

void dory_mve_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core, 3);
    quads_function *compute = quads_of(layer, false);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel += 3) {
        uint32_t pixels = dory_minimum(3, share.end - pixel);
        for (uint32_t i = 0; i < pixels; i++) { /* what lies behind fewer than three is computed, and not used */
            dory_mve_lay(&work.window, pixel + i, work.pixels + i * work.elements);
        }
        compute(&work, pixel, pixels, (struct dory_share){0, dory_divide_up(tile->channels, 4)});
    }
}

/* Each core takes a part of the channels, and lays the pixel for itself. */
void dory_mve_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core, 1);
    struct dory_share share = dory_share_of(dory_divide_up(tile->channels, 4), core, cores);
    if (share.first < share.end) {
        dory_mve_lay(&work.window, 0, work.pixels);
        quads_of(layer, true)(&work, 0, 1, share);
    }
}
