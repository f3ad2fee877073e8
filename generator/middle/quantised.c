#include "middle/quantised.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "network/fixed_point.h"

void quantised_begin(struct quantised_builder *builder, const char *name, enum rounding rounding, struct arena *arena)
{
    *builder = (struct quantised_builder){.arena = arena, .rounding = rounding};
    builder->network = arena_allocate(arena, sizeof *builder->network);
    builder->network->name = arena_format(arena, "%s", name);
}

int quantised_tensor(struct quantised_builder *builder, const char *name, int height, int width, int channels,
                     const struct quantisation *quantisation)
{
    struct network *network = builder->network;
    arena_grow(builder->arena, network->tensors, network->tensor_count);
    int offset = quantisation->is_signed ? -128 : 0;
    struct tensor *tensor = &network->tensors[network->tensor_count];
    *tensor = tensor_plain(name, height, width, channels);
    tensor->scale = quantisation->scale;
    tensor->zero_point = (int)quantisation->zero_point - offset;
    tensor->model_offset = offset;
    return network->tensor_count++;
}

int quantised_tensor_like(struct quantised_builder *builder, const char *name, int tensor, int height, int width,
                          int channels)
{
    const struct tensor from = builder->network->tensors[tensor];
    struct quantisation quantisation = {from.scale, from.zero_point + from.model_offset, from.model_offset != 0};
    return quantised_tensor(builder, name, height, width, channels, &quantisation);
}

struct layer *quantised_layer(struct quantised_builder *builder, enum layer_kind kind, const char *name, int input,
                              int output)
{
    struct network *network = builder->network;
    arena_grow(builder->arena, network->layers, network->layer_count);
    struct layer *layer = &network->layers[network->layer_count];
    *layer = layer_plain(name, kind, input);
    layer->output = output;
    network->tensors[output].producer = network->layer_count++;
    return layer;
}

/* ---- stages ---- */

struct stage quantised_stage(struct quantised_builder *builder, int count, const struct tensor *output)
{
    return (struct stage){
        .count = count,
        .rounding = builder->rounding,
        .multiplier = arena_array(builder->arena, int64_t, (size_t)count),
        .addend = arena_array(builder->arena, int64_t, (size_t)count),
        .exponent = arena_array(builder->arena, int, (size_t)count),
        .divisor = 1,
        .zero_point = output->zero_point,
        .has_clip = true,
        .minimum = 0,
        .maximum = 255,
    };
}

/* A factor as 31 bits and a power of two, which is how TensorFlow Lite holds it: its QuantizeMultiplier. */
static void set_twice(double factor, int64_t *multiplier, int *exponent)
{
    int32_t narrow;
    fixed_quantise_multiplier(factor, &narrow, exponent);
    *multiplier = narrow;
}

int64_t quantised_significand(double number, int *exponent)
{
    int64_t whole = (int64_t)ldexp(frexp(number, exponent), 53);
    *exponent -= 53;
    for (; whole != 0 && whole % 2 == 0; ++*exponent)
        whole /= 2;
    return whole;
}

/* The exact factor: numerator * 2^exponent / divisor. Channels share the stage's divisor, as their factors differ in the
 * numerator only. */
static void set_exactly(struct stage *stage, struct real_factor factor, int64_t *multiplier, int *exponent)
{
    int first, second, below;
    int64_t numerator =
        quantised_significand(factor.numerators[0], &first) * quantised_significand(factor.numerators[1], &second);
    int64_t divisor = quantised_significand(factor.denominator, &below) * factor.count;
    int64_t common = stage->count == 1 ? (int64_t)greatest_common_divisor(divisor, numerator) : 1;
    *multiplier = numerator / common;
    *exponent = first + second - below;
    stage->divisor = divisor / common;
}

void quantised_set_channel(struct quantised_builder *builder, struct stage *stage, int channel, int64_t addend,
                           struct real_factor factor)
{
    /* the arrays are this builder's own: const is for the readers of a finished network */
    int64_t *multiplier = (int64_t *)(uintptr_t)stage->multiplier, *addends = (int64_t *)(uintptr_t)stage->addend;
    int *exponent = (int *)(uintptr_t)stage->exponent;
    addends[channel] = addend;
    if (builder->rounding == ROUND_TWICE)
        set_twice(factor.numerators[0] * factor.numerators[1] / factor.denominator, &multiplier[channel],
                  &exponent[channel]);
    else
        set_exactly(stage, factor, &multiplier[channel], &exponent[channel]);
}

void quantised_clip(struct stage *stage, const struct tensor *output, double minimum, double maximum)
{
    double least = isfinite(minimum) ? round(minimum / output->scale) + output->zero_point : (double)stage->minimum;
    double most = isfinite(maximum) ? round(maximum / output->scale) + output->zero_point : (double)stage->maximum;
    if (least > (double)stage->minimum)
        stage->minimum = least < 255 ? (int64_t)least : 255;
    if (most < (double)stage->maximum)
        stage->maximum = most > (double)stage->minimum ? (int64_t)most : stage->minimum;
}

/* ---- whole layers ---- */

void quantised_finish_convolution(struct quantised_builder *builder, struct layer *layer,
                                  const struct quantised_weights *weights)
{
    const struct tensor *input = &builder->network->tensors[layer->inputs[0]];
    const struct tensor *output = &builder->network->tensors[layer->output];
    size_t count = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(input->channels / layer->groups);
    layer->weights = weights->weights;
    layer->padding_value = input->zero_point;
    layer->stages[0] = quantised_stage(builder, output->channels, output);
    layer->stage_count = 1;
    for (int channel = 0; channel < output->channels; channel++) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += weights->weights[(size_t)channel * count + i];
        int64_t bias = weights->biases ? weights->biases[channel] : 0;
        double scale = weights->scales[weights->scale_count == 1 ? 0 : channel];
        struct real_factor factor = {{input->scale, scale}, output->scale, 1};
        if (weights->float_product)
            factor = (struct real_factor){{(float)(input->scale * scale), 1}, output->scale, 1};
        quantised_set_channel(builder, &layer->stages[0], channel, bias - sum * input->zero_point, factor);
    }
}

void quantised_table(struct quantised_builder *builder, const char *name, int input, int output, const uint8_t *table)
{
    uint8_t *copy = arena_array(builder->arena, uint8_t, 256);
    memcpy(copy, table, 256);
    quantised_layer(builder, LAYER_TABLE, name, input, output)->table = copy;
}
