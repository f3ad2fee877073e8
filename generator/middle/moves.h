/* Operators that move elements of a tensor of any rank, one dimension at a time: slices, borders, gathers, repeats,
 * reversals. Each sets the list of one dimension; middle_move_apply lays one copy for them all. Those that only join and
 * split dimensions (depth to space) are views, and lay nothing.
 */
#ifndef DORYGEN_MOVES_H
#define DORYGEN_MOVES_H

#include "middle/layout.h"

/* Every dimension as it is. */
struct middle_move middle_move_none(const struct view *view);

/* The lists. False where the indices leave the dimension, or where the result has none, or too many. */

/* Indices first, first + step, ...; `count` of them. */
bool middle_move_slice(struct quantised_builder *builder, struct middle_move *move, int dimension, int64_t first,
                       int64_t step, int64_t count);
/* What is outside: the border's element; the nearest; a reflection without (REFLECT) or with the outermost element
 * (SYMMETRIC); the other end. Less than nothing is cut off. */
enum middle_border { BORDER_CONSTANT, BORDER_EDGE, BORDER_REFLECT, BORDER_SYMMETRIC, BORDER_WRAP };
bool middle_move_pad(struct quantised_builder *builder, struct middle_move *move, int dimension, enum middle_border border,
                     int64_t before, int64_t behind);
/* These indices; from the end where they are negative. */
bool middle_move_gather(struct quantised_builder *builder, struct middle_move *move, int dimension, const int64_t *indices,
                        int64_t count);
/* Elements `stride` apart, with the border's between them. */
bool middle_move_spread(struct quantised_builder *builder, struct middle_move *move, int dimension, int64_t stride);

/* The moved elements, in memory in the same order of dimensions as before. */
bool middle_move_apply(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                       const struct middle_move *move, const struct layout *layout, int border, struct middle_value *result);

/* Rows of indices: each row says where to go in the value's first `columns` dimensions, and takes what is there. */
struct middle_rows {
    int rank; /* of the rows, without the columns */
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    int columns;
    const int64_t *indices; /* row by row; from the end where they are negative */
};

/* Other columns for the rows: source c is a dimension of the rows, whose own index the column then has, or -1 - k for what
 * was column k. */
void middle_rows_place(struct middle_rows *rows, const int *sources, int columns, struct arena *arena);

/* gather_rows.c: the result has the rows' dimensions, and behind them those of the value that no column says; no more than
 * VIEW_MAXIMUM_RANK. False where an index is none of the value, or the result too large. */
bool middle_gather_rows(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                        const struct middle_rows *rows, struct middle_value *result);

/* Images of a batch as one, for layers that slide a window: each `pitch` rows below the one in front of it, with `before`
 * rows of the border's element above. The value's dimensions are images, rows, columns, channels. */
bool middle_stack_images(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                         int64_t before, int64_t pitch, int border, struct middle_value *result);
/* So many images and rows of each, as they are in such a tensor. */
struct view middle_unstack_images(int64_t images, int64_t rows, int64_t pitch, const struct tensor *tensor);

/* ---- blocks.c: views ---- */

/* The dimensions of images: two of space, and that of the channels. */
struct middle_image {
    int height, width, channels;
};

/* Blocks of pixels from channels, or channels from blocks: the block's number is the outer part of a channel's index, or, of
 * DepthToSpace in mode CRD, the inner one. False where the block does not divide the dimensions. */
bool middle_depth_to_space(const struct view *view, struct middle_image image, int64_t block, bool is_inner,
                           struct view *result);
bool middle_space_to_depth(const struct view *view, struct middle_image image, int64_t block, struct view *result);

/* All indices of a dimension, so many times over. False where that is too many. */
bool middle_repeat(const struct view *view, int dimension, int64_t times, struct view *result);

/* Without a dimension of one index; with another in front of `dimension`. */
struct view middle_drop(const struct view *view, int dimension);
struct view middle_insert(const struct view *view, int dimension);

#endif
