/* From sums to output elements.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_NORMALISE_H
#define DORY_XPULPV2_NORMALISE_H

#include <stdbool.h>

#include "direct.h"
#include "dory/layer.h"
#include "xpulp.h"

/* What a kernel needs of a layer to finish an element, copied once a call. */
struct dory_normaliser {
    int32_t shift, minimum, maximum;
    uint32_t reciprocal;  /* for DORY_NORMALISE_CLAMPED */
    uint8_t kind;         /* enum dory_normalisation */
    uint8_t output_bytes; /* of an element, 1 or 4 */
    int8_t direct;        /* enum dory_direct */
    uint8_t even;         /* for DORY_NORMALISE_HIGH: 1 where ties go to even */
    int32_t direct_shift; /* the left shift of a high kind, else shift */
    int32_t away;         /* for DORY_NORMALISE_HIGH: what a negative sum takes off */
    const struct dory_layer *layer;
};

/* What DORY_NORMALISE_HIGH, _SPLIT and _DIVIDE need: the direct kind; of the divisor, shift and reciprocal. Apart from the
 * start of the others, which every tile runs through. */
void dory_prepare_normaliser(struct dory_normaliser *normaliser, const struct dory_layer *layer);

/* For a layer whose direct kind is known. Field by field: an initialiser would be a call that clears all. */
static inline __attribute__((always_inline)) void
dory_start_normaliser_as(struct dory_normaliser *normaliser, const struct dory_layer *layer, enum dory_direct direct)
{
    int32_t shift = layer->shift;
    normaliser->shift = shift;
    normaliser->minimum = layer->minimum;
    normaliser->maximum = layer->maximum;
    normaliser->reciprocal = layer->reciprocal;
    normaliser->kind = layer->normalisation;
    normaliser->output_bytes = layer->output_bits / 8;
    normaliser->direct = (int8_t)direct;
    normaliser->direct_shift = shift;
    normaliser->layer = layer;
    if (normaliser->kind >= DORY_NORMALISE_SPLIT || normaliser->kind == DORY_NORMALISE_DIVIDE) {
        dory_prepare_normaliser(normaliser, layer);
    }
}

static inline __attribute__((always_inline)) void dory_start_normaliser(struct dory_normaliser *normaliser,
                                                                        const struct dory_layer *layer)
{
    dory_start_normaliser_as(normaliser, layer, dory_direct_low_of(layer));
}

/* Bytes of a channel's constants in the direct kinds. */
static inline uint32_t dory_direct_constants_bytes(const struct dory_normaliser *normaliser)
{
    return normaliser->direct == DORY_DIRECT              ? 8
           : normaliser->direct == DORY_DIRECT_SPLIT      ? 20
           : normaliser->direct == DORY_DIRECT_SPLIT_AWAY ? 28
                                                          : 16;
}

/* DORY_DIRECT: `count` sums of one channel, `stride` apart, whose multiplier and addend are at `constants`. */
static inline void dory_normalise_directly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                           unsigned count, const uint8_t *constants)
{
    uint32_t multiplier = dory_load_word(constants);
    int32_t addend = (int32_t)dory_load_word(constants + 4);
    for (unsigned i = 0; i < count; i++) {
        int32_t scaled = (int32_t)((uint32_t)sum[i * stride] * multiplier);
        sum[i * stride] = p_clipur(p_addnr(scaled, addend, normaliser->shift), normaliser->maximum);
    }
}

/* The split kinds: bias, limit, low, addend and high; and zero and step. */
static inline void dory_normalise_split_directly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                                 unsigned count, const uint8_t *constants)
{
    uint32_t bias = dory_load_word(constants), low = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    int32_t limit = (int32_t)dory_load_word(constants + 4), high = (int32_t)dory_load_word(constants + 16);
    bool away = normaliser->direct == DORY_DIRECT_SPLIT_AWAY;
    int32_t zero = away ? (int32_t)dory_load_word(constants + 20) : 0;
    uint32_t step = away ? dory_load_word(constants + 24) : 0;
    for (unsigned i = 0; i < count; i++) {
        int32_t x = p_clipur((int32_t)((uint32_t)sum[i * stride] + bias), limit);
        uint32_t fine = p_addunr((uint32_t)x * low, addend, addend);
        uint32_t both = (uint32_t)p_mac((int32_t)fine, x, high) - (x < zero ? step : 0);
        sum[i * stride] = (int32_t)(both >> 24);
    }
}

/* The high half of the product of a sum and a scale, all that DORY_NORMALISE_HIGH does but for the clip; constants in the
 * order of the blob. */
static inline int32_t dory_scale_highly(const struct dory_normaliser *normaliser, int32_t sum, int32_t bias,
                                        int32_t multiplier, int32_t addend, int32_t shift)
{
    int32_t biased = (int32_t)((uint32_t)sum + (uint32_t)bias);
    int32_t shifted = (int32_t)((uint32_t)biased << normaliser->direct_shift);
    int32_t high = (int32_t)((int64_t)shifted * multiplier >> 32);
    uint32_t correction = ((uint32_t)(high >> shift) & normaliser->even) - (uint32_t)(biased >> 31 & normaliser->away);
    return (int32_t)((uint32_t)high + (uint32_t)addend + correction) >> shift;
}

