/* Compares one layer's output, piece by piece. */
#ifndef DORY_CHECK_COMPARE_H
#define DORY_CHECK_COMPARE_H

#include "dory/check.h"

struct comparison {
    uint32_t values, differing;
    uint32_t row, column, channel; /* of the first that differs */
    int32_t expected, actual;
};

/* Bytes of the tensor in memory. */
uint32_t comparison_bytes(const struct dory_check_layer *layer);

/* Takes up `bytes` bytes of the tensor from its byte `first` on; whole 4-byte words, but at its end. */
void comparison_take(struct comparison *comparison, const struct dory_check_layer *layer, uint32_t first,
                     const uint8_t *expected, const uint8_t *actual, uint32_t bytes);

#endif
