/* Compares one layer's output, piece by piece. */
#ifndef DORY_CHECK_COMPARE_H
#define DORY_CHECK_COMPARE_H

#include "dory/check.h"

/* Bytes of the tensor. */
uint32_t comparison_bytes(const struct dory_check_layer *layer);

/* Takes up `bytes` bytes of the tensor from its byte `first` on: whole elements. */
void comparison_take(struct dory_comparison *comparison, const struct dory_check_layer *layer, uint32_t first,
                     const uint8_t *expected, const uint8_t *actual, uint32_t bytes);

#endif
