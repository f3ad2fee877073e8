/* Weights of a case in another format than quads: what the model has is read back from the quads, of which the portable
 * kernel makes what is expected. */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "case_parts.h"
#include "quads.h"

/* The model of a layer that has the tile's channels. */
struct model {
    struct dory_layer layer;
    struct dory_model_weights weights;
    int8_t *values;
    struct dory_channel_constants *constants;
    uint32_t each; /* weights of a channel */
};

static void open_model(struct model *model, const struct test_case *test)
{
    model->layer = test->layer;
    model->layer.output_channels = test->tile.channels;
    uint32_t inputs = test->layer.operation == DORY_DEPTHWISE ? 1 : test->layer.input_channels;
    uint32_t taps = (uint32_t)test->layer.kernel_height * test->layer.kernel_width;
    model->each = inputs * taps;
    model->values = calloc((size_t)test->tile.channels, model->each);
    model->constants = calloc(test->tile.channels, sizeof *model->constants);
    model->weights = (struct dory_model_weights){model->values, inputs, taps, model->constants};
}

static void close_model(struct model *model)
{
    free(model->values);
    free(model->constants);
}

/* Where a weight lies is asked of the writer: it writes the bytes of the weights' numbers, and a weight is where both of its
 * number are. */
static bool find_weights(struct model *model, uint8_t *marks[2], uint32_t bytes)
{
    bool good = true;
    for (unsigned byte = 0; byte < 2; byte++) {
        for (uint32_t i = 0; i < model->each * model->layer.output_channels; i++) {
            model->values[i] = (int8_t)((i % model->each + 1) >> 8 * byte);
        }
        good = good && dory_quads.write(&model->layer, &model->weights, marks[byte], bytes);
    }
    return good;
}

/* The channel of a byte of a quad's weights. */
static uint32_t channel_of(const struct dory_layer *layer, uint32_t quad, uint32_t byte, uint32_t weight_bytes)
{
    uint32_t lanes = dory_lanes(layer);
    return 4 * quad + (layer->operation == DORY_DEPTHWISE ? byte / (weight_bytes / 4) : byte / 4 % lanes);
}

/* A constant as the model has it: some words have no sign. */
static int64_t constant_of(const struct dory_layer *layer, const uint8_t *words, uint32_t i)
{
    int64_t wide;
    int32_t word;
    memcpy(&word, words + 4 * i, sizeof word);
    switch (layer->normalisation) {
    case DORY_NORMALISE_CLAMPED: return i >= 2 ? (int64_t)(uint32_t)word : word;
    case DORY_NORMALISE_SPLIT: return i >= 2 && i != 5 ? (int64_t)(uint32_t)word : word;
    case DORY_NORMALISE_64:
    case DORY_NORMALISE_DIVIDE: memcpy(&wide, words + 8 * i, sizeof wide); return wide;
    default: return word;
    }
}

static void read_constants(struct model *model, const uint8_t *words, uint32_t channel)
{
    const struct dory_layer *layer = &model->layer;
    bool is_wide = layer->normalisation == DORY_NORMALISE_64 || layer->normalisation == DORY_NORMALISE_DIVIDE;
    uint32_t count = dory_channel_constants_bytes(layer) / (is_wide ? 8 : 4);
    int64_t constants[7] = {0};
    for (uint32_t i = 0; i < count; i++) {
        constants[i] = constant_of(layer, words, i);
    }
    memcpy(&model->constants[channel], constants, count * sizeof *constants);
}

static void read_quad(struct model *model, const uint8_t *blob, uint8_t *marks[2], uint32_t quad)
{
    const struct dory_layer *layer = &model->layer;
    uint32_t weight_bytes = layer->operation == DORY_DEPTHWISE ? dory_depthwise_quad_weight_bytes(layer)
                                                               : dory_chunk_bytes(layer, layer->input_channels);
    uint32_t constant_bytes = dory_channel_constants_bytes(layer);
    uint32_t start = quad * (weight_bytes + dory_lanes(layer) * constant_bytes);
    for (uint32_t i = start; i < start + weight_bytes; i++) {
        uint32_t number = marks[0][i] | (uint32_t)marks[1][i] << 8,
                 channel = channel_of(layer, quad, i - start, weight_bytes);
        if (number > 0 && channel < layer->output_channels) {
            model->values[channel * model->each + number - 1] = (int8_t)blob[i];
        }
    }
    for (uint32_t lane = 0; lane < 4 && 4 * quad + lane < layer->output_channels; lane++) {
        read_constants(model, blob + start + weight_bytes + lane * constant_bytes, 4 * quad + lane);
    }
}

bool test_case_write_format(const struct test_case *test, const struct dory_weights_format *format, const uint8_t *quads,
                            uint32_t quads_bytes, uint8_t *to, uint32_t bytes)
{
    struct model model;
    open_model(&model, test);
    uint8_t *marks[2] = {calloc(quads_bytes, 1), calloc(quads_bytes, 1)};
    bool good = find_weights(&model, marks, quads_bytes);
    memset(model.values, 0, (size_t)model.each * model.layer.output_channels);
    for (uint32_t quad = 0; quad < dory_divide_up(model.layer.output_channels, 4); quad++) {
        read_quad(&model, quads, marks, quad);
    }
    good = good && format->write(&model.layer, &model.weights, to, bytes);
    free(marks[0]);
    free(marks[1]);
    close_model(&model);
    return good;
}
