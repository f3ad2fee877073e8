/* From sums to output elements. */
#ifndef DORY_XPULPV2_NORMALISE_H
#define DORY_XPULPV2_NORMALISE_H

#include <stdbool.h>

#include "direct.h"
#include "dory/layer.h"
#include "xpulp.h"

/* What a kernel needs of a layer to finish an element, copied once a call: the layer itself lies in L2, 9 cycles a load. */
struct dory_normaliser {
    int32_t shift, minimum, maximum;
    uint32_t reciprocal;  /* for DORY_NORMALISE_CLAMPED */
    uint8_t kind;         /* enum dory_normalisation */
    uint8_t output_bytes; /* of an element, 1 or 4 */
    uint8_t direct;       /* enum dory_direct */
    int32_t direct_shift; /* n of a clamped direct kind, else shift */
};

static inline struct dory_normaliser dory_normaliser_of(const struct dory_layer *layer)
{
    struct dory_normaliser normaliser = {
        .shift = layer->shift,
        .minimum = layer->minimum,
        .maximum = layer->maximum,
        .reciprocal = layer->reciprocal,
        .kind = layer->normalisation,
        .output_bytes = layer->output_bits / 8,
    };
    normaliser.direct = (uint8_t)dory_direct_of(layer);
    normaliser.direct_shift = normaliser.shift + (normaliser.direct == DORY_DIRECT_CLAMPED_LESS_ONE);
    return normaliser;
}

/* Bytes of a channel's constants in the direct kinds. */
static inline uint32_t dory_direct_constants_bytes(const struct dory_normaliser *normaliser)
{
    return normaliser->direct == DORY_DIRECT ? 8 : 16;
}

/* DORY_DIRECT: four sums of one channel, `stride` apart, whose multiplier and addend are at `constants`. */
static inline void dory_normalise_directly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                           const uint8_t *constants)
{
    uint32_t multiplier = dory_load_word(constants);
    int32_t addend = (int32_t)dory_load_word(constants + 4);
    for (unsigned i = 0; i < 4; i++) {
        int32_t scaled = (int32_t)((uint32_t)sum[i * stride] * multiplier);
        sum[i * stride] = p_clipur(p_addnr(scaled, addend, normaliser->shift), normaliser->maximum);
    }
}

/* The same for the clamped kinds: low, high, multiplier and addend. */
static inline void dory_normalise_clamped_directly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                                   const uint8_t *constants)
{
    int32_t low = (int32_t)dory_load_word(constants), high = (int32_t)dory_load_word(constants + 4);
    uint32_t multiplier = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    uint32_t shift = (uint32_t)normaliser->direct_shift;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t scaled = (uint32_t)p_min(p_max(sum[i * stride], low), high) * multiplier;
        if (normaliser->direct == DORY_DIRECT_CLAMPED_LESS_ONE) {
            scaled += addend + 1;
            sum[i * stride] = (int32_t)p_addunr(scaled, scaled >> shift, shift);
        } else if (normaliser->direct == DORY_DIRECT_CLAMPED_DIVIDED) {
            uint64_t product = (uint64_t)(scaled + addend) * normaliser->reciprocal;
            sum[i * stride] = (int32_t)((uint32_t)(product >> 32) >> shift);
        } else {
            sum[i * stride] = (int32_t)p_addunr(scaled, addend, shift);
        }
    }
}

/* Every kind: `count` sums of one channel, `stride` apart, become output elements. `lane` is the channel in its quad,
 * `constants` are the quad's. */
void dory_normalise_lane(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane, int32_t *sum,
                         uint32_t stride, uint32_t count);

/* The low bytes of four elements. */
static inline uint32_t dory_pack_bytes(const int32_t element[4])
{
    uint32_t low = pv_packlo_b((uint32_t)element[0], (uint32_t)element[1], (uint32_t)element[0]);
    return pv_packhi_b(low, (uint32_t)element[3], (uint32_t)element[2]);
}

/* Writes the first `lanes` of 4 elements. */
void dory_store_elements(uint8_t *output, const int32_t element[4], uint32_t lanes, uint32_t element_bytes);

#endif
