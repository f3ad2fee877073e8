/* The parts of the depth-wise kernels of any size.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_ANY_H
#define DORY_XPULPV2_ANY_H

#include "series.h"

/* Starts what is the same for all series of a tile. */
void dory_start_series(struct dory_series *series, const struct dory_layer *layer, const struct dory_tile *tile);

/* Lays the weights of a quad of channels ready, `rows` times `columns` of them whose rows are `row_bytes` apart; `columns`
 * are those along which outputs of a four lie `stride` apart. The order is that of a series with rows as inner steps. */
void dory_pair_weights(const uint8_t *weights, uint32_t rows, uint32_t columns, uint32_t row_bytes, uint32_t stride,
                       uint8_t *pairs);

#endif
