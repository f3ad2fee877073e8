#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_weights.h"

/* ---- weights ---- */

/* Scales as float32 has them, one or one an output channel; null after a report. */
static const double *read_scales(struct tflite_importer *importer, const struct filter *filter, int axis)
{
    const struct tflite_tensor *tensor = filter->tensor;
    if (tensor->scale_count != 1 && (tensor->scale_count != filter->outputs || tensor->quantised_dimension != axis)) {
        tflite_fault(importer,
                     "the weights '%s' have %d scales along dimension %d; supported: one, or one an output channel",
                     tensor->name, tensor->scale_count, tensor->quantised_dimension);
        return NULL;
    }
    double *scales = arena_array(importer->arena, double, (size_t)tensor->scale_count);
    for (int i = 0; i < tensor->scale_count; i++) {
        scales[i] = (double)tensor->scales[i];
        bool is_good = tensor->type == TFLITE_UINT8 ? tensor->zero_points[i] >= 0 && tensor->zero_points[i] <= UINT8_MAX
                                                    : tensor->zero_points[i] == 0;
        if (scales[i] >= 0 && isfinite(scales[i]) && is_good)
            continue;
        tflite_fault(importer,
                     "the weights '%s' have scale %g and zero point %" PRId64 "; supported: finite scales of at least 0, "
                     "and zero point 0, as TensorFlow's converter writes them for INT8",
                     tensor->name, scales[i], tensor->zero_points[i]);
        return NULL;
    }
    return scales;
}

static bool are_zeros(const int32_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] != 0)
            return false;
    return true;
}

/* What the model says of the bias' scale is not needed, but tells a file that something went wrong with. (Of zeros it says
 * nothing: converters let layers share one tensor of them.) */
static void check_bias_scale(struct tflite_importer *importer, const struct tflite_tensor *bias, double input_scale,
                             const double *scales, int count)
{
    for (int i = 0; i < bias->scale_count; i++) {
        double expected = input_scale * scales[count == 1 ? 0 : i], found = (double)bias->scales[i];
        if (bias->scale_count > 1 && count > 1 && bias->scale_count != count)
            return;
        if (expected < 1e-30 || fabs(found - expected) <= 1e-3 * expected)
            continue;
        tflite_warning(
            importer,
            "the bias '%s' has the scale %g, and input and weights have %g; it is taken in units of the latter, as "
            "TensorFlow Lite Micro does",
            bias->name, found, expected);
        return;
    }
}

/* Input `index` of the operator, if it has that. */
static bool read_biases(struct tflite_importer *importer, int index, int count, const struct tflite_tensor **tensor,
                        const int32_t **biases)
{
    const struct tflite_operator *operation = importer->current;
    *biases = NULL;
    *tensor = NULL;
    if (operation->input_count <= index || operation->inputs[index] == NO_TENSOR)
        return true;
    *tensor = tflite_constant(importer, index, TFLITE_INT32, (size_t)count);
    if (!*tensor)
        return false;
    int32_t *numbers = arena_array(importer->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        numbers[i] = tflite_integer(*tensor, (size_t)i);
    *biases = numbers;
    return true;
}

/* The layer's kernel, stride, padding and groups are set. `weights` are in the network's order. */
static bool finish(struct tflite_importer *importer, struct layer *layer, const struct filter *filter, int bias_index,
                   int axis, const int8_t *weights)
{
    struct quantised_weights result = {.weights = weights, .scale_count = filter->tensor->scale_count};
    const struct tflite_tensor *bias;
    double input_scale = tflite_network_tensor(importer, layer->inputs[0])->scale;
    result.scales = read_scales(importer, filter, axis);
    if (!result.scales || !read_biases(importer, bias_index, filter->outputs, &bias, &result.biases))
        return false;
    if (bias && !are_zeros(result.biases, filter->outputs))
        check_bias_scale(importer, bias, input_scale, result.scales, result.scale_count);
    result.float_product = filter->tensor->type == TFLITE_UINT8 && result.scale_count == 1;
    quantised_finish_convolution(&importer->builder, layer, &result);
    return tflite_clip(importer, &layer->stages[0], layer->output);
}

/* ---- convolutions ---- */

/* [output][height][width][input] to [output][input][height][width]; depth-wise filters have the outputs last. */
static struct wide_weights order_weights(struct tflite_importer *importer, const struct filter *filter, bool is_depthwise)
{
    size_t area = (size_t)filter->height * (size_t)filter->width, inputs = (size_t)filter->inputs;
    size_t outputs = (size_t)filter->outputs;
    int16_t *to = arena_array(importer->arena, int16_t, outputs * inputs * area);
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++)
            for (size_t k = 0; k < area; k++)
                to[(o * inputs + i) * area + k] =
                    (int16_t)tflite_weight(filter, is_depthwise ? k * outputs + o : (o * area + k) * inputs + i);
    return (struct wide_weights){to, filter->outputs, filter->inputs, filter->height, filter->width, 1, 1};
}

