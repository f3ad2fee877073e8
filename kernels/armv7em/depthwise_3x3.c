/* Computes depth-wise 3x3, from a word of four columns for each row: its even columns 0 and 2 meet a row's outer weights in
 * one product of pairs, and so do its odd columns 1 and 3 of the output beside it; the middle weight takes a product of one.
 */
#include "depthwise_3x3.h"

/* A word of a row. */
struct columns {
    uint32_t even, odd;
};

static inline struct columns columns_at(const uint8_t *row)
{
    uint32_t word = dory_word_at(row);
    return (struct columns){dory_even_bytes(word), dory_odd_bytes(word)};
}

/* To the sum of the output that begins at the word's column 0, or 1. `middle`: which half has the middle weight. */
static inline int32_t add_left(struct columns columns, uint32_t outer, uint32_t middle, bool is_top, int32_t sum)
{
    sum = dory_smlad(columns.even, outer, sum);
    return is_top ? dory_smlabt(columns.odd, middle, sum) : dory_smlabb(columns.odd, middle, sum);
}

static inline int32_t add_right(struct columns columns, uint32_t outer, uint32_t middle, bool is_top, int32_t sum)
{
    sum = dory_smlad(columns.odd, outer, sum);
    return is_top ? dory_smlatt(columns.even, middle, sum) : dory_smlatb(columns.even, middle, sum);
}

void dory_sum_row_3x3(const struct dory_3x3 *kernel, const uint8_t *plane, uint32_t row_bytes, uint32_t stride,
                      int32_t start, int32_t *sums, uint32_t columns)
{
    struct dory_3x3 k = *kernel;
    for (; columns > 0; columns--, plane += stride) {
        int32_t sum = add_left(columns_at(plane), k.outer[0], k.middle_01, false, start);
        sum = add_left(columns_at(plane + row_bytes), k.outer[1], k.middle_01, true, sum);
        *sums++ = add_left(columns_at(plane + 2 * row_bytes), k.outer[2], k.middle_2, false, sum);
    }
}

/* Two rows of outputs at `row`, in one column or two. */
static inline __attribute__((always_inline)) void compute_block(enum dory_finish kind, bool clips, const struct dory_3x3 *k,
                                                                const struct dory_scale *scale, int32_t start,
                                                                const uint8_t *row, uint32_t row_bytes, bool has_two,
                                                                uint8_t *output, uint32_t pixel_bytes, uint32_t line_bytes)
{
    struct columns word = columns_at(row);
    int32_t upper = add_left(word, k->outer[0], k->middle_01, false, start), lower = start;
    int32_t upper_right = add_right(word, k->outer[0], k->middle_01, false, start), lower_right = start;
    word = columns_at(row += row_bytes);
    upper = add_left(word, k->outer[1], k->middle_01, true, upper);
    lower = add_left(word, k->outer[0], k->middle_01, false, lower);
    upper_right = add_right(word, k->outer[1], k->middle_01, true, upper_right);
    lower_right = add_right(word, k->outer[0], k->middle_01, false, lower_right);
    word = columns_at(row += row_bytes);
    upper = add_left(word, k->outer[2], k->middle_2, false, upper);
    lower = add_left(word, k->outer[1], k->middle_01, true, lower);
    upper_right = add_right(word, k->outer[2], k->middle_2, false, upper_right);
    lower_right = add_right(word, k->outer[1], k->middle_01, true, lower_right);
    word = columns_at(row + row_bytes);
    lower = add_left(word, k->outer[2], k->middle_2, false, lower);
    lower_right = add_right(word, k->outer[2], k->middle_2, false, lower_right);
    output[0] = (uint8_t)dory_finish_sum(kind, clips, scale, upper);
    output[line_bytes] = (uint8_t)dory_finish_sum(kind, clips, scale, lower);
    if (has_two) {
        output += pixel_bytes;
        output[0] = (uint8_t)dory_finish_sum(kind, clips, scale, upper_right);
        output[line_bytes] = (uint8_t)dory_finish_sum(kind, clips, scale, lower_right);
    }
}

static inline __attribute__((always_inline)) void compute_rows(enum dory_finish kind, bool clips,
                                                               const struct dory_3x3 *kernel, const struct dory_scale *scale,
                                                               int32_t start, const struct dory_rows_3x3 *rows,
                                                               struct dory_finished to)
{
    struct dory_3x3 k = *kernel;
    uint32_t line_bytes = rows->columns * to.pixel_bytes, row_bytes = rows->row_bytes;
    const uint8_t *plane = rows->plane;
    for (uint32_t left = rows->rows; left > 0; left -= 2, plane += 2 * row_bytes, to.output += 2 * line_bytes) {
        const uint8_t *row = plane;
        uint8_t *output = to.output;
        for (uint32_t columns = rows->columns / 2; columns > 0; columns--, row += 2, output += 2 * to.pixel_bytes) {
            compute_block(kind, clips, &k, scale, start, row, row_bytes, true, output, to.pixel_bytes, line_bytes);
        }
        if (rows->columns % 2 != 0) {
            compute_block(kind, clips, &k, scale, start, row, row_bytes, false, output, to.pixel_bytes, line_bytes);
        }
    }
}

#define KIND(name, kind, clips)                                                                                             \
    static void rows_##name(const struct dory_3x3 *kernel, const struct dory_scale *scale, int32_t start,                   \
                            const struct dory_rows_3x3 *rows, struct dory_finished to)                                      \
    {                                                                                                                       \
        struct dory_scale here = *scale;                                                                                    \
        compute_rows(kind, clips, kernel, &here, start, rows, to);                                                          \
    }

KIND(high, DORY_FINISH_HIGH, false)
KIND(high_away, DORY_FINISH_HIGH_AWAY, false)
KIND(32, DORY_FINISH_32, false)

dory_rows_3x3_function *dory_rows_3x3_of(const struct dory_layer *layer)
{
    bool is_it = layer->kernel_height == 3 && layer->kernel_width == 3 && layer->stride_height == 1 &&
                 layer->stride_width == 1 && layer->dilation_height == 1;
    if (!is_it || layer->minimum != 0 || layer->maximum != 255) {
        return 0;
    }
    switch (dory_finish_of(layer)) {
    case DORY_FINISH_HIGH: return rows_high;
    case DORY_FINISH_HIGH_AWAY: return rows_high_away;
    case DORY_FINISH_32: return rows_32;
    default: return 0;
    }
}
