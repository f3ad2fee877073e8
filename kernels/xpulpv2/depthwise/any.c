#include "any.h"

void dory_start_series(struct dory_series *series, const struct dory_layer *layer, const struct dory_tile *tile)
{
    dory_start_normaliser(&series->normaliser, layer);
    if (series->normaliser.kind == DORY_NORMALISE_64) {
        series->normaliser.direct_shift = dory_halves_shift(&series->normaliser);
    }
    series->pixel_bytes = tile->channels * series->normaliser.output_bytes;
    series->is_signed = layer->input_is_signed;
}

/* A column of words as they are, and the same moved on: a word's bytes and those of the word before, as the selector says.
 */
struct pairing {
    const uint8_t *own, *moved, *before;        /* words of the first row */
    uint32_t own_step, moved_step, before_step; /* to the next row; 0 for words that are zero */
    uint32_t rows, selector;
    uint32_t zero; /* a word of it, in fast memory */
};

#if defined(DORY_XPULPV2)

static inline void pair_rows(const struct pairing *pairing, uint8_t *pairs)
{
    const uint8_t *own = pairing->own, *moved = pairing->moved, *before = pairing->before;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[rows]", 6, "1") P_LW_STEP("t0", "%[before_step]", "%[before]")
                         P_LW_STEP("t1", "%[moved_step]", "%[moved]") P_LW_STEP("t2", "%[own_step]", "%[own]")
                             PV_SHUFFLE2_B("t0", "t1", "%[selector]")
                                 P_SW_NEXT("t2", "%[pairs]") "1: " P_SW_NEXT("t0", "%[pairs]") ".option pop\n"
                     : [own] "+r"(own), [moved] "+r"(moved), [before] "+r"(before), [pairs] "+r"(pairs)
                     : [rows] "r"(pairing->rows), [own_step] "r"(pairing->own_step), [moved_step] "r"(pairing->moved_step),
                       [before_step] "r"(pairing->before_step), [selector] "r"(pairing->selector)
                     : "t0", "t1", "t2", "memory");
}

#else

static void pair_rows(const struct pairing *pairing, uint8_t *pairs)
{
    for (uint32_t row = 0; row < pairing->rows; row++, pairs += 8) {
        uint32_t moved = dory_load_word(pairing->moved + row * pairing->moved_step);
        uint32_t before = dory_load_word(pairing->before + row * pairing->before_step);
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
    pairing.selector = 0x07060504 - stride % 4 * 0x01010101;
    for (uint32_t lane = 0; lane < 4; lane++, weights += rows * row_bytes) {
        for (uint32_t step = 0; step < steps; step++, pairs += 8 * rows) {
            uint32_t moved = step - stride / 4;
            pairing.own = word_at(&pairing, weights, words, step, row_bytes, &pairing.own_step);
            pairing.moved = word_at(&pairing, weights, words, moved, row_bytes, &pairing.moved_step);
            pairing.before = word_at(&pairing, weights, words, moved - 1, row_bytes, &pairing.before_step);
            pair_rows(&pairing, pairs);
        }
    }
}
