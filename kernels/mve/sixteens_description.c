/* Weights in sixteens: how large they are, and the writer. */
#include "dory/engine.h"
#include "finish.h"
#include "sixteens.h"

static uint8_t block_shift(const struct dory_layer *layer)
{
    (void)layer;
    return 2;
}

static uint32_t chunk_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return layer->operation == DORY_DEPTHWISE ? 4 * 12 : 4 * dory_sixteens_elements(layer, input_channels);
}

static uint32_t constants_bytes(const struct dory_layer *layer)
{
    return DORY_STARTS_BYTES + 4 * dory_channel_constants_bytes(layer);
}

/* Of a window of so many channels; a zero behind the last element. */
static int8_t weight_of(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                        uint32_t element)
{
    uint32_t channels = layer->input_channels, taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    return element < taps * channels ? dory_model_weight(layer, model, output, element % channels, element / channels) : 0;
}

/* Returns the sum of the weights. */
static int32_t write_channel(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                             uint8_t *to)
{
    int32_t sum = 0;
    uint32_t elements = dory_sixteens_elements(layer, layer->input_channels);
    for (uint32_t i = 0; i < elements; i++) {
        int8_t weight = weight_of(layer, model, output, i);
        to[i / 16 * 64 + output % 4 * 16 + i % 16] = (uint8_t)weight;
        sum += weight;
    }
    return sum;
}

static int32_t write_depthwise(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                               uint8_t *to)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < 12; i++) {
        int8_t weight = i % 4 < 3 ? dory_model_weight(layer, model, output, 0, i / 4 * 3 + i % 4) : 0;
        to[output % 4 * 12 + i] = (uint8_t)weight;
        sum += weight;
    }
    return sum;
}

/* A channel's constants in the forms of words: first words of all four channels, then second ones. */
static void write_words(const uint8_t *words, uint32_t bytes, uint8_t *to)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i / 4 * 16 + i % 4] = words[i];
    }
}

/* A channel's weights, start and constants, in its block. */
static bool write_output(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                         uint8_t *block)
{
    bool is_there = output < layer->output_channels;
    uint32_t lane = output % 4;
    uint8_t *starts = block + chunk_bytes(layer, layer->input_channels), *constants = starts + DORY_STARTS_BYTES;
    uint32_t sum = (uint32_t)(layer->operation == DORY_DEPTHWISE ? write_depthwise(layer, model, output, block)
                                                                 : write_channel(layer, model, output, block));
    uint32_t start = layer->input_is_signed ? 0 : 128 * sum;
    uint32_t bytes = dory_channel_constants_bytes(layer);
    uint8_t channel[32] = {0};
    if (!dory_write_constants(layer, is_there ? &model->constants[output] : 0, channel)) {
        return false;
    }
    if (dory_finish_of(layer) <= DORY_FINISH_32) {
        write_words(channel, bytes, constants + 4 * lane);
    } else {
        memcpy(constants + lane * bytes, channel, bytes);
    }
    if (dory_has_bias(dory_finish_of(layer))) {
        start += channel[0] | (uint32_t)channel[1] << 8 | (uint32_t)channel[2] << 16 | (uint32_t)channel[3] << 24;
    }
    for (uint32_t i = 0; i < 4; i++) {
        starts[4 * lane + i] = (uint8_t)(start >> 8 * i);
    }
    return true;
}

static bool write_sixteens(const struct dory_layer *layer, const struct dory_model_weights *model, uint8_t *to,
                           uint32_t bytes)
{
    uint32_t outputs = dory_round_up(layer->output_channels, 4);
    uint32_t block_bytes = chunk_bytes(layer, layer->input_channels) + constants_bytes(layer);
    if (bytes != outputs / 4 * block_bytes) {
        return false;
    }
    bool good = true;
    for (uint32_t output = 0; output < outputs && good; output++) {
        good = write_output(layer, model, output, to + output / 4 * block_bytes);
    }
    return good;
}

const struct dory_weights_format dory_sixteens = {
    .name = "sixteens",
    .block_shift = block_shift,
    .chunk_bytes = chunk_bytes,
    .constants_bytes = constants_bytes,
    .write = write_sixteens,
};
