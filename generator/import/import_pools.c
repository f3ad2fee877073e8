/* Pools and Pad: nodes that become layers, or part of the next one. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/window.h"

#define MAXIMUM_PAD_VALUE 32768 /* whether an element of the tensor holds it is found out where the border is described */

/* ---- pools ---- */

static bool read_pool(struct importer *importer, const struct node *node, const struct flow *input, struct window *window)
{
    int64_t kernel[2];
    int rank = input->shape.rank - 2;
    if (!node_attribute(node, "kernel_shape"))
        return import_fault(importer, node, "kernel_shape", "is missing");
    if (rank != 1 && rank != 2)
        return import_fault(importer, node, NULL,
                            "%s of a tensor of shape %s is not supported; supported: 1 or 2 spatial dimensions", node->type,
                            shape_text(importer, &input->shape));
    return import_integers(importer, node, "kernel_shape", rank, 1, kernel) &&
           window_read(importer, node, input, kernel, window) && window_pad_automatically(importer, node, window);
}

/* ceil_mode: one more window where the last one would leave a rest, unless it starts behind the input. */
static void round_outputs_up(struct axis *axis)
{
    int64_t rest = (axis->input + axis->before + axis->after - window_extent(axis)) % axis->stride;
    if (rest && axis->output * axis->stride < axis->input + axis->before)
        axis->output++;
}

static struct flow make_pool(struct importer *importer, const struct node *node, enum layer_kind kind,
                             const struct flow *input, const struct window *window)
{
    int channels = flow_tensor_view(importer, input)->channels;
    int index = import_new_layer(importer, kind, node->name, input->index, (int)window->height.output,
                                 (int)window->width.output, channels);
    window_set(&importer->network->layers[index], window);
    struct shape shape = window_shape(input, channels, window);
    struct flow result = flow_of_layer(importer, index, &shape);
    result.pending = input->pending;
    return result;
}

/* Every window holds an element of the image. With dilation it may stride over it, so padding is refused there. */
static bool sees_input(const struct axis *axis)
{
    if (axis->dilation > 1 && axis->kernel > 1)
        return axis->before == 0 && window_padding_after(axis) == 0;
    return axis->before < axis->kernel && (axis->output - 1) * axis->stride - axis->before < axis->input;
}

bool import_maximum_pool(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    struct window window;
    if (!import_take_input(importer, node, &input) || !read_pool(importer, node, &input, &window))
        return false;
    if (!window_finish(importer, node, &input, &window))
        return false;
    if (import_integer(importer, node, "ceil_mode", 0)) {
        round_outputs_up(&window.height);
        round_outputs_up(&window.width);
    }
    if (!sees_input(&window.height) || !sees_input(&window.width))
        return import_fault(importer, node, "pads", "leave a window that sees nothing but padding, which has no maximum");
    *result = make_pool(importer, node, LAYER_MAXIMUM_POOL, &input, &window);
    return true;
}

/* The divisor is the kernel's area everywhere. Where ONNX divides by the elements inside the image, it differs. */
static bool check_divisor(struct importer *importer, const struct node *node, const struct window *window)
{
    bool has_padding = window->height.before || window->height.after || window->width.before || window->width.after;
    if (has_padding && !import_integer(importer, node, "count_include_pad", 0))
        return import_fault(
            importer, node, "count_include_pad",
            "is 0 with padding: windows at the border divide by fewer elements; supported: 1, or no padding");
    return true;
}

static bool check_ceil_mode(struct importer *importer, const struct node *node, const struct window *window)
{
    struct window rounded = *window;
    round_outputs_up(&rounded.height);
    round_outputs_up(&rounded.width);
    if (import_integer(importer, node, "ceil_mode", 0) &&
        (rounded.height.output != window->height.output || rounded.width.output != window->width.output))
        return import_fault(importer, node, "ceil_mode",
                            "is 1 and adds windows that leave the image, which divide by fewer elements; supported: 0");
    return true;
}

static bool divide_by_area(struct importer *importer, const struct node *node, struct flow *result,
                           const struct window *window)
{
    return flow_divide(importer, node, result, window->height.kernel * window->width.kernel);
}

bool import_average_pool(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    struct window window;
    if (!import_take_input(importer, node, &input) || !read_pool(importer, node, &input, &window) ||
        !check_divisor(importer, node, &window) || !window_finish(importer, node, &input, &window) ||
        !check_ceil_mode(importer, node, &window))
        return false;
    *result = make_pool(importer, node, LAYER_AVERAGE_POOL, &input, &window);
    return divide_by_area(importer, node, result, &window);
}

bool import_global_pool(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    bool average = !strcmp(node->type, "GlobalAveragePool");
    if (!import_take_input(importer, node, &input))
        return false;
    if (input.shape.rank < 3)
        return import_fault(importer, node, NULL,
                            "%s of a tensor of shape %s is not supported; supported: 1 or 2 spatial dimensions", node->type,
                            shape_text(importer, &input.shape));
    const struct tensor *tensor = flow_tensor_view(importer, &input);
    struct window window = {{tensor->height, 1, 1, 0, 0, tensor->height, 1}, {tensor->width, 1, 1, 0, 0, tensor->width, 1}};
    *result = make_pool(importer, node, average ? LAYER_AVERAGE_POOL : LAYER_MAXIMUM_POOL, &input, &window);
    return !average || divide_by_area(importer, node, result, &window);
}

