/* Windows of rows: which rows of the input a tile of whole rows needs, of layers whose elements come from anywhere. */
#ifndef DORYGEN_ROW_WINDOW_H
#define DORYGEN_ROW_WINDOW_H

#include <stdint.h>

#include "dory/layer.h"

/* The input rows that an output row reads; none: last < first. */
struct row_span {
    int first, last;
};

/* Rows of a window that starts at floor(y * stride / divisor) - padding, which is negative where the first rows are not
 * read. */
struct row_window {
    int stride, divisor, padding, rows;
};

/* Of the numbers that are no border, the least and the largest; none: the largest is negative. */
struct row_span row_span_of(const int32_t *positions, int count);

/* A tile has whole rows of the input: those of a window that moves on with the output's rows, as fast as the image is
 * scaled, or as the rows that are read say, whichever is lower; at last all rows, a window that never moves. `spans` has one
 * for each of `output` rows, of `input` rows. */
struct row_window find_row_window(const struct row_span *spans, int output, int input);

void set_row_window(struct dory_layer *record, struct row_window window);

#endif
