/* DORY_NORMALISE_CLAMPED: a normalisation with a clip, computed in 32 bits although its product exceeds them.
 *
 * Beyond some accumulator the output saturates, so the accumulator may be clamped there first; what is left of
 * multiplier * accumulator + addend then lies in [0, (maximum + 1) * divisor), which is at most 2^32 for the usual divisors.
 * And an unsigned 32-bit number is divided by a constant by one multiplication (Granlund and Montgomery, "Division by
 * invariant integers using multiplication", PLDI 1994). Both steps are proven here for every value, or not taken. */
#ifndef DORYGEN_CLAMP_H
#define DORYGEN_CLAMP_H

#include <stdbool.h>
#include <stdint.h>

struct clamped_channel {
    int32_t low, high;           /* of the accumulator */
    uint32_t multiplier, addend; /* modulo 2^32, which is exact: the result is below 2^32 */
};

/* One channel of y = clip(floor((multiplier * x + addend) / divisor), 0, maximum) for x in [x_minimum, x_maximum].
 * False where it cannot be had this way. */
bool clamp_channel(int64_t multiplier, int64_t addend, int64_t divisor, int64_t maximum, int64_t x_minimum,
                   int64_t x_maximum, struct clamped_channel *channel);

/* floor(u / divisor) = (u * reciprocal >> 32) >> shift for all u < bound, bound at most 2^32; with reciprocal 0: u >> shift.
 * False where no such pair exists. */
bool clamp_reciprocal(int64_t divisor, uint64_t bound, uint32_t *reciprocal, uint8_t *shift);

/* A factor for multiplier, addend and divisor, which changes no result, and makes of the divisor 2^n or 2^n - 1 where that
 * is possible: kernels divide by those fastest. Imports cancel common factors, so 2^24 - 1 may come as (2^24 - 1) / 5. 1:
 * none. */
int64_t clamp_scale(int64_t divisor, int64_t maximum);

#endif
