/* Operators that choose: the larger or smaller of two elements, and PReLU, whose slope below zero is each channel's own.
 * Both are additions of bytes in which one term is nothing. */
#include "import/tflite/tflite_import.h"
#include "middle/sums.h"
#include "network/fixed_point.h"

/* ---- tensors on the way ---- */

/* A tensor as `like` is, for what is computed on the way. */
static int lay_like(struct tflite_importer *importer, int like, const char *what, const struct quantisation *quantisation)
{
    const struct tensor from = *tflite_network_tensor(importer, like);
    const char *name = arena_format(importer->arena, "%s, %s", tflite_output(importer)->name, what);
    return quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, quantisation);
}

/* ---- maximum and minimum ---- */

/* Of a constant of one element: a function of the other's. */
static bool choose_constant(struct tflite_importer *importer, int constant_index, struct value *result)
{
    bool is_maximum = importer->current->code == TFLITE_MAXIMUM;
    int input = tflite_reads_elements(importer, 1 - constant_index, result), output = -1;
    const struct tflite_tensor *constant = tflite_constant(importer, constant_index, TFLITE_INT8, 1);
    if (input >= 0 && constant)
        output = tflite_makes(importer, input);
    if (output < 0)
        return false;
    uint8_t table[256];
    int bound = (int8_t)constant->data[0] + 128;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(is_maximum == (i > bound) ? i : bound);
    quantised_table(&importer->builder, tflite_output(importer)->name, input, output, table);
    result->tensor = output;
    return true;
}

/* The scales are the same, so that the elements are compared as they are, which is what TensorFlow Lite Micro does. */
static bool check_scales(struct tflite_importer *importer)
{
    struct quantisation output, input;
    if (importer->current->input_count != 2)
        return tflite_fault(importer, "%d inputs; supported: two", importer->current->input_count);
    for (int i = 0; i < 2; i++) {
        const struct tflite_tensor *tensor = tflite_input(importer, i);
        if (!tensor || !tflite_quantisation(importer, tensor, &input) ||
            !tflite_quantisation(importer, tflite_output(importer), &output))
            return false;
        if (input.scale != output.scale || input.zero_point != output.zero_point || input.is_signed != output.is_signed)
            return tflite_fault(importer,
                                "'%s' has scale %g and zero point %d, and the output %g and %d; supported: the same",
                                tensor->name, input.scale, (int)input.zero_point, output.scale, (int)output.zero_point);
    }
    return true;
}

static bool choose(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    int output = tflite_makes(importer, result->tensor);
    if (output < 0 || !tflite_go_together(importer, inputs, output))
        return false;
    middle_choose(&importer->builder, inputs[0], inputs[1], importer->current->code == TFLITE_MAXIMUM, output);
    result->tensor = output;
    return true;
}

bool tflite_choose(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return check_scales(importer) && tflite_combine(importer, choose_constant, choose, result);
}

/* ---- PReLU ---- */

struct slopes {
    struct quantisation quantisation;
    struct middle_constant placed;
    const int8_t *weights; /* one a channel; null: they are others, or more */
    bool falls;            /* one is below zero */
};

/* *value is the input. */
static bool read_slopes(struct tflite_importer *importer, struct value *value, struct slopes *slopes)
{
    const struct tflite_tensor *tensor = tflite_constant(importer, 1, TFLITE_INT8, 0);
    if (!tensor || !tflite_quantisation(importer, tensor, &slopes->quantisation) ||
        !tflite_places_constant(importer, 1, value, &slopes->placed))
        return false;
    const struct middle_constant *placed = &slopes->placed;
    int64_t count = (int64_t)placed->height * placed->width * placed->channels, zero = slopes->quantisation.zero_point;
    int8_t *weights = arena_array(importer->arena, int8_t, (size_t)count);
    bool are_weights = placed->height == 1 && placed->width == 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t slope = placed->elements[i] - zero;
        are_weights = are_weights && slope >= INT8_MIN && slope <= INT8_MAX;
        weights[i] = (int8_t)slope;
        slopes->falls |= slope < 0;
    }
    slopes->weights = are_weights ? weights : NULL;
    return true;
}

