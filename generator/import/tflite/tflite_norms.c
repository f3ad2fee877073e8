/* What norms are made of in TFLite: squared differences, and inverse square roots, in TensorFlow Lite Micro's arithmetic. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "network/fixed_point.h"
#include "network/stage.h"

/* ---- SQUARED_DIFFERENCE ---- */

/* Both inputs are scaled to a common unit, 7 bits finer than the larger scale's double. */
#define SQUARE_SHIFT 7

struct squares {
    struct stage inputs[2], output;
};

static bool set_squares(struct tflite_importer *importer, const double *scales, const int *zero_points, int output,
                        struct squares *squares)
{
    const struct tensor *to = tflite_network_tensor(importer, output);
    double unit = 2 * fmax(scales[0], scales[1]), factor = unit * unit / ((1 << 2 * SQUARE_SHIFT) * to->scale);
    if (factor >= 1)
        return tflite_fault(importer,
                            "scales of %g and %g of the inputs and %g of the output; TensorFlow Lite Micro refuses them",
                            scales[0], scales[1], to->scale);
    for (int i = 0; i < 2; i++) {
        squares->inputs[i] = tflite_scale_by(importer, scales[i] / unit, -zero_points[i]);
        squares->inputs[i].left_shift = SQUARE_SHIFT;
    }
    tflite_negate(importer, &squares->inputs[1]);
    squares->output = tflite_scale_by(importer, factor, 0);
    squares->output.zero_point = to->zero_point;
    squares->output.has_clip = true;
    squares->output.maximum = 255;
    return true;
}

/* A constant of one element: a function of the other input's elements. */
static bool square_constant(struct tflite_importer *importer, int constant_index, struct value *result)
{
    struct value value;
    struct squares squares;
    struct quantisation quantisation;
    const struct tflite_tensor *constant = tflite_constant(importer, constant_index, TFLITE_INT8, 1);
    int input = constant ? tflite_reads_elements(importer, 1 - constant_index, &value) : -1;
    if (input < 0 || !tflite_quantisation(importer, constant, &quantisation))
        return false;
    int output = tflite_makes(importer, input);
    if (output < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input);
    if (tflite_elements(tflite_output(importer)) != tensor_elements(&from))
        return tflite_fault(importer, "the output has another number of elements than the input");
    const double scales[2] = {from.scale, quantisation.scale};
    const int zero_points[2] = {from.zero_point, (int)quantisation.zero_point};
    if (!set_squares(importer, scales, zero_points, output, &squares))
        return false;
    uint8_t table[256];
    int64_t term = (int64_t)stage_apply(&squares.inputs[1], 0, (int8_t)constant->data[0]);
    for (int i = 0; i < 256; i++) {
        int64_t difference = (int64_t)stage_apply(&squares.inputs[0], 0, i) + term;
        table[i] = (uint8_t)stage_apply(&squares.output, 0, difference * difference);
    }
    quantised_table(&importer->builder, tflite_output(importer)->name, input, output, table);
    *result = value;
    result->tensor = output;
    return true;
}

static bool square_tensors(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    struct squares squares;
    struct tflite_operands operands;
    if (!tflite_makes_of_two(importer, inputs, result->tensor, &operands) ||
        !set_squares(importer, operands.scales, operands.zero_points, operands.output, &squares))
        return false;
    int output = operands.output;
    const char *name = tflite_network_tensor(importer, output)->name;
    struct layer *layer = quantised_layer(&importer->builder, LAYER_SQUARED_DIFFERENCE, name, inputs[0], output);
    layer->inputs[1] = inputs[1];
    memcpy(layer->input_stages, squares.inputs, sizeof squares.inputs);
    layer->stages[0] = squares.output;
    layer->stage_count = 1;
    result->tensor = output;
    return true;
}

bool tflite_squared_difference(struct tflite_importer *importer, const struct tflite_operator *operation,
                               struct value *result)
{
    (void)operation;
    return tflite_combine(importer, square_constant, square_tensors, result);
}

/* ---- RSQRT ---- */

struct root {
    int32_t multiplier;
    int exponent, zero_point;
};

#define ROOT_BITS 20

static int root_of(const void *context, int element)
{
    const struct root *root = context;
    int32_t multiplier;
    int exponent;
    if (element <= 0)
        return INT8_MAX;
    fixed_inverse_root(element, &multiplier, &exponent);
    int32_t fine = fixed_scale(1, multiplier, exponent + ROOT_BITS);
    int64_t y = (int64_t)fixed_scale(fine, root->multiplier, root->exponent - ROOT_BITS) + root->zero_point;
    return y < INT8_MIN ? INT8_MIN : y > INT8_MAX ? INT8_MAX : (int)y;
}

bool tflite_inverse_root(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct quantisation from, to;
    struct root root;
    const struct tflite_tensor *input = tflite_input(importer, 0), *output = tflite_output(importer);
    (void)operation;
    if (!input || !tflite_quantisation(importer, input, &from) || !tflite_quantisation(importer, output, &to))
        return false;
    if (!from.is_signed || !to.is_signed)
        return tflite_fault(importer, "of UINT8; supported: INT8");
    double scale = 1 / (double)(sqrtf((float)from.scale) * (float)to.scale);
    fixed_quantise_multiplier(scale, &root.multiplier, &root.exponent);
    root.zero_point = (int)to.zero_point;
    return tflite_lay_function(importer, root_of, &root, result);
}

/* ---- L2_NORMALIZATION ---- */

#define MOST_L2_CHANNELS 8192 /* whose squares have 29 bits */

/* TensorFlow Lite Micro takes the last dimension, and an output of the scale 1/128, whose zero point is 0. */
static bool set_l2_norm(struct tflite_importer *importer, int input, int output)
{
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    struct norm_constants *constants = arena_allocate(importer->arena, sizeof *constants);
    struct norm *norm = arena_allocate(importer->arena, sizeof *norm);
    if (to.scale != 1.0 / 128 || to.zero_point != 128 || from.channels > MOST_L2_CHANNELS)
        return tflite_fault(importer,
                            "%d elements into an output of scale %g and zero point %d; supported: up to %d, 1/128, 0",
                            from.channels, to.scale, to.zero_point + to.model_offset, MOST_L2_CHANNELS);
    *constants = (struct norm_constants){1, 0};
    *norm = (struct norm){
        .arithmetic = NORM_TWICE, .zero_point = from.zero_point, .run = from.channels, .count = 1, .constants = constants};
    struct layer *layer = quantised_layer(&importer->builder, LAYER_NORM, to.name, input, output);
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    layer->norm = norm;
    layer->stages[0] = (struct stage){
        .count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1, .has_clip = true, .maximum = UINT8_MAX};
    layer->stage_count = 1;
    return true;
}

bool tflite_l2_norm(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    if (operation->options.activation != TFLITE_NO_ACTIVATION)
        return tflite_fault(importer, "fused activation %d; supported: none", operation->options.activation);
    if (!tflite_takes_channels(importer, -1, &value))
        return false;
    int output = tflite_makes(importer, value.tensor);
    if (output < 0 || !set_l2_norm(importer, value.tensor, output))
        return false;
    value.tensor = output;
    return tflite_gives(importer, 0, &value, result);
}
