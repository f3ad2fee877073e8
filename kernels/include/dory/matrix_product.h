/* Of DORY_MATRIX_PRODUCT: how its one set of requantisation constants lies in struct dory_stages, and becomes that of a
 * channel of a weight blob, for kernels that compute it as a convolution by what they find in the second input.
 *
 *     NONE, 32, 64, DIVIDE   first: multiplier, addend, divisor
 *     CLAMPED                first: minimum (low), maximum (high), multiplier, addend
 *     SPLIT                  first: minimum (bias), maximum (limit), multiplier (low), addend; second: multiplier (high),
 *                            and with DORY_ROUND_AWAY minimum (zero), addend (step)
 *     HIGH                   second: addend (bias); first: multiplier, addend, divisor (2^shift)
 */
#ifndef DORY_MATRIX_PRODUCT_H
#define DORY_MATRIX_PRODUCT_H

#include "dory/layer.h"

#define DORY_MATRIX_WORDS 7 /* at most */

/* Rows and columns of a tile as a product sees them: those that share a row of the second input are columns of one row. */
struct dory_matrix_grid {
    uint32_t rows, columns;
};

static inline struct dory_matrix_grid dory_matrix_grid_of(const struct dory_layer *layer, uint32_t rows, uint32_t columns)
{
    uint32_t seen = dory_second_rows(layer, rows);
    return (struct dory_matrix_grid){seen, seen == rows ? columns : rows * columns};
}

/* Where pixel `pixel` of the grid, in row `row` of it, is among the output's. */
static inline uint32_t dory_matrix_place(const struct dory_layer *layer, const struct dory_matrix_grid *grid, uint32_t row,
                                         uint32_t pixel)
{
    return dory_joins_rows(layer) ? (pixel - row * grid->columns) * grid->rows + row : pixel;
}

static inline uint32_t dory_log2_of_divisor(int64_t divisor)
{
    uint32_t shift = 0;
    while (((int64_t)1 << shift) < divisor) {
        shift++;
    }
    return shift;
}

/* Of 64 bits, as two words. */
static inline void dory_split_word(uint32_t *words, int64_t number)
{
    words[0] = (uint32_t)number;
    words[1] = (uint32_t)((uint64_t)number >> 32);
}

/* The words of a channel, dory_channel_constants_bytes() of them. */
struct dory_matrix_constants {
    uint32_t words[DORY_MATRIX_WORDS];
};

/* True where the first word is added to sums, before all else. */
static inline bool dory_matrix_has_bias(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_SPLIT || layer->normalisation == DORY_NORMALISE_HIGH;
}

static inline struct dory_matrix_constants dory_matrix_constants(const struct dory_layer *layer)
{
    const struct dory_stage *first = &layer->stages->first, *second = &layer->stages->second;
    uint32_t multiplier = (uint32_t)first->multiplier, addend = (uint32_t)first->addend;
    uint32_t minimum = (uint32_t)first->minimum, maximum = (uint32_t)first->maximum;
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return (struct dory_matrix_constants){{addend}};
    case DORY_NORMALISE_32: return (struct dory_matrix_constants){{multiplier, addend}};
    case DORY_NORMALISE_CLAMPED: return (struct dory_matrix_constants){{minimum, maximum, multiplier, addend}};
    case DORY_NORMALISE_SPLIT:
        return (struct dory_matrix_constants){{minimum, maximum, multiplier, addend, (uint32_t)second->multiplier,
                                               (uint32_t)second->minimum, (uint32_t)second->addend}};
    case DORY_NORMALISE_HIGH:
        return (struct dory_matrix_constants){
            {(uint32_t)second->addend, multiplier, addend, dory_log2_of_divisor(first->divisor)}};
    default: break;
    }
    struct dory_matrix_constants wide = {.words = {0}};
    dory_split_word(&wide.words[0], first->multiplier);
    dory_split_word(&wide.words[2], first->addend);
    return wide;
}

#endif
