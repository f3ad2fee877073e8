/* Arithmetic of DORY_SOFTMAX. Without thresholds it is TensorFlow Lite Micro's: fractions of 31 bits, and numbers of more
 * integer bits where it says so. With thresholds sums are of whole numbers, group by group where there are groups. */
#ifndef DORY_SOFTMAX_H
#define DORY_SOFTMAX_H

#include <stdint.h>

/* a * b of fractions, to the nearest, by which the low half counts 0, 1 or 2. */
static inline int32_t dory_multiply_fractions(int32_t a, int32_t b)
{
    int64_t product = (int64_t)a * b;
    return (int32_t)((uint32_t)(product >> 32) * 2 + (((uint32_t)product >> 30) + 1) / 2);
}

/* 1 / (1 + x) for x from 0 to 1: a line, and three steps of Newton and Raphson, in two integer bits. */
static inline int32_t dory_reciprocal_of_one_plus(int32_t x)
{
    int32_t half = (int32_t)(((uint32_t)x + 0x80000000u) >> 1);
    int32_t result = 1515870810 + dory_multiply_fractions(half, -1010580540); /* 48/17 - 32/17 of it */
    for (int i = 0; i < 3; i++) {
        result += dory_multiply_fractions(result, (1 << 29) - dory_multiply_fractions(half, result)) * 4;
    }
    return result >= 1 << 30 ? INT32_MAX : result * 2;
}

/* A sum of exponentials once the largest element has risen. All of the table are powers of two: the sum is as many times
 * smaller as the exponential of the rise is than the first, and rounded down to whole multiples of the last. */
static inline uint32_t dory_lower_sum(const uint32_t *exponentials, uint32_t sum, uint32_t rise)
{
    uint32_t places = (uint32_t)(__builtin_clz(exponentials[rise]) - __builtin_clz(exponentials[0]));
    return (sum >> places) & (0u - exponentials[255]);
}

#endif
