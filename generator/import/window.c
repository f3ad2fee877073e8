#include "import/window.h"

#include <inttypes.h>
#include <string.h>

bool window_in_range(int64_t number, int64_t least) { return number >= least && number <= MAXIMUM_DIMENSION; }

/* All that is computed with them is far from overflow then. */
static bool check_numbers(struct importer *importer, const struct node *node, const struct axis *axis, const char *name)
{
    const char *attribute = !window_in_range(axis->kernel, 1)                                       ? "kernel_shape"
                            : !window_in_range(axis->stride, 1)                                     ? "strides"
                            : !window_in_range(axis->dilation, 1)                                   ? "dilations"
                            : !window_in_range(axis->before, 0) || !window_in_range(axis->after, 0) ? "pads"
                                                                                                    : NULL;
    return !attribute || import_fault(importer, node, attribute,
                                      "%s: kernel %" PRId64 ", stride %" PRId64 ", dilation %" PRId64 ", padding %" PRId64
                                      " and %" PRId64 "; supported: kernel, stride and dilation 1 to %d, padding 0 to %d",
                                      name, axis->kernel, axis->stride, axis->dilation, axis->before, axis->after,
                                      MAXIMUM_DIMENSION, MAXIMUM_DIMENSION);
}

bool window_read(struct importer *importer, const struct node *node, const struct flow *input, const int64_t *kernel,
                 struct window *window)
{
    int64_t strides[2], dilations[2], pads[4];
    int rank = input->shape.rank - 2;
    if (rank != 1 && rank != 2)
        return import_fault(importer, node, NULL,
                            "%s of a tensor of shape %s is not supported; supported: 1 or 2 spatial dimensions", node->type,
                            shape_text(importer, &input->shape));
    if (!import_integers(importer, node, "strides", rank, 1, strides) ||
        !import_integers(importer, node, "dilations", rank, 1, dilations) ||
        !import_integers(importer, node, "pads", 2 * rank, 0, pads))
        return false;
    const struct tensor *tensor = flow_tensor_view(importer, input);
    window->height = (struct axis){1, 1, 1, 0, 0, tensor->height, 0};
    if (rank == 2)
        window->height = (struct axis){kernel[0], strides[0], dilations[0], pads[0], pads[2], tensor->height, 0};
    window->width = (struct axis){
        kernel[rank - 1], strides[rank - 1], dilations[rank - 1], pads[rank - 1], pads[2 * rank - 1], tensor->width, 0};
    return check_numbers(importer, node, &window->height, "height") &&
           check_numbers(importer, node, &window->width, "width");
}

int64_t window_extent(const struct axis *axis) { return (axis->kernel - 1) * axis->dilation + 1; }

/* auto_pad: SAME makes output = input / stride, rounded up. */
static void pad_same(struct axis *axis, bool more_in_front)
{
    int64_t output = (axis->input + axis->stride - 1) / axis->stride;
    int64_t total = (output - 1) * axis->stride + window_extent(axis) - axis->input;
    total = total < 0 ? 0 : total;
    axis->before = more_in_front ? total - total / 2 : total / 2;
    axis->after = total - axis->before;
}

bool window_pad_automatically(struct importer *importer, const struct node *node, struct window *window)
{
    const struct attribute *attribute = node_attribute(node, "auto_pad");
    if (!attribute || attribute->kind != ATTRIBUTE_TEXT || !*attribute->text || !strcmp(attribute->text, "NOTSET"))
        return true;
    bool upper = !strcmp(attribute->text, "SAME_UPPER"), lower = !strcmp(attribute->text, "SAME_LOWER");
    if (!upper && !lower && strcmp(attribute->text, "VALID") != 0)
        return import_fault(importer, node, "auto_pad", "is '%s'; supported: NOTSET, VALID, SAME_UPPER, SAME_LOWER",
                            attribute->text);
    window->height.before = window->height.after = window->width.before = window->width.after = 0;
    if (upper || lower) {
        pad_same(&window->height, lower);
        pad_same(&window->width, lower);
    }
    return true;
}

static bool check_axis(struct importer *importer, const struct node *node, const struct axis *axis, const char *name)
{
    if (!check_numbers(importer, node, axis, name)) /* once more: Pad nodes have been added */
        return false;
    if (window_extent(axis) > axis->input + axis->before + axis->after)
        return import_fault(importer, node, "kernel_shape",
                            "%s: the kernel spans %" PRId64 " elements, the input has %" PRId64 " with its padding", name,
                            window_extent(axis), axis->input + axis->before + axis->after);
    return true;
}

static int64_t count_outputs(const struct axis *axis)
{
    return (axis->input + axis->before + axis->after - window_extent(axis)) / axis->stride + 1;
}

bool window_finish(struct importer *importer, const struct node *node, const struct flow *input, struct window *window)
{
    window->height.before += input->padding.top;
    window->height.after += input->padding.bottom;
    window->width.before += input->padding.left;
    window->width.after += input->padding.right;
    if (!check_axis(importer, node, &window->height, "height") || !check_axis(importer, node, &window->width, "width"))
        return false;
    window->height.output = count_outputs(&window->height);
    window->width.output = count_outputs(&window->width);
    return window_in_range(window->height.output, 1) && window_in_range(window->width.output, 1)
               ? true
               : import_fault(importer, node, NULL, "the output is %" PRId64 "x%" PRId64 "; supported: up to %d",
                              window->height.output, window->width.output, MAXIMUM_DIMENSION);
}

int window_padding_after(const struct axis *axis)
{
    int64_t used = (axis->output - 1) * axis->stride + window_extent(axis) - axis->before - axis->input;
    return used > 0 ? (int)used : 0;
}

void window_set(struct layer *layer, const struct window *window)
{
    layer->kernel_height = (int)window->height.kernel;
    layer->kernel_width = (int)window->width.kernel;
    layer->stride_height = (int)window->height.stride;
    layer->stride_width = (int)window->width.stride;
    layer->dilation_height = (int)window->height.dilation;
    layer->dilation_width = (int)window->width.dilation;
    layer->padding_top = (int)window->height.before;
    layer->padding_left = (int)window->width.before;
    layer->padding_bottom = window_padding_after(&window->height);
    layer->padding_right = window_padding_after(&window->width);
}

struct shape window_shape(const struct flow *input, int64_t channels, const struct window *window)
{
    struct shape shape = {input->shape.rank, {1, channels, window->height.output, window->width.output}};
    if (shape.rank == 3)
        shape.dimensions[2] = window->width.output;
    return shape;
}

bool import_take_input(struct importer *importer, const struct node *node, struct flow *input)
{
    const struct flow *flow;
    if (!import_needs(importer, node, 0, &flow))
        return false;
    if (!flow_is_data(flow))
        return import_fault(importer, node, NULL, "%s of %s is not supported; its first input must be a tensor of a layer",
                            node->type, flow->kind == FLOW_HEAD ? "what comes behind a floating-point head" : "a constant");
    *input = *flow;
    flow_settle(importer, node, input);
    return true;
}
