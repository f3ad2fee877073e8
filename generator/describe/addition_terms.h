/* Additions by tables (DORY_ADDITION with DORY_NORMALISE_HIGH): where no whole multipliers of both inputs give the model's
 * sums, each input has a table of its 256 terms, and one shift is left for their sum; with DORY_NORMALISE_CHANNELS a scale
 * for each channel. */
#ifndef DORYGEN_ADDITION_TERMS_H
#define DORYGEN_ADDITION_TERMS_H

#include "base/support.h"
#include "dory/layer.h"
#include "network/network.h"

/* `record` has its shape and bounds. Fills terms, normalisation, rounding and left_shift of an addition of bytes without a
 * sign, and the constants of its stages. Compared with the layer for all 65536 pairs of inputs; false, and nothing of value,
 * where one differs. */
bool addition_terms(const struct layer *layer, struct dory_layer *record, struct dory_stages *stages, struct arena *arena);

#endif
