#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "import/tflite/tflite_import.h"

/* ---- messages ---- */

/* The name that viewers show: of the operator's output. */
static void report(struct tflite_importer *importer, enum severity severity, const char *format, va_list arguments)
{
    char text[1000]; /* names in it may be of any length; what does not fit is cut */
    const struct tflite_operator *operation = importer->current;
    int used = snprintf(text, sizeof text, "%.100s: ", operation->name);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    const char *node = operation->output_count ? importer->model->tensors[operation->outputs[0]].name : operation->name;
    diagnose(importer->diagnostics, severity, node, NULL, "%s", text);
}

bool tflite_fault(struct tflite_importer *importer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(importer, SEVERITY_ERROR, format, arguments);
    va_end(arguments);
    return false;
}

void tflite_warning(struct tflite_importer *importer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(importer, SEVERITY_WARNING, format, arguments);
    va_end(arguments);
}

const char *tflite_shape_text(struct tflite_importer *importer, const struct tflite_tensor *tensor)
{
    const char *text = tensor->rank ? "" : "a number";
    for (int i = 0; i < tensor->rank; i++)
        text = arena_format(importer->arena, "%s%s%d", text, i ? "x" : "", tensor->dimensions[i]);
    return text;
}

/* ---- the operator's tensors ---- */

const struct tflite_tensor *tflite_input(struct tflite_importer *importer, int index)
{
    const struct tflite_operator *operation = importer->current;
    if (index < operation->input_count && operation->inputs[index] != NO_TENSOR)
        return &importer->model->tensors[operation->inputs[index]];
    tflite_fault(importer, "the operator has no input %d", index);
    return NULL;
}

const struct tflite_tensor *tflite_output(struct tflite_importer *importer)
{
    return &importer->model->tensors[importer->current->outputs[0]]; /* there is one: tflite_import.c looks */
}

size_t tflite_elements(const struct tflite_tensor *tensor)
{
    size_t count = 1;
    for (int i = 0; i < tensor->rank; i++)
        count *= (size_t)tensor->dimensions[i];
    return count;
}

const struct tflite_tensor *tflite_constant(struct tflite_importer *importer, int index, int type, size_t count)
{
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    if (!tensor)
        return NULL;
    const char *name = tensor->name;
    if (!tensor->data)
        tflite_fault(importer, "its input %d, '%s', is no constant; supported: constants", index, name);
    else if (tensor->is_sparse)
        tflite_fault(importer, "'%s' is sparse; supported: dense tensors (convert without sparsity)", name);
    else if (tensor->type != type)
        tflite_fault(importer, "'%s' is %s; supported: %s", name, tflite_type_name(tensor->type, importer->arena),
                     tflite_type_name(type, importer->arena));
    else if (count && tflite_elements(tensor) != count)
        tflite_fault(importer, "'%s' has the shape %s; expected: %zu elements", name, tflite_shape_text(importer, tensor),
                     count);
    else
        return tensor;
    return NULL;
}

int32_t tflite_integer(const struct tflite_tensor *constant, size_t index)
{
    const unsigned char *bytes = constant->data + 4 * index;
    return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
}

