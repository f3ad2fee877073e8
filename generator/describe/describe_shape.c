/* Shapes, windows, borders and elements of a layer. */
#include "describe/description.h"

/* Copies dimensions that the firmware holds in 16 bits. */
void describe_dimensions(const struct description *d, const struct dimension *dimensions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (dimensions[i].value < 0 || dimensions[i].value > UINT16_MAX)
            REFUSE(d, NULL, "its %s is %" PRId64 "; at most %d is supported", dimensions[i].name, dimensions[i].value,
                   UINT16_MAX);
        *dimensions[i].place = (uint16_t)dimensions[i].value;
    }
}

void describe_padding_top(const struct description *d, int64_t rows)
{
    if (rows < INT16_MIN || rows > INT16_MAX)
        REFUSE(d, NULL, "its padding at the top is %" PRId64 "; at most %d is supported", rows, INT16_MAX);
    d->record->padding_top = (int16_t)rows;
}

/* What the border holds; the tile loop fills it with bytes. */
void describe_border(const struct description *d)
{
    int64_t value = d->layer->padding_value;
    int64_t least = d->input->is_signed ? -((int64_t)1 << (d->input->bits - 1)) : 0;
    int64_t most = least + ((int64_t)1 << d->input->bits) - 1;
    if (value != 0 && (d->input->bits > 8 || value < least || value > most))
        REFUSE(d, NULL,
               "pads with %" PRId64 ", which none of the %d-bit %s elements around it can be (%" PRId64 " to %" PRId64 ")%s",
               value, d->input->bits, d->input->is_signed ? "signed" : "unsigned", least, most,
               value < 0 && d->input->producer == NO_LAYER && !d->input->is_signed
                   ? "; if the network's input is signed, say so: --input-signed"
                   : "; the export should say that these elements are of another type, or pad with one of them");
    d->record->border_value = (int16_t)value;
}

void describe_shape(const struct description *d)
{
    struct dory_layer *record = d->record;
    const struct layer *layer = d->layer;
    bool window = !layer_has_two_inputs(layer);
    const struct dimension dimensions[] = {
        {"input height", d->input->height, &record->input_height},
        {"input width", d->input->width, &record->input_width},
        {"number of input channels", d->input->channels, &record->input_channels},
        {"output height", d->output->height, &record->output_height},
        {"output width", d->output->width, &record->output_width},
        {"number of output channels", d->output->channels, &record->output_channels},
        {"kernel height", window ? layer->kernel_height : 1, &record->kernel_height},
        {"kernel width", window ? layer->kernel_width : 1, &record->kernel_width},
        {"vertical stride", window ? layer->stride_height : 1, &record->stride_height},
        {"horizontal stride", window ? layer->stride_width : 1, &record->stride_width},
        {"vertical dilation", window && layer->kernel_height > 1 ? layer->dilation_height : 1, &record->dilation_height},
        {"horizontal dilation", window && layer->kernel_width > 1 ? layer->dilation_width : 1, &record->dilation_width},
        {"padding at the left", window ? layer->padding_left : 0, &record->padding_left},
    };
    describe_dimensions(d, dimensions, COUNT_OF(dimensions));
    describe_padding_top(d, window ? layer->padding_top : 0);
}

static void swap(uint16_t *a, uint16_t *b)
{
    uint16_t other = *a;
    *a = *b;
    *b = other;
}

/* Of a tensor that is laid along the width: it is one row, which no step of the network can cut into stripes. */
#define LONGEST_ROW_BYTES 32768

/* Tensors of one column, as sound and sensors have them in TFLite, lie in memory as tensors of one row do; and kernels work
 * along rows. */
void describe_rows_of_columns(struct dory_layer *record)
{
    bool is_column = record->input_width == 1 && record->output_width == 1 && record->kernel_width == 1 &&
                     record->padding_left == 0 && record->padding_top >= 0;
    if (!is_column || record->input_height == 1 || record->input_height * record->input_channels > LONGEST_ROW_BYTES ||
        record->output_height * record->output_channels > LONGEST_ROW_BYTES)
        return;
    swap(&record->input_height, &record->input_width);
    swap(&record->output_height, &record->output_width);
    swap(&record->kernel_height, &record->kernel_width);
    swap(&record->stride_height, &record->stride_width);
    swap(&record->dilation_height, &record->dilation_width);
    record->padding_left = (uint16_t)record->padding_top;
    record->padding_top = 0;
}

