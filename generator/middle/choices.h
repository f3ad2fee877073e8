/* The larger or smaller of two elements, and sums of bytes of which one is nothing: additions of bytes. */
#ifndef DORYGEN_CHOICES_H
#define DORYGEN_CHOICES_H

#include "middle/quantised.h"

/* output = a + sign * b + addend, kept to bytes. */
void middle_sum_bytes(struct quantised_builder *builder, int a, int sign, int b, int addend, int output);

/* The larger (smaller) of the elements of two tensors of one size and quantisation, which `output` has, too. */
void middle_choose(struct quantised_builder *builder, int a, int b, bool is_maximum, int output);

#endif