float tflite_real(const struct tflite_tensor *constant, size_t index)
{
    int32_t bits = tflite_integer(constant, index);
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

bool tflite_quantisation(struct tflite_importer *importer, const struct tflite_tensor *tensor,
                         struct quantisation *quantisation)
{
    bool is_signed = tensor->type == TFLITE_INT8;
    if (tensor->type == TFLITE_BOOL) { /* bytes, 0 or 1 */
        *quantisation = (struct quantisation){1, 0, false};
        return true;
    }
    if (!is_signed && tensor->type != TFLITE_UINT8)
        return tflite_fault(importer, "'%s' is %s; supported: INT8", tensor->name,
                            tflite_type_name(tensor->type, importer->arena));
    if (tensor->scale_count != 1)
        return tflite_fault(importer, "'%s' has %d scales; supported: activations with one", tensor->name,
                            tensor->scale_count);
    double scale = (double)tensor->scales[0];
    int64_t zero_point = tensor->zero_points[0], least = is_signed ? -128 : 0;
    if (!(scale > 0) || !isfinite(scale))
        return tflite_fault(importer, "'%s' has the scale %g; supported: positive and finite ones", tensor->name, scale);
    if (zero_point < least || zero_point > least + 255)
        return tflite_fault(importer, "'%s' has the zero point %" PRId64 ", which is none of %s", tensor->name, zero_point,
                            tflite_type_name(tensor->type, importer->arena));
    *quantisation = (struct quantisation){scale, zero_point, is_signed};
    return true;
}

/* Of more than four dimensions, those in front are rows: whoever looks at rows and columns has four at most. */
bool tflite_image_shape(struct tflite_importer *importer, const struct tflite_tensor *tensor, struct image_shape *shape)
{
    int dimensions[3] = {1, 1, 1};
    bool is_good = true;
    if (tensor->rank == 4 && tensor->dimensions[0] != 1)
        return tflite_fault(importer, "'%s' has the shape %s; supported: one image (convert with a batch of 1)",
                            tensor->name, tflite_shape_text(importer, tensor));
    for (int i = tensor->rank - 1, place = 2; i >= 0 && is_good; i--, place -= place > 0) {
        is_good = tensor->dimensions[i] >= 1 && tensor->dimensions[i] <= MAXIMUM_DIMENSION / dimensions[place];
        dimensions[place] *= is_good ? tensor->dimensions[i] : 1;
    }
    if (!is_good)
        return tflite_fault(importer, "'%s' has the shape %s; supported: dimensions of 1 to %d", tensor->name,
                            tflite_shape_text(importer, tensor), MAXIMUM_DIMENSION);
    if ((int64_t)dimensions[0] * dimensions[1] > MAXIMUM_ELEMENTS / dimensions[2])
        return tflite_fault(importer, "'%s' has the shape %s; supported: up to %d elements", tensor->name,
                            tflite_shape_text(importer, tensor), MAXIMUM_ELEMENTS);
    *shape = (struct image_shape){dimensions[0], dimensions[1], dimensions[2]};
    return true;
}

/* ---- tensors of the network ---- */

struct tensor *tflite_network_tensor(struct tflite_importer *importer, int tensor)
{
    return &importer->builder.network->tensors[tensor];
}

struct value tflite_value_of(int tensor) { return (struct value){.kind = VALUE_TENSOR, .tensor = tensor}; }

int tflite_makes(struct tflite_importer *importer, int elements_of)
{
    const struct tflite_tensor *output = tflite_output(importer);
    struct quantisation quantisation;
    struct image_shape shape;
    if (!tflite_quantisation(importer, output, &quantisation) ||
        (elements_of == -1 && !tflite_image_shape(importer, output, &shape)))
        return -1;
    if (elements_of != -1) { /* whatever its rank */
        const struct tensor *like = tflite_network_tensor(importer, elements_of);
        if (tflite_elements(output) != tensor_elements(like)) {
            tflite_fault(importer, "the output has another number of elements than the input");
            return -1;
        }
        shape = (struct image_shape){like->height, like->width, like->channels};
    }
    return quantised_tensor(&importer->builder, output->name, shape.height, shape.width, shape.channels, &quantisation);
}

/* A reshaped tensor can be given its new shape where no layer has anything to do with the old one; else it is copied. */
static void take_shape(struct tflite_importer *importer, struct value *value, const struct image_shape *shape)
{
    struct tensor *tensor = tflite_network_tensor(importer, value->tensor);
    const struct network *network = importer->builder.network;
    if (tensor->height == shape->height && tensor->width == shape->width && tensor->channels == shape->channels)
        return;
    bool is_free = tensor->producer == NO_LAYER && !tensor->is_turned;
    for (int i = 0; is_free && i < network->layer_count; i++)
        is_free = network->layers[i].inputs[0] != value->tensor && network->layers[i].inputs[1] != value->tensor;
    if (!is_free) {
        value->tensor = tflite_lay_view(importer, value, shape);
        return;
    }
    tensor->height = shape->height;
    tensor->width = shape->width;
    tensor->channels = shape->channels;
}

int tflite_first_input(struct tflite_importer *importer)
{
    for (int i = 0; i < importer->model->input_count; i++)
        if (importer->inputs[i] >= 0)
            return importer->inputs[i];
    tflite_fault(importer, "in front of the network's first input");
    return -1;
}

/* Bytes that an operator takes for a tensor: it becomes one, for all that read it. */
static struct value *reads_constant(struct tflite_importer *importer, int index, struct value *value)
{
    const bool are_truths = tflite_input(importer, index)->type == TFLITE_BOOL;
    const struct tflite_tensor *constant = tflite_constant(importer, index, are_truths ? TFLITE_BOOL : TFLITE_INT8, 0);
    struct quantisation quantisation;
    if (!constant || !tflite_quantisation(importer, constant, &quantisation))
        return NULL;
    size_t count = tflite_elements(constant);
    uint8_t *elements = arena_array(importer->arena, uint8_t, count + 1);
    for (size_t i = 0; i < count; i++)
        elements[i] = are_truths ? constant->data[i] != 0 : (uint8_t)((int8_t)constant->data[i] + 128);
    int source = tflite_first_input(importer);
    if (source < 0)
        return NULL;
    int tensor = middle_lay_elements(&importer->builder, constant->name, source, elements, (int64_t)count, &quantisation);
    if (tensor < 0) {
        tflite_fault(importer, "'%s' is a constant of %s; supported: up to %d elements", constant->name,
                     tflite_shape_text(importer, constant), MAXIMUM_DIMENSION);
        return NULL;
    }
    *value = tflite_value_of(tensor);
    return value;
}

/* The value that the operator reads, if it is one of the network's tensors. */
static struct value *reads_value(struct tflite_importer *importer, int index)
{
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    struct value *value = tensor ? &importer->values[tensor - importer->model->tensors] : NULL;
    if (!value || value->kind == VALUE_TENSOR)
        return value;
    return value->kind == VALUE_CONSTANT ? reads_constant(importer, index, value) : NULL;
}

static bool has_padding(const struct value *value)
{
    const struct padding *padding = &value->padding;
    return padding->top || padding->left || padding->bottom || padding->right || padding->front || padding->back;
}

/* Operators that pass a value on need not look whether their output's shape is true. */
static bool has_elements_of(struct tflite_importer *importer, const struct value *value, const struct image_shape *shape)
{
    int64_t elements = (int64_t)shape->height * shape->width * shape->channels;
    return shape->height > 0 && shape->width > 0 &&
           elements == (int64_t)tensor_elements(tflite_network_tensor(importer, value->tensor));
}

int tflite_reads(struct tflite_importer *importer, int index, struct padding *padding)
{
    struct value *value = reads_value(importer, index);
    struct image_shape shape;
    if (!value || !tflite_image_shape(importer, tflite_input(importer, index), &shape))
        return -1;
    const int64_t dimensions[3] = {shape.height, shape.width, shape.channels};
    if (value->is_moved && !view_reshape(&value->view, 3, dimensions, &value->view)) {
        tflite_fault(importer, "'%s' of %s is a transposed tensor of %s", tflite_input(importer, index)->name,
                     tflite_shape_text(importer, tflite_input(importer, index)), view_text(&value->view, importer->arena));
        return -1;
    }
    if (value->is_moved)
        *value = tflite_value_of(tflite_lay_view(importer, value, &shape));
    if (value->tensor < 0)
        return -1;
    bool is_zero = value->padding_element == tflite_network_tensor(importer, value->tensor)->zero_point;
    bool is_flat = value->padding.front == 0 && value->padding.back == 0;
    if (has_padding(value) && !(padding && is_zero && is_flat))
        *value = tflite_value_of(tflite_lay_border(importer, value));
    if (padding)
        *padding = value->padding;
    shape.height -= value->padding.top + value->padding.bottom;
    shape.width -= value->padding.left + value->padding.right;
    if (!has_elements_of(importer, value, &shape)) {
        tflite_fault(importer, "'%s' has the shape %s, but what is computed for it has other elements",
                     tflite_input(importer, index)->name, tflite_shape_text(importer, tflite_input(importer, index)));
        return -1;
    }
    take_shape(importer, value, &shape);
    return value->tensor;
}

/* The value that the operator reads, its border laid. */
static struct value *reads_any(struct tflite_importer *importer, int index)
{
    struct value *value = reads_value(importer, index);
    int tensor = value && has_padding(value) ? tflite_lay_border(importer, value) : 0;
    if (value && has_padding(value))
        *value = tflite_value_of(tensor);
    return tensor < 0 ? NULL : value;
}

int tflite_reads_elements(struct tflite_importer *importer, int index, struct value *result)
{
    struct value *value = reads_any(importer, index);
    if (!value)
        return -1;
    if (value->is_moved && !middle_is_whole(&importer->builder, &(struct middle_value){value->tensor, value->view})) {
        if (tflite_reads(importer, index, NULL) < 0) /* the same elements several times over */
            return -1;
    }
    *result = *value;
    return value->tensor;
}

bool tflite_takes(struct tflite_importer *importer, int index, struct middle_value *result)
{
    const struct value *value = reads_any(importer, index);
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    if (!value)
        return false;
    result->tensor = value->tensor;
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    for (int i = 0; i < tensor->rank; i++)
        dimensions[i] = tensor->dimensions[i];
    result->view = value->is_moved ? value->view : view_of_memory(tensor->rank, dimensions);
    if (view_elements(&result->view) == (int64_t)tflite_elements(tensor) &&
        (value->is_moved || middle_is_whole(&importer->builder, result)))
        return true;
    return tflite_fault(importer, "'%s' has the shape %s, but what is computed for it has other elements", tensor->name,
                        tflite_shape_text(importer, tensor));
}

bool tflite_takes_channels(struct tflite_importer *importer, int axis, struct middle_value *value)
{
    if (!tflite_takes(importer, 0, value))
        return false;
    int rank = value->view.rank, dimension = axis < 0 ? axis + rank : axis;
    if (dimension < 0 || dimension >= rank)
        return tflite_fault(importer, "along axis %d of %s", axis, view_text(&value->view, importer->arena));
    if (view_is_channels(&value->view, dimension, tflite_network_tensor(importer, value->tensor)) &&
        middle_is_whole(&importer->builder, value))
        return true;
    struct layout layout = layout_with_channels(&value->view, dimension);
    const char *name = arena_format(importer->arena, "%s, moved", tflite_output(importer)->name);
    return middle_lay(&importer->builder, name, value, NULL, &layout, 0, value) ||
           tflite_fault(importer, "%s has more elements than the firmware can have",
                        view_text(&value->view, importer->arena));
}

static bool has_shape(const struct tflite_tensor *tensor, const struct view *view)
{
    bool fits = tensor->rank == view->rank;
    for (int i = 0; fits && i < view->rank; i++)
        fits = tensor->dimensions[i] == view->dimensions[i];
    return fits;
}

/* What only moves bytes does so whatever its output's quantisation is: the same bytes, which their readers take otherwise.
 */
static int relabel(struct tflite_importer *importer, int tensor, const char *name, const struct quantisation *quantisation)
{
    const struct tensor from = *tflite_network_tensor(importer, tensor);
    uint8_t same[256];
    for (int i = 0; i < 256; i++)
        same[i] = (uint8_t)i;
    tflite_warning(importer,
                   "its output has the scale %.9g and zero point %" PRId64 ", what it moves %.9g and %d: TensorFlow Lite "
                   "Micro, and so this, gives the bytes as they are",
                   quantisation->scale, quantisation->zero_point, from.scale, from.zero_point + from.model_offset);
    int output = quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, quantisation);
    quantised_table(&importer->builder, name, tensor, output, same);
    return output;
}

