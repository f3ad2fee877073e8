/* Reductions of a tensor of any rank along any of its dimensions: a pool over rows and columns, where the dimensions lie so,
 * or, of sums along the channels, a convolution by ones; else a copy lays them as rows.
 */
#ifndef DORYGEN_REDUCTIONS_H
#define DORYGEN_REDUCTIONS_H

#include "middle/layout.h"

struct middle_reduction {
    struct middle_value input; /* what the layer reads */
    bool by_ones;              /* a convolution, whose weights are 1; else a pool */
    int kernel_height, kernel_width;
    int height, width, channels; /* of the result */
    int64_t count;               /* of elements that become one */
    struct view view;            /* of the result */
};

/* `is_sum`: of what is reduced the sum is wanted, not the maximum. False where rows, columns or channels would be more than
 * the firmware can have. */
bool middle_reduce(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                   const bool *is_reduced, bool keep, bool is_sum, struct middle_reduction *reduction);

/* Kind and window of the layer, and of ones the weights. */
void middle_set_reduction(struct quantised_builder *builder, const struct middle_reduction *reduction, struct layer *layer);

/* The tensor whose elements are 255 less those of this one: the smallest becomes the largest. Its zero point is so, too. */
int middle_flip(struct quantised_builder *builder, const char *name, int tensor);

/* In memory, steps of at least `above` elements are `by` times shorter behind a reduction. */
struct shorter {
    int64_t above, by;
};

/* The view behind a reduction: without its dimensions, or with 1 in their place. */
struct view middle_reduced_view(const struct view *view, const bool *is_reduced, bool keep, struct shorter shorter);

#endif
