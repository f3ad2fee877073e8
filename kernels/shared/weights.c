/* What holds of weights in any engine's format. */
#include "dory/engine.h"

#include <string.h>

void dory_set_format(struct dory_layer *layer, const struct dory_weights_format *format)
{
    if (dory_has_weights(layer)) {
        layer->block_shift = format->block_shift(layer);
    }
}

static bool is_sliced(const struct dory_layer *layer) { return layer->operation == DORY_CONVOLUTION; }

uint32_t dory_first_chunk_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                                uint32_t tile_input_channels)
{
    if (!dory_has_weights(layer)) {
        return 0;
    }
    return format->chunk_bytes(layer, is_sliced(layer) ? tile_input_channels : layer->input_channels);
}

uint32_t dory_block_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                          uint32_t tile_input_channels)
{
    if (!dory_has_weights(layer)) {
        return 0;
    }
    uint32_t slice = is_sliced(layer) ? tile_input_channels : layer->input_channels;
    uint32_t chunks = layer->input_channels / slice, rest = layer->input_channels % slice;
    return chunks * format->chunk_bytes(layer, slice) + (rest ? format->chunk_bytes(layer, rest) : 0) +
           format->constants_bytes(layer);
}

uint32_t dory_weights_tile_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                                 const struct dory_tile_shape *tile)
{
    if (!dory_has_weights(layer)) {
        return dory_table_bytes(layer);
    }
    return dory_blocks(layer, tile->channels) *
           (dory_first_chunk_bytes(format, layer, tile->input_channels) + format->constants_bytes(layer));
}

/* ---- what formats are written from ---- */

int8_t dory_model_weight(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                         uint32_t input, uint32_t tap)
{
    bool in_groups = layer->operation == DORY_GROUPED;
    uint32_t inputs = in_groups ? model->inputs : layer->input_channels;
    uint32_t first = in_groups ? output / layer->grouped.outputs * model->inputs : 0;
    if (output >= layer->output_channels || input < first || input >= first + inputs) {
        return 0;
    }
    uint32_t position = input - first;
    tap += position / model->inputs;
    int8_t weight = model->weights[((size_t)output * model->inputs + position % model->inputs) * model->taps + tap];
    return model->constants[output].is_negated ? (int8_t)-weight : weight;
}

#define MAXIMUM_CONSTANTS 7

/* Those of a form, in their order; how many. */
static uint32_t list_constants(const struct dory_layer *layer, const struct dory_channel_constants *channel,
                               int64_t constants[MAXIMUM_CONSTANTS])
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: memcpy(constants, &channel->none, sizeof channel->none); return 1;
    case DORY_NORMALISE_CLAMPED: memcpy(constants, &channel->clamped, sizeof channel->clamped); return 4;
    case DORY_NORMALISE_SPLIT:
        memcpy(constants, &channel->split, sizeof channel->split);
        return layer->rounding == DORY_ROUND_AWAY ? 7 : 5;
    case DORY_NORMALISE_HIGH: memcpy(constants, &channel->high, sizeof channel->high); return 4;
    case DORY_NORMALISE_SHARED: constants[0] = channel->high.bias; return 1;
    default: memcpy(constants, &channel->product, sizeof channel->product); return 2;
    }
}

/* Those of the clamped form and of the split one are modulo 2^32. */
static bool fits(const struct dory_layer *layer, int64_t value, uint32_t bytes)
{
    bool wraps = layer->normalisation == DORY_NORMALISE_CLAMPED || layer->normalisation == DORY_NORMALISE_SPLIT;
    return bytes == 8 || wraps || (value >= INT32_MIN && value <= INT32_MAX);
}

bool dory_write_constants(const struct dory_layer *layer, const struct dory_channel_constants *channel, uint8_t *to)
{
    static const struct dory_channel_constants none = {.split = {0}};
    int64_t constants[MAXIMUM_CONSTANTS];
    uint32_t count = list_constants(layer, channel ? channel : &none, constants);
    uint32_t bytes = dory_channel_constants_bytes(layer) / count;
    bool fit = true;
    for (uint32_t i = 0; i < count; i++) {
        fit = fit && fits(layer, constants[i], bytes);
        for (uint32_t byte = 0; byte < bytes; byte++) {
            *to++ = (uint8_t)((uint64_t)constants[i] >> (8 * byte));
        }
    }
    return fit;
}
