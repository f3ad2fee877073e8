/* Functions of one real number, by ONNX's names: in float32; transcendental ones are rounded from double. */
#ifndef DORYGEN_FUNCTIONS_H
#define DORYGEN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct function_parameters {
    double alpha, beta;
};

typedef double real_function(double x, struct function_parameters parameters);

/* The function of that name ("GeluTanh" is Gelu by tanh), and its parameters where the model says none; null: no function.
 */
real_function *function_find(const char *name, struct function_parameters *parameters);
bool function_is_relu(real_function *function);

/* Whether a function of bytes is a number for each, as a root of negative ones is not. */
bool function_is_of_numbers(const float *reals);

/* Bytes for the numbers of two functions of bytes, so that an upper number is above a lower one where the sum of both bytes
 * and what is returned is above 0. No number is NaN. */
int function_order(const float *upper, const float *lower, uint8_t *upper_bytes, uint8_t *lower_bytes);

#endif
