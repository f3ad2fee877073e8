/* Computes one step of an LSTM of bytes, whose number is the tile's first_row. Shapes: any. Cores have parts of the units.
 */
#include "dory/lstm.h"
#include "elements.h"
#include "reference.h"

/* Adds the products of `count` bytes with the weights of four gates; returns what is behind these. */
static const int8_t *add_products(int32_t *sums, const int8_t *weights, const uint8_t *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned gate = 0; gate < DORY_LSTM_GATES; gate++) {
            sums[2 * gate] += (int32_t)weights[i / 4 * 16 + gate * 4 + i % 4] * x[i];
        }
    }
    return weights + (count + 3) / 4 * 16;
}

static uint8_t step(const struct dory_lstm *lstm, uint32_t unit, const uint8_t *x, const uint8_t *hidden, uint8_t *cell)
{
    const int32_t *constants = dory_lstm_unit(lstm, unit);
    int32_t sums[DORY_LSTM_SUMS], gates[DORY_LSTM_GATES];
    memcpy(sums, constants, sizeof sums);
    const int8_t *weights = (const int8_t *)(const void *)(constants + DORY_LSTM_SUMS);
    weights = add_products(&sums[0], weights, x, lstm->inputs);
    add_products(&sums[1], weights, hidden, lstm->units);
    for (unsigned gate = 0; gate < DORY_LSTM_GATES; gate++) {
        gates[gate] = dory_lstm_gate(lstm, gate, sums[2 * gate], sums[2 * gate + 1]);
    }
    int32_t c = dory_lstm_cell(lstm, gates, dory_read_element(cell, 0, 16, 1));
    dory_write_element(cell, 0, 16, c);
    return dory_lstm_hidden(lstm, gates[DORY_LSTM_OUTPUT], c);
}

void dory_reference_lstm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const struct dory_lstm *lstm = dory_table_bytes(layer) != 0 ? tile->weights : layer->constants.lstm;
    const uint8_t *state = tile->second_input;
    uint8_t *output = (uint8_t *)tile->output + tile->first_row * lstm->units;
    uint8_t *cells = (uint8_t *)tile->output + lstm->steps * lstm->units;
    struct dory_share share = dory_share_of(lstm->units, core, cores);
    for (uint32_t unit = share.first; unit < share.end; unit++) {
        if (tile->first_row == 0) {
            memcpy(cells + 2 * unit, state + lstm->units + 2 * unit, 2);
        }
        output[unit] = step(lstm, unit, (const uint8_t *)tile->input + tile->first_row * lstm->inputs,
                            tile->first_row == 0 ? state : output - lstm->units, cells + 2 * unit);
    }
}
