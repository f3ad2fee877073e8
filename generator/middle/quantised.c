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

/* ---- windows that leave the image ---- */

/* Of which the elements inside are averaged: sums with weights that are larger where there are fewer elements, so that all
 * are divided by the same number. */

#define MAXIMUM_TAPS 64
#define MAXIMUM_UNIT (1 << 14) /* so that sums along both dimensions have 31 bits or fewer, in most cases */

static bool is_inside(const struct image_window *window, int output, int tap)
{
    int64_t position = (int64_t)output * window->stride - window->before + (int64_t)tap * window->dilation;
    return position >= 0 && position < window->size;
}

static int elements_inside(const struct image_window *window, int output)
{
    int count = 0;
    for (int tap = 0; tap < window->kernel; tap++)
        count += is_inside(window, output, tap);
    return count;
}

/* The least common multiple of all windows' counts; 0 where one is empty, or the multiple is too large. */
static int64_t common_unit(const struct image_window *window)
{
    int64_t unit = 1;
    for (int output = 0; output < window->outputs && unit != 0; output++) {
        int count = elements_inside(window, output);
        unit = count == 0 ? 0 : unit / (int64_t)greatest_common_divisor(unit, count) * count;
        unit = unit > MAXIMUM_UNIT ? 0 : unit;
    }
    return unit;
}

const struct layer_tap *quantised_window_taps(struct quantised_builder *builder, const struct image_window *window,
                                              int *pairs, int64_t *unit)
{
    *pairs = (window->kernel + 1) / 2;
    *unit = window->kernel <= MAXIMUM_TAPS ? common_unit(window) : 0;
    if (*unit == 0)
        return NULL;
    struct layer_tap *taps = arena_array(builder->arena, struct layer_tap, (size_t)window->outputs * (size_t)*pairs);
    for (int output = 0; output < window->outputs; output++) {
        int32_t weight = (int32_t)(*unit / elements_inside(window, output));
        for (int tap = 0; tap < window->kernel; tap++) {
            struct layer_tap *pair = &taps[(size_t)output * (size_t)*pairs + (size_t)(tap / 2)];
            if (!is_inside(window, output, tap))
                continue;
            pair->positions[tap % 2] = output * window->stride - window->before + tap * window->dilation;
            pair->weights[tap % 2] = weight;
        }
    }
    return taps;
}
