/* Conv, Gemm, MatMul, pools and Pad: nodes that become layers, or part of the next one. */
#include "import/import.h"

#include <inttypes.h>
#include <string.h>

/* ---- windows ---- */

struct axis {
    int64_t kernel, stride, dilation, before, after; /* before, after: padding */
    int64_t input, output;
};

struct window {
    struct axis height, width;
};

static bool in_range(int64_t number, int64_t least) { return number >= least && number <= MAXIMUM_DIMENSION; }

/* All that is computed with them is far from overflow then. */
static bool check_numbers(struct importer *importer, const struct node *node, const struct axis *axis, const char *name)
{
    const char *attribute = !in_range(axis->kernel, 1)                                ? "kernel_shape"
                            : !in_range(axis->stride, 1)                              ? "strides"
                            : !in_range(axis->dilation, 1)                            ? "dilations"
                            : !in_range(axis->before, 0) || !in_range(axis->after, 0) ? "pads"
                                                                                      : NULL;
    return !attribute || import_fault(importer, node, attribute,
                                      "%s: kernel %" PRId64 ", stride %" PRId64 ", dilation %" PRId64 ", padding %" PRId64
                                      " and %" PRId64 "; supported: kernel, stride and dilation 1 to %d, padding 0 to %d",
                                      name, axis->kernel, axis->stride, axis->dilation, axis->before, axis->after,
                                      MAXIMUM_DIMENSION, MAXIMUM_DIMENSION);
}

/* The attributes of a node with a window, over 1 or 2 dimensions; a 1-D window has height 1. */
static bool read_window(struct importer *importer, const struct node *node, const struct flow *input, const int64_t *kernel,
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

static int64_t extent(const struct axis *axis) { return (axis->kernel - 1) * axis->dilation + 1; }

/* auto_pad: SAME makes output = input / stride, rounded up. */
static void pad_same(struct axis *axis, bool more_in_front)
{
    int64_t output = (axis->input + axis->stride - 1) / axis->stride;
    int64_t total = (output - 1) * axis->stride + extent(axis) - axis->input;
    total = total < 0 ? 0 : total;
    axis->before = more_in_front ? total - total / 2 : total / 2;
    axis->after = total - axis->before;
}

static bool apply_automatic_padding(struct importer *importer, const struct node *node, struct window *window)
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
    if (extent(axis) > axis->input + axis->before + axis->after)
        return import_fault(importer, node, "kernel_shape",
                            "%s: the kernel spans %" PRId64 " elements, the input has %" PRId64 " with its padding", name,
                            extent(axis), axis->input + axis->before + axis->after);
    return true;
}

static int64_t count_outputs(const struct axis *axis)
{
    return (axis->input + axis->before + axis->after - extent(axis)) / axis->stride + 1;
}

/* Padding of Pad nodes in front is added; then the size of the output follows. */
static bool finish_window(struct importer *importer, const struct node *node, const struct flow *input,
                          struct window *window)
{
    window->height.before += input->padding.top;
    window->height.after += input->padding.bottom;
    window->width.before += input->padding.left;
    window->width.after += input->padding.right;
    if (!check_axis(importer, node, &window->height, "height") || !check_axis(importer, node, &window->width, "width"))
        return false;
    window->height.output = count_outputs(&window->height);
    window->width.output = count_outputs(&window->width);
    return in_range(window->height.output, 1) && in_range(window->width.output, 1)
               ? true
               : import_fault(importer, node, NULL, "the output is %" PRId64 "x%" PRId64 "; supported: up to %d",
                              window->height.output, window->width.output, MAXIMUM_DIMENSION);
}

/* Padding behind the last window is never read: what the firmware sees is what is used. */
static int used_padding_after(const struct axis *axis)
{
    int64_t used = (axis->output - 1) * axis->stride + extent(axis) - axis->before - axis->input;
    return used > 0 ? (int)used : 0;
}

static void set_window(struct layer *layer, const struct window *window)
{
    layer->kernel_height = (int)window->height.kernel;
    layer->kernel_width = (int)window->width.kernel;
    layer->stride_height = (int)window->height.stride;
    layer->stride_width = (int)window->width.stride;
    layer->dilation_height = (int)window->height.dilation;
    layer->dilation_width = (int)window->width.dilation;
    layer->padding_top = (int)window->height.before;
    layer->padding_left = (int)window->width.before;
    layer->padding_bottom = used_padding_after(&window->height);
    layer->padding_right = used_padding_after(&window->width);
}

static struct shape image_shape(const struct flow *input, int64_t channels, const struct window *window)
{
    struct shape shape = {input->shape.rank, {1, channels, window->height.output, window->width.output}};
    if (shape.rank == 3)
        shape.dimensions[2] = window->width.output;
    return shape;
}