/* A convolution that reads its whole input becomes one of a single pixel (see layer_reads_whole_input). */
void describe_flattened(const struct description *d)
{
    struct dory_layer *record = d->record;
    if (!layer_reads_whole_input(d->network, d->layer))
        return;
    record->input_channels = (uint16_t)tensor_elements(d->input);
    record->input_height = record->input_width = 1;
    record->kernel_height = record->kernel_width = 1;
    record->stride_height = record->stride_width = 1;
    record->dilation_height = record->dilation_width = 1;
}

/* Windows along an axis, in elements. */
struct window_axis {
    int64_t outputs, kernel, stride, dilation;
    int64_t size, before, after; /* of the input, and its padding */
};

static struct window_axis window_axis_of(const struct description *d, enum pixel_axis axis)
{
    const struct layer *layer = d->layer;
    const int64_t outputs = tensor_extent(d->output, axis), size = tensor_extent(d->input, axis);
    if (axis == AXIS_ROW)
        return (struct window_axis){outputs, layer->kernel_height, layer->stride_height, layer->dilation_height,
                                    size,    layer->padding_top,   layer->padding_bottom};
    return (struct window_axis){outputs, layer->kernel_width, layer->stride_width, layer->dilation_width,
                                size,    layer->padding_left, layer->padding_right};
}

/* The input with its padding must hold what the outputs read, in 16 bits. */
static void check_extent(const struct description *d, const char *attribute, const struct window_axis *axis)
{
    const int64_t size = axis->size + axis->before + axis->after;
    if (axis->outputs < 1 || axis->kernel < 1 || axis->stride < 1 || axis->dilation < 1) {
        REFUSE(d, attribute, "a size, stride or dilation below 1");
        return;
    }
    const int64_t extent = (axis->outputs - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1;
    if (extent > size)
        REFUSE(d, attribute, "reads %" PRId64 " elements where the input has %" PRId64 " with its padding", extent, size);
    if (extent > UINT16_MAX)
        REFUSE(d, attribute, "reads %" PRId64 " elements along one dimension; at most %d is supported", extent, UINT16_MAX);
}

void describe_check_extents(const struct description *d)
{
    static const char *const attributes[AXES] = {[AXIS_ROW] = "kernel height", [AXIS_COLUMN] = "kernel width"};
    const struct layer *layer = d->layer;
    if (layer_has_two_inputs(layer) || layer->kind == LAYER_COPY || layer->kind == LAYER_INTERPOLATION)
        return;
    for (enum pixel_axis axis = 0; axis < AXES; axis++) {
        const struct window_axis windows = window_axis_of(d, axis);
        check_extent(d, attributes[axis], &windows);
    }
}

/* True where each window has at least one element that is not padding: a maximum of nothing has no value. */
static bool windows_see_input(const struct window_axis *axis)
{
    for (int64_t output = 0; output < axis->outputs; output++) {
        int64_t position = output * axis->stride - axis->before, end = position + axis->kernel * axis->dilation;
        while (position < 0)
            position += axis->dilation;
        if (position >= axis->size || position >= end)
            return false;
    }
    return true;
}

void describe_check_maximum_pool(const struct description *d)
{
    for (enum pixel_axis axis = 0; axis < AXES && d->diagnostics->error_count == 0; axis++) {
        const struct window_axis windows = window_axis_of(d, axis);
        if (!windows_see_input(&windows))
            REFUSE(d, "pads", "some windows of the maximum pool lie in the padding altogether");
    }
}

/* ---- element types ---- */

static bool is_width(int bits) { return bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32; }

void describe_elements(const struct description *d)
{
    struct dory_layer *record = d->record;
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        if (tensors[i] && !is_width(tensors[i]->bits))
            REFUSE(d, NULL, "tensor '%s' has elements of %d bits; 2, 4, 8, 16 and 32 are supported", tensors[i]->name,
                   tensors[i]->bits);
    record->input_bits = (uint8_t)d->input->bits;
    record->input_is_signed = d->input->is_signed;
    if (d->second_input) {
        record->second_input_bits = (uint8_t)d->second_input->bits;
        record->second_input_is_signed = d->second_input->is_signed;
    }
    record->output_bits = (uint8_t)d->output->bits;
    record->output_is_signed = d->output->is_signed;
}
