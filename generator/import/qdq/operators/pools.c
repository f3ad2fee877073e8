/* Pools and Softmax. */
#include "import/qdq/operators/handlers.h"

#include <math.h>
#include <string.h>

/* ---- averages ---- */

static struct qdq_pending *average(struct qdq *qdq, const struct node *node, int tensor, int height, int width)
{
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_AVERAGE_POOL, node, tensor, 1);
    const struct tensor *input = qdq_tensor(qdq, tensor);
    pending->layer.kernel_height = height;
    pending->layer.kernel_width = width;
    pending->divisor = (int64_t)height * width;
    pending->addends[0] = -pending->divisor * input->zero_point;
    return pending;
}

#define MAXIMUM_UNIT (1 << 20) /* by which sums of averages are multiplied: they have 28 bits */

/* Windows at the border average the elements that they have: weighted sums, with the same divisor everywhere. */
static enum qdq_outcome average_inside(struct qdq *qdq, const struct node *node, int tensor, const struct qdq_window *window,
                                       struct qdq_pending **result)
{
    const struct tensor *input = qdq_tensor(qdq, tensor);
    const int sizes[2] = {input->height, input->width};
    struct layer_taps taps = {0};
    const struct layer_tap **lists[2] = {&taps.rows, &taps.columns};
    int *pairs[2] = {&taps.row_pairs, &taps.column_pairs};
    int64_t units[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct image_window along = {sizes[i],
                                     (int)window->kernel[i],
                                     (int)window->stride[i],
                                     (int)window->dilation[i],
                                     (int)window->before[i],
                                     (int)window->output[i]};
        *lists[i] = quantised_window_taps(&qdq->builder, &along, pairs[i], &units[i]);
    }
    if (!taps.rows || !taps.columns || units[0] * units[1] > MAXIMUM_UNIT)
        return qdq_fault(
            qdq, node, "count_include_pad",
            "is 0 with padding, or ceil_mode adds windows that leave the image, and these have fewer elements in "
            "too many ways for one divisor, or none; supported: smaller windows, or no padding");
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_INTERPOLATION, node, tensor, 1);
    pending->layer.taps = taps;
    pending->divisor = units[0] * units[1];
    pending->addends[0] = -pending->divisor * input->zero_point;
    *result = pending;
    return QDQ_DONE;
}

static bool leaves_image(const struct qdq_window *window, const struct tensor *input)
{
    const int sizes[2] = {input->height, input->width};
    bool leaves = false;
    for (int i = 0; i < 2; i++) {
        int64_t reach = (window->output[i] - 1) * window->stride[i] + (window->kernel[i] - 1) * window->dilation[i] + 1;
        leaves |= window->before[i] > 0 || window->after[i] > 0 || reach > sizes[i];
    }
    return leaves;
}

/* With padding that counts: a border of the zero point, of which all windows are inside. */
static struct qdq_pending *average_with_border(struct qdq *qdq, const struct node *node, int tensor,
                                               const struct qdq_window *window)
{
    struct qdq_window inside = *window;
    if (window->before[0] || window->before[1] || window->after[0] || window->after[1])
        tensor = qdq_lay_border(qdq, node->name, tensor, window->before, window->after, qdq_tensor(qdq, tensor)->zero_point);
    memset(inside.before, 0, sizeof inside.before);
    memset(inside.after, 0, sizeof inside.after);
    struct qdq_pending *pending = average(qdq, node, tensor, (int)window->kernel[0], (int)window->kernel[1]);
    qdq_window_set(&pending->layer, &inside);
    pending->layer.padding_bottom = pending->layer.padding_right = 0;
    return pending;
}

enum qdq_outcome qdq_average_pool(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    struct qdq_window window;
    struct qdq_images images;
    struct qdq_pending *pending = NULL;
    (void)count;
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, &input);
    if (outcome != QDQ_DONE || (outcome = qdq_make_images(qdq, node, &input)) != QDQ_DONE)
        return outcome;
    const struct tensor image = qdq_one_image(qdq, &input);
    if (input.view.rank < 3 || !qdq_window_read(qdq, node, &image, input.view.rank, NULL, &window))
        return input.view.rank < 3 ? qdq_fault(qdq, node, NULL, "of a tensor of shape %s; supported: images and signals",
                                               view_text(&input.view, qdq->arena))
                                   : QDQ_FAULT;
    const bool counts = qdq_integer(qdq, node, "count_include_pad", 0) != 0, leaves = leaves_image(&window, &image);
    if (counts && qdq_integer(qdq, node, "ceil_mode", 0) != 0 && leaves)
        return qdq_fault(qdq, node, "ceil_mode",
                         "is 1 with count_include_pad 1 and windows that leave the image; supported: one of both");
    if (leaves && !counts) /* rows between images would count */
        outcome = qdq_make_image(qdq, node, &input);
    if (outcome == QDQ_DONE)
        outcome = qdq_stack_images(qdq, node, qdq_tensor(qdq, input.tensor)->zero_point, &input, &window, &images);
    if (outcome != QDQ_DONE)
        return outcome;
    if (counts || !leaves)
        pending = average_with_border(qdq, node, input.tensor, &window);
    else if ((outcome = average_inside(qdq, node, input.tensor, &window, &pending)) != QDQ_DONE)
        return outcome;
    pending->height = (int)window.output[0];
    pending->width = (int)window.output[1];
    qdq_pending_value(pending, input.view.rank, result);
    qdq_take_images_apart(&images, result);
    return QDQ_DONE;
}

