/* DIV: TensorFlow Lite Micro multiplies by a reciprocal of 31 bits. So does the layer, by reciprocals that are found so that
 * each quotient is rounded as TensorFlow Lite Micro rounds it. */
#include <math.h>

#include "base/arithmetic.h"
#include "import/tflite/tflite_import.h"
#include "middle/quotients.h"
#include "network/fixed_point.h"

#define WORD_BITS 32

struct division {
    int32_t multiplier; /* of numerator's scale / (denominator's * output's) */
    int exponent, zero_points[2], output_zero;
    double factor;
    int shift; /* of the layer's stage */
};

/* ---- as TensorFlow Lite Micro computes it ---- */

/* As fixed_divide, of any number of places: what C leaves undefined, from 32 on, is exact here. */
static int64_t divide_by_power(int64_t x, int places)
{
    if (places <= 0)
        return x * ((int64_t)1 << -places);
    int64_t magnitude = x < 0 ? -x : x, rounded = places > 62 ? 0 : (magnitude + ((int64_t)1 << (places - 1))) >> places;
    return x < 0 ? -rounded : rounded;
}

static int sign_bits(int32_t x) { return __builtin_clz((unsigned)(x < 0 ? ~x : x) << 1 | 1); }

/* The byte that is the quotient of two elements less their zero points; the denominator is not 0. */
static int quotient(const struct division *division, int32_t numerator, int32_t denominator)
{
    int32_t x = denominator < 0 ? -numerator : numerator;
    unsigned y = (unsigned)(denominator < 0 ? -denominator : denominator);
    int zeros = __builtin_clz(y), headroom = sign_bits(x);
    int32_t inverse = fixed_reciprocal((int32_t)((y << zeros) - ((unsigned)1 << 31)));
    int32_t unscaled = fixed_multiply((int32_t)((int64_t)x * ((int64_t)1 << headroom)), inverse);
    int places = WORD_BITS - 1 - zeros + headroom - division->exponent;
    int64_t rounded = divide_by_power(fixed_multiply(unscaled, division->multiplier), places) + division->output_zero;
    return (int)clamp(rounded, 0, UINT8_MAX);
}

/* ---- reciprocals ---- */

static int model_quotient(const void *context, int numerator, int denominator)
{
    const struct division *division = context;
    return quotient(division, numerator, denominator - division->zero_points[1]);
}

static int64_t layer_rounds(const void *context, int64_t accumulator)
{
    const struct division *division = context;
    return (accumulator + ((2 * (int64_t)division->output_zero + 1) << (division->shift - 1))) >> division->shift;
}

/* What is divided by 0 is as large as can be. */
static bool find_factors(struct tflite_importer *importer, const struct division *division, int32_t *factors[2])
{
    const struct quotient_rule rule = {division, model_quotient, layer_rounds, division->zero_points[0]};
    quotient_numerators(division->zero_points[0], factors[0]);
    for (int i = 0; i < 256; i++) {
        int32_t denominator = i - division->zero_points[1];
        factors[1][i] = INT32_MAX;
        if (denominator != 0 &&
            !quotient_reciprocal(&rule, i, quotient_wanted(division->factor, denominator, division->shift), &factors[1][i]))
            return tflite_fault(importer,
                                "of scales whose quotients, of the denominator %d, no multiplication rounds as TensorFlow "
                                "Lite Micro does; multiply by what computes the reciprocal",
                                denominator);
    }
    return true;
}

/* ---- the operator ---- */

static bool set_division(struct tflite_importer *importer, const double scales[2], const int zero_points[2], int output,
                         struct division *division)
{
    const struct tensor *to = tflite_network_tensor(importer, output);
    *division = (struct division){.zero_points = {zero_points[0], zero_points[1]},
                                  .output_zero = to->zero_point,
                                  .factor = scales[0] / (scales[1] * to->scale)};
    fixed_quantise_multiplier(division->factor, &division->multiplier, &division->exponent);
    division->shift = quotient_shift(division->factor);
    return division->factor > 1e-6 && division->factor < 1e6
               ? true
               : tflite_fault(importer, "of scales %g and %g, to %g; supported: quotients of them from 1e-6 to 1e6",
                              scales[0], scales[1], to->scale);
}

static bool divide_tensors(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    struct division division;
    struct tflite_operands operands;
    int32_t *factors[2] = {arena_array(importer->arena, int32_t, 256), arena_array(importer->arena, int32_t, 256)};
    if (!tflite_makes_of_two(importer, inputs, result->tensor, &operands) ||
        !set_division(importer, operands.scales, operands.zero_points, operands.output, &division) ||
        !find_factors(importer, &division, factors))
        return false;
    int output = operands.output;
    const char *name = tflite_network_tensor(importer, output)->name;
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = (2 * (int64_t)division.output_zero + 1) << (division.shift - 1);
    struct layer *layer = quantised_layer(&importer->builder, LAYER_MULTIPLICATION, name, inputs[0], output);
    layer->inputs[1] = inputs[1];
    layer->factors[0] = factors[0];
    layer->factors[1] = factors[1];
    layer->stages[0] = (struct stage){.count = 1,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = (int64_t)1 << division.shift,
                                      .has_clip = true,
                                      .maximum = UINT8_MAX};
    layer->stage_count = 1;
    result->tensor = output;
    return tflite_clip(importer, &layer->stages[0], output);
}

struct by_number {
    const struct division *division;
    int constant_index, number;
    const struct stage *clip;
};

static int quotient_by_number(const struct by_number *by, int element)
{
    int own = element - by->division->zero_points[1 - by->constant_index];
    int numerator = by->constant_index ? own : by->number, denominator = by->constant_index ? by->number : own;
    int y = denominator     ? quotient(by->division, numerator, denominator)
            : numerator < 0 ? 0
            : numerator     ? UINT8_MAX
                            : by->division->output_zero;
    return (int)clamp(y, by->clip->minimum, by->clip->maximum);
}

/* A constant of one element: a function of the other input's elements. */
static bool divide_constant(struct tflite_importer *importer, int index, struct value *result)
{
    struct division division;
    struct quantisation quantisation;
    struct stage clip = {.has_clip = true, .maximum = UINT8_MAX};
    const struct tflite_tensor *constant = tflite_constant(importer, index, TFLITE_INT8, 1);
    int input = constant ? tflite_reads_elements(importer, 1 - index, result) : -1;
    if (input < 0 || !tflite_quantisation(importer, constant, &quantisation))
        return false;
    int output = tflite_makes(importer, input);
    if (output < 0 || !tflite_clip(importer, &clip, output))
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input);
    double scales[2] = {from.scale, from.scale};
    int zero_points[2] = {from.zero_point, from.zero_point};
    scales[index] = quantisation.scale;
    zero_points[index] = (int)quantisation.zero_point;
    if (!set_division(importer, scales, zero_points, output, &division))
        return false;
    struct by_number by = {&division, index, (int8_t)constant->data[0] - (int)quantisation.zero_point, &clip};
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)quotient_by_number(&by, i);
    quantised_table(&importer->builder, tflite_output(importer)->name, input, output, table);
    result->tensor = output;
    return true;
}

bool tflite_divide(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return tflite_combine(importer, divide_constant, divide_tensors, result);
}
