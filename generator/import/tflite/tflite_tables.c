/* Functions of one element: 256 elements of the output, by TensorFlow Lite Micro's own arithmetic. */
#include <math.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "import/tflite/tflite_import.h"
#include "network/fixed_point.h"

#define RADIUS_INTEGERS 4 /* integer bits of the arguments of logistic and tanh */

/* What functions need: of the model's integers, minus the input's zero point. */
struct function {
    double input_scale, output_scale;
    int input_zero, output_zero; /* the model's own */
    double alpha;
    int32_t multiplier, second_multiplier;
    int exponent, second_exponent;
    int minimum, maximum;
    real_function *real;
    struct function_parameters parameters;
};

static int clamp_element(int64_t x, int minimum, int maximum) { return (int)clamp(x, minimum, maximum); }

/* The output's integer in the model's type for x = input's integer - its zero point. */
typedef int element_function(const struct function *function, int x);

bool tflite_lay_function(struct tflite_importer *importer, tflite_element_function *function, const void *context,
                         struct value *result)
{
    struct value value;
    int input = tflite_reads_elements(importer, 0, &value);
    int output = input < 0 ? -1 : tflite_makes(importer, input);
    if (output < 0)
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    if (tflite_elements(tflite_output(importer)) != tensor_elements(&from))
        return tflite_fault(importer, "the output has another number of elements than the input");
    uint8_t table[256];
    int offset = to.model_offset;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(clamp_element(function(context, i - from.zero_point), offset, offset + 255) - offset);
    quantised_table(&importer->builder, to.name, input, output, table);
    *result = value;
    result->tensor = output;
    return true;
}

struct element_call {
    const struct function *function;
    element_function *element;
};

static int call_element(const void *context, int x)
{
    const struct element_call *call = context;
    return call->element(call->function, x);
}

static bool lay_table(struct tflite_importer *importer, struct function *function, element_function *element,
                      struct value *result)
{
    return tflite_lay_function(importer, call_element, &(struct element_call){function, element}, result);
}

/* False after a report. */
static bool read_function(struct tflite_importer *importer, struct function *function)
{
    const struct tflite_tensor *input = tflite_input(importer, 0), *output = tflite_output(importer);
    struct quantisation from, to;
    if (!input || !tflite_quantisation(importer, input, &from) || !tflite_quantisation(importer, output, &to))
        return false;
    *function = (struct function){.input_scale = from.scale,
                                  .output_scale = to.scale,
                                  .input_zero = (int)from.zero_point,
                                  .output_zero = (int)to.zero_point,
                                  .alpha = (double)importer->current->options.alpha,
                                  .minimum = to.is_signed ? -128 : 0,
                                  .maximum = to.is_signed ? 127 : 255};
    return true;
}

/* ---- requantisation and clips ---- */

static int rescale(const struct function *function, int x)
{
    int64_t y = (int64_t)fixed_scale(x, function->multiplier, function->exponent) + function->output_zero;
    return clamp_element(y, function->minimum, function->maximum);
}

bool tflite_requantise(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct function function;
    if (!read_function(importer, &function))
        return false;
    fixed_quantise_multiplier(function.input_scale / function.output_scale, &function.multiplier, &function.exponent);
    return lay_table(importer, &function, rescale, result);
}

/* The factor is a quotient of float32. */
bool tflite_relu(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct function function;
    if (!read_function(importer, &function))
        return false;
    int least = operation->code == TFLITE_RELU_N1_TO_1 ? -1 : 0;
    double factor = (double)((float)function.input_scale / (float)function.output_scale);
    int64_t unit = (int64_t)fmin(round(1 / function.output_scale), 256);
    fixed_quantise_multiplier(factor, &function.multiplier, &function.exponent);
    function.minimum = clamp_element(function.output_zero + least * unit, function.minimum, 127);
    if (operation->code != TFLITE_RELU)
        function.maximum = clamp_element(function.output_zero + unit, function.minimum, function.maximum);
    return lay_table(importer, &function, rescale, result);
}

