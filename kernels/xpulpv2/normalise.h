/* From sums to output elements. */
#ifndef DORY_XPULPV2_NORMALISE_H
#define DORY_XPULPV2_NORMALISE_H

#include <stdbool.h>

#include "dory/layer.h"
#include "xpulp.h"

/* What a kernel needs of a layer to finish an element, copied once a call: the layer itself lies in L2, 9 cycles a load. */
struct dory_normaliser {
    int32_t shift, minimum, maximum;
    uint32_t reciprocal;  /* for DORY_NORMALISE_CLAMPED */
    uint8_t kind;         /* enum dory_normalisation */
    uint8_t output_bytes; /* of an element, 1 or 4 */
    bool direct;          /* y = clip((multiplier * sum + addend) >> shift) to a byte in [0, maximum], as after a ReLU */
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
    normaliser.direct = normaliser.kind == DORY_NORMALISE_32 && normaliser.output_bytes == 1 && normaliser.minimum == 0 &&
                        normaliser.maximum >= 0;
    return normaliser;
}

/* The direct kind: four sums of one channel, `stride` apart, whose multiplier and addend are at `constants`. */
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
