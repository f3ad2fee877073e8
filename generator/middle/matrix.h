/* Products of two tensors, which attention has. */
#ifndef DORYGEN_MATRIX_H
#define DORYGEN_MATRIX_H

#include "middle/layout.h"

/* A product of matrices over the last two dimensions of both, for each index of those in front of them. */
struct middle_product {
    struct middle_value factors[2];
    int height, width, channels; /* of the result: matrices, rows, columns */
    struct view view;
};

/* [..., rows, terms] times [..., terms, columns]; dimensions in front are repeated where one has fewer. Lays copies of
 * factors that do not lie as the layer wants them: terms innermost. False where the dimensions do not go together, or where
 * there are more than the firmware can have. */
bool middle_multiply(struct quantised_builder *builder, const char *name, const struct middle_value factors[2],
                     struct middle_product *product);

/* The layer's input stages: elements without their zero points. */
void middle_set_product(struct quantised_builder *builder, const struct middle_product *product, struct layer *layer);

/* The last two dimensions in the other order. */
struct view middle_transposed(const struct view *view);

#endif
