/* Computes one step of an LSTM of bytes, whose number is the tile's first_row. Shapes: any.
 *
 * Cores take units in turn. Of a unit, sums of four gates are made at a time: inner loop, a word of the input or of the
 * hidden bytes, four words of weights, four dot products: 9 instructions for 16 products. Behind them are four functions, by
 * lines between numbers of a table. */
#include "dory/lstm.h"

#include "../xpulp.h"
#include "../xpulpv2.h"

/* ---- sums ---- */

/* What a step reads: bytes, and those that are left behind the last four, with zeros. */
struct bytes {
    const uint8_t *start;
    uint32_t fours, has_rest;
    dory_word rest;
};

static struct bytes bytes_of(const uint8_t *start, uint32_t count)
{
    struct bytes bytes = {.start = start, .fours = count / 4, .has_rest = count & 3};
    for (uint32_t i = 0; i < bytes.has_rest; i++) {
        bytes.rest |= (uint32_t)start[(count & ~3u) + i] << 8 * i;
    }
    return bytes;
}

struct sums {
    int32_t gate[DORY_LSTM_GATES];
};

#if defined(DORY_XPULPV2)

static inline const dory_word *add_fours(struct sums *sums, const dory_word *weights, const uint8_t *x, uint32_t fours)
{
    uint32_t word, a, b, c, d;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 9, "1") P_LW_NEXT("%[word]", "%[x]") P_LW_NEXT("%[a]", "%[weights]")
            P_LW_NEXT("%[b]", "%[weights]") P_LW_NEXT("%[c]", "%[weights]") P_LW_NEXT("%[d]", "%[weights]")
                PV_SDOTUSP_B("%[s0]", "%[word]", "%[a]") PV_SDOTUSP_B("%[s1]", "%[word]", "%[b]")
                    PV_SDOTUSP_B("%[s2]", "%[word]", "%[c]") "1: " PV_SDOTUSP_B("%[s3]", "%[word]", "%[d]") ".option pop\n"
        : [x] "+r"(x), [weights] "+r"(weights), [word] "=&r"(word), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d),
          [s0] "+r"(sums->gate[0]), [s1] "+r"(sums->gate[1]), [s2] "+r"(sums->gate[2]), [s3] "+r"(sums->gate[3])
        : [fours] "r"(fours)
        : "memory");
    return weights;
}

#else

static inline const dory_word *add_fours(struct sums *sums, const dory_word *weights, const uint8_t *x, uint32_t fours)
{
    for (uint32_t i = 0; i < fours; i++) {
        for (unsigned gate = 0; gate < DORY_LSTM_GATES; gate++) {
            sums->gate[gate] = pv_sdotusp_b(sums->gate[gate], dory_load_word(x + 4 * i), *weights++);
        }
    }
    return weights;
}

#endif

/* A hardware loop of no rounds is not allowed. */
static inline const dory_word *add_products(struct sums *sums, const dory_word *weights, const struct bytes *x)
{
    if (x->fours != 0) {
        weights = add_fours(sums, weights, x->start, x->fours);
    }
    if (x->has_rest != 0) {
        sums->gate[0] = pv_sdotusp_b(sums->gate[0], x->rest, *weights++);
        sums->gate[1] = pv_sdotusp_b(sums->gate[1], x->rest, *weights++);
        sums->gate[2] = pv_sdotusp_b(sums->gate[2], x->rest, *weights++);
        sums->gate[3] = pv_sdotusp_b(sums->gate[3], x->rest, *weights++);
    }
    return weights;
}

/* ---- elements: as dory/lstm.h says, in the instructions that there are ---- */

static inline int32_t saturate(int32_t x) { return p_clipr(x, INT16_MAX); }

static inline int32_t round_away(int32_t high, const struct dory_lstm_scale *scale)
{
    return p_addrnr(high, high >> 31 & scale->away, (int32_t)scale->right);
}

static inline int32_t scale_sum(const struct dory_lstm_scale *scale, int32_t sum)
{
    int32_t high = (int32_t)((int64_t)(int32_t)((uint32_t)sum << scale->left) * scale->multiplier >> 32);
    return saturate(round_away(p_addnr(high, 1, 1), scale));
}

static inline int32_t shift_product(int32_t product, uint32_t shift)
{
    int32_t half = p_addnr(product, 1, 1);
    return saturate(p_addrnr(half, half >> 31, (int32_t)shift));
}

static inline int32_t line_at(const struct dory_lstm_line *lines, int32_t x)
{
    const struct dory_lstm_line *line = lines + (x >> 9);
    return p_mac(line->start, x & 511, line->slope);
}

