/* Which lines of its input a window needs for some lines of its output that follow each other. */
#include "base/arithmetic.h"
#include "middle/early.h"

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

bool middle_has_window(const struct layer *layer, enum pixel_axis axis)
{
    bool is_row = axis == AXIS_ROW;
    if (layer->kind != LAYER_CONVOLUTION && layer->kind != LAYER_MAXIMUM_POOL && layer->kind != LAYER_AVERAGE_POOL)
        return false;
    return (is_row ? layer->kernel_height : layer->kernel_width) != 1 ||
           (is_row ? layer->padding_top : layer->padding_left) || (is_row ? layer->padding_bottom : layer->padding_right);
}

struct window_lines middle_window_lines(const struct layer *layer, enum pixel_axis axis, int extent, int first, int last)
{
    struct window window = window_of(layer, axis);
    int from = first * window.stride - window.before, to = last * window.stride - window.before + window.size;
    return (struct window_lines){.first = from > 0 ? from : 0,
                                 .end = to < extent ? to : extent,
                                 .before = from < 0 ? -from : 0,
                                 .after = to > extent ? to - extent : 0};
}
