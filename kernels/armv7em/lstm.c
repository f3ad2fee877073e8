/* Computes one step of an LSTM of bytes, whose number is the tile's first_row. Shapes: any.
 *
 * Each core takes a part of the units. Inner loop: four bytes of the input or of the hidden ones, four words of weights, one
 * a gate: 26 instructions for 16 products. */
#include "dory/lstm.h"
#include "dory/share.h"

#include "armv7em.h"
#include "instructions.h"

struct gates {
    int32_t sum[DORY_LSTM_GATES];
};

static inline int32_t add_products(int32_t sum, uint32_t even, uint32_t odd, uint32_t weights)
{
    return dory_smlad(odd, dory_odd_signed(weights), dory_smlad(even, dory_even_signed(weights), sum));
}

static inline void add_four(struct gates *gates, const uint32_t *weights, uint32_t bytes)
{
    uint32_t even = dory_even_bytes(bytes), odd = dory_odd_bytes(bytes);
    gates->sum[0] = add_products(gates->sum[0], even, odd, weights[0]);
    gates->sum[1] = add_products(gates->sum[1], even, odd, weights[1]);
    gates->sum[2] = add_products(gates->sum[2], even, odd, weights[2]);
    gates->sum[3] = add_products(gates->sum[3], even, odd, weights[3]);
}

/* Products of `count` bytes; returns what is behind their weights. */
static inline const uint32_t *add_bytes(struct gates *gates, const uint32_t *weights, const uint8_t *bytes, uint32_t count)
{
    struct gates sums = *gates;
    for (uint32_t fours = count / 4; fours > 0; fours--, bytes += 4, weights += DORY_LSTM_GATES) {
        add_four(&sums, weights, dory_word_at(bytes));
    }
    if (count % 4 != 0) {
        add_four(&sums, weights, dory_end_of(bytes - count / 4 * 4, count));
        weights += DORY_LSTM_GATES;
    }
    *gates = sums;
    return weights;
}

static uint8_t step(const struct dory_lstm *lstm, uint32_t unit, const uint8_t *x, const uint8_t *hidden, uint8_t *cell)
{
    const int32_t *addends = dory_lstm_unit(lstm, unit);
    struct gates of_input = {{addends[0], addends[2], addends[4], addends[6]}},
                 of_hidden = {{addends[1], addends[3], addends[5], addends[7]}};
    const uint32_t *weights = (const uint32_t *)(const void *)(addends + DORY_LSTM_SUMS);
    int32_t gates[DORY_LSTM_GATES];
    int16_t before;
    weights = add_bytes(&of_input, weights, x, lstm->inputs);
    add_bytes(&of_hidden, weights, hidden, lstm->units);
    for (unsigned gate = 0; gate < DORY_LSTM_GATES; gate++) {
        gates[gate] = dory_lstm_gate(lstm, gate, of_input.sum[gate], of_hidden.sum[gate]);
    }
    memcpy(&before, cell, sizeof before);
    int16_t after = (int16_t)dory_lstm_cell(lstm, gates, before);
    memcpy(cell, &after, sizeof after);
    return dory_lstm_hidden(lstm, gates[DORY_LSTM_OUTPUT], after);
}

void dory_armv7em_lstm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const struct dory_lstm *lstm = dory_table_bytes(layer) != 0 ? tile->weights : layer->constants.lstm;
    const uint8_t *state = tile->second_input;
    uint8_t *output = (uint8_t *)tile->output + tile->first_row * lstm->units;
    uint8_t *cells = (uint8_t *)tile->output + lstm->steps * lstm->units;
    const uint8_t *x = (const uint8_t *)tile->input + tile->first_row * lstm->inputs;
    const uint8_t *hidden = tile->first_row == 0 ? state : output - lstm->units;
    struct dory_share share = dory_share_of(lstm->units, core, cores);
    for (uint32_t unit = share.first; unit < share.end; unit++) {
        if (tile->first_row == 0) {
            memcpy(cells + 2 * unit, state + lstm->units + 2 * unit, 2);
        }
        output[unit] = step(lstm, unit, x, hidden, cells + 2 * unit);
    }
}
