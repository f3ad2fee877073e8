/* Conv and ConvTranspose: sums of products with constant weights. */
#include "import/qdq/combinations.h"
#include "import/qdq/weights.h"

#include <inttypes.h>
#include <string.h>

/* ---- Conv ---- */

static enum qdq_outcome check_groups(struct qdq *qdq, const struct node *node, int64_t groups, int64_t channels_in,
                                     int64_t channels_out, int64_t channels_per_group)
{
    if (channels_out < 1 || channels_out > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, "weights", "are for %" PRId64 " output channels; supported: 1 to %d", channels_out,
                         MAXIMUM_DIMENSION);
    if (groups < 1 || channels_in % groups || channels_out % groups)
        return qdq_fault(qdq, node, "group",
                         "is %" PRId64 ", which divides not both the %" PRId64 " input and the %" PRId64 " output channels",
                         groups, channels_in, channels_out);
    if (channels_per_group != channels_in / groups)
        return qdq_fault(qdq, node, "weights", "are for %" PRId64 " input channels a group, the input has %" PRId64,
                         channels_per_group, channels_in / groups);
    return QDQ_DONE;
}

/* The input as an image, and weights of the same rank. */
static enum qdq_outcome take_operands(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                      struct qdq_value *input)
{
    *input = inputs[0];
    enum qdq_outcome outcome =
        input->kind == QDQ_SCALED ? qdq_take_channels(qdq, node, input) : qdq_make_elements(qdq, node, input);
    if (outcome != QDQ_DONE || (outcome = qdq_make_images(qdq, node, input)) != QDQ_DONE ||
        (outcome = qdq_check_weights(qdq, node, &inputs[1])) != QDQ_DONE)
        return outcome;
    int rank = input->view.rank;
    if (rank < 3 || inputs[1].array->rank != rank || inputs[1].array->count == 0)
        return qdq_fault(qdq, node, "weights", "have %d dimensions, the input has shape %s; supported: 3 or 4 for both",
                         inputs[1].array->rank, view_text(&input->view, qdq->arena));
    return QDQ_DONE;
}

static void kernel_of(const struct qdq_array *weights, int64_t kernel[2])
{
    kernel[0] = weights->rank == 4 ? weights->dimensions[2] : 1;
    kernel[1] = weights->dimensions[weights->rank - 1];
}

enum qdq_outcome qdq_convolution(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                 struct qdq_value *result)
{
    struct qdq_value input;
    struct qdq_window window;
    struct qdq_images images;
    (void)count;
    enum qdq_outcome outcome = take_operands(qdq, node, inputs, &input);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct qdq_array *array = inputs[1].array;
    const struct tensor tensor = qdq_one_image(qdq, &input);
    int64_t groups = qdq_integer(qdq, node, "group", 1), kernel[2];
    outcome = check_groups(qdq, node, groups, tensor.channels, array->dimensions[0], array->dimensions[1]);
    kernel_of(array, kernel);
    if (outcome != QDQ_DONE || !qdq_window_read(qdq, node, &tensor, input.view.rank, kernel, &window))
        return QDQ_FAULT;
    if (input.kind == QDQ_SCALED && groups != tensor.channels)
        return QDQ_FLOAT;
    outcome = qdq_stack_images(qdq, node, qdq_tensor(qdq, input.tensor)->zero_point, &input, &window, &images);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, (int)array->dimensions[0]);
    qdq_window_set(&pending->layer, &window);
    pending->layer.groups = (int)groups;
    pending->height = (int)window.output[0];
    pending->width = (int)window.output[1];
    pending->channels = (int)array->dimensions[0];
    struct weight_order order =
        qdq_weight_order(qdq, array, (size_t)array->dimensions[0], array->count / (size_t)array->dimensions[0]);
    for (size_t i = 0; i < array->count; i++)
        order.from[i] = i;
    qdq_pending_value(pending, input.view.rank, result);
    qdq_take_images_apart(&images, result);
    return qdq_finish_products(qdq, node, pending, &order, &inputs[2]);
}

/* ---- ConvTranspose: elements spread with zeros between, then a convolution with the kernel turned around ---- */

struct spread {
    int64_t kernel[2], dilation[2]; /* of the convolution; all by rows and columns */
    int64_t stride[2], before[2], after[2], output[2];
};

/* Positions along one dimension of the tensor that the convolution reads; -1 where it is zero. */
static const int32_t *spread_positions(struct qdq *qdq, const struct spread *spread, int i, int64_t input, int64_t step)
{
    int32_t *positions = arena_array(qdq->arena, int32_t, (size_t)spread->output[i]);
    for (int64_t k = 0; k < spread->output[i]; k++) {
        int64_t at = k - spread->before[i];
        bool is_element = at >= 0 && at % spread->stride[i] == 0 && at / spread->stride[i] < input;
        positions[k] = is_element ? (int32_t)(at / spread->stride[i] * step) : -1;
    }
    return positions;
}

