/* Conv, ConvTranspose, Gemm and MatMul: sums of products with constant weights. */
#include "import/qdq/combinations.h"
#include "import/qdq/weights.h"
#include "middle/matrix.h"

#include <inttypes.h>
#include <math.h>
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

static bool read_spread(struct qdq *qdq, const struct node *node, const struct tensor *input, int rank,
                        const int64_t *kernel, int64_t dilation[2], struct spread *spread)
{
    struct tensor large = *input; /* the window's own check is for a Conv: any image will do */
    struct qdq_window window;
    int64_t extra[16] = {0};
    large.height = rank == 4 ? MAXIMUM_DIMENSION : 1;
    large.width = MAXIMUM_DIMENSION;
    struct node plain = without_automatic_pads(qdq, node); /* its pads are cut off the result */
    if (!qdq_window_read(qdq, &plain, &large, rank, kernel, &window))
        return false;
    int count = qdq_list(qdq, node, "output_padding", NULL, extra);
    if (count == -2 || !pad_automatically(qdq, node, input, count < 0 ? NULL : extra, rank, &window))
        return false;
    for (int i = 0; i < 2; i++) {
        int64_t reach = (window.kernel[i] - 1) * window.dilation[i], size = i ? input->width : input->height;
        int64_t more = count == rank - 2 && (rank == 4 || i == 1) ? extra[rank == 4 ? i : 0] : 0;
        dilation[i] = window.dilation[i];
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

enum qdq_outcome qdq_transposed_convolution(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                            int count, struct qdq_value *result)
{
    struct qdq_value input;
    struct spread spread;
    struct qdq_images images = {.count = 1};
    (void)count;
    enum qdq_outcome outcome = take_operands(qdq, node, inputs, &input);
    if (outcome != QDQ_DONE)
        return outcome;
    const int rank = input.view.rank;
    struct qdq_window row = {.stride = {1, 1}, .input = {1, input.view.dimensions[rank - 1]}, .output = {1}};
    outcome = rank == 3 /* signals become rows */ ? qdq_stack_images(qdq, node, 0, &input, &row, &images)
                                                  : qdq_make_image(qdq, node, &input);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct qdq_array *array = inputs[1].array;
    int64_t groups = qdq_integer(qdq, node, "group", 1), kernel[2], dilation[2];
    const struct tensor *tensor = qdq_tensor(qdq, input.tensor);
    if (groups < 1 || groups > MAXIMUM_DIMENSION || array->dimensions[0] != tensor->channels || tensor->channels % groups ||
        array->dimensions[1] * groups > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, "weights", "are for %" PRId64 " input channels in %" PRId64 " groups, the input has %d",
                         array->dimensions[0], groups, tensor->channels);
    kernel_of(array, kernel);
    if (!read_spread(qdq, node, tensor, rank, kernel, dilation, &spread))
        return QDQ_FAULT;
    int channels = (int)(array->dimensions[1] * groups);
    struct qdq_pending *pending =
        qdq_pending_make(qdq, LAYER_CONVOLUTION, node, lay_spread(qdq, node, input.tensor, &spread), channels);
    pending->layer.kernel_height = (int)kernel[0];
    pending->layer.kernel_width = (int)kernel[1];
    pending->layer.dilation_height = (int)dilation[0];
    pending->layer.dilation_width = (int)dilation[1];
    pending->layer.groups = (int)groups;
    pending->height = (int)(spread.output[0] - (kernel[0] - 1) * dilation[0]);
    pending->width = (int)(spread.output[1] - (kernel[1] - 1) * dilation[1]);
    pending->channels = channels;
    struct weight_order order = transposed_order(qdq, array, groups, kernel);
    qdq_pending_value(pending, images.count > 1 ? 4 : rank, result);
    qdq_take_images_apart(&images, result);
    return qdq_finish_products(qdq, node, pending, &order, &inputs[2]);
}

/* ---- Gemm and MatMul ---- */

/* A product of rows of K elements with a matrix [K][N], or [N][K] where it is transposed. One row: a fully connected layer
 * over the whole tensor, whatever the order of its elements. Several: a 1x1 convolution. */
struct matrix {
    size_t inner, outputs;
    bool is_transposed;
};

static size_t matrix_index(const struct matrix *matrix, size_t inner, size_t output)
{
    return matrix->is_transposed ? output * matrix->inner + inner : inner * matrix->outputs + output;
}

/* In the tensor's memory, position p is row, column, channel; the layer's weights are [output][channel][row][column]. */
static struct weight_order whole_order(struct qdq *qdq, const struct qdq_array *array, const struct matrix *matrix,
                                       const struct tensor *tensor, const struct view *view)
{
    struct weight_order order = qdq_weight_order(qdq, array, matrix->outputs, matrix->inner);
    int64_t *positions = arena_array(qdq->arena, int64_t, matrix->inner);
    size_t pixels = (size_t)tensor->height * (size_t)tensor->width, channels = (size_t)tensor->channels;
    view_positions(view, positions);
    for (size_t i = 0; i < matrix->inner; i++) {
        size_t at = (size_t)positions[i], place = at % channels * pixels + at / channels;
        for (size_t output = 0; output < matrix->outputs; output++)
            order.from[output * matrix->inner + place] = matrix_index(matrix, i, output);
    }
    return order;
}

static struct weight_order row_order(struct qdq *qdq, const struct qdq_array *array, const struct matrix *matrix)
{
    struct weight_order order = qdq_weight_order(qdq, array, matrix->outputs, matrix->inner);
    for (size_t output = 0; output < matrix->outputs; output++)
        for (size_t i = 0; i < matrix->inner; i++)
            order.from[output * matrix->inner + i] = matrix_index(matrix, i, output);
    return order;
}

struct view qdq_with_channels(const struct view *view, int old, int channels)
{
    struct view made = *view;
    int factor = 0;
    for (int i = 0; i < view->rank; i++)
        for (int k = 0; k < view->factor_counts[i]; k++, factor++)
            made.factors[factor].step =
                i == view->rank - 1 ? made.factors[factor].step : view->factors[factor].step / old * channels;
    int last = view->rank - 1, kept = factor - view->factor_counts[last];
    made.dimensions[last] = channels;
    made.factor_counts[last] = channels > 1;
    if (channels > 1)
        made.factors[kept] = (struct view_factor){channels, 1};
    return made;
}

static enum qdq_outcome check_matrix(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                     const struct qdq_array *array, bool is_transposed, struct matrix *matrix)
{
    if (array->rank != 2 || array->count == 0)
        return qdq_fault(qdq, node, "weights", "have %d dimensions; supported: 2", array->rank);
    *matrix = (struct matrix){(size_t)array->dimensions[is_transposed ? 1 : 0],
                              (size_t)array->dimensions[is_transposed ? 0 : 1], is_transposed};
    const struct view *view = &input->view;
    if (view->rank < 2 || view->dimensions[view->rank - 1] != (int64_t)matrix->inner || matrix->outputs > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, "weights", "are for %zu inputs and %zu outputs, the tensor in front has shape %s",
                         matrix->inner, matrix->outputs, view_text(view, qdq->arena));
    return QDQ_DONE;
}

static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                 bool is_transposed, const struct qdq_value *bias, struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    struct matrix matrix = {0};
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, &input);
    if (outcome != QDQ_DONE || (outcome = qdq_check_weights(qdq, node, &inputs[1])) != QDQ_DONE ||
        (outcome = check_matrix(qdq, node, &input, inputs[1].array, is_transposed, &matrix)) != QDQ_DONE)
        return outcome;
    struct tensor tensor = *qdq_tensor(qdq, input.tensor);
    bool is_whole = view_elements(&input.view) == (int64_t)matrix.inner && tensor_elements(&tensor) == matrix.inner;
    if (!is_whole && (outcome = qdq_make_channels(qdq, node, &input, input.view.rank - 1)) != QDQ_DONE)
        return outcome;
    tensor = *qdq_tensor(qdq, input.tensor);
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, (int)matrix.outputs);
    pending->channels = (int)matrix.outputs;
    struct weight_order order;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .pending = pending};
    if (is_whole) {
        pending->layer.kernel_height = tensor.height;
        pending->layer.kernel_width = tensor.width;
        pending->height = pending->width = 1;
        order = whole_order(qdq, inputs[1].array, &matrix, &tensor, &input.view);
        struct tensor output = tensor_plain("", 1, 1, pending->channels);
        struct view row = view_of_image(&output, 2);
        int64_t dimensions[GRAPH_MAXIMUM_RANK];
        memcpy(dimensions, input.view.dimensions, sizeof dimensions);
        dimensions[input.view.rank - 1] = pending->channels;
        view_reshape(&row, input.view.rank, dimensions, &result->view);
    } else {
        order = row_order(qdq, inputs[1].array, &matrix);
        result->view = qdq_with_channels(&input.view, tensor.channels, pending->channels);
    }
    return qdq_finish_products(qdq, node, pending, &order, bias);
}

