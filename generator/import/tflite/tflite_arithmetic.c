#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/join.h"
#include "network/fixed_point.h"
#include "network/stage.h"

#define MAXIMUM_SOFTMAX  4095 /* as many ones fit the sum of TensorFlow Lite Micro, which has 12 integer bits */
#define SOFTMAX_INTEGERS 5    /* integer bits of its exponents */

/* ---- multiplication ---- */

/* x - zero point, exactly. */
static struct stage without_zero(struct tflite_importer *importer, const struct tensor *input)
{
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = -input->zero_point;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
}

/* What elements are without their zero point, one a channel; null where they are no weights. `step` 0: one for all. */
static const int8_t *factors_of(struct tflite_importer *importer, const int8_t *elements, int step, int channels,
                                int64_t zero_point)
{
    int8_t *weights = arena_array(importer->arena, int8_t, (size_t)channels);
    for (int i = 0; i < channels; i++) {
        int64_t weight = elements[i * step] - zero_point;
        if (weight < INT8_MIN || weight > INT8_MAX)
            return NULL;
        weights[i] = (int8_t)weight;
    }
    return weights;
}

/* A depth-wise convolution of 1x1 elements. */
static bool multiply_by_weights(struct tflite_importer *importer, int input, const int8_t *weights, double scale,
                                struct value *result)
{
    int output = tflite_makes(importer, input);
    if (output < 0)
        return false;
    if (tflite_elements(tflite_output(importer)) != tensor_elements(tflite_network_tensor(importer, input)))
        return tflite_fault(importer, "the output has another number of elements than the input");
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_CONVOLUTION, tflite_output(importer)->name, input, output);
    layer->groups = tflite_network_tensor(importer, input)->channels;
    quantised_finish_convolution(&importer->builder, layer,
                                 &(struct quantised_weights){.weights = weights, .scales = &scale, .scale_count = 1});
    result->tensor = output;
    return tflite_clip(importer, &layer->stages[0], output);
}

/* The constant has an element a channel, all in its last dimension. */
static bool is_channelwise(const struct tflite_tensor *constant, int channels)
{
    return tflite_elements(constant) == (size_t)channels && constant->rank > 0 &&
           constant->dimensions[constant->rank - 1] == channels;
}

/* A number a pixel times one a channel, as a norm's inverse root and its scales: a convolution of one channel. */
static bool is_outer_product(struct tflite_importer *importer, int index, const struct tflite_tensor *constant)
{
    const struct tflite_tensor *output = tflite_output(importer), *input = tflite_input(importer, index);
    int channels = output->rank > 0 ? output->dimensions[output->rank - 1] : 0;
    return input && input->rank == output->rank && channels > 1 && input->dimensions[input->rank - 1] == 1 &&
           is_channelwise(constant, channels) && tflite_elements(output) == tflite_elements(input) * (size_t)channels;
}

/* The only channel several times: a factor of up to 9 bits, which is no weight, is the sum of as many weights. */
#define WEIGHTS_OF_FACTOR 3

static int lay_several(struct tflite_importer *importer, int input)
{
    const struct tensor from = *tflite_network_tensor(importer, input);
    int output = quantised_tensor(&importer->builder, from.name, from.height, from.width, WEIGHTS_OF_FACTOR,
                                  &(struct quantisation){from.scale, from.zero_point + from.model_offset, true});
    struct layer *layer = quantised_layer(&importer->builder, LAYER_COPY, from.name, input, output);
    layer->map = (struct layer_map){positions_in_steps(from.height, 0, from.width, importer->arena),
                                    positions_in_steps(from.width, 0, 1, importer->arena),
                                    positions_in_steps(WEIGHTS_OF_FACTOR, 0, 0, importer->arena)};
    layer->padding_value = from.zero_point;
    return output;
}

