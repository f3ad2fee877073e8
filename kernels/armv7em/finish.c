/* Requantises blocks of sums: each kind has its own functions, whose loops have its scale in registers. */
#include "finish.h"

/* `count` sums of a channel, so many words apart. */
static inline __attribute__((always_inline)) void finish_channel(enum dory_finish kind, bool clips,
                                                                 const struct dory_scale *scale, const int32_t *sums,
                                                                 uint32_t step, uint32_t count, uint8_t *output,
                                                                 uint32_t pixel_bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        *output = (uint8_t)dory_finish_sum(kind, clips, scale, sums[i * step]);
        output += pixel_bytes;
    }
}

static inline __attribute__((always_inline)) void finish(enum dory_finish kind, const struct dory_layer *layer,
                                                         const uint8_t *constants, const int32_t *sums, uint32_t step,
                                                         uint32_t count, uint8_t *output, uint32_t pixel_bytes)
{
    struct dory_scale scale = dory_scale_of(kind, layer, constants);
    if (scale.clips) {
        finish_channel(kind, true, &scale, sums, step, count, output, pixel_bytes);
    } else {
        finish_channel(kind, false, &scale, sums, step, count, output, pixel_bytes);
    }
}

static void put_element(const struct dory_layer *layer, uint8_t *output, int32_t value)
{
    if (layer->output_bits == 32) {
        dory_put_word(output, (uint32_t)value);
    } else {
        *output = (uint8_t)value;
    }
}

/* Any form. */
static void finish_any(const struct dory_layer *layer, const uint8_t *constants, const int32_t *sums, uint32_t step,
                       uint32_t count, uint8_t *output, uint32_t pixel_bytes)
{
    for (uint32_t i = 0; i < count; i++, output += pixel_bytes) {
        put_element(layer, output, dory_normalise(layer, constants, 0, sums[i * step]));
    }
}

#define KIND(name, kind)                                                                                                    \
    static void pair_##name(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[8],                \
                            struct dory_finished to)                                                                        \
    {                                                                                                                       \
        finish(kind, layer, constants, sums, 2, 4, to.output, to.pixel_bytes);                                              \
        if (to.channels > 1) {                                                                                              \
            finish(kind, layer, constants + dory_channel_constants_bytes(layer), sums + 1, 2, 4, to.output + 1,             \
                   to.pixel_bytes);                                                                                         \
        }                                                                                                                   \
    }                                                                                                                       \
    static void quad_##name(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[4],                \
                            struct dory_finished to)                                                                        \
    {                                                                                                                       \
        uint32_t bytes = dory_channel_constants_bytes(layer);                                                               \
        for (uint32_t lane = 0; lane < to.channels; lane++) {                                                               \
            finish(kind, layer, constants + lane * bytes, sums + lane, 1, 1, to.output + lane, 0);                          \
        }                                                                                                                   \
    }                                                                                                                       \
    static void row_##name(const struct dory_layer *layer, const uint8_t *constants, const int32_t *sums, uint32_t count,   \
                           struct dory_finished to)                                                                         \
    {                                                                                                                       \
        finish(kind, layer, constants, sums, 1, count, to.output, to.pixel_bytes);                                          \
    }

KIND(high, DORY_FINISH_HIGH)
KIND(high_away, DORY_FINISH_HIGH_AWAY)
KIND(high_even, DORY_FINISH_HIGH_EVEN)
KIND(32, DORY_FINISH_32)
KIND(clamped, DORY_FINISH_CLAMPED)
KIND(clamped_divided, DORY_FINISH_CLAMPED_DIVIDED)

static void pair_any(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[8],
                     struct dory_finished to)
{
    for (uint32_t lane = 0; lane < to.channels; lane++) {
        finish_any(layer, constants + lane * dory_channel_constants_bytes(layer), sums + lane, 2, 4,
                   to.output + lane * layer->output_bits / 8, to.pixel_bytes);
    }
}

static void quad_any(const struct dory_layer *layer, const uint8_t *constants, const int32_t sums[4],
                     struct dory_finished to)
{
    for (uint32_t lane = 0; lane < to.channels; lane++) {
        finish_any(layer, constants + lane * dory_channel_constants_bytes(layer), sums + lane, 1, 1,
                   to.output + lane * layer->output_bits / 8, 0);
    }
}

static void row_any(const struct dory_layer *layer, const uint8_t *constants, const int32_t *sums, uint32_t count,
                    struct dory_finished to)
{
    finish_any(layer, constants, sums, 1, count, to.output, to.pixel_bytes);
}

const struct dory_finish_functions *dory_finish_functions_of(const struct dory_layer *layer)
{
    static const struct dory_finish_functions functions[DORY_FINISHES] = {
        [DORY_FINISH_HIGH] = {pair_high, quad_high, row_high},
        [DORY_FINISH_HIGH_AWAY] = {pair_high_away, quad_high_away, row_high_away},
        [DORY_FINISH_HIGH_EVEN] = {pair_high_even, quad_high_even, row_high_even},
        [DORY_FINISH_32] = {pair_32, quad_32, row_32},
        [DORY_FINISH_CLAMPED] = {pair_clamped, quad_clamped, row_clamped},
        [DORY_FINISH_CLAMPED_DIVIDED] = {pair_clamped_divided, quad_clamped_divided, row_clamped_divided},
        [DORY_FINISH_ANY] = {pair_any, quad_any, row_any},
    };
    return &functions[dory_finish_of(layer)];
}
