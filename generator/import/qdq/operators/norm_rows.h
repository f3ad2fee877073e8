/* Rows that are normalised together, for norms and for parts of them. */
#ifndef DORYGEN_NORM_ROWS_H
#define DORYGEN_NORM_ROWS_H

#include "import/qdq/operators/handlers.h"

/* What is normalised, rows one behind the other: the dimensions of `order`, first those that are no rows. */
struct qdq_norm {
    enum norm_kind kind;
    double epsilon;
    struct view view; /* of the norm's value, when it was laid: the shape that constants are read by */
    int order[VIEW_MAXIMUM_RANK];
    int64_t rows, length;
    int64_t constant_rows;   /* 1, or all */
    double *factors, *terms; /* constant_rows * length of them */
    const double *roots;     /* see struct real_norm, of the layer's second input; null: there are none */
};

/* Sets order, rows and length. */
void qdq_norm_sort(const struct view *view, const bool *is_row, struct qdq_norm *norm);

/* Rows as channels of a tensor: a copy, unless they are. */
enum qdq_outcome qdq_norm_lay_rows(struct qdq *qdq, const struct node *node, struct qdq_norm *norm, bool must_order,
                                   struct qdq_value *value);

/* The view of rows as one of the model's own dimensions; where a row has become one element, its dimensions are 1. */
bool qdq_norm_restore(const struct qdq_norm *norm, const struct view *rows, const bool *is_one, struct view *view);

#endif
