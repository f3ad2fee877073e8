/* Layers of test cases that are LSTMs: all of their steps are run, one after the other. */
#include <string.h>

#include "case_parts.h"
#include "dory/lstm.h"
#include "random_layer.h"

unsigned test_case_steps(const struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    return layer->operation == DORY_LSTM ? layer->output_channels / layer->lstm.units - 2u : 1;
}

/* Multipliers have 31 bits; sums of some hundred products come to gates of some 16. */
static struct dory_lstm_scale random_lstm_scale(uint32_t left, uint32_t right)
{
    return (struct dory_lstm_scale){.multiplier = (int32_t)(one_in(4) ? 1u << 30 : random_between(1u << 30, INT32_MAX)),
                                    .left = left,
                                    .right = right,
                                    .half = (int32_t)((1u << right) >> 1),
                                    .away = right ? -1 : 0};
}

static struct dory_lstm lstm_of(uint32_t steps, uint32_t inputs, uint32_t units)
{
    bool clips = one_in(2);
    struct dory_lstm lstm = {.steps = steps,
                             .inputs = inputs,
                             .units = units,
                             .zero_point = (int32_t)random_up_to(255),
                             .cell_minimum = clips ? -20480 : INT16_MIN,
                             .cell_maximum = clips ? 20480 : INT16_MAX,
                             .input_shift = random_between(14, 20),
                             .output = random_lstm_scale(0, random_between(21, 24))};
    if (one_in(2)) {
        lstm.tangent_factor = 3 << random_up_to(3);
    } else {
        lstm.tangent_factor = 3;
        lstm.tangent_shift = random_between(1, 3);
    }
    for (unsigned i = 0; i < DORY_LSTM_SUMS; i++) {
        bool is_left = one_in(3);
        lstm.sums[i] = random_lstm_scale(2 + (is_left ? random_up_to(2) : 0), is_left ? 0 : random_up_to(4));
    }
    for (int32_t i = 0; i < DORY_LSTM_LINES; i++) {
        int32_t low = 32768 + 32767 * i / (i + 12), high = 32768 + 32767 * (i + 1) / (i + 13);
        lstm.lines[i] = (struct dory_lstm_line){low << 9, i + 1 < DORY_LSTM_LINES ? high - low : 0};
    }
    return lstm;
}

/* Addends with the weights' own size; what is missing to four weights is zero. */
static void fill_unit(int32_t *words, uint32_t inputs, uint32_t units)
{
    uint32_t unit_words = dory_lstm_unit_words(inputs, units), fours = (inputs + 3) / 4;
    int8_t *weights = (int8_t *)(void *)(words + DORY_LSTM_SUMS);
    for (unsigned i = 0; i < DORY_LSTM_SUMS; i++) {
        words[i] = (int32_t)random_up_to(40000) - 20000;
    }
    for (uint32_t i = 0; i < (unit_words - DORY_LSTM_SUMS - 2) * 4; i++) {
        uint32_t four = i / 16, place = (four < fours ? four : four - fours) * 4 + i % 4;
        weights[i] = place < (four < fours ? inputs : units) ? (int8_t)((int)random_up_to(254) - 127) : (int8_t)0;
    }
}

void fill_lstm(struct test_case *test, uint32_t steps, uint32_t inputs, uint32_t units)
{
    struct dory_layer *layer = &test->layer;
    const struct dory_lstm lstm = lstm_of(steps, inputs, units);
    uint32_t unit_words = dory_lstm_unit_words(inputs, units);
    memset(layer, 0, sizeof *layer);
    layer->operation = DORY_LSTM;
    layer->input_bits = layer->second_input_bits = layer->output_bits = 8;
    layer->input_height = layer->input_width = layer->output_height = layer->output_width = 1;
    layer->kernel_height = layer->kernel_width = layer->dilation_height = layer->dilation_width = 1;
    layer->stride_height = layer->stride_width = 1;
    layer->maximum = 255;
    layer->input_channels = (uint16_t)(steps * inputs);
    layer->output_channels = (uint16_t)((steps + 2) * units);
    layer->lstm.units = (uint16_t)units;
    memcpy(test->lists, &lstm, sizeof lstm);
    for (uint32_t unit = 0; unit < units; unit++) {
        fill_unit(test->lists + DORY_LSTM_WORDS + unit * unit_words, inputs, units);
    }
    layer->lstm.words = (uint16_t)(DORY_LSTM_WORDS + units * unit_words);
    layer->constants.lstm = (const struct dory_lstm *)(const void *)test->lists;
    test->shape = (struct dory_tile_shape){1, 1, layer->output_channels, layer->input_channels};
    test->tile.first_row = test->tile.first_column = test->tile.first_channel = 0;
    test->channels_behind = 0;
    shape_tile(test);
}

void random_lstm(struct test_case *test)
{
    fill_lstm(test, random_between(1, 4), one_in(3) ? 4 * random_between(1, 6) : random_between(1, 24),
              one_in(3) ? 4 * random_between(1, 2) : random_between(1, 9));
}
