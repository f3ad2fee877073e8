/* The parts of the depth-wise kernels of any size that are not their inner loop: what is the same for all series of a tile,
 * pairs of words of weights, and the transpose of two units at once; see series.h. */
#include "any.h"

#include "depthwise.h"

void dory_start_series(struct dory_series *series, const struct dory_layer *layer, const struct dory_tile *tile)
{
    dory_start_normaliser(&series->normaliser, layer);
    series->pixel_bytes = tile->channels * series->normaliser.output_bytes;
    series->is_signed = layer->input_is_signed;
}

/* Words of a column of all four lanes as they are, and the same moved on: a word's bytes and those of the word before, as
 * the selector says. */
struct pairing {
    const uint8_t *own, *moved, *before;        /* words of the first row */
    uint32_t own_step, moved_step, before_step; /* to the next row; 0 for words that are zero */
    uint32_t rows, selector;                    /* of a lane */
    uint32_t other_bytes;                       /* of pairs of a lane's other columns */
    uint32_t zero;                              /* a word of it, in fast memory */
};

#if defined(DORY_XPULPV2)

static inline void pair_rows(const struct pairing *pairing, uint8_t *pairs)
{
    const uint8_t *own = pairing->own, *moved = pairing->moved, *before = pairing->before;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x1", "%[lanes]", 8, "2") LP_SETUP("x0", "%[rows]", 6, "1")
                         P_LW_STEP("t0", "%[before_step]", "%[before]") P_LW_STEP("t1", "%[moved_step]", "%[moved]")
                             P_LW_STEP("t2", "%[own_step]", "%[own]") PV_SHUFFLE2_B("t0", "t1", "%[selector]")
                                 P_SW_NEXT("t2", "%[pairs]") "1: " P_SW_NEXT(
                                     "t0", "%[pairs]") "2: add %[pairs], %[pairs], %[other_bytes]\n"
                                                       ".option pop\n"
                     : [own] "+r"(own), [moved] "+r"(moved), [before] "+r"(before), [pairs] "+r"(pairs)
                     : [lanes] "r"(4), [rows] "r"(pairing->rows), [own_step] "r"(pairing->own_step),
                       [moved_step] "r"(pairing->moved_step), [before_step] "r"(pairing->before_step),
                       [selector] "r"(pairing->selector), [other_bytes] "r"(pairing->other_bytes)
                     : "t0", "t1", "t2", "memory");
}

#else

static void pair_rows(const struct pairing *pairing, uint8_t *pairs)
{
    for (uint32_t row = 0; row < 4 * pairing->rows; row++, pairs += 8) {
        uint32_t moved = dory_load_word(pairing->moved + row * pairing->moved_step);
        uint32_t before = dory_load_word(pairing->before + row * pairing->before_step);
        pairs += row != 0 && row % pairing->rows == 0 ? pairing->other_bytes : 0;
        dory_store_word(pairs, dory_load_word(pairing->own + row * pairing->own_step));
        dory_store_word(pairs + 4, pv_shuffle2_b(before, moved, pairing->selector));
    }
}

#endif

/* Word `index` of rows of so many words, which are zero beside that; the index wraps. */
static inline const uint8_t *word_at(const struct pairing *pairing, const uint8_t *row, uint32_t words, uint32_t index,
                                     uint32_t row_bytes, uint32_t *step)
{
    *step = index < words ? row_bytes : 0;
    return index < words ? row + 4 * index : (const uint8_t *)&pairing->zero;
}

void dory_pair_weights(const uint8_t *weights, uint32_t rows, uint32_t columns, uint32_t row_bytes, uint32_t stride,
                       uint8_t *pairs)
{
    uint32_t words = (columns + 3) / 4, steps = dory_depthwise_steps(columns, stride);
    struct pairing pairing;
    pairing.zero = 0;
    pairing.rows = rows;
    pairing.other_bytes = 8 * rows * (steps - 1);
    pairing.selector = 0x07060504 - stride % 4 * 0x01010101;
    for (uint32_t step = 0; step < steps; step++, pairs += 8 * rows) {
        uint32_t moved = step - stride / 4;
        pairing.own = word_at(&pairing, weights, words, step, row_bytes, &pairing.own_step);
        pairing.moved = word_at(&pairing, weights, words, moved, row_bytes, &pairing.moved_step);
        pairing.before = word_at(&pairing, weights, words, moved - 1, row_bytes, &pairing.before_step);
        pair_rows(&pairing, pairs);
    }
}

