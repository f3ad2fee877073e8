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

/* 1 / sqrt(value) as a multiplier and an exponent: Newton's steps from 1, of numbers with 3 integer bits, whose products
 * have 6, of which 3 are given up. The value is brought to where 1 is near. */
static void inverse_root(int32_t value, int32_t *multiplier, int *exponent)
{
    enum { ONE = 1 << 28, STEPS = 5, ROOT_OF_HALF = 1518500250, SHIFT = 11 };
    int pairs = (__builtin_clz((unsigned)value) - 1) / 2 - 1;
    int32_t scaled = (int32_t)((int64_t)value << 2 * pairs) >> 1, half = (scaled + 1) >> 1, x = ONE;
    int shift = SHIFT - pairs;
    for (int i = 0; i < STEPS; i++) {
        int64_t cube = (int64_t)fixed_multiply(fixed_multiply(x, x), x) * 64;
        int32_t saturated = cube > INT32_MAX ? INT32_MAX : (int32_t)cube;
        x = (fixed_multiply(ONE + ONE / 2, x) - fixed_multiply(half, saturated)) * 8;
    }
    *multiplier = fixed_multiply(x, ROOT_OF_HALF);
    if (shift < 0) {
        *multiplier <<= -shift;
        shift = 0;
    }
    *exponent = -shift;
}

#define ROOT_BITS 20

static int root_of(const void *context, int element)
{
    const struct root *root = context;
    int32_t multiplier = INT32_MAX;
    int exponent = 0;
    if (element <= 0)
        return INT8_MAX;
    if (element > 1)
        inverse_root(element, &multiplier, &exponent);
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
