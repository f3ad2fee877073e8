/* Computes convolutions and fully connected layers of bytes. Shapes: any kernel, stride, dilation; HWC.
 *
 * Each core takes a part of the pixels. Three pixels are laid in scratch, then all channels computed in quads: 192 products
 * in 24 instructions, and 9 to 14 to finish four sums. Fully connected: a quad of one pixel, 64 products in 10. */
#include "dory/share.h"

#include "lanes.h"
#include "mve.h"
#include "product.h"
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

/* Four channels of some pixels, of which so many channels are there. */
struct block {
    const uint8_t *constants; /* behind the starts */
    uint8_t *output;
    uint32_t pixel_bytes, pixels, channels;
};

/* In forms that have no code of their own. */
static __attribute__((noinline)) void finish_any(const struct dory_layer *layer, const struct block *block,
                                                 const int32_t *sums)
{
    for (uint32_t i = 0; i < 4 * block->pixels; i++) {
        uint32_t lane = i % 4;
        uint8_t *output = block->output + i / 4 * block->pixel_bytes;
        if (lane < block->channels) {
            int32_t value = dory_normalise(layer, block->constants, lane, sums[i]);
            if (layer->output_bits == 32) {
                dory_put_word(output + 4 * lane, (uint32_t)value);
            } else {
                output[lane] = (uint8_t)value;
            }
        }
    }
}

/* In a form that has: an element, or where not all four channels are there, those that are. */
static inline __attribute__((always_inline)) void put(const struct block *block, uint32_t pixel, int32x4_t elements)
{
    int8_t *to = (int8_t *)block->output + pixel * block->pixel_bytes;
    if (block->channels == 4) {
        vstrbq_s32(to, elements);
    } else {
        vstrbq_p_s32(to, elements, vctp32q(block->channels));
    }
}

static inline __attribute__((always_inline)) void finish(enum dory_finish kind, const struct dory_lanes_scale *scale,
                                                         const struct block *block, struct dory_mve_sums sums)
{
    put(block, 0, dory_finish_lanes(kind, scale, sums.pixel[0]));
    if (block->pixels > 1) {
        put(block, 1, dory_finish_lanes(kind, scale, sums.pixel[1]));
    }
    if (block->pixels > 2) {
        put(block, 2, dory_finish_lanes(kind, scale, sums.pixel[2]));
    }
}

/* ---- blocks ---- */

static inline __attribute__((always_inline)) struct dory_mve_sums sums_of(bool is_linear, const uint8_t *laid,
                                                                          uint32_t elements, const uint8_t *weights)
{
    if (!is_linear) {
        return dory_mve_product_pixels(laid, weights, elements / 16);
    }
    int32_t sums[4];
    dory_mve_product_quad(laid, weights, elements / 16, (const int32_t *)(const void *)(weights + 4 * elements), sums);
    int32x4_t all = vldrwq_s32(sums);
    return (struct dory_mve_sums){{all, all, all}};
}

/* What a block's loop is made for: a copy of its code for each. */
struct form {
    enum dory_finish kind;
    bool is_shared, is_linear;
};

/* A quad of one to three pixels. */
static inline __attribute__((always_inline)) void compute_quad(struct form form, const struct work *work,
                                                               const uint8_t *weights, struct dory_lanes_scale *scale,
                                                               struct block *block)
{
    struct dory_mve_sums sums = sums_of(form.is_linear, work->pixels, work->elements, weights);
    block->constants = weights + 4 * work->elements + DORY_STARTS_BYTES;
    if (form.kind == DORY_FINISH_ANY) {
        int32_t each[12];
        for (uint32_t i = 0; i < 3; i++) {
            vst1q_s32(each + 4 * i, sums.pixel[i]);
        }
        finish_any(work->layer, block, each);
        return;
    }
    if (!form.is_shared) {
        dory_read_lanes(form.kind, block->constants, scale);
    }
    finish(form.kind, scale, block, sums);
}

