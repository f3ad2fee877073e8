/* Operators that move elements, or take a part of them: copies by three lists of positions (see struct layer_map). */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"

#define FRACTION_BITS 10 /* of positions between pixels */

/* ---- copies ---- */

/* Positions in the input, in HWC order, of the output's rows, columns and channels; to be filled. */
struct positions {
    int32_t *rows, *columns, *channels;
};

static struct positions make_positions(struct tflite_importer *importer, const struct image_shape *shape)
{
    return (struct positions){arena_array(importer->arena, int32_t, (size_t)shape->height),
                              arena_array(importer->arena, int32_t, (size_t)shape->width),
                              arena_array(importer->arena, int32_t, (size_t)shape->channels)};
}

/* positions[i] = (first + i * step) * stride */
static void fill(int32_t *positions, int count, int first, int step, int stride)
{
    for (int i = 0; i < count; i++)
        positions[i] = (first + i * step) * stride;
}

static void lay_copy(struct tflite_importer *importer, const char *name, int input, int output,
                     const struct positions *positions)
{
    struct layer *layer = quantised_layer(&importer->builder, LAYER_COPY, name, input, output);
    layer->map = (struct layer_map){positions->rows, positions->columns, positions->channels};
}

/* Where the indices of a dimension are in memory. */
static int32_t *positions_in_view(struct tflite_importer *importer, const struct view *view, int dimension)
{
    int count = (int)view->dimensions[dimension];
    int32_t *positions = arena_array(importer->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        positions[i] = (int32_t)view_position(view, dimension, i);
    return positions;
}

int tflite_lay_view(struct tflite_importer *importer, const struct value *value, const struct image_shape *shape)
{
    struct tensor input = *tflite_network_tensor(importer, value->tensor);
    struct quantisation quantisation = {input.scale, input.zero_point + input.model_offset, input.model_offset != 0};
    const int64_t dimensions[3] = {shape->height, shape->width, shape->channels};
    struct view view = value->is_moved ? value->view : view_of_memory(3, dimensions);
    struct positions positions = {positions_in_view(importer, &view, 0), positions_in_view(importer, &view, 1),
                                  positions_in_view(importer, &view, 2)};
    const char *name = arena_format(importer->arena, "%s, %s", input.name, value->is_moved ? "transposed" : "reshaped");
    int output = quantised_tensor(&importer->builder, name, shape->height, shape->width, shape->channels, &quantisation);
    lay_copy(importer, name, value->tensor, output, &positions);
    return output;
}

/* A border before and behind `size` elements. */
static void fill_within(int32_t *positions, int before, int size, int behind, int stride)
{
    for (int i = 0; i < before + size + behind; i++)
        positions[i] = i < before || i >= before + size ? -1 : (i - before) * stride;
}

int tflite_lay_border(struct tflite_importer *importer, const struct value *value)
{
    struct tensor input = *tflite_network_tensor(importer, value->tensor);
    struct quantisation quantisation = {input.scale, input.zero_point + input.model_offset, input.model_offset != 0};
    const struct padding *padding = &value->padding;
    struct image_shape shape = {input.height + padding->top + padding->bottom, input.width + padding->left + padding->right,
                                input.channels + padding->front + padding->back};
    struct positions positions = make_positions(importer, &shape);
    const char *name = arena_format(importer->arena, "%s, with a border", input.name);
    fill_within(positions.rows, padding->top, input.height, padding->bottom, input.width * input.channels);
    fill_within(positions.columns, padding->left, input.width, padding->right, input.channels);
    fill_within(positions.channels, padding->front, input.channels, padding->back, 1);
    int output = quantised_tensor(&importer->builder, name, shape.height, shape.width, shape.channels, &quantisation);
    lay_copy(importer, name, value->tensor, output, &positions);
    importer->builder.network->layers[importer->builder.network->layer_count - 1].padding_value = value->padding_element;
    return output;
}

static void fill_spread(int32_t *positions, int count, int spread, int stride)
{
    for (int i = 0; i < count; i++)
        positions[i] = i % spread ? -1 : i / spread * stride;
}

int tflite_lay_spread(struct tflite_importer *importer, int input, int stride_height, int stride_width)
{
    struct tensor from = *tflite_network_tensor(importer, input);
    struct quantisation quantisation = {from.scale, from.zero_point + from.model_offset, from.model_offset != 0};
    struct image_shape shape = {(from.height - 1) * stride_height + 1, (from.width - 1) * stride_width + 1, from.channels};
    struct positions positions = make_positions(importer, &shape);
    const char *name = arena_format(importer->arena, "%s, spread", from.name);
    fill_spread(positions.rows, shape.height, stride_height, from.width * from.channels);
    fill_spread(positions.columns, shape.width, stride_width, from.channels);
    fill(positions.channels, from.channels, 0, 1, 1);
    int output = quantised_tensor(&importer->builder, name, shape.height, shape.width, shape.channels, &quantisation);
    lay_copy(importer, name, input, output, &positions);
    importer->builder.network->layers[importer->builder.network->layer_count - 1].padding_value = from.zero_point;
    return output;
}

/* Input and output of an operator that moves elements, which keep scale and zero point; false after a report. */
static bool make_output(struct tflite_importer *importer, int *input, int *output)
{
    *input = tflite_reads(importer, 0, NULL);
    *output = *input < 0 ? -1 : tflite_makes(importer, -1);
    if (*output < 0)
        return false;
    const struct tensor *from = tflite_network_tensor(importer, *input), *to = tflite_network_tensor(importer, *output);
    if (from->scale == to->scale && from->zero_point == to->zero_point)
        return true;
    return tflite_fault(importer, "scale or zero point differ from the input's; supported: the same");
}

static struct image_shape shape_of(const struct tensor *tensor)
{
    return (struct image_shape){tensor->height, tensor->width, tensor->channels};
}

/* ---- slices ---- */

/* A part of each of the image's dimensions: height, width, channels. */
struct part {
    int first[3], step[3];
};

static bool lay_part(struct tflite_importer *importer, int input, int output, const struct part *part)
{
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    const int sizes[3] = {from.height, from.width, from.channels}, counts[3] = {to.height, to.width, to.channels};
    struct image_shape shape = shape_of(&to);
    for (int i = 0; i < 3; i++) {
        int64_t last = part->first[i] + (int64_t)(counts[i] - 1) * part->step[i];
        if (part->first[i] < 0 || part->first[i] >= sizes[i] || last < 0 || last >= sizes[i])
            return tflite_fault(importer, "takes %d elements of %d from %d on", counts[i], sizes[i], part->first[i]);
    }
    struct positions positions = make_positions(importer, &shape);
    fill(positions.rows, counts[0], part->first[0], part->step[0], from.width * from.channels);
    fill(positions.columns, counts[1], part->first[1], part->step[1], from.channels);
    fill(positions.channels, counts[2], part->first[2], part->step[2], 1);
    lay_copy(importer, to.name, input, output, &positions);
    return true;
}

/* One of the input's dimensions as one of the image's, 0 to 2; below 0: the batch or another of size 1. */
static int image_dimension(const struct tflite_tensor *tensor, int dimension) { return dimension - tensor->rank + 3; }

bool tflite_slice(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *from = tflite_input(importer, 0);
    struct part part = {{0}, {1, 1, 1}};
    int input, output;
    if (!from || !make_output(importer, &input, &output))
        return false;
    const struct tflite_tensor *begins = tflite_constant(importer, 1, TFLITE_INT32, (size_t)from->rank), *steps = NULL;
    if (operation->code == TFLITE_STRIDED_SLICE && begins)
        steps = tflite_constant(importer, 3, TFLITE_INT32, (size_t)from->rank);
    if (!begins || (operation->code == TFLITE_STRIDED_SLICE && !steps))
        return false;
    if (tflite_output(importer)->rank != from->rank || operation->options.ellipsis_mask ||
        operation->options.new_axis_mask || operation->options.shrink_axis_mask)
        return tflite_fault(importer, "changes the number of dimensions; supported: slices that keep it");
    for (int i = 0; i < from->rank; i++) {
        int dimension = image_dimension(from, i), begin = tflite_integer(begins, (size_t)i);
        int step = steps ? tflite_integer(steps, (size_t)i) : 1;
        if (dimension < 0)
            continue;
        if (step < 1 || step > MAXIMUM_DIMENSION)
            return tflite_fault(importer, "a stride of %d; supported: 1 to %d", step, MAXIMUM_DIMENSION);
        part.first[dimension] = operation->options.begin_mask >> i & 1 ? 0 : begin < 0 ? begin + from->dimensions[i] : begin;
        part.step[dimension] = step;
    }
    *result = tflite_value_of(output);
    return lay_part(importer, input, output, &part);
}

/* Into parts along one axis, as large as the outputs' shapes say. The other outputs' values are set here. */
bool tflite_split(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    bool has_sizes = operation->code == TFLITE_SPLIT_V;
    const struct tflite_tensor *axis_constant = tflite_constant(importer, has_sizes ? 2 : 0, TFLITE_INT32, 1);
    const struct tflite_tensor *from = tflite_input(importer, has_sizes ? 0 : 1);
    struct part part = {{0}, {1, 1, 1}};
    if (!axis_constant || !from)
        return false;
    int axis = tflite_integer(axis_constant, 0), input = tflite_reads(importer, has_sizes ? 0 : 1, NULL);
    axis += axis < 0 ? from->rank : 0;
    if (input < 0)
        return false;
    if (axis < 0 || axis >= from->rank || image_dimension(from, axis) < 0)
        return tflite_fault(importer, "splits axis %d of %s; supported: height, width, channels", axis,
                            tflite_shape_text(importer, from));
    for (int i = 0; i < operation->output_count; i++) {
        const struct tflite_operator one = {.name = operation->name, .outputs = &operation->outputs[i], .output_count = 1};
        importer->current = &one;
        int output = tflite_makes(importer, -1);
        bool is_done = output >= 0 && lay_part(importer, input, output, &part);
        importer->current = operation;
        if (!is_done)
            return false;
        const struct image_shape shape = shape_of(tflite_network_tensor(importer, output));
        part.first[image_dimension(from, axis)] +=
            ((const int[]){shape.height, shape.width, shape.channels})[image_dimension(from, axis)];
        importer->values[operation->outputs[i]] = tflite_value_of(output);
    }
    *result = importer->values[operation->outputs[0]];
    return true;
}

/* ---- resize ---- */

/* Nearest neighbours along one dimension, in float32 as TensorFlow Lite Micro has it. */
static void fill_nearest(int32_t *positions, int outputs, int inputs, int stride, const struct tflite_options *options)
{
    bool corners = options->align_corners && outputs > 1;
    float scale = corners ? (float)(inputs - 1) / (float)(outputs - 1) : (float)inputs / (float)outputs;
    float offset = options->half_pixel_centers ? 0.5F : 0.0F;
    for (int i = 0; i < outputs; i++) {
        float at = ((float)i + offset) * scale;
        int nearest = (int)(options->align_corners ? roundf(at) : floorf(at));
        positions[i] = (nearest < inputs ? nearest : inputs - 1) * stride;
    }
}

bool tflite_resize_nearest(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int input, output;
    if (!make_output(importer, &input, &output))
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    struct image_shape shape = shape_of(&to);
    if (from.channels != to.channels)
        return tflite_fault(importer, "input and output have different numbers of channels");
    struct positions positions = make_positions(importer, &shape);
    fill_nearest(positions.rows, to.height, from.height, from.width * from.channels, &operation->options);
    fill_nearest(positions.columns, to.width, from.width, from.channels, &operation->options);
    fill(positions.channels, to.channels, 0, 1, 1);
    lay_copy(importer, to.name, input, output, &positions);
    *result = tflite_value_of(output);
    return true;
}

/* Two neighbours of each position along one dimension. */
static const struct layer_tap *make_taps(struct tflite_importer *importer, int outputs, int inputs)
{
    const struct tflite_options *options = &importer->current->options;
    struct layer_tap *taps = arena_array(importer->arena, struct layer_tap, (size_t)outputs);
    const int64_t one = 1 << FRACTION_BITS;
    int64_t scale = (one * inputs + outputs / 2) / outputs;
    if (options->align_corners && outputs > 1)
        scale = (one * (inputs - 1) + (outputs - 1) / 2) / (outputs - 1);
    for (int i = 0; i < outputs; i++) {
        int64_t at = i * scale + (options->half_pixel_centers ? scale / 2 - one / 2 : 0);
        int64_t low = at / one > 0 ? at / one : 0, high = (at + one - 1) / one;
        low = low < inputs ? low : inputs - 1;
        high = high < inputs ? high : inputs - 1;
        int32_t weight = low == high ? 0 : (int32_t)(at - low * one); /* both are the same element at a border */
        taps[i] = (struct layer_tap){{(int32_t)low, (int32_t)high}, {(int32_t)one - weight, weight}};
    }
    return taps;
}

bool tflite_resize_bilinear(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    int input, output;
    if (!make_output(importer, &input, &output))
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    if (from.channels != to.channels)
        return tflite_fault(importer, "input and output have different numbers of channels");
    int64_t *numbers = arena_array(importer->arena, int64_t, 2), unit = (int64_t)1 << 2 * FRACTION_BITS;
    struct layer *layer = quantised_layer(&importer->builder, LAYER_INTERPOLATION, to.name, input, output);
    layer->taps =
        (struct layer_taps){make_taps(importer, to.height, from.height), make_taps(importer, to.width, from.width), 1, 1};
    numbers[0] = 1;
    numbers[1] = from.model_offset * unit;
    layer->stages[0] = (struct stage){.count = 1,
                                      .rounding = ROUND_HALF_AWAY,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = unit,
                                      .zero_point = -from.model_offset,
                                      .has_clip = true,
                                      .maximum = 255};
    layer->stage_count = 1;
    *result = tflite_value_of(output);
    return true;
}