/* The input tensor of a layer, finished. */
static bool take_input(struct importer *importer, const struct node *node, struct flow *input)
{
    const struct flow *flow;
    if (!import_needs(importer, node, 0, &flow))
        return false;
    if (!flow_is_data(flow))
        return import_fault(importer, node, NULL, "%s of %s is not supported; its first input must be a tensor of a layer",
                            node->type, flow->kind == FLOW_HEAD ? "what comes behind a floating-point head" : "a constant");
    *input = *flow;
    flow_finish(importer, node, input);
    return true;
}

/* ---- weights ---- */

#define WEIGHT_MINIMUM (-128)
#define WEIGHT_MAXIMUM 127

static bool weights_constant(struct importer *importer, const struct node *node, const struct constant **constant)
{
    const struct flow *flow;
    if (!import_needs(importer, node, 1, &flow))
        return false;
    if (flow->kind != FLOW_CONSTANT)
        return import_fault(importer, node, "weights", "are computed by the network; supported: constant weights");
    *constant = flow->constant;
    return true;
}

static int64_t weight_index(size_t row, size_t column, size_t rows, size_t columns, bool transpose)
{
    return (int64_t)(transpose ? column * rows + row : row * columns + column);
}

/* Weights as [rows][columns], read from a constant of that shape or, with `transpose`, of [columns][rows]. All faults of a
 * constant are one message. */
static const int8_t *read_weights(struct importer *importer, const struct node *node, const struct constant *constant,
                                  size_t rows, size_t columns, bool transpose, int bits)
{
    const int64_t *numbers = import_whole_numbers(importer, node, "weights", constant, 0);
    int64_t minimum = -((int64_t)1 << (bits - 1)), maximum = -minimum - 1;
    int8_t *weights = arena_allocate(importer->arena, constant->count);
    size_t out_of_range = 0;
    int64_t example = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            int64_t number = numbers[weight_index(row, column, rows, columns, transpose)];
            bool fits = number >= minimum && number <= maximum;
            example = fits || out_of_range ? example : number;
            out_of_range += !fits;
            weights[row * columns + column] = (int8_t)(fits ? number : 0);
        }
    if (out_of_range)
        import_fault(importer, node, "weights",
                     "constant '%s' holds %" PRId64 " (%zu of %zu numbers are out of range); supported: %" PRId64
                     " to %" PRId64 " for %d bits; quantise the weights to that before the export",
                     constant->name, example, out_of_range, constant->count, minimum, maximum, bits);
    return weights;
}

static bool weight_bits(struct importer *importer, const struct node *node, int *bits)
{
    int64_t number = import_integer(importer, node, "weight_bits", 8);
    if (number != 2 && number != 4 && number != 8)
        return import_fault(importer, node, "weight_bits", "is %" PRId64 "; supported: 2, 4, 8", number);
    *bits = (int)number;
    return true;
}

/* The third input: one number for each output channel. */
static bool add_bias(struct importer *importer, const struct node *node, struct flow *result, int channels)
{
    const struct flow *flow = import_input(importer, node, 2);
    if (!flow)
        return true;
    if (flow->kind != FLOW_CONSTANT)
        return flow->kind != FLOW_UNKNOWN &&
               import_fault(importer, node, "bias", "is computed by the network; supported: a constant bias");
    const struct constant *constant = flow->constant;
    if (constant->count != 1 && constant->count != (size_t)channels)
        return import_fault(importer, node, "bias", "has %zu numbers; supported: one for each of the %d output channels",
                            constant->count, channels);
    return flow_add(importer, node, result, import_whole_numbers(importer, node, "bias", constant, 0), (int)constant->count);
}

/* ---- convolution ---- */

static bool convolution_weights(struct importer *importer, const struct node *node, const struct flow *input,
                                const struct constant *constant)
{
    int rank = input->shape.rank;
    if (rank < 3)
        return import_fault(importer, node, NULL,
                            "Conv of a tensor of shape %s is not supported; supported: 1 or 2 spatial dimensions",
                            shape_text(importer, &input->shape));
    if (constant->rank != rank)
        return import_fault(importer, node, "weights", "have %d dimensions; expected %d for an input of shape %s",
                            constant->rank, rank, shape_text(importer, &input->shape));
    int64_t declared[2];
    if (!node_attribute(node, "kernel_shape"))
        return true;
    if (!import_integers(importer, node, "kernel_shape", rank - 2, 1, declared))
        return false;
    for (int i = 0; i < rank - 2; i++)
        if (declared[i] != constant->dimensions[2 + i])
            return import_fault(importer, node, "kernel_shape", "says %" PRId64 ", the weights have %" PRId64, declared[i],
                                constant->dimensions[2 + i]);
    return true;
}

