/* What several descriptions share. Their cycles are closed forms of the tile, whose constants were fitted to gvsoc
 * (GAP8_V3, layer in L2, instruction cache warm); tests/kernels prints prediction and measurement side by side.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DESCRIPTION_H
#define DORY_XPULPV2_DESCRIPTION_H

#include "direct.h"
#include "xpulpv2.h"

static inline bool dory_has_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->weight_bits == 8;
}

/* An output whose elements the kernels store: all but those of 16 bits, and for some kernels bytes or 32-bit words. They
 * take every normalisation. */
static inline bool dory_is_stored_packed(const struct dory_layer *layer) { return layer->output_bits != 16; }

static inline bool dory_is_stored(const struct dory_layer *layer)
{
    return dory_is_stored_packed(layer) && layer->output_bits >= 8;
}

/* What a core takes that has items `first` to `end` - 1, at least one. */
typedef uint64_t dory_share_cycles(const void *context, uint32_t first, uint32_t end);

/* The most that a core takes of so many items, as dory_grid_share_of divides them. */
uint64_t dory_busiest_cycles(uint32_t items, unsigned cores, dory_share_cycles *share_cycles, const void *context);

/* Of a run of bytes that dory_copy_run moves, in the mean of pixels so many bytes apart: from the first byte of one of the
 * input to byte `start` of one of the output. */
uint64_t dory_run_cycles(uint32_t bytes, uint32_t step, uint32_t start, uint32_t output_step);

/* Cycles of an element, beside those of its form, where its division is made bit by bit; what is left is sooner found to
 * be less than a divisor that is beyond 32 bits. */
static inline uint32_t dory_bitwise_division_cycles(const struct dory_layer *layer)
{
    bool is_bitwise = layer->normalisation == DORY_NORMALISE_DIVIDE && !dory_divides_narrowly(layer);
    return !is_bitwise ? 0 : layer->divisor <= UINT32_MAX ? 895 : 750;
}

/* Whether a division usually is by an estimate that stays in 32 bits (quotient_of in normalise.c): of smaller divisors,
 * multipliers are seldom small enough. */
static inline bool dory_divides_quickly(const struct dory_layer *layer) { return layer->divisor >= 511; }

/* Of a core, before a layer's first element: the divisor's reciprocal, bit by bit. */
uint32_t dory_division_start_cycles(const struct dory_layer *layer);

/* Whether multipliers of 64-bit constants usually have the 15 bits that the quickest way takes: they bring sums, which have
 * some bits more than a product, to the bits of an output. */
static inline bool dory_multiplies_halves(const struct dory_layer *layer)
{
    uint32_t largest = layer->minimum < -128 || layer->maximum > 255 ? 16 : 8;
    return layer->shift <= layer->input_bits + layer->weight_bits + 14u - dory_minimum(layer->output_bits, largest);
}

/* Whether what 64 bits are shifted by and clipped to lets words do: see normalise.c. */
static inline bool dory_shifts_narrowly(const struct dory_layer *layer)
{
    return layer->shift > 1 && layer->shift < 32 && layer->minimum >= -(1 << 30) && layer->maximum <= 1 << 30;
}

#endif