/* What is above zero, scaled; of the rest zero. */
static int lay_upper(struct tflite_importer *importer, int input, const struct quantisation *output)
{
    const struct tensor from = *tflite_network_tensor(importer, input);
    int upper = lay_like(importer, input, "above zero", output), exponent,
        zero = tflite_network_tensor(importer, upper)->zero_point;
    int32_t multiplier;
    uint8_t table[256];
    fixed_quantise_multiplier(from.scale / output->scale, &multiplier, &exponent);
    for (int i = 0; i < 256; i++) {
        int64_t y = i <= from.zero_point ? zero : (int64_t)fixed_scale(i - from.zero_point, multiplier, exponent) + zero;
        table[i] = (uint8_t)(y > UINT8_MAX ? UINT8_MAX : y);
    }
    quantised_table(&importer->builder, tflite_network_tensor(importer, upper)->name, input, upper, table);
    return upper;
}

/* What is below zero, as it is; of the rest zero. */
static int lay_lower(struct tflite_importer *importer, int input)
{
    const struct tensor from = *tflite_network_tensor(importer, input);
    int lower = lay_like(importer, input, "below zero",
                         &(struct quantisation){from.scale, from.zero_point + from.model_offset, from.model_offset != 0});
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i < from.zero_point ? i : from.zero_point);
    quantised_table(&importer->builder, tflite_network_tensor(importer, lower)->name, input, lower, table);
    return lower;
}

static void lay_weights(struct tflite_importer *importer, int from, const struct slopes *slopes, int sloped)
{
    const struct tensor to = *tflite_network_tensor(importer, sloped);
    struct layer *layer = quantised_layer(&importer->builder, LAYER_CONVOLUTION, to.name, from, sloped);
    layer->groups = to.channels;
    quantised_finish_convolution(
        &importer->builder, layer,
        &(struct quantised_weights){.weights = slopes->weights, .scales = &slopes->quantisation.scale, .scale_count = 1});
}

/* The product with the slopes; where these do not fall, what is above zero gives at least zero, and a clip leaves that. -1
 * after a report. */
static int lay_slopes(struct tflite_importer *importer, int input, const struct slopes *slopes,
                      const struct quantisation *output)
{
    const char *name = tflite_input(importer, 1)->name;
    int from = slopes->falls ? lay_lower(importer, input) : input, sloped = lay_like(importer, input, "sloped", output),
        factors;
    if (slopes->weights) {
        lay_weights(importer, from, slopes, sloped);
    } else if (middle_lay_constant(&importer->builder, name, &slopes->placed, &slopes->quantisation, from, &factors)) {
        tflite_lay_product(importer, from, factors, sloped);
    } else {
        tflite_fault(importer, "slopes of %s; supported: one, one a channel (of Keras: shared_axes=[1, 2]), or up to %d",
                     tflite_shape_text(importer, tflite_input(importer, 1)), MAXIMUM_DIMENSION);
        return -1;
    }
    struct network *network = importer->builder.network;
    if (!slopes->falls)
        network->layers[network->layer_count - 1].stages[0].maximum = network->tensors[sloped].zero_point;
    return sloped;
}

bool tflite_prelu(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct slopes slopes = {0};
    struct quantisation quantisation;
    if (!read_slopes(importer, result, &slopes) || !tflite_quantisation(importer, tflite_output(importer), &quantisation))
        return false;
    int input = result->tensor, upper = lay_upper(importer, input, &quantisation);
    int lower = lay_slopes(importer, input, &slopes, &quantisation), output = lower < 0 ? -1 : tflite_makes(importer, input);
    if (output < 0)
        return false;
    middle_sum_bytes(&importer->builder, upper, 1, lower, -tflite_network_tensor(importer, output)->zero_point, output);
    result->tensor = output;
    return true;
}
