/* Computes fully connected layers of bytes, and convolutions of few pixels. Shapes: no dilation along a row; input channels
 * that divide by 4, or one pixel and a 1x1 kernel; HWC.
 *
 * Each core takes a part of the quads of output channels. Inner loop: one pixel times four channels, 5 loads for 4 dot
 * products. */
#include "linear.h"

#include "../dots.h"
#include "../xpulpv2.h"

/* One kind's own way: dory_normalise_directly and the like, for one sum. */
typedef void normaliser(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride, unsigned count,
                        const uint8_t *constants);

static inline void normalise_shared(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride, unsigned count,
                                    const uint8_t *constants)
{
    (void)stride, (void)count;
    *sum = dory_normalise_by_one_scale(normaliser, *sum, constants);
}

static inline void store(const struct dory_product *product, uint32_t packed, uint32_t pixel, uint32_t quad)
{
    uint32_t channels = product->blocks.channels;
    uint8_t *output = product->output + pixel * channels + 4 * quad;
    if (4 * quad + 4 <= channels) {
        dory_store_word(output, packed);
        return;
    }
    for (uint32_t lane = 4 * quad; lane < channels; lane++, packed >>= 8) {
        *output++ = (uint8_t)packed;
    }
}

/* A byte of each lane: what the way that takes every kind spends on calls is a third of such a layer. Not unrolled: it
 * is soon done, and its code has to come first. */
static inline __attribute__((always_inline)) void finish_directly(const struct dory_product *product, const int32_t sum[4],
                                                                  const uint8_t *constants, uint32_t pixel, uint32_t quad,
                                                                  normaliser *normalise)
{
    uint32_t bytes = product->constants_bytes / 4, packed = 0;
#pragma GCC unroll 1
    for (uint32_t lane = 0; lane < 4; lane++, constants += bytes) {
        int32_t element = sum[lane];
        normalise(&product->blocks.normaliser, &element, 1, 1, constants);
        packed = packed >> 8 | (uint32_t)element << 24;
    }
    store(product, packed, pixel, quad);
}

static inline __attribute__((always_inline)) void finish(const struct dory_product *product, const int32_t sum[4],
                                                         const uint8_t *constants, uint32_t pixel, uint32_t quad,
                                                         normaliser *normalise, dory_lane_normaliser *normalise_lane)
{
    if (product->direct != DORY_NOT_DIRECT) {
        finish_directly(product, sum, constants, pixel, quad, normalise);
        return;
    }
    int32_t kept[4] = {sum[0], sum[1], sum[2], sum[3]};
    dory_product_finish_by(product, kept, constants, pixel, 1, quad, normalise_lane);
}

/* One for each kind, as in product.h. Where the kind's own way knows bounds and rounding itself, any name but
 * DORY_NOT_DIRECT will do. */
#define DEFINE_LINEAR(name, direct, normalise, lane)                                                                        \
    static inline __attribute__((always_inline)) void finish_##name(                                                        \
        const struct dory_product *product, const int32_t sum[4], const uint8_t *constants, uint32_t pixel, uint32_t quad)  \
    {                                                                                                                       \
        finish(product, sum, constants, pixel, quad, normalise, lane);                                                      \
    }                                                                                                                       \
    void dory_xpulpv2_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)   \
    {                                                                                                                       \
        dory_linear_run(layer, tile, core, cores, direct, dory_dots, finish_##name);                                        \
    }

static inline enum dory_direct if_bytes(const struct dory_layer *layer, enum dory_direct direct)
{
    return layer->output_bits == 8 ? direct : DORY_NOT_DIRECT;
}

DEFINE_LINEAR(linear, dory_direct_32_of(layer), dory_normalise_directly, dory_normalise_lane)
DEFINE_LINEAR(linear_clamped, dory_direct_clamped_of(layer), dory_normalise_clamped_directly, dory_normalise_lane_clamped)
DEFINE_LINEAR(linear_split, dory_direct_split_of(layer), dory_normalise_split_directly, dory_normalise_lane_split)
DEFINE_LINEAR(linear_high, if_bytes(layer, DORY_DIRECT_HIGH), dory_normalise_highly, dory_normalise_lane_high)
DEFINE_LINEAR(linear_shared, if_bytes(layer, DORY_BY_ONE_SCALE), normalise_shared, dory_normalise_lane_shared)
