/* Requantisation of what has one for all channels: pools, additions and what is joined. The firmware computes such layers
 * with floors (struct dory_stage); here a stage of any rounding becomes a floor that is proven equal. */
#ifndef DORYGEN_REQUANTISE_SCALAR_H
#define DORYGEN_REQUANTISE_SCALAR_H

#include "base/support.h"
#include "network/network.h"

/* floor((multiplier * x + addend) / 2^n), clipped as the stage is, which equals the stage for minimum <= x <= maximum; with
 * as few bits as that takes, so that 32 are enough where they can be. A floor is returned as it is. Null where there is
 * none: halves to even, where halves occur. */
const struct stage *requantise_as_floor(const struct stage *stage, int64_t minimum, int64_t maximum, struct arena *arena);

/* An addition: stages of its terms, and of their sum; of each input all values from first to last. */
struct requantise_sum {
    struct stage terms[2], sum;
    int64_t first[2], last[2];
};

/* The same with floors in all places, equal for all pairs of inputs. Best with whole multipliers for the terms and a shift
 * for their sum, in 32 bits; else in 64; else term by term. False where no such floors were found. */
bool requantise_sum(struct requantise_sum *sum, struct arena *arena);

/* floor((multiplier * x + addend) / 2^shift), with the clip of another stage, or none. */
struct stage requantise_floor_stage(int64_t multiplier, int64_t addend, int shift, const struct stage *clip,
                                    struct arena *arena);

#endif
