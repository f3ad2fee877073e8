/* Accumulators of layers that move, weigh or compare elements without weights: see network.h. False where one exceeds 64
 * bits. */
#ifndef DORYGEN_INTERPRET_MOVES_H
#define DORYGEN_INTERPRET_MOVES_H

#include "network/network.h"

bool interpret_copy(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y);
bool interpret_interpolation(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                             const int64_t *x, int64_t *y);
bool interpret_largest(const struct tensor *input, const int64_t *x, int64_t *y);
/* Accumulators of all elements; input and output have one shape (interpret_norm.c). */
bool interpret_norm(const struct norm *norm, const struct tensor *tensor, const int64_t *x, int64_t *y);
bool interpret_softmax(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y);

#endif