/* A multiplication is one instruction, shifts and sums are more. */
static inline int32_t thrice(int32_t x)
{
    int32_t three = 3;
    __asm__("" : "+r"(three));
    return x * three;
}

static inline int32_t sigmoid(const struct dory_lstm_line *lines, int32_t x)
{
    int32_t sign = x >> 31, y = line_at(lines, p_abs(thrice(x)));
    return p_addrnr(y ^ sign, sign & 1 << 25, 10);
}

static inline int32_t tangent(const struct dory_lstm_line *lines, int32_t x)
{
    int32_t sign = x >> 31, y = line_at(lines, 2 * p_min(p_abs(x), (DORY_LSTM_LINES - 1) << 8));
    return p_addnr((y - (1 << 24)) ^ sign, 256, 9);
}

static inline int32_t argument_of(const struct dory_lstm *lstm, unsigned gate, const struct sums *x,
                                  const struct sums *hidden)
{
    return saturate(scale_sum(&lstm->sums[2 * gate], x->gate[gate]) +
                    scale_sum(&lstm->sums[2 * gate + 1], hidden->gate[gate]));
}

/* ---- units ---- */

static int32_t next_cell(const struct dory_lstm *lstm, const struct sums *x, const struct sums *hidden, int32_t cell)
{
    const struct dory_lstm_line *lines = lstm->lines;
    int32_t kept = shift_product(sigmoid(lines, argument_of(lstm, DORY_LSTM_FORGET, x, hidden)) * cell, 14);
    int32_t added = sigmoid(lines, argument_of(lstm, DORY_LSTM_INPUT, x, hidden)) *
                    tangent(lines, thrice(argument_of(lstm, DORY_LSTM_CELL, x, hidden)));
    int32_t sum = saturate(kept + shift_product(added, lstm->input_shift));
    return p_max(p_min(sum, lstm->cell_maximum), lstm->cell_minimum);
}

static uint8_t hidden_of(const struct dory_lstm *lstm, int32_t gate, int32_t cell)
{
    int32_t argument = p_addrnr(cell * lstm->tangent_factor, 0, (int32_t)lstm->tangent_shift);
    int64_t product = (int64_t)(tangent(lstm->lines, argument) * gate) * lstm->output.multiplier;
    int32_t high = (int32_t)((product + (1 << 30)) >> 31);
    return (uint8_t)p_clipur(round_away(high, &lstm->output) + lstm->zero_point, UINT8_MAX);
}

static inline uint8_t step(const struct dory_lstm *lstm, const int32_t *constants, const struct bytes *x,
                           const struct bytes *hidden, int16_t *cell)
{
    struct sums of_input = {{constants[0], constants[2], constants[4], constants[6]}},
                of_hidden = {{constants[1], constants[3], constants[5], constants[7]}};
    const dory_word *weights = (const dory_word *)(const void *)(constants + DORY_LSTM_SUMS);
    weights = add_products(&of_input, weights, x);
    add_products(&of_hidden, weights, hidden);
    *cell = (int16_t)next_cell(lstm, &of_input, &of_hidden, *cell);
    return hidden_of(lstm, sigmoid(lstm->lines, argument_of(lstm, DORY_LSTM_OUTPUT, &of_input, &of_hidden)), *cell);
}

/* At any address, byte by byte: half a word that lies in two words cannot be had at once. */
static inline int16_t load_cell(const uint8_t *cell) { return (int16_t)(cell[0] | cell[1] << 8); }

static inline void store_cell(uint8_t *cell, int16_t value)
{
    cell[0] = (uint8_t)value;
    cell[1] = (uint8_t)(value >> 8);
}

void dory_xpulpv2_lstm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const struct dory_lstm *lstm = dory_lstm_table_bytes(layer) != 0 ? tile->weights : layer->constants.lstm;
    uint32_t units = lstm->units, number = tile->first_row;
    const uint8_t *state = tile->second_input;
    uint8_t *output = (uint8_t *)tile->output + number * units, *cells = (uint8_t *)tile->output + lstm->steps * units;
    const uint8_t *before = number == 0 ? state + units : cells;
    const struct bytes x = bytes_of((const uint8_t *)tile->input + number * lstm->inputs, lstm->inputs),
                       hidden = bytes_of(number == 0 ? state : output - units, units);
    const int32_t *constants = dory_lstm_unit(lstm, core);
    uint32_t words = cores * dory_lstm_unit_words(lstm->inputs, units);
    for (uint32_t unit = core; unit < units; unit += cores, constants += words) {
        int16_t cell = load_cell(before + 2 * unit);
        output[unit] = step(lstm, constants, &x, &hidden, &cell);
        store_cell(cells + 2 * unit, cell);
    }
}