static int8_t *parts_of(struct tflite_importer *importer, const struct tflite_tensor *constant, int64_t zero_point)
{
    size_t count = tflite_elements(constant);
    int8_t *weights = arena_array(importer->arena, int8_t, WEIGHTS_OF_FACTOR * count);
    for (size_t i = 0; i < count; i++) {
        int64_t factor = (int8_t)constant->data[i] - zero_point;
        for (int left = WEIGHTS_OF_FACTOR; left > 0; left--) {
            weights[WEIGHTS_OF_FACTOR * (i + 1) - (size_t)left] = (int8_t)(factor / left);
            factor -= factor / left;
        }
    }
    return weights;
}

static bool multiply_outer(struct tflite_importer *importer, int index, const struct tflite_tensor *constant,
                           const struct quantisation *quantisation, struct value *result)
{
    const int8_t *weights =
        factors_of(importer, (const int8_t *)constant->data, 1, (int)tflite_elements(constant), quantisation->zero_point);
    int input = tflite_reads(importer, index, NULL), output = input < 0 ? -1 : tflite_makes(importer, -1);
    if (output < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    if (from.height != to.height || from.width != to.width || from.channels != 1)
        return tflite_fault(importer, "the shapes of the input and of the output %s do not go together",
                            tflite_shape_text(importer, tflite_output(importer)));
    if (!weights) {
        input = lay_several(importer, input);
        weights = parts_of(importer, constant, quantisation->zero_point);
    }
    struct layer *layer = quantised_layer(&importer->builder, LAYER_CONVOLUTION, to.name, input, output);
    quantised_finish_convolution(
        &importer->builder, layer,
        &(struct quantised_weights){.weights = weights, .scales = &quantisation->scale, .scale_count = 1});
    *result = tflite_value_of(output);
    return tflite_clip(importer, &layer->stages[0], output);
}

/* A factor that is no weight: a function of one element. */
static bool multiply_by_number(struct tflite_importer *importer, int input, int64_t number, double scale,
                               struct value *result)
{
    int output = tflite_makes(importer, input);
    if (output < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    if (tflite_elements(tflite_output(importer)) != tensor_elements(&from))
        return tflite_fault(importer, "the output has another number of elements than the input");
    struct stage stage = quantised_stage(&importer->builder, 1, &to);
    uint8_t table[256];
    quantised_set_channel(&importer->builder, &stage, 0, 0, (struct real_factor){{from.scale, scale}, to.scale, 1});
    if (!tflite_clip(importer, &stage, output))
        return false;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)stage_apply(&stage, 0, (i - from.zero_point) * number);
    quantised_table(&importer->builder, to.name, input, output, table);
    result->tensor = output;
    return true;
}

void tflite_lay_product(struct tflite_importer *importer, int a, int b, int output)
{
    const struct tensor *tensors = importer->builder.network->tensors;
    const int inputs[2] = {a, b};
    struct layer *layer = quantised_layer(&importer->builder, LAYER_MULTIPLICATION, tensors[output].name, a, output);
    layer->inputs[1] = b;
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = without_zero(importer, &tensors[inputs[i]]);
    layer->stages[0] = quantised_stage(&importer->builder, 1, &tensors[output]);
    quantised_set_channel(&importer->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{tensors[a].scale, tensors[b].scale}, tensors[output].scale, 1});
    layer->stage_count = 1;
}

static bool multiply_tensors(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    struct network *network = importer->builder.network;
    int output = tflite_makes(importer, result->tensor);
    if (output < 0 || !tflite_go_together(importer, inputs, output))
        return false;
    tflite_lay_product(importer, inputs[0], inputs[1], output);
    result->tensor = output;
    return tflite_clip(importer, &network->layers[network->layer_count - 1].stages[0], output);
}

