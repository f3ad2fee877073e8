/* Kernels, strides, dilations and paddings of Conv and pools. Index 0 is height, 1 width; a signal has height 1. */
#include "import/qdq/operators/handlers.h"

#include <inttypes.h>
#include <string.h>

/* A list attribute of one number a spatial dimension, or two (begin of each, then end of each). */
static bool read_pair(struct qdq *qdq, const struct node *node, const char *name, int dimensions, int64_t *first,
                      int64_t *second)
{
    int64_t numbers[16];
    int count = qdq_list(qdq, node, name, NULL, numbers), wanted = second ? 2 * dimensions : dimensions;
    if (count == -1)
        return true;
    if (count != wanted) {
        if (count >= 0)
            qdq_fault(qdq, node, name, "expected a list of %d integers, found %d", wanted, count);
        return false;
    }
    for (int i = 0; i < dimensions; i++) {
        first[2 - dimensions + i] = numbers[i];
        if (second)
            second[2 - dimensions + i] = numbers[dimensions + i];
    }
    return true;
}

static int64_t extent(const struct qdq_window *window, int i) { return (window->kernel[i] - 1) * window->dilation[i] + 1; }

static bool in_range(int64_t number, int64_t minimum) { return number >= minimum && number <= MAXIMUM_DIMENSION; }

static bool check(struct qdq *qdq, const struct node *node, const struct qdq_window *w)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "width" : "height";
        bool fits = in_range(w->kernel[i], 1) && in_range(w->stride[i], 1) && in_range(w->dilation[i], 1) &&
                    in_range(w->before[i], 0) && in_range(w->after[i], 0);
        if (!fits)
            qdq_fault(qdq, node, NULL,
                      "%s: kernel %" PRId64 ", stride %" PRId64 ", dilation %" PRId64 ", padding %" PRId64 " and %" PRId64
                      "; supported: kernel, stride and dilation 1 to %d, padding 0 to %d",
                      name, w->kernel[i], w->stride[i], w->dilation[i], w->before[i], w->after[i], MAXIMUM_DIMENSION,
                      MAXIMUM_DIMENSION);
        else if (extent(w, i) > w->input[i] + w->before[i] + w->after[i])
            qdq_fault(qdq, node, "kernel_shape",
                      "%s: the kernel spans %" PRId64 " elements, the input has %" PRId64 " with its padding", name,
                      extent(w, i), w->input[i] + w->before[i] + w->after[i]);
        else
            continue;
        return false;
    }
    return true;
}

static bool pad_automatically(struct qdq *qdq, const struct node *node, struct qdq_window *w)
{
    const struct attribute *attribute = node_attribute(node, "auto_pad");
    const char *text = attribute && attribute->kind == ATTRIBUTE_TEXT ? attribute->text : "NOTSET";
    bool upper = !strcmp(text, "SAME_UPPER"), lower = !strcmp(text, "SAME_LOWER"), valid = !strcmp(text, "VALID");
    if (!strcmp(text, "NOTSET"))
        return true;
    if (!upper && !lower && !valid) {
        qdq_fault(qdq, node, "auto_pad", "is '%s'; supported: NOTSET, VALID, SAME_UPPER, SAME_LOWER", text);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        w->before[i] = w->after[i] = 0;
        if (valid || !in_range(w->stride[i], 1) || !in_range(w->kernel[i], 1) || !in_range(w->dilation[i], 1))
            continue;
        int64_t outputs = (w->input[i] + w->stride[i] - 1) / w->stride[i];
        int64_t total = (outputs - 1) * w->stride[i] + extent(w, i) - w->input[i];
        total = total > 0 ? total : 0;
        w->before[i] = upper ? total / 2 : total - total / 2;
        w->after[i] = total - w->before[i];
    }
    return true;
}

/* ceil_mode: a window more, where it starts inside the image or the padding in front of it. */
static void round_up(struct qdq_window *w)
{
    for (int i = 0; i < 2; i++) {
        int64_t whole = w->input[i] + w->before[i] + w->after[i];
        int64_t outputs = (whole - extent(w, i) + w->stride[i] - 1) / w->stride[i] + 1;
        if ((outputs - 1) * w->stride[i] >= w->input[i] + w->before[i])
            outputs--;
        int64_t missing = (outputs - 1) * w->stride[i] + extent(w, i) - whole;
        w->after[i] += missing > 0 ? missing : 0;
    }
}

bool qdq_window_read(struct qdq *qdq, const struct node *node, const struct tensor *input, int rank, const int64_t *kernel,
                     struct qdq_window *w)
{
    int dimensions = rank - 2;
    *w = (struct qdq_window){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .input = {input->height, input->width}};
    for (int i = 0; kernel && i < 2; i++)
        w->kernel[i] = kernel[i];
    if (!kernel && !node_attribute(node, "kernel_shape")) {
        qdq_fault(qdq, node, "kernel_shape", "is missing");
        return false;
    }
    if (!read_pair(qdq, node, "kernel_shape", dimensions, w->kernel, NULL) ||
        !read_pair(qdq, node, "strides", dimensions, w->stride, NULL) ||
        !read_pair(qdq, node, "dilations", dimensions, w->dilation, NULL) ||
        !read_pair(qdq, node, "pads", dimensions, w->before, w->after) || !pad_automatically(qdq, node, w))
        return false;
    for (int i = 0; kernel && i < 2; i++)
        if (w->kernel[i] != kernel[i]) {
            qdq_fault(qdq, node, "kernel_shape", "says %" PRId64 ", the weights have %" PRId64, w->kernel[i], kernel[i]);
            return false;
        }
    if (!check(qdq, node, w))
        return false;
    if (qdq_integer(qdq, node, "ceil_mode", 0) != 0)
        round_up(w);
    for (int i = 0; i < 2; i++)
        w->output[i] = (w->input[i] + w->before[i] + w->after[i] - extent(w, i)) / w->stride[i] + 1;
    if (in_range(w->output[0], 1) && in_range(w->output[1], 1))
        return true;
    qdq_fault(qdq, node, NULL, "the output is %" PRId64 "x%" PRId64 "; supported: up to %d", w->output[0], w->output[1],
              MAXIMUM_DIMENSION);
    return false;
}

/* Padding behind the last window is never read: what the firmware sees is what is used. */
static int used_after(const struct qdq_window *w, int i)
{
    int64_t used = (w->output[i] - 1) * w->stride[i] + extent(w, i) - w->before[i] - w->input[i];
    return used > 0 ? (int)used : 0;
}

void qdq_window_set(struct layer *layer, const struct qdq_window *window)
{
    layer->kernel_height = (int)window->kernel[0];
    layer->kernel_width = (int)window->kernel[1];
    layer->stride_height = (int)window->stride[0];
    layer->stride_width = (int)window->stride[1];
    layer->dilation_height = (int)window->dilation[0];
    layer->dilation_width = (int)window->dilation[1];
    layer->padding_top = (int)window->before[0];
    layer->padding_left = (int)window->before[1];
    layer->padding_bottom = used_after(window, 0);
    layer->padding_right = used_after(window, 1);
}