/* Whole quads first; what is read from `all` in the loop is in registers. */
static inline __attribute__((always_inline)) void compute_quads(struct form form, const struct work *all, uint32_t pixel,
                                                                uint32_t pixels, struct dory_share quads)
{
    const struct work work = *all;
    uint32_t channels = work.tile->channels, step = 4 * work.element_bytes;
    const uint8_t *weights = (const uint8_t *)work.tile->weights + quads.first * work.quad_bytes;
    struct dory_scale shared = dory_layer_scale_of(work.layer);
    struct dory_lanes_scale scale = dory_lanes_scale_of(&shared);
    struct block block = {
        .pixel_bytes = channels * work.element_bytes, .pixels = form.is_linear ? 1 : pixels, .channels = 4};
    block.output = (uint8_t *)work.tile->output + pixel * block.pixel_bytes + quads.first * step;
    for (uint32_t whole = dory_minimum(quads.end, channels / 4); quads.first < whole; quads.first++) {
        compute_quad(form, &work, weights, &scale, &block);
        weights += work.quad_bytes;
        block.output += step;
    }
    if (quads.first < quads.end) {
        block.channels = channels % 4;
        compute_quad(form, &work, weights, &scale, &block);
    }
}

typedef void quads_function(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads);

#define QUADS(name, kind, is_shared)                                                                                        \
    static void pixels_##name(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads)            \
    {                                                                                                                       \
        compute_quads((struct form){kind, is_shared, false}, work, pixel, pixels, quads);                                   \
    }                                                                                                                       \
    static void linear_##name(const struct work *work, uint32_t pixel, uint32_t pixels, struct dory_share quads)            \
    {                                                                                                                       \
        compute_quads((struct form){kind, is_shared, true}, work, pixel, pixels, quads);                                    \
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

/* Of whole quads in forms that have assembly: what is the same for all threes of pixels, and the function, else null. */
static dory_mve_quads_function *whole_quads_of(const struct work *work, struct dory_mve_quads *quads)
{
    const struct dory_layer *layer = work->layer;
    enum dory_finish kind = dory_finish_of(layer);
    uint32_t channels = work->tile->channels;
    *quads = (struct dory_mve_quads){.pixels = work->pixels,
                                     .weights = work->tile->weights,
                                     .sixteens = work->elements / 16,
                                     .pixel_bytes = channels,
                                     .left_shift = layer->left_shift & 31u,
                                     .away = 1u << (layer->left_shift & 31) >> 1,
                                     .minimum = layer->minimum,
                                     .maximum = layer->maximum};
    quads->end = quads->weights + channels / 4 * work->quad_bytes;
    if (layer->normalisation != DORY_NORMALISE_HIGH || channels % 4 != 0 || kind > DORY_FINISH_HIGH_AWAY) {
        return 0;
    }
    return kind == DORY_FINISH_HIGH ? dory_mve_quads_high : dory_mve_quads_high_away;
}

void dory_mve_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core, 3);
    struct dory_mve_quads whole;
    dory_mve_quads_function *compute_whole = whole_quads_of(&work, &whole);
    quads_function *compute = quads_of(layer, false);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    whole.output = (uint8_t *)tile->output + share.first * whole.pixel_bytes;
    for (uint32_t pixel = share.first; pixel < share.end; pixel += 3, whole.output += 3 * whole.pixel_bytes) {
        uint32_t pixels =
            dory_minimum(3, share.end - pixel); /* what lies behind fewer than three is computed, and not used */
        dory_mve_lay(&work.window, pixel, pixels, work.pixels, work.elements);
        if (compute_whole && pixels == 3) {
            compute_whole(&whole);
        } else {
            compute(&work, pixel, pixels, (struct dory_share){0, dory_divide_up(tile->channels, 4)});
        }
    }
}

/* Each core takes a part of the channels, and lays the pixel for itself. */
void dory_mve_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core, 1);
    struct dory_share share = dory_share_of(dory_divide_up(tile->channels, 4), core, cores);
    if (share.first < share.end) {
        dory_mve_lay(&work.window, 0, 1, work.pixels, work.elements);
        quads_of(layer, true)(&work, 0, 1, share);
    }
}
