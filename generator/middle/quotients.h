/* Quotients of two tensors of bytes, by a multiplication of factors (struct layer): reciprocals that are found so that each
 * quotient is rounded as the model rounds it.
 */
#ifndef DORYGEN_QUOTIENTS_H
#define DORYGEN_QUOTIENTS_H

#include <stdbool.h>
#include <stdint.h>

#define QUOTIENT_NUMERATOR_BITS 22 /* that numerators, of 9 bits, are shifted by */
#define QUOTIENT_LARGEST_SHIFT  22

struct quotient_rule {
    const void *context;
    /* The model's byte for a numerator less its zero point, which is not 0, and a denominator's element. */
    int (*model)(const void *context, int numerator, int denominator);
    /* The byte that the layer's stages make of an accumulator, before they clip; never falls. */
    int64_t (*round)(const void *context, int64_t accumulator);
    int zero_point; /* of numerators */
};

/* Of numerators: the first 256 factors. */
void quotient_numerators(int zero_point, int32_t *factors);

/* A reciprocal for the denominator that is right for all numerators, as near to `wanted` as such are; false where there is
 * none. */
bool quotient_reciprocal(const struct quotient_rule *rule, int denominator, double wanted, int32_t *reciprocal);

/* Places behind the point of accumulators such that the reciprocal of 1, or the largest that counts, has 31 bits; `factor`
 * is the quotient's own unit. */
int quotient_shift(double factor);

/* The reciprocal of a denominator as a real number of the layer's. */
double quotient_wanted(double factor, double denominator, int shift);

#endif