/* The high kinds: bias, multiplier, addend and shift. */
static inline void dory_normalise_highly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                         unsigned count, const uint8_t *constants)
{
    int32_t bias = (int32_t)dory_load_word(constants), multiplier = (int32_t)dory_load_word(constants + 4);
    int32_t addend = (int32_t)dory_load_word(constants + 8), shift = (int32_t)dory_load_word(constants + 12);
    for (unsigned i = 0; i < count; i++) {
        int32_t value = dory_scale_highly(normaliser, sum[i * stride], bias, multiplier, addend, shift);
        sum[i * stride] = p_min(p_max(value, normaliser->minimum), normaliser->maximum);
    }
}

/* DORY_NORMALISE_SHARED: one sum, whose channel's bias is at `constants`. */
static inline int32_t dory_normalise_by_one_scale(const struct dory_normaliser *normaliser, int32_t sum,
                                                  const uint8_t *constants)
{
    const struct dory_layer *layer = normaliser->layer;
    int32_t value = dory_scale_highly(normaliser, sum, (int32_t)dory_load_word(constants), layer->multiplier,
                                      (int32_t)layer->addend, layer->shift);
    return p_min(p_max(value, normaliser->minimum), normaliser->maximum);
}

/* The same for the clamped kinds: low, high, multiplier and addend. */
static inline void dory_normalise_clamped_directly(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                                   unsigned count, const uint8_t *constants)
{
    int32_t low = (int32_t)dory_load_word(constants), high = (int32_t)dory_load_word(constants + 4);
    uint32_t multiplier = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    uint32_t shift = (uint32_t)normaliser->direct_shift;
    for (unsigned i = 0; i < count; i++) {
        uint32_t scaled = (uint32_t)p_min(p_max(sum[i * stride], low), high) * multiplier;
        if (normaliser->direct == DORY_DIRECT_CLAMPED_DIVIDED) {
            uint64_t product = (uint64_t)(scaled + addend) * normaliser->reciprocal;
            sum[i * stride] = (int32_t)((uint32_t)(product >> 32) >> shift);
        } else {
            sum[i * stride] = (int32_t)p_addunr(scaled, addend, shift);
        }
    }
}

/* The direct kind of the layer, whichever it is; the count is a constant. */
static inline void dory_normalise_in_its_kind(const struct dory_normaliser *normaliser, int32_t *sum, unsigned stride,
                                              unsigned count, const uint8_t *constants)
{
    if (normaliser->direct == DORY_DIRECT) {
        dory_normalise_directly(normaliser, sum, stride, count, constants);
    } else if (normaliser->kind == DORY_NORMALISE_SPLIT) {
        dory_normalise_split_directly(normaliser, sum, stride, count, constants);
    } else if (normaliser->kind == DORY_NORMALISE_HIGH) {
        dory_normalise_highly(normaliser, sum, stride, count, constants);
    } else {
        dory_normalise_clamped_directly(normaliser, sum, stride, count, constants);
    }
}

/* `count` sums of one channel, `stride` apart, become output elements. `lane` is the channel in its quad, `constants` are
 * the quad's. The first one takes every kind; kernels of one kind have its own, so that a program has no other. */
typedef void dory_lane_normaliser(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                                  int32_t *sum, uint32_t stride, uint32_t count);
dory_lane_normaliser dory_normalise_lane, dory_normalise_lane_clamped, dory_normalise_lane_split, dory_normalise_lane_high,
    dory_normalise_lane_shared;

/* The low bytes of four elements. */
static inline uint32_t dory_pack_bytes(const int32_t element[4])
{
    uint32_t low = pv_packlo_b((uint32_t)element[0], (uint32_t)element[1], (uint32_t)element[0]);
    return pv_packhi_b(low, (uint32_t)element[3], (uint32_t)element[2]);
}

typedef uint16_t __attribute__((may_alias)) dory_half;

/* Writes an element of so many bytes. */
static inline void dory_store_element(uint8_t *output, int32_t element, uint32_t bytes)
{
    if (bytes == 1) {
        *output = (uint8_t)element;
    } else if (bytes == 2) {
        *(dory_half *)output = (uint16_t)element;
    } else {
        dory_store_word(output, (uint32_t)element);
    }
}

/* Four of them, `step` bytes apart. */
static inline void dory_store_four_elements(uint8_t *output, uint32_t step, const int32_t element[4], uint32_t bytes)
{
    if (bytes == 1) {
        for (unsigned i = 0; i < 4; i++, output += step) {
            dory_store_element(output, element[i], 1);
        }
    } else {
        for (unsigned i = 0; i < 4; i++, output += step) {
            dory_store_element(output, element[i], bytes);
        }
    }
}

/* Writes the first `lanes` of 4 elements. */
void dory_store_elements(uint8_t *output, const int32_t element[4], uint32_t lanes, uint32_t element_bytes);

#endif
