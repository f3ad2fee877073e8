/* Constants as operands of layers that take elements one by one: tensors that the network computes, of weights that are zero
 * and biases that are the elements, of which the firmware has the elements alone (describe/describe_tables.c). They are as
 * small as the layer that reads them can repeat.
 */
#ifndef DORYGEN_CONSTANTS_H
#define DORYGEN_CONSTANTS_H

#include "middle/layout.h"

/* Elements of the model's own type for those of a tensor that they meet: one a channel, one a pixel, or one each. */
struct middle_constant {
    int height, width, channels;
    const int8_t *elements;
};

/* `elements` are those that the value's meet, in the model's order, the value is all of its tensor, in whatever order. */
struct middle_constant middle_place_constant(struct quantised_builder *builder, const struct middle_value *value,
                                             const int8_t *elements);

#define MIDDLE_MAXIMUM_PARTS 64 /* of one constant */

/* One pixel of `count` channels, which are these bytes, the firmware's; or as few pixels of equal size as can be, one behind
 * the other. All sums of a pixel are 0, its addends are the elements. `source`: see below. -1: there are no
 * MIDDLE_MAXIMUM_PARTS equal parts, or fewer, of up to MAXIMUM_DIMENSION elements. */
int middle_lay_elements(struct quantised_builder *builder, const char *name, int source, const uint8_t *elements,
                        int64_t count, const struct quantisation *quantisation);

/* The tensor; `source` is one that there is before, of which nothing counts. False where middle_lay_elements is. */
bool middle_lay_constant(struct quantised_builder *builder, const char *name, const struct middle_constant *constant,
                         const struct quantisation *quantisation, int source, int *tensor);

#endif