static int lay_spread(struct qdq *qdq, const struct node *node, int input, const struct spread *spread)
{
    struct tensor from = *qdq_tensor(qdq, input);
    int output = qdq_tensor_like(qdq, node->name, input, (int)spread->output[0], (int)spread->output[1], from.channels);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_COPY, node->name, input, output);
    layer->padding_value = from.zero_point;
    layer->map = (struct layer_map){
        .rows = spread_positions(qdq, spread, 0, from.height, (int64_t)from.width * from.channels),
        .columns = spread_positions(qdq, spread, 1, from.width, from.channels),
        .channels = positions_in_steps(from.channels, 0, 1, qdq->arena),
    };
    return output;
}

static struct node without_automatic_pads(struct qdq *qdq, const struct node *node)
{
    struct node plain = *node;
    struct attribute *attributes = arena_array(qdq->arena, struct attribute, (size_t)node->attribute_count + 1);
    plain.attributes = attributes;
    plain.attribute_count = 0;
    for (int i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, "auto_pad") != 0)
            attributes[plain.attribute_count++] = node->attributes[i];
    return plain;
}

/* What is cut off so that the result has the shape that output_shape says, or strides times the input's. The odd element is
 * cut off behind by SAME_UPPER, else in front. */
static bool pad_automatically(struct qdq *qdq, const struct node *node, const struct tensor *input, const int64_t *extra,
                              int rank, struct qdq_window *window)
{
    const struct attribute *attribute = node_attribute(node, "auto_pad");
    const char *text = attribute && attribute->kind == ATTRIBUTE_TEXT ? attribute->text : "NOTSET";
    int64_t shape[16];
    int listed = qdq_list(qdq, node, "output_shape", NULL, shape), spatial = rank - 2;
    bool is_upper = !strcmp(text, "SAME_UPPER"), is_same = is_upper || !strcmp(text, "SAME_LOWER");
    if (listed == -2)
        return false;
    if ((!is_same && strcmp(text, "NOTSET") != 0 && strcmp(text, "VALID") != 0) || (listed >= 0 && listed < spatial)) {
        qdq_fault(qdq, node, NULL, "auto_pad '%s' and an output_shape of %d numbers do not go together", text, listed);
        return false;
    }
    for (int i = 2 - spatial; i < 2 && (is_same || listed >= 0); i++) {
        int64_t size = i ? input->width : input->height, more = extra ? extra[i - (2 - spatial)] : 0;
        int64_t wanted = listed >= 0 ? shape[listed - 2 + i] : size * window->stride[i];
        int64_t full = (size - 1) * window->stride[i] + (window->kernel[i] - 1) * window->dilation[i] + 1 + more;
        if (wanted < 1 || wanted > full) {
            qdq_fault(qdq, node, "output_shape", "asks for %" PRId64 " elements of %" PRId64 "; supported: no more", wanted,
                      full);
            return false;
        }
        window->before[i] = is_upper ? (full - wanted) / 2 : (full - wanted + 1) / 2;
        window->after[i] = full - wanted - window->before[i];
    }
    return true;
}

/* All of the spread but its kernel, which it has. */
static bool read_spread(struct qdq *qdq, const struct node *node, const struct tensor *input, int rank,
                        struct spread *spread)
{
    struct tensor large = *input; /* the window's own check is for a Conv: any image will do */
    struct qdq_window window;
    int64_t extra[16] = {0};
    large.height = rank == 4 ? MAXIMUM_DIMENSION : 1;
    large.width = MAXIMUM_DIMENSION;
    struct node plain = without_automatic_pads(qdq, node); /* its pads are cut off the result */
    if (!qdq_window_read(qdq, &plain, &large, rank, spread->kernel, &window))
        return false;
    int count = qdq_list(qdq, node, "output_padding", NULL, extra);
    if (count == -2 || !pad_automatically(qdq, node, input, count < 0 ? NULL : extra, rank, &window))
        return false;
    for (int i = 0; i < 2; i++) {
        int64_t reach = (window.kernel[i] - 1) * window.dilation[i], size = i ? input->width : input->height;
        int64_t more = count == rank - 2 && (rank == 4 || i == 1) ? extra[rank == 4 ? i : 0] : 0;
        spread->dilation[i] = window.dilation[i];
        spread->stride[i] = window.stride[i];
        spread->before[i] = reach - window.before[i];
        spread->after[i] = reach - window.after[i] + more;
        spread->output[i] = (size - 1) * window.stride[i] + 1 + spread->before[i] + spread->after[i];
        if (more >= 0 && more <= MAXIMUM_DIMENSION && spread->output[i] > reach && spread->output[i] <= MAXIMUM_DIMENSION)
            continue;
        qdq_fault(qdq, node, NULL, "the output has %" PRId64 " elements in dimension %d; supported: 1 to %d",
                  spread->output[i] - reach, i, MAXIMUM_DIMENSION);
        return false;
    }
    return true;
}