/* ---- units two by two ------------------------------------------------------------------------------------------ */

/* Six pixels next to each other, of four channels, row by row: words of pixels 0 to 3 and of 2 to 5. */
struct six {
    const uint8_t *input;
    uint32_t offset[5]; /* of pixels 1 to 5 */
    uint32_t row_bytes, rows;
    uint8_t *output[2]; /* words of a lane's rows, lanes `lane_bytes` apart */
    uint32_t lane_bytes;
};

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Two pixels become halves of words: of lanes 0 and 1 in `low`, of lanes 2 and 3 in `high`. */
#define HALVES_OF(low, high, next)                                                                                          \
    "mv " high ", " low "\n" PV_SHUFFLE2_B(low, next, "%[low]") PV_SHUFFLE2_B(high, next, "%[high]")
#define STORE_LANES(output, low, high, next_low, next_high)                                                                 \
    PV_PACK_H("a6", next_low, low) PV_PACK_H_H("a7", next_low, low)                                                         \
    P_SW_STEP("a6", "%[lane_bytes]", output) P_SW_STEP("a7", "%[lane_bytes]", output)                                       \
    PV_PACK_H("a6", next_high, high) PV_PACK_H_H("a7", next_high, high)                                                     \
    P_SW_STEP("a6", "%[lane_bytes]", output)

/* 31 instructions a row. */
static inline void transpose_six(const struct six *job)
{
    const uint8_t *input = job->input;
    uint8_t *first = job->output[0], *second = job->output[1];
    uint32_t lane_bytes = job->lane_bytes;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n"
        LP_SETUP("x0", "%[rows]", 31 + MORE_FOR_HIGH_PACKS(4), "1")
        P_LW_AT("t1", "%[offset1]", "%[input]") P_LW_AT("t2", "%[offset2]", "%[input]")
        P_LW_AT("t3", "%[offset3]", "%[input]") P_LW_AT("t4", "%[offset4]", "%[input]")
        P_LW_AT("t5", "%[offset5]", "%[input]") P_LW_STEP("t0", "%[row_bytes]", "%[input]")
        HALVES_OF("t2", "t6", "t3") HALVES_OF("t0", "t3", "t1") HALVES_OF("t4", "t1", "t5")
        STORE_LANES("%[first]", "t0", "t3", "t2", "t6") P_SW_STEP("a7", "%[back]", "%[first]")
        STORE_LANES("%[second]", "t2", "t6", "t4", "t1") "1: " P_SW_STEP("a7", "%[back]", "%[second]")
        ".option pop\n"
        : [input] "+r"(input), [first] "+r"(first), [second] "+r"(second)
        : [rows] "r"(job->rows), [offset1] "r"(job->offset[0]), [offset2] "r"(job->offset[1]), [offset3] "r"(job->offset[2]),
          [offset4] "r"(job->offset[3]), [offset5] "r"(job->offset[4]), [row_bytes] "r"(job->row_bytes),
          [lane_bytes] "r"(lane_bytes), [back] "r"(4 - 3 * lane_bytes), [low] "r"(0x05010400), [high] "r"(0x07030602)
        : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a6", "a7", "memory");
}

/* clang-format on */

#else

static void transpose_six(const struct six *job)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t start = i == 0 ? 0 : job->offset[1], next = 2 * i;
        struct dory_transpose four = {
            .input = job->input + start,
            .offset = {job->offset[next] - start, job->offset[next + 1] - start, job->offset[next + 2] - start},
            .row_bytes = job->row_bytes,
            .rows = job->rows,
            .output = job->output[i],
            .lane_bytes = job->lane_bytes,
        };
        dory_transpose_words(&four);
    }
}

#endif

void dory_transpose_two_units(const struct dory_depthwise *work, const struct dory_strip *strip, const uint8_t *band,
                              uint32_t column, uint32_t unit)
{
    uint32_t channels = work->channels, last = work->input_columns - column - 1;
    struct six job = {
        .input = band + column * channels,
        .offset = {channels, 2 * channels, 3 * channels, 4 * channels, 5 * channels},
        .row_bytes = work->input_columns * channels,
        .rows = strip->input_rows,
        .output = {strip->unit[unit], strip->unit[unit + 1]},
        .lane_bytes = 4 * strip->input_rows,
    };
    for (uint32_t i = last; i < 5; i++) { /* of those that are not there any will do */
        job.offset[i] = last * channels;
    }
    transpose_six(&job);
}
