/* LSTMs: struct lstm as the words of the firmware's struct dory_lstm, and of its units. */
#include "describe/description.h"
#include "network/interpret_moves.h"

#include <string.h>

#include "dory/lstm.h"

/* `more` places to the left, which the high half of a product takes away. */
static struct dory_lstm_scale scale_of(const struct lstm_scale *scale, uint32_t more)
{
    uint32_t right = scale->exponent < 0 ? (uint32_t)-scale->exponent : 0;
    return (struct dory_lstm_scale){.multiplier = scale->multiplier,
                                    .left = (scale->exponent > 0 ? (uint32_t)scale->exponent : 0) + more,
                                    .right = right,
                                    .half = (int32_t)((1u << right) >> 1),
                                    .away = right ? -1 : 0};
}

/* A power of two, less than a half: one place is rounded first. */
static bool is_shift(const struct lstm_scale *scale) { return scale->multiplier == 1 << 30 && scale->exponent < 0; }

static void write_head(const struct lstm *lstm, int32_t *words)
{
    int shift = 12 - lstm->cell_bits; /* of cells, to the argument of tanh */
    struct dory_lstm head = {
        .steps = (uint32_t)lstm->steps,
        .inputs = (uint32_t)lstm->inputs,
        .units = (uint32_t)lstm->units,
        .zero_point = lstm->zero_point,
        .cell_minimum = lstm->cell_minimum,
        .cell_maximum = lstm->cell_maximum,
        .tangent_factor = shift > 0 ? 3 << shift : 3,
        .tangent_shift = shift < 0 ? (uint32_t)-shift : 0,
        .output = scale_of(&lstm->output, 0),
        .input_shift = (uint32_t)-lstm->input.exponent,
    };
    for (int i = 0; i < DORY_LSTM_SUMS; i++)
        head.sums[i] = scale_of(&lstm->products[i / 2][i % 2].scale, 2);
    for (int i = 0; i < DORY_LSTM_LINES; i++) {
        int32_t low = lstm_sigmoid(i), high = i + 1 < DORY_LSTM_LINES ? lstm_sigmoid(i + 1) : low;
        head.lines[i] = (struct dory_lstm_line){low << 9, high - low};
    }
    memcpy(words, &head, sizeof head);
}

/* Of four gates, four elements at a time; returns what is behind them. */
static int8_t *write_weights(const struct lstm *lstm, int which, int unit, int8_t *to)
{
    int count = which ? lstm->units : lstm->inputs, fours = (count + 3) / 4;
    for (int gate = 0; gate < LSTM_GATES; gate++)
        for (int i = 0; i < count; i++)
            to[i / 4 * 16 + gate * 4 + i % 4] =
                lstm->products[gate][which].weights[(size_t)unit * (size_t)count + (size_t)i];
    return to + (size_t)fours * 16;
}

static void write_unit(const struct lstm *lstm, int unit, int32_t *words)
{
    for (int i = 0; i < DORY_LSTM_SUMS; i++)
        words[i] = lstm->products[i / 2][i % 2].addends[unit];
    write_weights(lstm, 1, unit, write_weights(lstm, 0, unit, (int8_t *)(void *)(words + DORY_LSTM_SUMS)));
}

static bool has_bytes(const struct tensor *tensor, size_t count)
{
    return tensor->bits == 8 && !tensor->is_signed && tensor_elements(tensor) == count && count <= UINT16_MAX;
}

/* All of a tensor is one pixel to the firmware, so that nothing of it is cut. */
static void describe_pixels(struct dory_layer *record, size_t inputs, size_t outputs)
{
    record->input_height = record->input_width = record->output_height = record->output_width = 1;
    record->input_channels = (uint16_t)inputs;
    record->output_channels = (uint16_t)outputs;
}

void describe_lstm(const struct description *d)
{
    const struct lstm *lstm = d->layer->lstm;
    uint64_t unit_words = dory_lstm_unit_words((uint32_t)lstm->inputs, (uint32_t)lstm->units);
    uint64_t count = DORY_LSTM_WORDS + unit_words * (uint64_t)lstm->units;
    d->record->operation = DORY_LSTM;
    d->record->stages = NULL;
    size_t units = (size_t)lstm->units, inputs = (size_t)lstm->steps * (size_t)lstm->inputs,
           outputs = ((size_t)lstm->steps + 2) * units;
    if (!has_bytes(d->input, inputs) || !has_bytes(d->second_input, 3 * units) || !has_bytes(d->output, outputs)) {
        REFUSE(d, NULL, "an LSTM of tensors that are not its elements");
        return;
    }
    describe_pixels(d->record, inputs, outputs);
    if (!is_shift(&lstm->forget) || lstm->forget.exponent != -14 || !is_shift(&lstm->input) || lstm->output.exponent > 0) {
        REFUSE(d, NULL, "has cells of a scale that is no power of two, or gates with other bits than 15");
        return;
    }
    if (count > UINT16_MAX) {
        REFUSE(d, NULL, "has %" PRIu64 " bytes of weights and constants; supported: up to %d", 4 * count, 4 * UINT16_MAX);
        return;
    }
    int32_t *words = arena_array(d->arena, int32_t, count);
    write_head(lstm, words);
    for (int unit = 0; unit < lstm->units; unit++)
        write_unit(lstm, unit, words + DORY_LSTM_WORDS + unit_words * (uint64_t)unit);
    d->record->constants.lstm = (const struct dory_lstm *)(const void *)words;
    d->record->lstm.words = (uint16_t)count;
    d->record->lstm.units = (uint16_t)lstm->units;
    describe_clip(d, &d->layer->stages[0]);
}
