/* How cores divide a tile of an interpolation: a grid of parts, as many across as makes the largest part quickest: a row and
 * a column start with something, too. A core keeps what it must know of its columns in scratch memory, for it needs that
 * again in every row. */
#ifndef DORY_XPULPV2_INTERPOLATION_H
#define DORY_XPULPV2_INTERPOLATION_H

#include "dory/layer.h"

#define DORY_COLUMN_BYTES 16u /* of scratch: two offsets in a row of the input, two weights */
#define DORY_AHEAD_BYTES  8u  /* that are loaded behind the last column */

struct dory_parts {
    uint32_t across, down, columns, rows; /* parts, and what each has at most */
};

static inline struct dory_parts dory_parts_of(uint32_t rows, uint32_t columns, uint32_t cores)
{
    struct dory_parts best = {cores, 1, 0, rows};
    uint32_t log2_cores = 0, least = UINT32_MAX;
    while (2u << log2_cores <= cores) {
        log2_cores++;
    }
    if (cores > 1 && (cores & (cores - 1))) { /* seldom: no power of two */
        best.columns = dory_divide_up(columns, cores);
        return best;
    }
    for (uint32_t log2_down = 0; log2_down <= log2_cores; log2_down++) {
        struct dory_parts parts = {cores >> log2_down, 1u << log2_down, 0, 0};
        parts.columns = (columns + parts.across - 1) >> (log2_cores - log2_down);
        parts.rows = (rows + parts.down - 1) >> log2_down;
        uint32_t cycles = 2 * parts.rows * (parts.columns + 1) + parts.columns; /* in halves of a pixel's */
        if (cycles < least) {
            least = cycles;
            best = parts;
        }
    }
    return best;
}

/* Products of a row's and a column's weight are bytes: none is more than the sum of a pixel's, which is that of all pixels.
 * Where the sum is 256, only a pixel with a single weight has none. */
static inline bool dory_weights_are_bytes(const struct dory_layer *layer)
{
    const int32_t *row = layer->constants.taps, *column = row + 4 * layer->interpolation.row_pairs * layer->output_height;
    return ((int64_t)row[2] + row[3]) * ((int64_t)column[2] + column[3]) <= UINT8_MAX + 1;
}

#endif