/* ---- Pad ---- */

/* Pads: attribute up to opset 10, later an input; begin of each dimension, then end of each. */
static bool read_pads(struct importer *importer, const struct node *node, int rank, int64_t *pads)
{
    const struct flow *input = import_input(importer, node, 1);
    if (node_attribute(node, "pads"))
        return import_integers(importer, node, "pads", 2 * rank, 0, pads);
    if (node_attribute(node, "paddings")) /* opset 1 */
        return import_integers(importer, node, "paddings", 2 * rank, 0, pads);
    if (!input || input->kind != FLOW_CONSTANT || input->constant->count != 2 * (size_t)rank)
        return import_fault(importer, node, "pads", "are not constant or not %d numbers", 2 * rank);
    memcpy(pads, import_whole_numbers(importer, node, "pads", input->constant, 0), (size_t)(2 * rank) * sizeof *pads);
    return true;
}

/* What is padded with: attribute up to opset 10, later an input. */
static bool read_pad_value(struct importer *importer, const struct node *node, int64_t *value)
{
    const struct attribute *attribute = node_attribute(node, "value");
    const struct flow *input = import_input(importer, node, 2);
    double number = 0;
    if (attribute && attribute->kind == ATTRIBUTE_INTEGER)
        number = (double)attribute->integer;
    else if (attribute)
        number = attribute->number;
    else if (input && input->kind == FLOW_CONSTANT && input->constant->count == 1)
        number = constant_number(input->constant, 0);
    else if (input)
        return import_fault(importer, node, "value", "is not a constant number");
    if (!(fabs(number) <= MAXIMUM_PAD_VALUE) || number != floor(number))
        return import_fault(importer, node, "value", "is %g; supported: integers that an element of the input can be",
                            number);
    *value = (int64_t)number;
    return true;
}

static bool check_pad_mode(struct importer *importer, const struct node *node)
{
    const struct attribute *mode = node_attribute(node, "mode");
    if (mode && mode->kind == ATTRIBUTE_TEXT && *mode->text && strcmp(mode->text, "constant") != 0)
        return import_fault(importer, node, "mode", "is '%s'; supported: 'constant'", mode->text);
    return import_input(importer, node, 3) == NULL ||
           import_fault(importer, node, "axes", "are not supported; give all dimensions");
}

static bool check_pads(struct importer *importer, const struct node *node, int rank, const int64_t *pads)
{
    for (int i = 0; i < 2 * rank; i++) {
        bool is_spatial = i % rank >= 2;
        if (!window_in_range(pads[i], 0) || (!is_spatial && pads[i] != 0))
            return import_fault(importer, node, "pads",
                                "%" PRId64 " for dimension %d; supported: 0 to %d for height and width%s", pads[i], i % rank,
                                MAXIMUM_DIMENSION, pads[i] < 0 ? "; to crop, use a stride or a smaller padding" : "");
    }
    return true;
}

static bool has_pads(const int64_t *pads, int rank)
{
    for (int i = 0; i < 2 * rank; i++)
        if (pads[i] != 0)
            return true;
    return false;
}

/* More border round the one that there is, which becomes a layer first where it holds another number. */
static bool add_border(struct importer *importer, const struct node *node, struct flow *result, const int64_t *pads,
                       int64_t value)
{
    int rank = result->shape.rank;
    if (flow_has_padding(result) && result->padding.value != value && !flow_lay_padding(importer, node, result))
        return false;
    if (value == 0)
        flow_settle(importer, node, result);
    else
        flow_finish(importer, node, result);
    struct padding *all = &result->padding;
    all->value = value;
    all->left += (int)pads[rank - 1];
    all->right += (int)pads[2 * rank - 1];
    if (rank == 4) {
        all->top += (int)pads[2];
        all->bottom += (int)pads[6];
    }
    if (all->top > MAXIMUM_DIMENSION || all->bottom > MAXIMUM_DIMENSION || all->left > MAXIMUM_DIMENSION ||
        all->right > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "pads", "sum up to more than %d", MAXIMUM_DIMENSION);
    return true;
}

bool import_pad(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    int64_t pads[2 * GRAPH_MAXIMUM_RANK], value = 0;
    if (!import_needs(importer, node, 0, &input))
        return false;
    int rank = input->shape.rank;
    if (!flow_is_data(input) || rank < 3)
        return import_fault(importer, node, NULL, "Pad is supported for tensors with 1 or 2 spatial dimensions only");
    if (!read_pads(importer, node, rank, pads) || !check_pads(importer, node, rank, pads) ||
        !check_pad_mode(importer, node) || !read_pad_value(importer, node, &value))
        return false;
    *result = *input;
    return !has_pads(pads, rank) || add_border(importer, node, result, pads, value);
}
