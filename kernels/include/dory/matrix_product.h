/* Of DORY_MATRIX_PRODUCT: how its one set of requantisation constants lies in struct dory_stages, and becomes that of a
 * channel of a weight blob, for kernels that compute it as a convolution by what they find in the second input.
 *
 *     NONE, 32, 64, DIVIDE   first: multiplier, addend, divisor
 *     CLAMPED                first: minimum (low), maximum (high), multiplier, addend
 *     SPLIT                  first: minimum (bias), maximum (limit), multiplier (low), addend; second: multiplier (high),
 *                            and with DORY_ROUND_AWAY minimum (zero), addend (step)
 *     HIGH                   second: addend (bias); first: multiplier, addend, divisor (2^shift)
 */
#ifndef DORY_MATRIX_PRODUCT_H
#define DORY_MATRIX_PRODUCT_H

#include "dory/layer.h"

#define DORY_MATRIX_WORDS 7 /* at most */

static inline uint32_t dory_log2_of_divisor(int64_t divisor)
{
    uint32_t shift = 0;
    while (((int64_t)1 << shift) < divisor) {
        shift++;
    }
    return shift;
}

/* Of 64 bits, as two words. */
static inline void dory_split_word(uint32_t *words, int64_t number)
{
    words[0] = (uint32_t)number;
    words[1] = (uint32_t)((uint64_t)number >> 32);
}

/* The words of a channel whose sums lack `more`: dory_channel_constants_bytes() of them. All sums wrap, and are right where
 * what they stand for fits. */
static inline void dory_matrix_constants(const struct dory_layer *layer, int32_t more, uint32_t words[DORY_MATRIX_WORDS])
{
    const struct dory_stage *first = &layer->stages->first, *second = &layer->stages->second;
    uint32_t lacks = (uint32_t)more, multiplier = (uint32_t)first->multiplier, addend = (uint32_t)first->addend;
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: words[0] = addend + lacks; break;
    case DORY_NORMALISE_32:
        words[0] = multiplier;
        words[1] = addend + multiplier * lacks;
        break;
    case DORY_NORMALISE_CLAMPED:
        words[0] = (uint32_t)first->minimum - lacks;
        words[1] = (uint32_t)first->maximum - lacks;
        words[2] = multiplier;
        words[3] = addend + multiplier * lacks;
        break;
    case DORY_NORMALISE_SPLIT:
        words[0] = (uint32_t)first->minimum + lacks;
        words[1] = (uint32_t)first->maximum;
        words[2] = multiplier;
        words[3] = addend;
        words[4] = (uint32_t)second->multiplier;
        words[5] = (uint32_t)second->minimum;
        words[6] = (uint32_t)second->addend;
        break;
    case DORY_NORMALISE_HIGH:
        words[0] = (uint32_t)second->addend + lacks;
        words[1] = multiplier;
        words[2] = addend;
        words[3] = dory_log2_of_divisor(first->divisor);
        break;
    default:
        dory_split_word(&words[0], first->multiplier);
        dory_split_word(&words[2], first->addend + first->multiplier * more);
        break;
    }
}

#endif