static bool check_groups(struct importer *importer, const struct node *node, int64_t groups, int64_t channels_in,
                         int64_t channels_out, int64_t channels_per_group)
{
    if (channels_out < 1 || channels_out > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "weights", "are for %" PRId64 " output channels; supported: 1 to %d",
                            channels_out, MAXIMUM_DIMENSION);
    if (groups < 1 || channels_in % groups || channels_out % groups)
        return import_fault(importer, node, "group",
                            "is %" PRId64 ", which divides not both the %" PRId64 " input and the %" PRId64
                            " output channels",
                            groups, channels_in, channels_out);
    if (channels_per_group != channels_in / groups)
        return import_fault(importer, node, "weights", "are for %" PRId64 " input channels a group, the input has %" PRId64,
                            channels_per_group, channels_in / groups);
    return true;
}

bool import_convolution(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    const struct constant *constant = NULL;
    struct window window;
    int bits = 8;
    if (!take_input(importer, node, &input) || !weights_constant(importer, node, &constant) ||
        !convolution_weights(importer, node, &input, constant) || !weight_bits(importer, node, &bits))
        return false;
    int64_t groups = import_integer(importer, node, "group", 1);
    int64_t channels_in = flow_tensor_view(importer, &input)->channels, channels_out = constant->dimensions[0];
    if (!check_groups(importer, node, groups, channels_in, channels_out, constant->dimensions[1]) ||
        !read_window(importer, node, &input, constant->dimensions + 2, &window) ||
        !apply_automatic_padding(importer, node, &window) || !finish_window(importer, node, &input, &window))
        return false;
    int index = import_new_layer(importer, LAYER_CONVOLUTION, node->name, input.index, (int)window.height.output,
                                 (int)window.width.output, (int)channels_out);
    struct layer *layer = &importer->network->layers[index];
    set_window(layer, &window);
    layer->groups = (int)groups;
    layer->weight_bits = bits;
    layer->weights =
        read_weights(importer, node, constant, (size_t)channels_out, constant->count / (size_t)channels_out, false, bits);
    struct shape shape = image_shape(&input, channels_out, &window);
    *result = flow_of_layer(importer, index, &shape);
    return add_bias(importer, node, result, (int)channels_out);
}

/* ---- fully connected ---- */

/* A convolution whose kernel covers the input. ONNX flattens channels, rows, columns: the order of our weights. */
static bool fully_connected(struct importer *importer, const struct node *node, const struct constant *constant,
                            bool output_first, struct flow *result)
{
    struct flow input;
    int bits = 8;
    if (!take_input(importer, node, &input) || !weight_bits(importer, node, &bits))
        return false;
    const struct tensor *tensor = flow_tensor_view(importer, &input);
    if (input.shape.rank != 2)
        return import_fault(importer, node, NULL,
                            "%s of a tensor of shape %s is not supported; supported: 1xN, put a Flatten in front",
                            node->type, shape_text(importer, &input.shape));
    if (constant->rank != 2)
        return import_fault(importer, node, "weights", "have %d dimensions; supported: 2", constant->rank);
    int64_t elements = constant->dimensions[output_first], channels = constant->dimensions[!output_first];
    if (elements != (int64_t)tensor_elements(tensor))
        return import_fault(importer, node, "weights", "are for %" PRId64 " inputs, the tensor in front has %zu elements",
                            elements, tensor_elements(tensor));
    if (channels < 1 || channels > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "weights", "are for %" PRId64 " outputs; supported: 1 to %d", channels,
                            MAXIMUM_DIMENSION);
    int height = tensor->height, width = tensor->width;
    int index = import_new_layer(importer, LAYER_CONVOLUTION, node->name, input.index, 1, 1, (int)channels);
    struct layer *layer = &importer->network->layers[index];
    layer->kernel_height = height;
    layer->kernel_width = width;
    layer->weight_bits = bits;
    layer->weights = read_weights(importer, node, constant, (size_t)channels, (size_t)elements, !output_first, bits);
    struct shape shape = {2, {1, channels}};
    *result = flow_of_layer(importer, index, &shape);
    return true;
}

/* alpha, beta, transA: there is one value that NEMO writes, and no use for others. */
static void check_gemm(struct importer *importer, const struct node *node)
{
    const struct attribute *alpha = node_attribute(node, "alpha"), *beta = node_attribute(node, "beta");
    if (alpha && (alpha->kind != ATTRIBUTE_FLOAT || alpha->number != 1))
        import_fault(importer, node, "alpha", "is %g; supported: 1", alpha->number);
    if (beta && import_input(importer, node, 2) && (beta->kind != ATTRIBUTE_FLOAT || beta->number != 1))
        import_fault(importer, node, "beta", "is %g; supported: 1", beta->number);
    if (import_integer(importer, node, "transA", 0) != 0)
        import_fault(importer, node, "transA", "is %" PRId64 "; supported: 0", import_integer(importer, node, "transA", 0));
}

