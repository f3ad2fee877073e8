/* Requantisation by thresholds (DORY_NORMALISE_THRESHOLDS): of any monotone function of an accumulator to bytes. */
#ifndef DORYGEN_THRESHOLDS_H
#define DORYGEN_THRESHOLDS_H

#include "network/network.h"

/* Thresholds i, the least of the accumulators minimum <= x <= maximum for which the layer's stages give more than i;
 * INT32_MIN where all do, INT32_MAX where none does. The last of the 256 is not used. Exact whatever the stages' rounding,
 * since stages are monotone. False where the layer has stages for each channel, where an accumulator does not fit 32 bits,
 * or where a value is no byte without a sign. */
bool thresholds_of_stages(const struct layer *layer, int64_t minimum, int64_t maximum, int32_t *thresholds);

#endif
