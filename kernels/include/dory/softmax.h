/* Arithmetic of DORY_SOFTMAX without thresholds, TensorFlow Lite Micro's: fractions of 31 bits, and numbers of more integer
 * bits where it says so. */
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

#endif