/* ---- two activations ---- */

static enum qdq_outcome multiply_tensors(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                         const bool is_transposed[2], struct qdq_value *result)
{
    struct middle_value factors[2];
    struct middle_product product;
    for (int i = 0; i < 2; i++) {
        struct qdq_value value = inputs[i];
        enum qdq_outcome outcome =
            value.kind == QDQ_CONSTANT ? qdq_make_tensor(qdq, node, &value) : qdq_make_elements(qdq, node, &value);
        if (outcome != QDQ_DONE)
            return outcome;
        factors[i] = qdq_placed(&value);
        if (is_transposed[i] && value.view.rank >= 2)
            factors[i].view = middle_transposed(&value.view);
    }
    if (!middle_multiply(&qdq->builder, node->name, factors, &product))
        return qdq_fault(qdq, node, NULL, "multiplies matrices of %s and %s; supported: dimensions that go together",
                         view_text(&factors[0].view, qdq->arena), view_text(&factors[1].view, qdq->arena));
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_MATRIX_PRODUCT, node, product.factors[0].tensor, 1);
    middle_set_product(&qdq->builder, &product, &pending->layer);
    pending->height = product.height;
    pending->width = product.width;
    pending->channels = product.channels;
    pending->factors[0] = qdq_tensor(qdq, product.factors[1].tensor)->scale;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = product.view, .pending = pending};
    return QDQ_DONE;
}