bool tflite_gives(struct tflite_importer *importer, int index, const struct middle_value *value, struct value *result)
{
    const struct tflite_tensor *output = &importer->model->tensors[importer->current->outputs[index]];
    const struct tensor *tensor = tflite_network_tensor(importer, value->tensor);
    struct middle_value given = *value;
    struct quantisation quantisation;
    if (!tflite_quantisation(importer, output, &quantisation))
        return false;
    if (tensor->scale != quantisation.scale || tensor->zero_point + tensor->model_offset != quantisation.zero_point)
        given.tensor = relabel(importer, value->tensor, output->name, &quantisation);
    if (!has_shape(output, &value->view))
        return tflite_fault(importer, "the output's shape %s is not the %s that its input gives",
                            tflite_shape_text(importer, output), view_text(&value->view, importer->arena));
    *result = tflite_value_of(given.tensor);
    result->is_moved = !view_is_memory(&given.view) || !middle_is_whole(&importer->builder, &given);
    result->view = given.view;
    return true;
}

/* ---- what layers have in common ---- */

bool tflite_clip(struct tflite_importer *importer, struct stage *stage, int output)
{
    const struct tensor *tensor = tflite_network_tensor(importer, output);
    switch (importer->current->options.activation) {
    case TFLITE_NO_ACTIVATION: return true;
    case TFLITE_FUSED_RELU: quantised_clip(stage, tensor, 0, INFINITY); return true;
    case TFLITE_FUSED_RELU_N1_TO_1: quantised_clip(stage, tensor, -1, 1); return true;
    case TFLITE_FUSED_RELU6: quantised_clip(stage, tensor, 0, 6); return true;
    default:
        return tflite_fault(importer, "fused activation %d; supported: none, RELU, RELU6, RELU_N1_TO_1",
                            importer->current->options.activation);
    }
}

