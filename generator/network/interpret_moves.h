/* Accumulators of layers by kind, for interpret.c: see layer.h. False where one exceeds 64 bits. */
#ifndef DORYGEN_INTERPRET_MOVES_H
#define DORYGEN_INTERPRET_MOVES_H

#include "network/network.h"

/* Sums of weight * x, without any stage (interpret_convolution.c). */
bool interpret_convolution(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                           const int64_t *x, int64_t *y);
bool interpret_copy(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y);
bool interpret_interpolation(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                             const int64_t *x, int64_t *y);
bool interpret_largest(const struct tensor *input, const int64_t *x, int64_t *y);
/* Accumulators of all elements; input and output have one shape (interpret_norm.c). */
bool interpret_norm(const struct norm *norm, const struct tensor *tensor, const int64_t *x, const int64_t *roots,
                    int64_t *y);
bool interpret_softmax(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y);
/* x, and the state before it (interpret_lstm.c). */
bool interpret_lstm(const struct lstm *lstm, const int64_t *x, const int64_t *state, int64_t *y);
/* Number `index`, up to 255, of the table that its functions are made of. */
uint16_t lstm_sigmoid(int index);

#endif
