/* FNV-1a (32 bit) of all that a network computes; of what it is called, nothing. Numbers go in byte by byte, little end
 * first, so that the hash is the same on any machine. */
#include "network/network.h"

static void add_bytes(uint32_t *hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
}

static void add(uint32_t *hash, int64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * i));
    add_bytes(hash, bytes, sizeof bytes);
}

static void add_tensor(uint32_t *hash, const struct tensor *tensor)
{
    const int numbers[] = {tensor->height, tensor->width,     tensor->channels,
                           tensor->bits,   tensor->is_signed, tensor->producer};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(hash, numbers[i]);
    const struct tensor_view *view = tensor->view;
    const struct tensor_view none = {0}, *of = view ? view : &none;
    const int places[] = {of->of, of->first, of->row_step, of->column_step, of->channel_step};
    for (size_t i = 0; view && i < sizeof places / sizeof *places; i++)
        add(hash, places[i]);
}

static void add_stage(uint32_t *hash, const struct stage *stage)
{
    add(hash, stage->count);
    for (int i = 0; i < stage->count; i++) {
        add(hash, stage->multiplier[i]);
        add(hash, stage->addend[i]);
        add(hash, stage->exponent ? stage->exponent[i] : 0);
    }
    if (stage->count == 0)
        return;
    add(hash, stage->rounding);
    add(hash, stage->left_shift);
    add(hash, stage->zero_point);
    add(hash, stage->divisor);
    add(hash, stage->has_clip);
    add(hash, stage->has_clip ? stage->minimum : 0);
    add(hash, stage->has_clip ? stage->maximum : 0);
}

static void add_numbers(uint32_t *hash, const int32_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        add(hash, numbers[i]);
}

static void add_map(uint32_t *hash, const struct tensor *output, const struct layer_map *map)
{
    add_numbers(hash, map->rows, output->height);
    add_numbers(hash, map->columns, output->width);
    add_numbers(hash, map->channels, output->channels);
}

static void add_taps(uint32_t *hash, const struct layer_tap *taps, int count)
{
    for (int i = 0; i < count; i++) {
        add_numbers(hash, taps[i].positions, 2);
        add_numbers(hash, taps[i].weights, 2);
    }
}

static void add_norm(uint32_t *hash, const struct norm *norm)
{
    const int numbers[] = {norm->is_centred, norm->zero_point, norm->fraction_bits, norm->multiplier,
                           norm->left_shift, norm->shift,      norm->run,           norm->count};
    add_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
    add(hash, norm->epsilon);
    if (norm->arithmetic != NORM_BY_ROOT)
        add(hash, norm->arithmetic);
    if (norm->roots)
        add_numbers(hash, norm->roots, 256);
    for (int i = 0; i < norm->count; i++)
        add_numbers(hash, (const int32_t[]){norm->constants[i].factor, norm->constants[i].term}, 2);
}

static void add_scale(uint32_t *hash, const struct lstm_scale *scale)
{
    add(hash, scale->multiplier);
    add(hash, scale->exponent);
}

static void add_lstm(uint32_t *hash, const struct lstm *lstm)
{
    const int numbers[] = {lstm->steps,        lstm->inputs,       lstm->units,    lstm->zero_point,
                           lstm->cell_minimum, lstm->cell_maximum, lstm->cell_bits};
    add_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
    for (int i = 0; i < 2 * LSTM_GATES; i++) {
        const struct lstm_product *product = &lstm->products[i / 2][i % 2];
        add_bytes(hash, product->weights, (size_t)lstm->units * (size_t)(i % 2 ? lstm->units : lstm->inputs));
        add_numbers(hash, product->addends, lstm->units);
        add_scale(hash, &product->scale);
    }
    add_scale(hash, &lstm->forget);
    add_scale(hash, &lstm->input);
    add_scale(hash, &lstm->output);
}

static void add_arrays(uint32_t *hash, const struct tensor *output, const struct layer *layer)
{
    if (layer->table)
        add_bytes(hash, layer->table, 256);
    if (layer->kind == LAYER_COPY)
        add_map(hash, output, &layer->map);
    if (layer->kind == LAYER_INTERPOLATION) {
        add_taps(hash, layer->taps.rows, output->height * layer->taps.row_pairs);
        add_taps(hash, layer->taps.columns, output->width * layer->taps.column_pairs);
    }
    for (int i = 0; layer->exponentials && i < 256; i++)
        add(hash, layer->exponentials[i]);
    if (layer->group_channels)
        add(hash, (uint32_t)layer->group_channels);
    for (int i = 0; i < 2 && layer->factors[i]; i++)
        add_numbers(hash, layer->factors[i], 256);
    if (layer->norm)
        add_norm(hash, layer->norm);
    if (layer->lstm)
        add_lstm(hash, layer->lstm);
}

size_t layer_weight_count(const struct network *network, const struct layer *layer)
{
    size_t channels = (size_t)network->tensors[layer->inputs[0]].channels / (size_t)layer->groups;
    return (size_t)network->tensors[layer->output].channels * channels * (size_t)layer->kernel_height *
           (size_t)layer->kernel_width;
}

static void add_layer(uint32_t *hash, const struct network *network, const struct layer *layer)
{
    const int numbers[] = {(int)layer->kind,       layer->inputs[0],      layer->inputs[1],     layer->output,
                           layer->kernel_height,   layer->kernel_width,   layer->stride_height, layer->stride_width,
                           layer->dilation_height, layer->dilation_width, layer->padding_top,   layer->padding_left,
                           layer->padding_bottom,  layer->padding_right,  layer->groups,        layer->stage_count,
                           layer->padding_value};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(hash, numbers[i]);
    if (layer->weights)
        add_bytes(hash, layer->weights, layer_weight_count(network, layer));
    add_arrays(hash, &network->tensors[layer->output], layer);
    for (int i = 0; i < layer->stage_count; i++)
        add_stage(hash, &layer->stages[i]);
    for (int i = 0; layer_has_two_inputs(layer) && i < 2; i++)
        add_stage(hash, &layer->input_stages[i]);
}

uint32_t network_hash(const struct network *network)
{
    uint32_t hash = 2166136261u;
    for (int i = 0; i < network->input_count; i++)
        add(&hash, network->inputs[i]);
    for (int i = 0; i < network->output_count; i++)
        add(&hash, network->outputs[i]);
    for (int i = 0; i < network->tensor_count; i++)
        add_tensor(&hash, &network->tensors[i]);
    for (int i = 0; i < network->layer_count; i++)
        add_layer(&hash, network, &network->layers[i]);
    return hash;
}