static bool check_filter(struct tflite_importer *importer, const struct filter *filter, int channels, bool is_depthwise)
{
    const struct tflite_tensor *output = tflite_output(importer);
    bool fits = filter->inputs > 0 && channels % filter->inputs == 0;
    int groups = fits ? channels / filter->inputs : 1;
    fits = fits && filter->outputs > 0 && filter->outputs % groups == 0;
    if (is_depthwise)
        fits = filter->outputs > 0 && filter->outputs % channels == 0;
    if (fits && output->rank == 4 && output->dimensions[3] == filter->outputs)
        return true;
    return tflite_fault(importer, "weights of %s do not fit an input of %d channels and an output of %s",
                        tflite_shape_text(importer, filter->tensor), channels, tflite_shape_text(importer, output));
}

static bool convolve(struct tflite_importer *importer, struct filter *filter, bool is_depthwise, struct value *result)
{
    const struct tflite_options *options = &importer->current->options;
    const struct tflite_tensor *from = tflite_input(importer, 0);
    struct padding padding;
    int input = tflite_reads(importer, 0, &padding);
    if (input < 0)
        return false;
    int channels = tflite_network_tensor(importer, input)->channels;
    if (!check_filter(importer, filter, channels, is_depthwise))
        return false;
    int groups = is_depthwise ? channels : channels / filter->inputs;
    struct wide_weights wide = order_weights(importer, filter, is_depthwise);
    struct narrow_weights narrow;
    wide.groups = groups;
    wide.dilation_width = options->dilation_width;
    int output = tflite_narrow_weights(importer, &wide, input, &narrow) ? tflite_makes(importer, -1) : -1;
    if (output < 0)
        return false;
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_CONVOLUTION, tflite_output(importer)->name, narrow.input, output);
    layer->kernel_height = filter->height;
    layer->kernel_width = filter->width;
    layer->dilation_height = options->dilation_height;
    layer->dilation_width = options->dilation_width;
    layer->groups = groups;
    *result = tflite_value_of(output);
    if (!tflite_set_window(importer, layer, from, tflite_output(importer), &padding))
        return false;
    quantised_widen_window(layer, narrow.times);
    return finish(importer, layer, filter, 2, is_depthwise ? 3 : 0, narrow.weights);
}

static bool read_filter(struct tflite_importer *importer, int rank, struct filter *filter)
{
    const struct tflite_tensor *weights = tflite_input(importer, 1);
    if (!weights)
        return false;
    bool is_unsigned = weights->type == TFLITE_UINT8 && weights->scale_count == 1;
    filter->tensor = tflite_constant(importer, 1, is_unsigned ? TFLITE_UINT8 : TFLITE_INT8, 0);
    if (!filter->tensor)
        return false;
    if (filter->tensor->rank != rank || tflite_elements(filter->tensor) == 0)
        return tflite_fault(importer, "weights of the shape %s; supported: %d dimensions",
                            tflite_shape_text(importer, filter->tensor), rank);
    return true;
}

bool tflite_convolution(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct filter filter;
    if (!read_filter(importer, 4, &filter))
        return false;
    const int *dimensions = filter.tensor->dimensions;
    filter = (struct filter){filter.tensor, dimensions[0], dimensions[1], dimensions[2], dimensions[3]};
    return convolve(importer, &filter, false, result);
}

bool tflite_depthwise(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct filter filter;
    if (!read_filter(importer, 4, &filter))
        return false;
    const int *dimensions = filter.tensor->dimensions;
    filter = (struct filter){filter.tensor, dimensions[3], dimensions[1], dimensions[2], 1};
    return convolve(importer, &filter, true, result);
}

/* ---- transposed convolutions ---- */

/* Of one dimension, whose window the output's padding belongs to: what the spread input needs before and behind it. False
 * after a report. */
