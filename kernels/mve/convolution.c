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

/* In a form that has. */
static inline __attribute__((always_inline)) void finish(enum dory_finish kind, const struct dory_lanes_scale *scale,
                                                         const struct block *block, struct dory_mve_sums sums)
{
    int8_t *to = (int8_t *)block->output;
    mve_pred16_t there = vctp32q(block->channels);
    vstrbq_p_s32(to, dory_finish_lanes(kind, scale, sums.pixel[0]), there);
    if (block->pixels > 1) {
        vstrbq_p_s32(to + block->pixel_bytes, dory_finish_lanes(kind, scale, sums.pixel[1]), there);
    }
    if (block->pixels > 2) {
        vstrbq_p_s32(to + 2 * block->pixel_bytes, dory_finish_lanes(kind, scale, sums.pixel[2]), there);
    }
}

/* ---- blocks ---- */

static inline __attribute__((always_inline)) struct dory_mve_sums sums_of(bool is_linear, const uint8_t *laid,
                                                                          uint32_t elements, const uint8_t *weights)
{
    const int32_t *starts = (const int32_t *)(const void *)(weights + 4 * elements);
    if (!is_linear) {
        return dory_mve_product_pixels(laid, elements, weights, elements / 16, starts);
    }
    int32_t sums[4];
    dory_mve_product_quad(laid, weights, elements / 16, starts, sums);
    int32x4_t all = vldrwq_s32(sums);
    return (struct dory_mve_sums){{all, all, all}};
}

/* Quads of one to three pixels: what is read from `work` in the loop is in registers. */
static inline __attribute__((always_inline)) void compute_quads(enum dory_finish kind, bool is_shared, bool is_linear,
                                                                const struct work *work, uint32_t pixel, uint32_t pixels,
                                                                struct dory_share quads)
{
    uint32_t channels = work->tile->channels, elements = work->elements, quad_bytes = work->quad_bytes;
    uint32_t step = 4 * work->element_bytes;
    const uint8_t *laid = work->pixels, *weights = (const uint8_t *)work->tile->weights + quads.first * quad_bytes;
    struct dory_scale all = dory_layer_scale_of(work->layer);
    struct dory_lanes_scale scale = dory_lanes_scale_of(&all);
    struct block block = {.pixel_bytes = channels * work->element_bytes, .pixels = is_linear ? 1 : pixels};
    block.output = (uint8_t *)work->tile->output + pixel * block.pixel_bytes + quads.first * step;
    for (uint32_t quad = quads.first; quad < quads.end; quad++, weights += quad_bytes, block.output += step) {
        struct dory_mve_sums sums = sums_of(is_linear, laid, elements, weights);
        block.constants = weights + 4 * elements + DORY_STARTS_BYTES;
        block.channels = dory_minimum(4, channels - 4 * quad);
        if (kind == DORY_FINISH_ANY) {
            int32_t each[12];
            for (uint32_t i = 0; i < 3; i++) {
                vst1q_s32(each + 4 * i, sums.pixel[i]);
            }
            finish_any(work->layer, &block, each);
            continue;
        }
        if (!is_shared) {
            dory_read_lanes(kind, block.constants, &scale);
        }
        finish(kind, &scale, &block, sums);
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
