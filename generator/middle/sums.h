/* Sums of more than two tensors, and of what layers compute but no node of the model rounds: terms and partial sums are
 * whole numbers of 32 bits, in a unit that is a fine power of two, and the last sum is rounded. Scales that are powers of
 * two are held exactly; others to 2^-20 of the unit, which is finer than what float32 keeps of such a sum. And sums of two
 * tensors of bytes, which the larger and the smaller of two elements are made of.
 */
#ifndef DORYGEN_SUMS_H
#define DORYGEN_SUMS_H

#include "middle/quantised.h"

struct sum_term {
    int tensor;
    double factor; /* of a tensor of bytes: real number of one step, negative where it is subtracted */
    bool is_wide;  /* its elements are whole numbers of the unit; the factor is 1 or -1 */
};

/* The exponent of the unit, in which sums whose terms together are `largest` at most have 32 bits. */
int middle_sum_exponent(double largest);

/* What makes whole numbers of the unit of a layer's accumulators: round((x + addends[c]) * factors[c] + constants[c]), where
 * constants may be null; kept between two bounds where these are finite. */
struct stage middle_wide_stage(struct quantised_builder *builder, int count, const int64_t *addends, const double *factors,
                               const double *constants, int exponent);
void middle_wide_clip(struct stage *stage, double minimum, double maximum, int exponent);

/* The sum of two terms or more, all of one size, as whole numbers of the unit, into a layer whose stages and output are the
 * caller's. */
struct layer *middle_last_sum(struct quantised_builder *builder, const char *name, const struct sum_term *terms, int count,
                              int exponent, int output);

/* output = a + sign * b + addend, kept to bytes. */
void middle_sum_bytes(struct quantised_builder *builder, int a, int sign, int b, int addend, int output);

/* The larger (smaller) of the elements of two tensors of one size and quantisation, which `output` has, too. */
void middle_choose(struct quantised_builder *builder, int a, int b, bool is_maximum, int output);

#endif