/* The weights of the opposite sign. */
static const struct qdq_array *negated(struct qdq *qdq, const struct qdq_array *array)
{
    if (!array->numbers || !array->scale_count)
        return array;
    struct qdq_array *made = qdq_array_make(qdq, array, array->rank, array->dimensions);
    double *numbers = (double *)(uintptr_t)made->numbers;
    for (size_t i = 0; numbers && i < array->count; i++)
        numbers[i] = 2 * (double)array->zero_points[qdq_array_channel(array, i)] - array->numbers[i];
    return made;
}

/* A constant times the rows of a tensor: the tensor's columns times the constant's rows, and both turned. */
static enum qdq_outcome multiply_from_left(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                           struct qdq_value *result)
{
    static const struct qdq_value none;
    struct qdq_value turned[2] = {inputs[1], inputs[0]};
    turned[0].view = middle_transposed(&inputs[1].view);
    enum qdq_outcome outcome = multiply(qdq, node, turned, true, &none, result);
    if (outcome == QDQ_DONE)
        result->view = middle_transposed(&result->view);
    return outcome;
}

/* A constant whose dimensions in front are 1, as the matrix that it is; else, or where it has more dimensions than the
 * tensor, as it is. */
static void take_as_matrix(struct qdq *qdq, const struct qdq_value *tensor, struct qdq_value *constant)
{
    const struct qdq_array *array = constant->array;
    const int more = constant->kind == QDQ_CONSTANT ? array->rank - 2 : 0;
    for (int i = 0; i < more; i++)
        if (array->dimensions[i] != 1 || array->rank > tensor->view.rank)
            return;
    if (more <= 0 || (array->scale_count > 1 && array->axis < more))
        return;
    struct qdq_array *made = arena_allocate(qdq->arena, sizeof *made);
    *made = *array;
    made->rank = 2;
    made->axis -= more;
    memmove(made->dimensions, made->dimensions + more, 2 * sizeof *made->dimensions);
    constant->array = made;
}