static bool pad_spread(struct tflite_importer *importer, const struct window *window, int spread, int *before, int *behind)
{
    const struct tflite_options *options = &importer->current->options;
    int64_t outputs = (window->size + window->stride - 1) / window->stride;
    int64_t missing = (outputs - 1) * window->stride + window->kernel - window->size;
    bool is_same = options->padding == TFLITE_SAME && missing > 0;
    *before = window->kernel - 1 - (is_same ? (int)(missing / 2) : 0);
    int64_t rest = (int64_t)window->size + window->kernel - 1 - spread - *before;
    if (*before < 0 || rest < 0 || rest > MAXIMUM_DIMENSION)
        return tflite_fault(importer,
                            "a %s of %d elements, of which the input's give others; supported: an output's %s that "
                            "all elements of the input are within",
                            window->what, window->size, window->what);
    *behind = (int)rest;
    return true;
}

static bool set_transposed_window(struct tflite_importer *importer, struct layer *layer, const struct tensor *spread)
{
    const struct tflite_options *options = &importer->current->options;
    const struct tensor *output = tflite_network_tensor(importer, layer->output);
    struct window vertical = {"height", output->height, layer->kernel_height, options->stride_height, 1, 0};
    struct window horizontal = {"width", output->width, layer->kernel_width, options->stride_width, 1, 0};
    return pad_spread(importer, &vertical, spread->height, &layer->padding_top, &layer->padding_bottom) &&
           pad_spread(importer, &horizontal, spread->width, &layer->padding_left, &layer->padding_right);
}

/* OHWI to [output][input][height][width], turned by half a circle. */
static struct wide_weights turn_weights(struct tflite_importer *importer, const struct filter *filter)
{
    size_t area = (size_t)filter->height * (size_t)filter->width, inputs = (size_t)filter->inputs;
    int16_t *to = arena_array(importer->arena, int16_t, (size_t)filter->outputs * inputs * area);
    for (size_t o = 0; o < (size_t)filter->outputs; o++)
        for (size_t i = 0; i < inputs; i++)
            for (size_t k = 0; k < area; k++)
                to[(o * inputs + i) * area + k] = (int16_t)tflite_weight(filter, (o * area + area - 1 - k) * inputs + i);
    return (struct wide_weights){to, filter->outputs, filter->inputs, filter->height, filter->width, 1, 1};
}

static bool check_transposed(struct tflite_importer *importer, const struct filter *filter, const struct tensor *input)
{
    const struct tflite_options *options = &importer->current->options;
    const struct tflite_tensor *output = tflite_output(importer);
    int64_t height = (int64_t)(input->height - 1) * options->stride_height + 1;
    int64_t width = (int64_t)(input->width - 1) * options->stride_width + 1;
    if (options->stride_height < 1 || options->stride_width < 1 || height > MAXIMUM_DIMENSION || width > MAXIMUM_DIMENSION ||
        height * width > MAXIMUM_ELEMENTS / input->channels)
        return tflite_fault(importer,
                            "strides of %d and %d of an input of %d x %d; supported: at least 1, and up to %d "
                            "elements between the first and the last",
                            options->stride_height, options->stride_width, input->height, input->width, MAXIMUM_DIMENSION);
    if (filter->inputs != input->channels || output->rank != 4 || output->dimensions[3] != filter->outputs)
        return tflite_fault(importer, "weights of %s do not fit an input of %d channels and an output of %s",
                            tflite_shape_text(importer, filter->tensor), input->channels,
                            tflite_shape_text(importer, output));
    return true;
}

/* Its inputs: the output's shape, which its tensor has, too; weights; the input; biases. */
bool tflite_transposed_convolution(struct tflite_importer *importer, const struct tflite_operator *operation,
                                   struct value *result)
{
    struct filter filter;
    (void)operation;
    if (!read_filter(importer, 4, &filter))
        return false;
    const int *dimensions = filter.tensor->dimensions;
    filter = (struct filter){filter.tensor, dimensions[0], dimensions[1], dimensions[2], dimensions[3]};
    int input = tflite_reads(importer, 2, NULL);
    if (input < 0 || !check_transposed(importer, &filter, tflite_network_tensor(importer, input)))
        return false;
    const struct tflite_options *options = &importer->current->options;
    if (options->stride_height > 1 || options->stride_width > 1)
        input = tflite_lay_spread(importer, input, options->stride_height, options->stride_width);
    struct wide_weights turned = turn_weights(importer, &filter);
    struct narrow_weights narrow;
    int output = tflite_narrow_weights(importer, &turned, input, &narrow) ? tflite_makes(importer, -1) : -1;
    if (output < 0)
        return false;
    const struct tensor spread = *tflite_network_tensor(importer, input);
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_CONVOLUTION, tflite_output(importer)->name, narrow.input, output);
    layer->kernel_height = filter.height;
    layer->kernel_width = filter.width;
    *result = tflite_value_of(output);
    if (!set_transposed_window(importer, layer, &spread))
        return false;
    quantised_widen_window(layer, narrow.times);
    return finish(importer, layer, &filter, 3, 0, narrow.weights);
}

