/* What LAYER_LSTM means: see struct lstm. */
#include <math.h>
#include <stdlib.h>

#include "network/fixed_point.h"
#include "network/interpret_moves.h"

/* ---- functions: a table of 65536 / (1 + e^(-i / 24)), and lines between its numbers ---- */

#define LAST 255

/* Rounded, but for these, which are one more: measured of TensorFlow Lite Micro's LOGISTIC of INT16, over all its inputs. */
uint16_t lstm_sigmoid(int index)
{
    static const uint8_t one_more[] = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28,  29,
                                       30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49,  50,
                                       54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, LAST};
    int more = 0;
    for (size_t i = 0; i < sizeof one_more; i++)
        more += one_more[i] == index;
    return (uint16_t)(lround(65536 / (1 + exp(-index / 24.0))) + more);
}

/* At index + part / 2^places; `end` behind the table. */
static int64_t look_up(int64_t x, int places, int64_t end)
{
    int64_t index = x >> places, part = x - (index << places);
    if (index >= LAST)
        return end;
    int64_t low = lstm_sigmoid((int)index), high = lstm_sigmoid((int)index + 1);
    return (low << places) + part * (high - low);
}

static int64_t sigmoid(int64_t x)
{
    int64_t y = look_up(3 * llabs(x), 9, (int64_t)INT16_MAX << 10);
    return (x >= 0 ? y + 512 : (1 << 25) - y + 511) >> 10;
}

/* Of numbers with so many bits behind the point: 2 * sigmoid(2 * x) - 1. */
static int64_t hyperbolic_tangent(int64_t x, int bits)
{
    int shift = 12 - bits;
    int64_t scaled = shift >= 0 ? x * (3 << shift) : (3 * x + ((int64_t)1 << (-shift - 1))) >> -shift;
    int64_t y = look_up(llabs(scaled), 8, (int64_t)UINT16_MAX << 8) - (1 << 23);
    return (scaled >= 0 ? y + 128 : 127 - y) >> 8;
}

/* ---- a step ---- */

static int64_t between(int64_t x, int64_t least, int64_t most) { return x < least ? least : x > most ? most : x; }

static int64_t saturated(int64_t x) { return between(x, INT16_MIN, INT16_MAX); }

static int64_t scaled(const struct lstm_scale *scale, int64_t x)
{
    return fixed_scale((int32_t)x, scale->multiplier, scale->exponent);
}

static int64_t product_of(const struct lstm_product *product, int unit, const int64_t *x, int count)
{
    int64_t sum = product->addends[unit];
    for (int i = 0; i < count; i++)
        sum += product->weights[(size_t)unit * (size_t)count + (size_t)i] * x[i];
    return saturated(scaled(&product->scale, sum));
}

static int64_t gate_of(const struct lstm *lstm, enum lstm_gate gate, int unit, const int64_t *x, const int64_t *hidden)
{
    const struct lstm_product *products = lstm->products[gate];
    int64_t sum =
        saturated(product_of(&products[0], unit, x, lstm->inputs) + product_of(&products[1], unit, hidden, lstm->units));
    return gate == LSTM_CELL ? hyperbolic_tangent(sum, 12) : sigmoid(sum);
}

static int64_t step(const struct lstm *lstm, int unit, const int64_t *x, const int64_t *hidden, int64_t *cell)
{
    int64_t gates[LSTM_GATES];
    for (int i = 0; i < LSTM_GATES; i++)
        gates[i] = gate_of(lstm, (enum lstm_gate)i, unit, x, hidden);
    int64_t sum = saturated(scaled(&lstm->forget, gates[LSTM_FORGET] * *cell)) +
                  saturated(scaled(&lstm->input, gates[LSTM_INPUT] * gates[LSTM_CELL]));
    *cell = between(saturated(sum), lstm->cell_minimum, lstm->cell_maximum);
    int64_t y = scaled(&lstm->output, hyperbolic_tangent(*cell, lstm->cell_bits) * gates[LSTM_OUTPUT]);
    return between(y + lstm->zero_point, 0, UINT8_MAX);
}

/* Cells are worked on where the output has them: as two bytes. */
bool interpret_lstm(const struct lstm *lstm, const int64_t *x, const int64_t *state, int64_t *y)
{
    const int64_t *hidden = state;
    int64_t *cells = y + (size_t)lstm->steps * (size_t)lstm->units;
    for (int i = 0; i < 2 * lstm->units; i++)
        cells[i] = state[lstm->units + i];
    for (int t = 0; t < lstm->steps; t++, x += lstm->inputs, hidden = y, y += lstm->units)
        for (int unit = 0; unit < lstm->units; unit++) {
            int64_t cell = (int16_t)(cells[2 * unit] | cells[2 * unit + 1] << 8);
            y[unit] = step(lstm, unit, x, hidden, &cell);
            cells[2 * unit] = cell & UINT8_MAX;
            cells[2 * unit + 1] = cell >> 8 & UINT8_MAX;
        }
    return true;
}
