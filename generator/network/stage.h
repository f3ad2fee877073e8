/* The arithmetic of a stage: the one place that says what struct stage means. */
#ifndef DORYGEN_STAGE_H
#define DORYGEN_STAGE_H

#include "base/arithmetic.h"
#include "network/network.h"

/* The stage of a channel on x. Exact where |x| < 2^63, |multiplier| < 2^63 and, but for ROUND_FLOOR, the product with its
 * powers of two stays below 2^126; what exceeds that is bounded by +-2^126, far beyond every clip. */
wide stage_apply(const struct stage *stage, int channel, int64_t x);

/* The same, quickly, but for ROUND_FLOOR. False, and nothing, where that needs more than 64 bits or is too near to a half to
 * tell. */
bool stage_apply_narrowly(const struct stage *stage, int channel, int64_t x, int64_t *y);

/* Has x an exact half to round, which goes to one element or another of the output? Of the roundings that divide once. */
bool stage_is_tie(const struct stage *stage, int channel, int64_t x);

#endif
