/* What several descriptions share. Their cycles are closed forms of the tile, whose constants were fitted to gvsoc
 * (GAP8_V3, layer in L2, instruction cache warm); tests/kernels prints prediction and measurement side by side. */
#ifndef DORY_XPULPV2_DESCRIPTION_H
#define DORY_XPULPV2_DESCRIPTION_H

#include "direct.h"
#include "xpulpv2.h"

static inline uint32_t dory_no_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile, (void)cores;
    return 0;
}

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

/* Cycles of an element, beside those of its form, where its division is made bit by bit. */
static inline uint32_t dory_bitwise_division_cycles(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_DIVIDE && !dory_divides_narrowly(layer) ? 1150 : 0;
}

#endif
