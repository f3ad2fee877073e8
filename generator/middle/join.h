/* Concatenation of tensors of any rank along any of their dimensions, by the layer there is, which joins channels. */
#ifndef DORYGEN_JOIN_H
#define DORYGEN_JOIN_H

#include "middle/layout.h"

/* Joins values of one scale and zero point, of equal shapes but for that dimension. They become copies where the dimension
 * is not their channels, or where their other dimensions lie otherwise than those of the first. False where rows, columns or
 * channels of one, or the channels of all, are more than the firmware can have. */
bool middle_join(struct quantised_builder *builder, const char *name, struct middle_value *parts, int count, int dimension,
                 struct middle_value *result);

/* Which of some values the others follow, and its order: one that has all elements of these dimensions, and lies in the
 * order of a tensor if possible, best of all with its dimensions apart. */
int middle_find_lead(const struct quantised_builder *builder, const struct middle_value *values, int count, int rank,
                     const int64_t *dimensions, struct layout *layout);

/* Two values that are repeated along dimensions until they have these, in memory in one order: for layers that take elements
 * one by one. One of them has all elements then, and the result its view: its index is returned. The other, whose view is
 * as before, may be one pixel or one channel, which such layers repeat. -1 where the shapes do not fit, or where the
 * firmware cannot have so many elements. */
int middle_align(struct quantised_builder *builder, const char *name, struct middle_value values[2], int rank,
                 const int64_t *dimensions);

#endif