/* Neither factor is a constant, or the first one: then it has no weights. */
static bool is_of_tensors(const struct qdq_value *inputs) { return inputs[1].kind != QDQ_CONSTANT; }

/* The third operand is computed, as onnxruntime joins a MatMul and an Add: a sum that is rounded once. */
static enum qdq_outcome add_operand(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                    struct qdq_value *result)
{
    const struct qdq_value factors[3] = {inputs[0], inputs[1]};
    struct qdq_value terms[2] = {{.kind = QDQ_NONE}, inputs[2]};
    enum qdq_outcome outcome = qdq_gemm(qdq, node, factors, 3, &terms[0]);
    return outcome == QDQ_DONE ? qdq_sum(qdq, node, terms, 2, &(struct qdq_sum){NULL, 1}, result) : outcome;
}

enum qdq_outcome qdq_gemm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          struct qdq_value *result)
{
    (void)count;
    static const struct qdq_value none;
    double alpha = qdq_number(qdq, node, "alpha", 1), beta = qdq_number(qdq, node, "beta", 1);
    const bool transposed[2] = {qdq_integer(qdq, node, "transA", 0) != 0, qdq_integer(qdq, node, "transB", 0) != 0};
    struct qdq_value operands[2] = {inputs[0], inputs[1]};
    if (alpha == 1 && beta == 1 && (inputs[2].kind == QDQ_REALS || inputs[2].kind == QDQ_PENDING))
        return add_operand(qdq, node, inputs, result);
    if (is_of_tensors(inputs) && alpha == 1 && inputs[2].kind == QDQ_NONE)
        return multiply_tensors(qdq, node, inputs, transposed, result);
    if (!(fabs(alpha) > 1e-6 && fabs(alpha) < 1e6) || !(fabs(beta) < 1e6))
        return qdq_fault(qdq, node, NULL, "has alpha %g, beta %g; supported: alpha not 0, both below 1e6", alpha, beta);
    if (transposed[0] && inputs[0].kind == QDQ_REALS && inputs[0].view.rank == 2)
        operands[0].view = middle_transposed(&inputs[0].view);
    if (alpha == 1 && (beta == 1 || inputs[2].kind == QDQ_NONE))
        return multiply(qdq, node, operands, transposed[1], &inputs[2], result);
    if (alpha < 0 && inputs[1].kind == QDQ_CONSTANT)
        operands[1].array = negated(qdq, inputs[1].array);
    enum qdq_outcome outcome = multiply(qdq, node, operands, transposed[1], &none, result);
    return outcome == QDQ_DONE
               ? qdq_scale_sums(qdq, node, (struct qdq_pending *)(uintptr_t)result->pending, fabs(alpha), beta, &inputs[2])
               : outcome;
}

enum qdq_outcome qdq_matrix_product(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    static const struct qdq_value none;
    static const bool transposed[2];
    (void)count;
    struct qdq_value factors[2] = {inputs[0], inputs[1]};
    for (int i = 0; i < 2; i++)
        take_as_matrix(qdq, &inputs[1 - i], &factors[i]);
    if (factors[0].kind == QDQ_CONSTANT && factors[0].array->rank == 2 && factors[0].array->scale_count &&
        factors[1].kind == QDQ_REALS && factors[1].view.rank >= 2)
        return multiply_from_left(qdq, node, factors, result);
    for (int i = 0; i < 2; i++)
        if (factors[i].kind == QDQ_CONSTANT && factors[i].array->rank > 2 && factors[i].array->scale_count > 1)
            return qdq_multiply_stack(qdq, node, factors, i, result);
    const bool has_matrices = factors[1].kind == QDQ_CONSTANT && factors[1].array->rank > 2;
    return is_of_tensors(factors) || has_matrices ? multiply_tensors(qdq, node, factors, transposed, result)
                                                  : multiply(qdq, node, factors, false, &none, result);
}