/* TensorFlow Lite Micro clips the input's integers, whatever the output's scale. */
static int clip_input(const struct function *function, int x)
{
    return clamp_element(x + function->input_zero, function->minimum, function->maximum);
}

bool tflite_relu6(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct function function;
    if (!read_function(importer, &function))
        return false;
    if (function.input_scale != function.output_scale || function.input_zero != function.output_zero)
        return tflite_fault(importer,
                            "input and output have scales %g and %g and zero points %d and %d; supported: the same, for "
                            "TensorFlow Lite Micro does not rescale here, and LiteRT does: their results differ. Put the "
                            "activation behind a convolution or a dense layer, which take it in",
                            function.input_scale, function.output_scale, function.input_zero, function.output_zero);
    double six = round((double)(6.0f / (float)function.input_scale));
    function.minimum = function.input_zero;
    function.maximum = clamp_element((int64_t)fmin(six, 256) + function.input_zero, function.minimum, function.maximum);
    return lay_table(importer, &function, clip_input, result);
}

/* ---- LeakyRelu ---- */

static int leak(const struct function *function, int x)
{
    if (x >= 0)
        return rescale(function, x);
    int64_t y = fixed_scale(x, function->second_multiplier, function->second_exponent);
    y = function->alpha < 0 ? -y : y;
    return clamp_element(y + function->output_zero, function->minimum, function->maximum);
}

bool tflite_leaky_relu(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct function function;
    if (!read_function(importer, &function))
        return false;
    float input = (float)function.input_scale, output = (float)function.output_scale;
    double alpha = (double)(input * (float)function.alpha / output);
    if (!isfinite(alpha))
        return tflite_fault(importer, "alpha is %g; supported: finite numbers", function.alpha);
    fixed_quantise_multiplier((double)(input / output), &function.multiplier, &function.exponent);
    fixed_quantise_multiplier(fabs(alpha), &function.second_multiplier, &function.second_exponent);
    return lay_table(importer, &function, leak, result);
}

/* ---- logistic and tanh ---- */

/* Their argument with 4 integer bits; beyond the radius it does not fit, and the result is an end of the range: with a
 * radius of 0, of scales above 8, the lower one for 0. */
static bool set_argument(struct function *function)
{
    fixed_quantise_multiplier(function->input_scale * (1 << (31 - RADIUS_INTEGERS)), &function->multiplier,
                              &function->exponent);
    double radius = ((1 << RADIUS_INTEGERS) - 1) * ldexp(1, 31 - RADIUS_INTEGERS) / ldexp(1, function->exponent);
    function->second_exponent = (int)fmin(floor(radius), 1000);
    return function->exponent >= -31;
}

static int squash(const struct function *function, int x, int32_t (*squashed)(int32_t), int places, int offset)
{
    int radius = function->second_exponent;
    if (x <= -radius || x >= radius)
        return x <= -radius ? function->minimum : function->maximum;
    int32_t y = squashed(fixed_scale(x, function->multiplier, function->exponent));
    return clamp_element(fixed_divide(y, places) + offset, function->minimum, function->maximum);
}

static int logistic(const struct function *function, int x) { return squash(function, x, fixed_logistic, 31 - 8, -128); }

static int hyperbolic_tangent(const struct function *function, int x) { return squash(function, x, fixed_tanh, 31 - 7, 0); }

static bool squashing(struct tflite_importer *importer, double scale, int zero, element_function *element,
                      struct value *result)
{
    struct function function;
    if (!read_function(importer, &function))
        return false;
    if (function.output_scale != scale || function.output_zero != zero || function.minimum != -128)
        return tflite_fault(importer, "an output with scale %g and zero point %d; supported: INT8 with 1/%g and %d",
                            function.output_scale, function.output_zero, 1 / scale, zero);
    set_argument(&function);
    return lay_table(importer, &function, element, result);
}

bool tflite_logistic(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return squashing(importer, 1.0 / 256, -128, logistic, result);
}

bool tflite_tanh(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return squashing(importer, 1.0 / 128, 0, hyperbolic_tangent, result);
}

/* ---- HardSwish: 16-bit fixed point ---- */

