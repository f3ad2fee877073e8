/* Requantises blocks of sums: each kind has its own functions, whose loops have its scale in registers. */
#include "scale.h"

/* The pixels of one channel. */
static inline __attribute__((always_inline)) void finish_channel(enum dory_finish kind, bool clips, struct dory_scale scale,
                                                                 struct dory_sums block)
{
    for (; block.pixels > 0; block.pixels--, block.sums += block.in_pixel, block.output += block.pixel_bytes) {
        *block.output = (uint8_t)dory_finish_sum(kind, clips, &scale, *block.sums);
    }
}

static inline __attribute__((always_inline)) void finish(enum dory_finish kind, bool clips, const struct dory_layer *layer,
                                                         const uint8_t *constants, const struct dory_sums *all)
{
    struct dory_scale scale = dory_layer_scale_of(layer);
    struct dory_sums block = *all;
    bool is_shared = layer->normalisation == DORY_NORMALISE_SHARED;
    uint32_t constant_bytes = kind == DORY_FINISH_32 ? 8 : 16; /* where they are read */
    for (; block.channels > 0; block.channels--, block.output++, block.sums++, constants += constant_bytes) {
        if (!is_shared) {
            dory_read_scale(kind, constants, &scale);
        }
        if (dory_has_bias(kind) && !clips && block.pixels == 1) { /* of linear layers of TFLite and QDQ, most of all */
            *block.output = (uint8_t)dory_finish_sum(kind, clips, &scale, *block.sums);
        } else {
            finish_channel(kind, clips, scale, block);
        }
    }
}

#define KIND(name, kind)                                                                                                    \
    static void finish_##name(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block)      \
    {                                                                                                                       \
        finish(kind, false, layer, constants, block);                                                                       \
    }                                                                                                                       \
    static void clip_##name(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block)        \
    {                                                                                                                       \
        finish(kind, true, layer, constants, block);                                                                        \
    }

KIND(high, DORY_FINISH_HIGH)
KIND(high_away, DORY_FINISH_HIGH_AWAY)
KIND(high_even, DORY_FINISH_HIGH_EVEN)
KIND(32, DORY_FINISH_32)

static void finish_clamped(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block)
{
    finish(DORY_FINISH_CLAMPED, false, layer, constants, block);
}

static void finish_divided(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block)
{
    finish(DORY_FINISH_CLAMPED_DIVIDED, false, layer, constants, block);
}

static void put_element(const struct dory_layer *layer, uint8_t *output, int32_t value)
{
    if (layer->output_bits == 32) {
        dory_put_word(output, (uint32_t)value);
    } else {
        *output = (uint8_t)value;
    }
}

static void finish_any(const struct dory_layer *layer, const uint8_t *constants, const struct dory_sums *block)
{
    for (uint32_t pixel = 0; pixel < block->pixels; pixel++) {
        const int32_t *sums = block->sums + pixel * block->in_pixel;
        uint8_t *output = block->output + pixel * block->pixel_bytes;
        for (uint32_t lane = 0; lane < block->channels; lane++) {
            put_element(layer, output + lane * layer->output_bits / 8, dory_normalise(layer, constants, lane, sums[lane]));
        }
    }
}

dory_finish_function *dory_finish_function_of(const struct dory_layer *layer)
{
    static dory_finish_function *const functions[DORY_FINISHES][2] = {
        [DORY_FINISH_HIGH] = {finish_high, clip_high},
        [DORY_FINISH_HIGH_AWAY] = {finish_high_away, clip_high_away},
        [DORY_FINISH_HIGH_EVEN] = {finish_high_even, clip_high_even},
        [DORY_FINISH_32] = {finish_32, clip_32},
        [DORY_FINISH_CLAMPED] = {finish_clamped, finish_clamped},
        [DORY_FINISH_CLAMPED_DIVIDED] = {finish_divided, finish_divided},
        [DORY_FINISH_ANY] = {finish_any, finish_any},
    };
    return functions[dory_finish_of(layer)][dory_clips(layer)];
}