/* Of one element: a weight for all channels, or else a table. */
static bool multiply_by_one(struct tflite_importer *importer, int index, const struct quantisation *quantisation,
                            struct value *result)
{
    const int8_t *element = (const int8_t *)tflite_input(importer, index)->data;
    int input = tflite_reads_elements(importer, 1 - index, result);
    if (input < 0)
        return false;
    int channels = tflite_network_tensor(importer, input)->channels;
    const int8_t *weights = factors_of(importer, element, 0, channels, quantisation->zero_point);
    return weights ? multiply_by_weights(importer, input, weights, quantisation->scale, result)
                   : multiply_by_number(importer, input, *element - quantisation->zero_point, quantisation->scale, result);
}

static bool multiply_by_constant(struct tflite_importer *importer, int index, struct value *result)
{
    const struct tflite_tensor *constant = tflite_constant(importer, index, TFLITE_INT8, 0);
    struct quantisation quantisation;
    struct middle_constant placed;
    int inputs[2];
    if (!constant || !tflite_quantisation(importer, constant, &quantisation))
        return false;
    if (is_outer_product(importer, 1 - index, constant))
        return multiply_outer(importer, 1 - index, constant, &quantisation, result);
    if (tflite_elements(constant) == 1)
        return multiply_by_one(importer, index, &quantisation, result);
    if (!tflite_is_as_large(importer, 1 - index))
        return tflite_reads_pair(importer, inputs, result) && multiply_tensors(importer, inputs, result);
    if (!tflite_places_constant(importer, index, result, &placed))
        return false;
    const int8_t *weights = placed.height == 1 && placed.width == 1
                                ? factors_of(importer, placed.elements, 1, placed.channels, quantisation.zero_point)
                                : NULL;
    if (weights)
        return multiply_by_weights(importer, result->tensor, weights, quantisation.scale, result);
    return tflite_reads_with_constant(importer, index, inputs, result) && multiply_tensors(importer, inputs, result);
}

bool tflite_multiply(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int inputs[2];
    for (int i = 0; i < 2; i++)
        if (operation->input_count == 2 && tflite_is_constant(importer, i))
            return multiply_by_constant(importer, i, result);
    return tflite_reads_two(importer) && tflite_reads_pair(importer, inputs, result) &&
           multiply_tensors(importer, inputs, result);
}

/* ---- concatenation ---- */

static bool check_scale(struct tflite_importer *importer, int input)
{
    const struct tensor *tensor = tflite_network_tensor(importer, input);
    struct quantisation output;
    if (!tflite_quantisation(importer, tflite_output(importer), &output))
        return false;
    if (tensor->scale == output.scale && tensor->zero_point + tensor->model_offset == output.zero_point)
        return true;
    return tflite_fault(importer, "'%s' has scale %g and zero point %d, and the output %g and %d; supported: the same",
                        tensor->name, tensor->scale, tensor->zero_point + tensor->model_offset, output.scale,
                        (int)output.zero_point);
}

static int size_along(const struct tensor *tensor, enum image_axis axis)
{
    return axis == AXIS_HEIGHT ? tensor->height : axis == AXIS_WIDTH ? tensor->width : tensor->channels;
}

/* Equal but along the axis, which is as long as one may be. */
static bool check_sizes(struct tflite_importer *importer, const int *inputs, int count, enum image_axis axis)
{
    const struct tensor first = *tflite_network_tensor(importer, inputs[0]);
    int64_t size = 0;
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = tflite_network_tensor(importer, inputs[i]);
        size += size_along(tensor, axis);
        for (int k = AXIS_HEIGHT; k <= AXIS_CHANNELS; k++)
            if (k != (int)axis && size_along(tensor, (enum image_axis)k) != size_along(&first, (enum image_axis)k))
                return tflite_fault(importer, "joins %s and %s, which differ along another axis than that; supported: one",
                                    tflite_shape_text(importer, tflite_input(importer, 0)),
                                    tflite_shape_text(importer, tflite_input(importer, i)));
    }
    if (size > MAXIMUM_DIMENSION)
        return tflite_fault(importer, "joins to %" PRId64 " elements along the axis; supported: up to %d", size,
                            MAXIMUM_DIMENSION);
    return true;
}