bool import_gemm(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct constant *constant = NULL;
    check_gemm(importer, node);
    if (!weights_constant(importer, node, &constant) ||
        !fully_connected(importer, node, constant, import_integer(importer, node, "transB", 0) != 0, result))
        return false;
    return add_bias(importer, node, result, (int)result->shape.dimensions[1]);
}

bool import_matrix_product(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct constant *constant = NULL;
    return weights_constant(importer, node, &constant) && fully_connected(importer, node, constant, false, result);
}

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
           read_window(importer, node, input, kernel, window) && apply_automatic_padding(importer, node, window);
}

/* ceil_mode: one more window where the last one would leave a rest, unless it starts behind the input. */
static void round_outputs_up(struct axis *axis)
{
    int64_t rest = (axis->input + axis->before + axis->after - extent(axis)) % axis->stride;
    if (rest && axis->output * axis->stride < axis->input + axis->before)
        axis->output++;
}

static struct flow make_pool(struct importer *importer, const struct node *node, enum layer_kind kind,
                             const struct flow *input, const struct window *window)
{
    int channels = flow_tensor_view(importer, input)->channels;
    int index = import_new_layer(importer, kind, node->name, input->index, (int)window->height.output,
                                 (int)window->width.output, channels);
    set_window(&importer->network->layers[index], window);
    struct shape shape = image_shape(input, channels, window);
    return flow_of_layer(importer, index, &shape);
}

/* Every window holds an element of the image. With dilation it may stride over it, so padding is refused there. */
static bool sees_input(const struct axis *axis)
{
    if (axis->dilation > 1 && axis->kernel > 1)
        return axis->before == 0 && used_padding_after(axis) == 0;
    return axis->before < axis->kernel && (axis->output - 1) * axis->stride - axis->before < axis->input;
}

bool import_maximum_pool(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    struct window window;
    if (!take_input(importer, node, &input) || !read_pool(importer, node, &input, &window))
        return false;
    if (!finish_window(importer, node, &input, &window))
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
    if (!take_input(importer, node, &input) || !read_pool(importer, node, &input, &window) ||
        !check_divisor(importer, node, &window) || !finish_window(importer, node, &input, &window) ||
        !check_ceil_mode(importer, node, &window))
        return false;
    *result = make_pool(importer, node, LAYER_AVERAGE_POOL, &input, &window);
    return divide_by_area(importer, node, result, &window);
}

bool import_global_pool(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    bool average = !strcmp(node->type, "GlobalAveragePool");
    if (!take_input(importer, node, &input))
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
static bool check_pad_value(struct importer *importer, const struct node *node)
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
        return import_fault(importer, node, "value", "is not a constant number; supported: 0");
    return number == 0 || import_fault(importer, node, "value", "is %g; supported: 0", number);
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
        if (!in_range(pads[i], 0) || (!is_spatial && pads[i] != 0))
            return import_fault(importer, node, "pads",
                                "%" PRId64 " for dimension %d; supported: 0 to %d for height and width%s", pads[i], i % rank,
                                MAXIMUM_DIMENSION, pads[i] < 0 ? "; to crop, use a stride or a smaller padding" : "");
    }
    return true;
}

bool import_pad(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *input;
    int64_t pads[2 * GRAPH_MAXIMUM_RANK];
    if (!import_needs(importer, node, 0, &input))
        return false;
    int rank = input->shape.rank;
    if (!flow_is_data(input) || rank < 3)
        return import_fault(importer, node, NULL, "Pad is supported for tensors with 1 or 2 spatial dimensions only");
    if (!read_pads(importer, node, rank, pads) || !check_pads(importer, node, rank, pads) ||
        !check_pad_mode(importer, node) || !check_pad_value(importer, node))
        return false;
    *result = *input;
    int64_t sum = 0;
    for (int i = 0; i < 2 * rank; i++)
        sum += pads[i];
    if (sum == 0)
        return true;
    flow_finish(importer, node, result);
    result->padding.left += (int)pads[rank - 1];
    result->padding.right += (int)pads[2 * rank - 1];
    if (rank == 4) {
        result->padding.top += (int)pads[2];
        result->padding.bottom += (int)pads[6];
    }
    const struct padding *all = &result->padding;
    if (all->top > MAXIMUM_DIMENSION || all->bottom > MAXIMUM_DIMENSION || all->left > MAXIMUM_DIMENSION ||
        all->right > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "pads", "sum up to more than %d", MAXIMUM_DIMENSION);
    return true;
}