/* The model's weights are [input channel][output channel of the group][row][column]. */
static struct weight_order transposed_order(struct qdq *qdq, const struct qdq_array *array, int64_t groups,
                                            const int64_t *kernel)
{
    size_t taps = (size_t)(kernel[0] * kernel[1]), out = (size_t)array->dimensions[1],
           in = (size_t)(array->dimensions[0] / groups);
    struct weight_order order = qdq_weight_order(qdq, array, out * (size_t)groups, in * taps);
    size_t *from = order.from;
    for (size_t group = 0; group < (size_t)groups; group++)
        for (size_t o = 0; o < out; o++)
            for (size_t i = 0; i < in; i++)
                for (size_t tap = 0; tap < taps; tap++)
                    *from++ = ((group * in + i) * out + o) * taps + (taps - 1 - tap);
    return order;
}

/* Signals become rows. */
static enum qdq_outcome take_images(struct qdq *qdq, const struct node *node, struct qdq_value *input,
                                    struct qdq_images *images)
{
    const int rank = input->view.rank;
    struct qdq_window row = {.stride = {1, 1}, .input = {1, input->view.dimensions[rank - 1]}, .output = {1}};
    return rank == 3 ? qdq_stack_images(qdq, node, 0, input, &row, images) : qdq_make_image(qdq, node, input);
}

/* Weights [input channels][output channels of a group][kernel]; `channels` of the input. */
static bool fit_groups(struct qdq *qdq, const struct node *node, const struct qdq_array *array, int64_t groups, int channels)
{
    return (groups >= 1 && groups <= MAXIMUM_DIMENSION && array->dimensions[0] == channels && channels % groups == 0 &&
            array->dimensions[1] * groups <= MAXIMUM_DIMENSION) ||
           qdq_fault(qdq, node, "weights", "are for %" PRId64 " input channels in %" PRId64 " groups, the input has %d",
                     array->dimensions[0], groups, channels) == QDQ_DONE;
}

/* A convolution of the spread input by the kernel, the other way around. */
static struct qdq_pending *convolve_spread(struct qdq *qdq, const struct node *node, int tensor, const struct spread *spread,
                                           int channels)
{
    struct qdq_pending *pending =
        qdq_pending_make(qdq, LAYER_CONVOLUTION, node, lay_spread(qdq, node, tensor, spread), channels);
    pending->layer.kernel_height = (int)spread->kernel[0];
    pending->layer.kernel_width = (int)spread->kernel[1];
    pending->layer.dilation_height = (int)spread->dilation[0];
    pending->layer.dilation_width = (int)spread->dilation[1];
    pending->height = (int)(spread->output[0] - (spread->kernel[0] - 1) * spread->dilation[0]);
    pending->width = (int)(spread->output[1] - (spread->kernel[1] - 1) * spread->dilation[1]);
    pending->channels = channels;
    return pending;
}

enum qdq_outcome qdq_transposed_convolution(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                            int count, struct qdq_value *result)
{
    struct qdq_value input;
    struct spread spread;
    struct qdq_images images = {.count = 1};
    (void)count;
    enum qdq_outcome outcome = take_operands(qdq, node, inputs, &input);
    const int rank = input.view.rank;
    if (outcome == QDQ_DONE)
        outcome = take_images(qdq, node, &input, &images);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct qdq_array *array = inputs[1].array;
    const int64_t groups = qdq_integer(qdq, node, "group", 1);
    kernel_of(array, spread.kernel);
    if (!fit_groups(qdq, node, array, groups, qdq_tensor(qdq, input.tensor)->channels) ||
        !read_spread(qdq, node, qdq_tensor(qdq, input.tensor), rank, &spread))
        return QDQ_FAULT;
    struct qdq_pending *pending = convolve_spread(qdq, node, input.tensor, &spread, (int)(array->dimensions[1] * groups));
    pending->layer.groups = (int)groups;
    struct weight_order order = transposed_order(qdq, array, groups, spread.kernel);
    qdq_pending_value(pending, images.count > 1 ? 4 : rank, result);
    qdq_take_images_apart(&images, result);
    return qdq_finish_products(qdq, node, pending, &order, &inputs[2]);
}