bool tflite_pad_window(struct tflite_importer *importer, const struct window *window, int *before, int *after)
{
    int64_t reach = (int64_t)(window->kernel - 1) * window->dilation + 1, missing = 0, outputs;
    if (importer->current->options.padding == TFLITE_SAME) {
        outputs = (window->size + window->stride - 1) / window->stride;
        missing = (outputs - 1) * window->stride + reach - window->size;
    } else {
        outputs = window->size < reach ? 0 : (window->size - reach) / window->stride + 1;
    }
    if (outputs != window->outputs)
        return tflite_fault(importer, "a %s of %d elements gives %" PRId64 ", and the output has %d", window->what,
                            window->size, outputs, window->outputs);
    missing = missing > 0 ? missing : 0;
    *before += (int)(missing / 2);
    *after += (int)(missing - missing / 2);
    return true;
}

static bool check_option(struct tflite_importer *importer, const char *what, int value)
{
    if (value >= 1 && value <= MAXIMUM_DIMENSION)
        return true;
    return tflite_fault(importer, "%s is %d; supported: 1 to %d", what, value, MAXIMUM_DIMENSION);
}

/* `layer` has its kernel already. */
bool tflite_set_window(struct tflite_importer *importer, struct layer *layer, const struct tflite_tensor *input,
                       const struct tflite_tensor *output, const struct padding *pending)
{
    const struct tflite_options *options = &importer->current->options;
    struct image_shape from, to;
    if (options->padding != TFLITE_SAME && options->padding != TFLITE_VALID)
        return tflite_fault(importer, "padding is %d; supported: SAME and VALID", options->padding);
    if (!check_option(importer, "stride_h", options->stride_height) ||
        !check_option(importer, "stride_w", options->stride_width) ||
        !check_option(importer, "the kernel's height", layer->kernel_height) ||
        !check_option(importer, "the kernel's width", layer->kernel_width) ||
        !check_option(importer, "dilation_h_factor", layer->dilation_height) ||
        !check_option(importer, "dilation_w_factor", layer->dilation_width) || !tflite_image_shape(importer, input, &from) ||
        !tflite_image_shape(importer, output, &to))
        return false;
    layer->stride_height = options->stride_height;
    layer->stride_width = options->stride_width;
    layer->padding_top = pending->top;
    layer->padding_left = pending->left;
    layer->padding_bottom = pending->bottom;
    layer->padding_right = pending->right;
    struct window vertical = {"height", from.height, layer->kernel_height, layer->stride_height, layer->dilation_height,
                              to.height};
    struct window horizontal = {"width", from.width, layer->kernel_width, layer->stride_width, layer->dilation_width,
                                to.width};
    return tflite_pad_window(importer, &vertical, &layer->padding_top, &layer->padding_bottom) &&
           tflite_pad_window(importer, &horizontal, &layer->padding_left, &layer->padding_right);
}