/* ---- fully connected ---- */

/* [output][element] to [output][channel][row][column] of the tensor that is read. */
static struct wide_weights order_whole(struct tflite_importer *importer, const struct filter *filter,
                                       const struct value *value, const struct tensor *input)
{
    size_t count = tensor_elements(input), channels = (size_t)input->channels, pixels = count / channels;
    int16_t *to = arena_array(importer->arena, int16_t, (size_t)filter->outputs * count);
    int64_t *places = arena_array(importer->arena, int64_t, count);
    if (value->is_moved)
        view_positions(&value->view, places);
    for (size_t element = 0; element < count; element++) {
        size_t place = value->is_moved ? (size_t)places[element] : element;
        for (size_t o = 0; o < (size_t)filter->outputs; o++)
            to[o * count + place % channels * pixels + place / channels] =
                (int16_t)tflite_weight(filter, o * count + element);
    }
    return (struct wide_weights){to, filter->outputs, input->channels, input->height, input->width, 1, 1};
}

/* As many rows as the input has, whatever dimensions the output has for them; -1 after a fault. */
static int make_rows(struct tflite_importer *importer, const struct filter *filter, const struct tensor *from, bool is_whole)
{
    const struct tflite_tensor *output = tflite_output(importer);
    const int pixels = is_whole ? 1 : from->height * from->width;
    struct quantisation quantisation;
    if ((is_whole || from->channels == filter->inputs) && output->rank > 0 &&
        output->dimensions[output->rank - 1] == filter->outputs &&
        tflite_elements(output) == (size_t)pixels * (size_t)filter->outputs)
        return tflite_quantisation(importer, output, &quantisation)
                   ? quantised_tensor(&importer->builder, output->name, is_whole ? 1 : from->height,
                                      is_whole ? 1 : from->width, filter->outputs, &quantisation)
                   : -1;
    tflite_fault(importer, "weights of %s do not fit an input of %s and an output of %s",
                 tflite_shape_text(importer, filter->tensor), tflite_shape_text(importer, tflite_input(importer, 0)),
                 tflite_shape_text(importer, output));
    return -1;
}

/* A layer that reads the whole input; rows of several inputs are the pixels of a 1x1 convolution. */
static bool connect(struct tflite_importer *importer, const struct filter *filter, struct value *result)
{
    struct value value;
    int input = tflite_reads_elements(importer, 0, &value);
    if (input < 0)
        return false;
    bool is_whole = tensor_elements(tflite_network_tensor(importer, input)) == (size_t)filter->inputs;
    if (value.is_moved && view_elements(&value.view) != (int64_t)tensor_elements(tflite_network_tensor(importer, input)))
        return tflite_fault(importer, "its input is a transposed tensor of another shape");
    if (!is_whole && (input = tflite_reads(importer, 0, NULL)) < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input);
    int output = make_rows(importer, filter, &from, is_whole);
    if (output < 0)
        return false;
    struct wide_weights wide =
        is_whole ? order_whole(importer, filter, &value, &from) : order_weights(importer, filter, false);
    struct narrow_weights narrow;
    if (!tflite_narrow_weights(importer, &wide, input, &narrow))
        return false;
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_CONVOLUTION, tflite_output(importer)->name, narrow.input, output);
    layer->kernel_height = wide.height;
    layer->kernel_width = wide.width;
    *result = tflite_value_of(output);
    quantised_widen_window(layer, narrow.times);
    return finish(importer, layer, filter, 2, 0, narrow.weights);
}

bool tflite_fully_connected(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct filter filter;
    if (operation->options.weights_format != 0)
        return tflite_fault(importer, "shuffled weights (format %d); supported: the default format",
                            operation->options.weights_format);
    if (operation->input_count > 1 && operation->inputs[1] != NO_TENSOR && !tflite_is_constant(importer, 1))
        return tflite_connect_tensors(importer, operation, result);
    if (!read_filter(importer, 2, &filter))
        return false;
    filter = (struct filter){filter.tensor, filter.tensor->dimensions[0], 1, 1, filter.tensor->dimensions[1]};
    return connect(importer, &filter, result);
}
