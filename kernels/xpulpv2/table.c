/* Computes any function of one byte, by a table of its 256 values in L1; or of one channel, with a stride, a table for each
 * channel of the output. Shapes: any.
 *
 * Each core takes a part of the words, or pixels. Inner loops: a word is taken apart, four bytes are looked up, and packed,
 * 12 instructions; or two pixels are looked up, 6 instructions. */
#include "share.h"
#include "xpulp.h"
#include "xpulpv2.h"

#if defined(DORY_XPULPV2)

/* The byte of a word at bit 0, 8, 16 or 24. */
#if defined(__pulp__) || defined(__gap8__)
#define P_BYTE(d, a, bit) "p.extractu " d ", " a ", 7, " #bit "\n"
#else
#define P_BYTE(d, a, bit) ".insn r 0x33, 1, 0x67, " d ", " a ", x" #bit "\n"
#endif

/* Four elements in 12 instructions, so that no load is waited for: the next word is loaded before it is needed, and so is
 * one behind the last. */
static void look_up(const uint8_t *input, uint8_t *output, uint32_t fours, const uint8_t *table)
{
    if (fours == 0) { /* a hardware loop of no rounds is not allowed */
        return;
    }
    uint32_t a, b, c, d, word;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" P_LW_NEXT("%[word]", "%[input]") LP_SETUP("x0", "%[fours]", 12, "1")
                         P_BYTE("%[a]", "%[word]", 0) P_BYTE("%[b]", "%[word]", 8) P_BYTE("%[c]", "%[word]", 16) P_BYTE(
                             "%[d]", "%[word]", 24) P_LW_NEXT("%[word]", "%[input]") P_LBU_AT("%[a]", "%[a]", "%[table]")
                             P_LBU_AT("%[b]", "%[b]", "%[table]") P_LBU_AT("%[c]", "%[c]", "%[table]")
                                 P_LBU_AT("%[d]", "%[d]", "%[table]") PV_PACKLO_B("%[a]", "%[b]", "%[a]")
                                     PV_PACKHI_B("%[a]", "%[d]", "%[c]") "1: " P_SW_NEXT("%[a]", "%[output]") ".option pop\n"
                     : [input] "+r"(input), [output] "+r"(output), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d),
                       [word] "=&r"(word)
                     : [fours] "r"(fours), [table] "r"(table)
                     : "memory");
}

#else

static void look_up(const uint8_t *input, uint8_t *output, uint32_t fours, const uint8_t *table)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        output[i] = table[input[i]];
    }
}

#endif

void dory_xpulpv2_table(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    (void)layer;
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_grid_share share = dory_grid_share_of(1, (bytes + 3) / 4, core, cores); /* words */
    uint32_t start = 4 * share.first, end = dory_minimum(start + 4 * share.items, bytes);
    const uint8_t *input = tile->input, *table = tile->weights;
    uint8_t *output = tile->output;
    if (start >= end) {
        return;
    }
    uint32_t fours = (end - start) / 4;
    look_up(input + start, output + start, fours, table);
    for (uint32_t i = start + 4 * fours; i < end; i++) {
        output[i] = table[input[i]];
    }
}

/* ---- a table for each channel of the output, of the only one of the input ---- */

#if defined(DORY_XPULPV2)

/* Two pixels a round, so that nothing waits for a load. */
static inline void look_up_pairs(const uint8_t *input, uint32_t input_step, uint8_t *output, uint32_t output_step,
                                 const uint8_t *table, uint32_t pairs)
{
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[pairs]", 6, "1") P_LBU_STEP("t0", "%[input_step]", "%[input]")
                         P_LBU_STEP("t1", "%[input_step]", "%[input]") P_LBU_AT("t0", "t0", "%[table]")
                             P_LBU_AT("t1", "t1", "%[table]") P_SB_STEP("t0", "%[output_step]", "%[output]") "1: " P_SB_STEP(
                                 "t1", "%[output_step]", "%[output]") ".option pop\n"
                     : [input] "+r"(input), [output] "+r"(output)
                     : [pairs] "r"(pairs), [input_step] "r"(input_step), [output_step] "r"(output_step), [table] "r"(table)
                     : "t0", "t1", "memory");
}

#else

static inline void look_up_pairs(const uint8_t *input, uint32_t input_step, uint8_t *output, uint32_t output_step,
                                 const uint8_t *table, uint32_t pairs)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        output[i * output_step] = table[input[i * input_step]];
    }
}

#endif

/* Pixels of a row, channel by channel. */
static void look_up_row(const uint8_t *input, uint32_t input_step, uint8_t *output, uint32_t channels, const uint8_t *tables,
                        uint32_t pixels)
{
    uint32_t even = pixels & ~1u;
    for (uint32_t channel = 0; channel < channels; channel++, tables += 256, output++) {
        if (even != 0) {
            look_up_pairs(input, input_step, output, channels, tables, even / 2);
        }
        if (even != pixels) {
            output[even * channels] = tables[input[even * input_step]];
        }
    }
}

void dory_xpulpv2_tables(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint8_t *tables = (const uint8_t *)tile->weights + 256 * tile->first_channel;
    const uint32_t row_step = (uint32_t)layer->stride_height * tile->input_columns, step = layer->stride_width;
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        look_up_row((const uint8_t *)tile->input + share.row * row_step + share.first * step, step,
                    (uint8_t *)tile->output + (share.row * tile->columns + share.first) * tile->channels, tile->channels,
                    tables, end - share.first);
        dory_grid_share_next_row(&share, end);
    }
}
