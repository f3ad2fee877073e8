/* Depth-wise 3x3 of one channel, whose input is a plane of bytes without a sign. */
#ifndef DORY_ARMV7EM_DEPTHWISE_3X3_H
#define DORY_ARMV7EM_DEPTHWISE_3X3_H

#include "scale.h"

/* Weights as halves: of each row the outer two, {left, right}; the middle ones of rows 0 and 1, and of row 2. */
struct dory_3x3 {
    uint32_t outer[3];
    uint32_t middle_01, middle_2;
};

/* From {0, 2}, {1, 3} of each row. */
static inline struct dory_3x3 dory_3x3_of(const uint32_t pairs[6])
{
    return (struct dory_3x3){{pairs[0], pairs[2], pairs[4]}, dory_pack_bottoms(pairs[1], pairs[3]), pairs[5]};
}

/* The sums of a row of outputs, whose windows begin `stride` columns apart and have rows `row_bytes` apart. */
void dory_sum_row_3x3(const struct dory_3x3 *kernel, const uint8_t *plane, uint32_t row_bytes, uint32_t stride,
                      int32_t start, int32_t *sums, uint32_t columns);

/* Rows of outputs with stride 1, requantised to bytes without a sign, which nothing else clips, in the form
 * DORY_NORMALISE_HIGH, rounding down or away from zero. Assembly knows the order of the members. */
struct dory_rows_3x3 {
    struct dory_3x3 kernel;
    int32_t start;
    uint32_t left_shift, multiplier;
    int32_t addend;
    uint32_t shift;
    uint32_t pixel_bytes, line_bytes;  /* of the output */
    uint32_t away;                     /* what is taken off a sum below zero */
    uint32_t row_bytes;                /* of the plane */
    uint32_t even_columns, odd_column; /* of the output, at least two; and one more, or none */
};

/* An even number of rows, at least two. */
typedef void dory_rows_3x3_function(const struct dory_rows_3x3 *rows, const uint8_t *plane, uint8_t *output,
                                    uint32_t row_count);
dory_rows_3x3_function dory_rows_3x3_high, dory_rows_3x3_high_away;

#endif
