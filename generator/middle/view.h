/* How a tensor of the model lies in the memory of one of dory's, which is HWC: every dimension of the model's tensor is a
 * product of factors, each with its step in memory. Reshape, Flatten, Squeeze, Unsqueeze and Transpose change the view and
 * move no byte; only a reader that wants the elements in order has them moved.
 */
#ifndef DORYGEN_VIEW_H
#define DORYGEN_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/support.h"
#include "network/network.h"

#define VIEW_MAXIMUM_RANK    TENSOR_MAXIMUM_RANK
#define VIEW_MAXIMUM_FACTORS 16

struct view_factor {
    int64_t size, step; /* in elements; step 0: the same elements again */
};

struct view {
    int rank;
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    int factor_counts[VIEW_MAXIMUM_RANK];             /* of each dimension; 0 where it is 1 */
    struct view_factor factors[VIEW_MAXIMUM_FACTORS]; /* of all dimensions, the outermost first */
};

/* All elements as they come in memory. */
struct view view_of_memory(int rank, const int64_t *dimensions);

/* ONNX's order: batch, channels, height, width; a rank of 3 has no height, of 2 neither. */
struct view view_of_image(const struct tensor *tensor, int rank);

int64_t view_elements(const struct view *view);

/* False where the elements of the new shape have no fixed steps, or where it has another number of elements. */
bool view_reshape(const struct view *view, int rank, const int64_t *dimensions, struct view *result);
void view_permute(const struct view *view, const int *order, struct view *result);
/* By ONNX's rules; the shape must allow it. */
bool view_broadcast(const struct view *view, int rank, const int64_t *dimensions, struct view *result);

/* The elements of the view are all those of the tensor, in the places that view_of_image gives them. */
bool view_is_image(const struct view *view, const struct tensor *tensor);
/* The elements come as they lie in memory, whatever the dimensions. */
bool view_is_memory(const struct view *view);
/* A dimension's indices are the channels of the tensor. */
bool view_is_channels(const struct view *view, int dimension, const struct tensor *tensor);
bool view_equal(const struct view *a, const struct view *b);

/* Where in memory an index of a dimension is; and all elements of the view, in the model's order. */
int64_t view_position(const struct view *view, int dimension, int64_t index);
void view_positions(const struct view *view, int64_t *positions);

const char *view_text(const struct view *view, struct arena *arena); /* "1x32x10x10" */

#endif
