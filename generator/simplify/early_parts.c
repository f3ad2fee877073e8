/* Parts of a layer: some channels of a convolution, and the lines of its input that a window needs for lines of its output
 * that follow each other. */
#include <string.h>

#include "base/arithmetic.h"
#include "simplify/early.h"

static struct stage pick_stage(const struct stage *stage, const int *channels, int count, struct arena *arena)
{
    struct stage picked = *stage;
    if (stage->count <= 1)
        return picked;
    int64_t *multiplier = arena_array(arena, int64_t, (size_t)count), *addend = arena_array(arena, int64_t, (size_t)count);
    int *exponent = stage->exponent ? arena_array(arena, int, (size_t)count) : NULL;
    for (int i = 0; i < count; i++) {
        multiplier[i] = stage->multiplier[channels[i]];
        addend[i] = stage->addend[channels[i]];
        if (exponent)
            exponent[i] = stage->exponent[channels[i]];
    }
    picked.count = count;
    picked.multiplier = multiplier;
    picked.addend = addend;
    picked.exponent = exponent;
    return picked;
}

struct layer simplify_some_channels(const struct network *network, const struct layer *layer, const int *channels, int count,
                                    struct arena *arena)
{
    struct layer picked = *layer;
    size_t each =
        (size_t)network->tensors[layer->inputs[0]].channels * (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int8_t *weights = arena_allocate_array(arena, (size_t)count, each);
    for (int i = 0; i < count; i++)
        memcpy(weights + (size_t)i * each, layer->weights + (size_t)channels[i] * each, each);
    picked.weights = weights;
    for (int i = 0; i < layer->stage_count; i++)
        picked.stages[i] = pick_stage(&layer->stages[i], channels, count, arena);
    return picked;
}

struct window {
    int size, stride, before; /* the size with what dilation leaves out; rows above or columns to the left of the input */
};

static struct window window_of(const struct layer *layer, enum pixel_axis axis)
{
    if (axis == AXIS_ROW)
        return (struct window){(layer->kernel_height - 1) * layer->dilation_height + 1, layer->stride_height,
                               layer->padding_top};
    return (struct window){(layer->kernel_width - 1) * layer->dilation_width + 1, layer->stride_width, layer->padding_left};
}

bool simplify_has_window(const struct layer *layer, enum pixel_axis axis)
{
    bool is_row = axis == AXIS_ROW;
    if (layer->kind != LAYER_CONVOLUTION && layer->kind != LAYER_MAXIMUM_POOL && layer->kind != LAYER_AVERAGE_POOL)
        return false;
    return (is_row ? layer->kernel_height : layer->kernel_width) != 1 ||
           (is_row ? layer->padding_top : layer->padding_left) || (is_row ? layer->padding_bottom : layer->padding_right);
}

struct window_lines simplify_window_lines(const struct layer *layer, enum pixel_axis axis, int extent, int first, int last)
{
    struct window window = window_of(layer, axis);
    int from = first * window.stride - window.before, to = last * window.stride - window.before + window.size;
    return (struct window_lines){.first = from > 0 ? from : 0,
                                 .end = to < extent ? to : extent,
                                 .before = from < 0 ? -from : 0,
                                 .after = to > extent ? to - extent : 0};
}