/* Of any rank, along any dimension: with the inputs as values of the middle. */
static bool join_values(struct tflite_importer *importer, struct middle_value *values, int count, int dimension,
                        struct value *result)
{
    struct quantised_builder *builder = &importer->builder;
    const char *name = tflite_output(importer)->name;
    for (int i = 0; i < count; i++) {
        bool fits = values[i].view.rank == values[0].view.rank;
        for (int k = 0; fits && k < values[0].view.rank; k++)
            fits = k == dimension || values[i].view.dimensions[k] == values[0].view.dimensions[k];
        if (!fits)
            return tflite_fault(importer, "joins %s and %s, which differ along another axis than that; supported: one",
                                view_text(&values[0].view, importer->arena), view_text(&values[i].view, importer->arena));
        if (!check_scale(importer, values[i].tensor))
            return false;
    }
    struct middle_value joined;
    if (!middle_join(builder, name, values, count, dimension, &joined))
        return tflite_fault(importer, "joins more elements along the axis than the firmware can have");
    return tflite_gives(importer, 0, &joined, result);
}

bool tflite_pack(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int count = operation->input_count, axis = operation->options.axis, rank = tflite_output(importer)->rank;
    struct middle_value *values = arena_array(importer->arena, struct middle_value, (size_t)count + 1);
    axis += axis < 0 ? rank : 0;
    if (count == 0 || axis < 0 || axis >= rank)
        return tflite_fault(importer, "%d inputs along axis %d of %s", count, operation->options.axis,
                            tflite_shape_text(importer, tflite_output(importer)));
    for (int i = 0; i < count; i++) {
        if (!tflite_takes(importer, i, &values[i]))
            return false;
        if (values[i].view.rank != rank - 1)
            return tflite_fault(importer, "%s of %s", view_text(&values[i].view, importer->arena),
                                tflite_shape_text(importer, tflite_output(importer)));
        values[i].view = middle_insert(&values[i].view, axis);
    }
    return join_values(importer, values, count, axis, result);
}

/* Images, one by one; else all inputs are taken as they lie. */
static bool is_of_images(const struct tflite_importer *importer, int axis)
{
    const struct tflite_operator *operation = importer->current;
    const struct tflite_tensor *output = tflite_output((struct tflite_importer *)(uintptr_t)importer);
    bool is_moved = true;
    for (int i = 0; i < operation->input_count; i++)
        is_moved = is_moved && operation->inputs[i] != NO_TENSOR && importer->values[operation->inputs[i]].is_moved;
    return !is_moved && output->rank - axis <= 3 && (output->rank <= 3 || (output->rank == 4 && output->dimensions[0] == 1));
}

static bool join_images(struct tflite_importer *importer, int axis, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const struct tflite_tensor *output = tflite_output(importer);
    int *inputs = arena_array(importer->arena, int, (size_t)operation->input_count + 1);
    enum image_axis image_axis = (enum image_axis)(AXIS_CHANNELS + 1 - (output->rank - axis));
    struct image_shape shape;
    for (int i = 0; i < operation->input_count; i++) {
        inputs[i] = tflite_reads(importer, i, NULL);
        if (inputs[i] < 0 || !check_scale(importer, inputs[i]))
            return false;
    }
    if (!check_sizes(importer, inputs, operation->input_count, image_axis) || !tflite_image_shape(importer, output, &shape))
        return false;
    int joined = quantised_concatenate(&importer->builder, output->name, inputs, operation->input_count, image_axis);
    const struct tensor *tensor = tflite_network_tensor(importer, joined);
    if (tensor->height != shape.height || tensor->width != shape.width || tensor->channels != shape.channels)
        return tflite_fault(importer, "the output's shape %s does not fit the inputs", tflite_shape_text(importer, output));
    *result = tflite_value_of(joined);
    return true;
}