/* ---- maxima ---- */

bool qdq_keeps_order(const struct qdq_value *value)
{
    if (value->kind != QDQ_REALS)
        return value->kind == QDQ_ELEMENTS;
    for (int i = 1; i < 256; i++)
        if (!(value->reals[i] >= value->reals[i - 1]))
            return false;
    return true;
}

static void lay_maximum(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                        const struct qdq_window *window, struct qdq_value *result)
{
    int channels = qdq_tensor(qdq, input->tensor)->channels;
    int output = qdq_tensor_like(qdq, node->name, input->tensor, (int)window->output[0], (int)window->output[1], channels);
    qdq_window_set(quantised_layer(&qdq->builder, LAYER_MAXIMUM_POOL, node->name, input->tensor, output), window);
    *result = *input;
    result->tensor = output;
    result->view = view_of_image(qdq_tensor(qdq, output), input->view.rank);
}

/* Every window sees an element of the image. */
static bool sees_image(const struct qdq_window *w)
{
    for (int i = 0; i < 2; i++)
        for (int64_t o = 0; o < w->output[i]; o++) {
            int64_t start = o * w->stride[i] - w->before[i], seen = 0;
            for (int64_t k = 0; k < w->kernel[i] && !seen; k++)
                seen = start + k * w->dilation[i] >= 0 && start + k * w->dilation[i] < w->input[i];
            if (!seen)
                return false;
        }
    return true;
}

enum qdq_outcome qdq_maximum_pool(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                  struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    struct qdq_window window;
    struct qdq_images images;
    (void)count;
    enum qdq_outcome outcome = qdq_keeps_order(&input) ? qdq_make_images(qdq, node, &input) : QDQ_FLOAT;
    if (outcome != QDQ_DONE)
        return outcome;
    if (input.view.rank < 3)
        return qdq_fault(qdq, node, NULL, "of a tensor of shape %s; supported: images and signals",
                         view_text(&input.view, qdq->arena));
    const struct tensor image = qdq_one_image(qdq, &input);
    if (!qdq_window_read(qdq, node, &image, input.view.rank, NULL, &window))
        return QDQ_FAULT;
    if (!sees_image(&window))
        return qdq_fault(qdq, node, "pads", "leave a window that sees nothing but padding, which has no maximum");
    if ((outcome = qdq_stack_images(qdq, node, 0, &input, &window, &images)) != QDQ_DONE)
        return outcome;
    lay_maximum(qdq, node, &input, &window, result);
    qdq_take_images_apart(&images, result);
    return QDQ_DONE;
}

/* ---- Softmax ---- */

static const uint32_t *exponentials(struct qdq *qdq, const struct tensor *input)
{
    uint32_t *numbers = arena_array(qdq->arena, uint32_t, 256);
    int bits = 31;
    while (((int64_t)input->channels << bits) > (int64_t)1 << 31)
        bits--;
    for (int i = 0; i < 256; i++)
        numbers[i] = (uint32_t)llrint(ldexp(exp(-i * input->scale), bits));
    return numbers;
}

/* Up to opset 12 all dimensions from the axis on are one. */
static bool is_over_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *input)
{
    int64_t opset = qdq_integer(qdq, node, "opset", qdq->graph->opset); /* QLinearSoftmax has it as an attribute */
    int64_t axis = qdq_integer(qdq, node, "axis", opset < 13 ? 1 : -1);
    const struct tensor *tensor = qdq_tensor(qdq, input->tensor);
    int rank = input->view.rank;
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank || (opset < 13 && tensor->height * tensor->width != 1))
        return false;
    return view_is_channels(&input->view, (int)axis, tensor);
}

/* Of the axis, where it is one dimension; else of all that there are. */
static enum qdq_outcome make_channels_of_softmax(struct qdq *qdq, const struct node *node, struct qdq_value *input)
{
    int64_t opset = qdq_integer(qdq, node, "opset", qdq->graph->opset), axis = qdq_integer(qdq, node, "axis", -1);
    axis += axis < 0 ? input->view.rank : 0;
    bool is_dimension = opset >= 13 && axis >= 0 && axis < input->view.rank;
    return is_dimension ? qdq_make_channels(qdq, node, input, (int)axis) : qdq_make_image(qdq, node, input);
}

enum qdq_outcome qdq_softmax(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    (void)count;
    if (input.kind != QDQ_REALS || !qdq_is_plain(qdq, &input))
        return QDQ_FLOAT;
    if (!is_over_channels(qdq, node, &input)) {
        enum qdq_outcome outcome = make_channels_of_softmax(qdq, node, &input);
        if (outcome != QDQ_DONE)
            return outcome;
        if (!is_over_channels(qdq, node, &input))
            return qdq_fault(qdq, node, "axis", "is not that of the channels, of a tensor of shape %s; supported: that",
                             view_text(&input.view, qdq->arena));
    }
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_SOFTMAX, node, input.tensor, 1);
    pending->layer.exponentials = exponentials(qdq, qdq_tensor(qdq, input.tensor));
    pending->scale = ldexp(1, -SOFTMAX_BITS);
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = input.view, .pending = pending};
    return QDQ_DONE;
}
