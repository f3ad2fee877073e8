/* Functions of 32-bit fixed point numbers as TensorFlow Lite Micro computes them, to the last bit: what its softmax,
 * logistic and hyperbolic tangent are made of. A number with i integer bits stands for raw / 2^(31 - i).
 */
#ifndef DORYGEN_FIXED_POINT_H
#define DORYGEN_FIXED_POINT_H

#include <stdint.h>

/* The product of the numbers, rounded: its integer bits are those of both together. */
int32_t fixed_multiply(int32_t a, int32_t b);

/* x / 2^places to the nearest, halves away from zero; places from 0 to 31. */
int32_t fixed_divide(int32_t x, int places);

/* e^x for x <= 0 with 4 or 5 integer bits; the result has none. */
int32_t fixed_exponential(int32_t x, int integer_bits);

/* 1 / (1 + x), for x from 0 to 1 without integer bits; the result has none. */
int32_t fixed_reciprocal(int32_t x);

/* 1 / (1 + e^-x) and tanh(x), x with 4 integer bits; the results have none. */
int32_t fixed_logistic(int32_t x);
int32_t fixed_tanh(int32_t x);

/* x * multiplier * 2^(exponent - 31), rounded twice, as MultiplyByQuantizedMultiplier does. */
int32_t fixed_scale(int32_t x, int32_t multiplier, int exponent);

/* 1 / sqrt(value) as a multiplier and exponent, value * multiplier * 2^(exponent - 31): GetInvSqrtQuantizedMultiplierExp.
 * Of values below 2, 1. */
void fixed_inverse_root(int32_t value, int32_t *multiplier, int *exponent);

/* A real factor as such a multiplier and exponent: QuantizeMultiplier. */
void fixed_quantise_multiplier(double factor, int32_t *multiplier, int *exponent);

#endif
