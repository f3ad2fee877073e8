/* The constants with which a convolution's sums become elements, of one output channel: what the generator solves for and
 * proves, and what an engine's weights' format (dory/engine.h) writes beside the weights. As numbers, not yet cut to their
 * size; enum dory_normalisation says what they mean. */
#ifndef DORY_CONSTANTS_H
#define DORY_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dory_channel_constants {
    union { /* by the layer's form */
        struct {
            int64_t addend;
        } none; /* DORY_NORMALISE_NONE */
        struct {
            int64_t multiplier, addend;
        } product; /* DORY_NORMALISE_32, _64 and _DIVIDE */
        struct {
            int64_t low, high, multiplier, addend;
        } clamped; /* DORY_NORMALISE_CLAMPED */
        struct {
            int64_t bias, limit, low, addend, high;
            int64_t zero, step; /* with DORY_ROUND_AWAY */
        } split;                /* DORY_NORMALISE_SPLIT */
        struct {
            int64_t bias;
            int64_t multiplier, addend, shift; /* SHARED: the same for all channels, and the layer's */
        } high;                                /* DORY_NORMALISE_HIGH and _SHARED */
    };
    bool is_negated; /* SPLIT: its weights are written with the other sign, and so its accumulators have it */
};

#ifdef __cplusplus
}
#endif

#endif