bool tflite_concatenate(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *output = tflite_output(importer);
    int axis = operation->options.axis < 0 ? operation->options.axis + output->rank : operation->options.axis;
    if (axis < 0 || axis >= output->rank || operation->input_count == 0)
        return tflite_fault(importer, "joins %d inputs along axis %d of %s", operation->input_count, operation->options.axis,
                            tflite_shape_text(importer, output));
    if (operation->options.activation != TFLITE_NO_ACTIVATION)
        return tflite_fault(importer, "a fused activation; supported: none");
    if (is_of_images(importer, axis))
        return join_images(importer, axis, result);
    struct middle_value *values = arena_array(importer->arena, struct middle_value, (size_t)operation->input_count + 1);
    for (int i = 0; i < operation->input_count; i++)
        if (!tflite_takes(importer, i, &values[i]))
            return false;
    return join_values(importer, values, operation->input_count, axis, result);
}

/* ---- softmax ---- */

/* By the distance from the largest element. Distances that TensorFlow Lite Micro leaves out have 0. */
static const uint32_t *exponentials(struct tflite_importer *importer, double beta, double scale)
{
    uint32_t *table = arena_array(importer->arena, uint32_t, 256);
    int32_t multiplier;
    int exponent, fraction_bits = 31 - SOFTMAX_INTEGERS;
    double factor = fmin(beta * scale * (double)(1 << fraction_bits), 2147483647.0);
    fixed_quantise_multiplier(factor, &multiplier, &exponent);
    double radius = floor(((1 << SOFTMAX_INTEGERS) - 1) * ldexp(1, fraction_bits) / ldexp(1, exponent));
    for (int distance = 0; distance < 256 && distance <= radius; distance++)
        table[distance] = (uint32_t)fixed_exponential(fixed_scale(-distance, multiplier, exponent), SOFTMAX_INTEGERS);
    return table;
}

bool tflite_softmax(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    int output = tflite_takes_channels(importer, -1, &value) ? tflite_makes(importer, value.tensor) : -1;
    if (output < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, value.tensor), to = *tflite_network_tensor(importer, output);
    double beta = (double)operation->options.beta;
    if (to.scale != 1.0 / 256 || to.zero_point != 0)
        return tflite_fault(importer, "an output with scale %g and zero point %d; supported: 1/256 and -128", to.scale,
                            to.zero_point + to.model_offset);
    if (!(beta * from.scale * (1 << (31 - SOFTMAX_INTEGERS)) > 1) || from.channels > MAXIMUM_SOFTMAX)
        return tflite_fault(importer,
                            "beta %g, scale %g and %d classes; supported: factors above 2^-26 and up to %d classes", beta,
                            from.scale, from.channels, MAXIMUM_SOFTMAX);
    struct layer *layer = quantised_layer(&importer->builder, LAYER_SOFTMAX, to.name, value.tensor, output);
    layer->exponentials = exponentials(importer, beta, from.scale);
    layer->is_fixed_point = true;
    value.tensor = output;
    return tflite_gives(importer, 0, &value, result);
}

/* ---- log-softmax: behind the network ---- */

bool tflite_log_softmax(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int input = tflite_reads(importer, 0, NULL);
    struct quantisation to;
    (void)operation;
    if (input < 0 || !tflite_quantisation(importer, tflite_output(importer), &to))
        return false;
    if (!to.is_signed || tflite_network_tensor(importer, input)->producer == NO_LAYER)
        return tflite_fault(importer, "%s; supported: INT8, of what a layer computes",
                            to.is_signed ? "an input of the network" : "an output of UINT8");
    struct log_softmax *behind = arena_allocate(importer->arena, sizeof *behind);
    *behind = (struct log_softmax){to.scale, (int)to.zero_point};
    tflite_network_tensor(importer, input)->log_softmax = behind;
    *result = (struct value){.kind = VALUE_BEHIND, .tensor = input};
    diagnose(importer->diagnostics, SEVERITY_NOTE, tflite_output(importer)->name, NULL,
             "LOG_SOFTMAX is left to the application: the firmware's output is what it reads. `dory run` computes it");
    return true;
}
