/* An LSTM of bytes with cells of 16 bits, in TensorFlow Lite Micro's arithmetic; this is what such a layer means, on host
 * and chip. generator/network/layer.h has it in formulas (struct lstm).
 *
 * Input, state and output are a pixel each. The input has `inputs` bytes for each of `steps` steps; the state has a hidden
 * byte and a cell of two bytes for each of `units` units, hidden bytes first; the output has the hidden bytes of all steps,
 * and behind them the cells. Cells are worked on where the output has them.
 *
 * Constants are words: struct dory_lstm, and behind it for each unit the addends of its eight sums, then weights: for every
 * four bytes of the input a word each for the four gates, and for every four hidden bytes likewise. What is missing to four
 * has weights of zero.
 */
#ifndef DORY_LSTM_H
#define DORY_LSTM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DORY_LSTM_INPUT, DORY_LSTM_FORGET, DORY_LSTM_CELL, DORY_LSTM_OUTPUT, DORY_LSTM_GATES };

#define DORY_LSTM_SUMS (2 * DORY_LSTM_GATES) /* of input and hidden bytes, gate by gate */

/* h = the high half of (x << left) * multiplier, of which the last bit is rounded away:   (h + 1) >> 1
 * y = (h + half + (h < 0 ? away : 0)) >> right:   halves away from zero
 * That is x * multiplier * 2^(left - 33 - right), rounded twice. x << left is proven to have 32 bits. */
struct dory_lstm_scale {
    int32_t multiplier;
    uint32_t left, right;
    int32_t half, away; /* half of 2^right, and -1; both 0 where `right` is */
};

/* Between two numbers of a table, 512 apart: start + slope * x. */
struct dory_lstm_line {
    int32_t start, slope;
};

#define DORY_LSTM_LINES 256 /* the last of which, for all that is beyond, has no slope */

struct dory_lstm {
    uint32_t steps, inputs, units;
    int32_t zero_point; /* of hidden bytes */
    int32_t cell_minimum, cell_maximum;
    int32_t
        tangent_factor; /* what a cell is multiplied with, and divided by 2^shift, for an argument with 12 + log2(3) bits */
    uint32_t tangent_shift;
    struct dory_lstm_scale sums[DORY_LSTM_SUMS];
    struct dory_lstm_scale output; /* left is 0: see dory_lstm_hidden */
    uint32_t input_shift;          /* of the product of input and cell gate, which is halved before; 14 of the other one */
    struct dory_lstm_line lines[DORY_LSTM_LINES]; /* 2^25 / (1 + e^(-i / 24)) */
};

#define DORY_LSTM_WORDS (sizeof(struct dory_lstm) / sizeof(int32_t))

/* Words of one unit's constants; two of them are of no use, but that units begin in other banks of the memory, so that cores
 * that are at units side by side do not wait for one another. */
static inline uint32_t dory_lstm_unit_words(uint32_t inputs, uint32_t units)
{
    return DORY_LSTM_SUMS + ((inputs + 3) / 4 + (units + 3) / 4) * DORY_LSTM_GATES + 2;
}

static inline const int32_t *dory_lstm_unit(const struct dory_lstm *lstm, uint32_t unit)
{
    return (const int32_t *)(const void *)(lstm + 1) + unit * dory_lstm_unit_words(lstm->inputs, lstm->units);
}

static inline int32_t dory_lstm_saturate(int32_t x) { return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x; }

/* Halves away from zero. */
static inline int32_t dory_lstm_round(int32_t high, const struct dory_lstm_scale *scale)
{
    return (high + scale->half + (high >> 31 & scale->away)) >> scale->right;
}

static inline int32_t dory_lstm_apply(const struct dory_lstm_scale *scale, int32_t x)
{
    int32_t high = (int32_t)((int64_t)(int32_t)((uint32_t)x << scale->left) * scale->multiplier >> 32);
    return dory_lstm_saturate(dory_lstm_round((high + 1) >> 1, scale));
}

/* A product of two gates, or of a gate and a cell; a shift of at least 1. */
static inline int32_t dory_lstm_shift(int32_t product, uint32_t shift)
{
    int32_t half = (product + 1) >> 1;
    return dory_lstm_saturate((half + (1 << (shift - 1)) + (half >> 31)) >> shift);
}

/* The functions of gates take the argument three times, with 12 bits behind the point; what they give has 15. Of -x they
 * give what ~y gives of the last bit's half. */
static inline int32_t dory_lstm_line(const struct dory_lstm *lstm, int32_t x)
{
    const struct dory_lstm_line *line = &lstm->lines[x >> 9];
    return line->start + (x & 511) * line->slope;
}

static inline int32_t dory_lstm_sigmoid(const struct dory_lstm *lstm, int32_t thrice)
{
    int32_t sign = thrice >> 31, y = dory_lstm_line(lstm, (thrice ^ sign) - sign); /* of 16 bits: within the table */
    return ((y ^ sign) + (512 + (sign & 1 << 25))) >> 10;
}

/* 2 * sigmoid(2 * x) - 1 */
static inline int32_t dory_lstm_tangent(const struct dory_lstm *lstm, int32_t thrice)
{
    int32_t sign = thrice >> 31, x = (thrice ^ sign) - sign, end = (DORY_LSTM_LINES - 1) << 8;
    return (((dory_lstm_line(lstm, 2 * (x < end ? x : end)) - (1 << 24)) ^ sign) + 256) >> 9;
}

/* A gate of both of its sums. */
static inline int32_t dory_lstm_gate(const struct dory_lstm *lstm, unsigned gate, int32_t of_input, int32_t of_hidden)
{
    const struct dory_lstm_scale *scales = &lstm->sums[2 * gate];
    int32_t x = dory_lstm_saturate(dory_lstm_apply(&scales[0], of_input) + dory_lstm_apply(&scales[1], of_hidden));
    return gate == DORY_LSTM_CELL ? dory_lstm_tangent(lstm, 3 * x) : dory_lstm_sigmoid(lstm, 3 * x);
}

static inline int32_t dory_lstm_cell(const struct dory_lstm *lstm, const int32_t *gates, int32_t cell)
{
    int32_t kept = dory_lstm_shift(gates[DORY_LSTM_FORGET] * cell, 14);
    int32_t added = dory_lstm_shift(gates[DORY_LSTM_INPUT] * gates[DORY_LSTM_CELL], lstm->input_shift);
    int32_t sum = dory_lstm_saturate(kept + added);
    return sum < lstm->cell_minimum ? lstm->cell_minimum : sum > lstm->cell_maximum ? lstm->cell_maximum : sum;
}

static inline uint8_t dory_lstm_hidden(const struct dory_lstm *lstm, int32_t gate, int32_t cell)
{
    int32_t half = (int32_t)((1u << lstm->tangent_shift) >> 1);
    int32_t tangent = dory_lstm_tangent(lstm, (cell * lstm->tangent_factor + half) >> lstm->tangent_shift);
    int32_t high = (int32_t)(((int64_t)(tangent * gate) * lstm->output.multiplier + (1 << 30)) >> 31);
    int32_t y = dory_lstm_round(high, &lstm->output) + lstm->zero_point;
    return (uint8_t)(y < 0 ? 0 : y > UINT8_MAX ? UINT8_MAX : y);
}

#ifdef __cplusplus
}
#endif

#endif