static int16_t saturate_16(int64_t x) { return (int16_t)clamp_element(x, INT16_MIN, INT16_MAX); }

/* (a * b) / 2^15, to the nearest. */
static int16_t multiply_16(int16_t a, int16_t b)
{
    int32_t product = (int32_t)a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
    return saturate_16((product + nudge) / (1 << 15));
}

static int16_t shift_left_16(int16_t x, int places)
{
    return saturate_16((int64_t)x * ((int64_t)1 << (places < 31 ? places : 31)));
}

/* 32 bits to 16. */
static int16_t narrow_multiplier(int32_t multiplier) { return saturate_16(((int64_t)multiplier + (1 << 15)) >> 16); }

static int hard_swish(const struct function *function, int x)
{
    int16_t input = saturate_16((int64_t)x * 128), multiplier = narrow_multiplier(function->multiplier);
    int16_t scaled = multiply_16(input, multiplier), gate = input;
    int exponent = function->second_exponent;
    if (exponent > 0)
        gate = shift_left_16(gate, exponent - 1);
    gate = multiply_16(gate, narrow_multiplier(function->second_multiplier));
    if (exponent > 0)
        gate = shift_left_16(gate, 1);
    if (exponent < 0)
        gate = (int16_t)fixed_divide(gate, -exponent);
    gate = (int16_t)((gate + (1 << 15)) >> 1);            /* from -1..1 to 0..1 */
    int32_t product = (int32_t)gate * scaled / (1 << 15); /* towards zero */
    return clamp_element((int64_t)fixed_divide(product, -function->exponent) + function->output_zero, function->minimum,
                         function->maximum);
}

bool tflite_hard_swish(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct function function;
    if (!read_function(importer, &function))
        return false;
    float fine = (1.0f / 128.0f) * (float)function.input_scale;
    fixed_quantise_multiplier((double)(fine / (float)function.output_scale), &function.multiplier, &function.exponent);
    fixed_quantise_multiplier((double)(fine / (3.0f / 32768.0f)), &function.second_multiplier, &function.second_exponent);
    if (function.exponent > 0)
        return tflite_fault(importer, "scales of %g and %g; TensorFlow Lite Micro refuses an output that is 128 times finer",
                            function.input_scale, function.output_scale);
    return lay_table(importer, &function, hard_swish, result);
}

/* ---- other functions: float32, of each element ---- */

static int magnitude(const struct function *function, int x)
{
    int64_t y = function->input_scale == function->output_scale
                    ? abs(x)
                    : (int64_t)fixed_scale(abs(x), function->multiplier, function->exponent);
    return clamp_element(y + function->output_zero, function->minimum, function->maximum);
}

bool tflite_absolute(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct function function;
    (void)operation;
    if (!read_function(importer, &function))
        return false;
    fixed_quantise_multiplier((double)((float)function.input_scale / (float)function.output_scale), &function.multiplier,
                              &function.exponent);
    return lay_table(importer, &function, magnitude, result);
}

static int by_float(const struct function *function, int x)
{
    float real = (float)function->input_scale * (float)x, inverse = 1 / (float)function->output_scale;
    float y = (float)function->real((double)real, function->parameters);
    float rounded = roundf(y * inverse) + (float)function->output_zero;
    return rounded >= (float)function->maximum  ? function->maximum
           : rounded > (float)function->minimum ? (int)rounded
                                                : function->minimum; /* also what is no number */
}

/* LiteRT cuts off what is behind the point of a root's steps. */
static int root(const struct function *function, int x)
{
    float steps = floorf(sqrtf((float)function->input_scale * (float)x) / (float)function->output_scale);
    return x < 0 ? function->minimum
                 : clamp_element((int64_t)fminf(steps, 255) + function->output_zero, function->minimum, function->maximum);
}

bool tflite_square_root(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct function function;
    (void)operation;
    return read_function(importer, &function) && lay_table(importer, &function, root, result);
}

bool tflite_function(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct function function;
    if (!read_function(importer, &function))
        return false;
    function.real = tflite_find_function(operation, &function.parameters);
    return lay_table(importer, &function, by_float, result);
}
