/* What LAYER_NORM means: see struct norm. */
#ifndef DORYGEN_INTERPRET_NORM_H
#define DORYGEN_INTERPRET_NORM_H

#include "network/network.h"

/* y = accumulators of all elements. Input and output have one shape. Always true: struct norm's bounds are its maker's. */
bool interpret_norm(const struct norm *norm, const struct tensor *tensor, const int64_t *x, int64_t *y);

#endif
