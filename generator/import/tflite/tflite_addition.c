/* Additions, subtractions and squared differences: both inputs are scaled to a common unit, 20 bits finer than the larger
 * scale, and their sum to the output. For a square, 7 bits. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/join.h"
#include "network/fixed_point.h"
#include "network/stage.h"

#define ADDITION_SHIFT 20
#define SQUARE_SHIFT   7

/* ---- two inputs ---- */

/* Shapes that broadcast: what is smaller is repeated. The result is as the larger one. */
static bool reads_broadcast(struct tflite_importer *importer, int *inputs, struct value *value)
{
    const struct tflite_tensor *output = tflite_output(importer);
    struct middle_value values[2];
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    for (int i = 0; i < output->rank; i++)
        dimensions[i] = output->dimensions[i];
    if (!tflite_takes(importer, 0, &values[0]) || !tflite_takes(importer, 1, &values[1]))
        return false;
    int lead = middle_align(&importer->builder, output->name, values, output->rank, dimensions);
    if (lead < 0)
        return tflite_fault(importer, "%s and %s do not go together, or make more elements than the firmware can have",
                            view_text(&values[0].view, importer->arena), view_text(&values[1].view, importer->arena));
    for (int i = 0; i < 2; i++)
        inputs[i] = values[i].tensor;
    *value = tflite_value_of(inputs[lead]);
    value->is_moved = !view_is_memory(&values[lead].view);
    value->view = values[lead].view;
    return true;
}

/* What images are: one of them, of at most three dimensions. */
static bool is_image(const struct tflite_tensor *tensor)
{
    return tensor->rank <= 3 || (tensor->rank == 4 && tensor->dimensions[0] == 1);
}

/* Their elements follow each other in memory in one order, and in one image, which the views do not say. */
static bool lie_alike(struct tflite_importer *importer, const int *inputs, const struct value *a, const struct value *b)
{
    const struct tensor *first = tflite_network_tensor(importer, inputs[0]),
                        *second = tflite_network_tensor(importer, inputs[1]);
    return a->is_moved && b->is_moved && view_equal(&a->view, &b->view) && first->height == second->height &&
           first->width == second->width && first->channels == second->channels;
}

bool tflite_reads_pair(struct tflite_importer *importer, int *inputs, struct value *value)
{
    struct value second;
    size_t count = tflite_elements(tflite_output(importer));
    if (tflite_elements(tflite_input(importer, 0)) != count || tflite_elements(tflite_input(importer, 1)) != count ||
        !is_image(tflite_output(importer)))
        return reads_broadcast(importer, inputs, value);
    inputs[0] = tflite_reads_elements(importer, 0, value);
    inputs[1] = inputs[0] < 0 ? -1 : tflite_reads_elements(importer, 1, &second);
    if (inputs[1] < 0)
        return false;
    if (!lie_alike(importer, inputs, value, &second)) {
        inputs[0] = tflite_reads(importer, 0, NULL);
        inputs[1] = inputs[0] < 0 ? -1 : tflite_reads(importer, 1, NULL);
        *value = tflite_value_of(inputs[0]);
    }
    return inputs[0] >= 0 && inputs[1] >= 0;
}

bool tflite_go_together(struct tflite_importer *importer, const int *inputs, int output)
{
    const struct tensor *of = tflite_network_tensor(importer, output);
    bool fits = tflite_elements(tflite_output(importer)) == tensor_elements(of);
    for (int i = 0; i < 2; i++)
        fits = fits && layer_second_repeats(of, tflite_network_tensor(importer, inputs[i])).fits;
    return fits || tflite_fault(importer, "the shapes of %s and %s do not go together to %s",
                                tflite_shape_text(importer, tflite_input(importer, 0)),
                                tflite_shape_text(importer, tflite_input(importer, 1)),
                                tflite_shape_text(importer, tflite_output(importer)));
}

bool tflite_makes_of_two(struct tflite_importer *importer, const int *inputs, int elements_of,
                         struct tflite_operands *operands)
{
    operands->output = tflite_makes(importer, elements_of);
    if (operands->output < 0 || !tflite_go_together(importer, inputs, operands->output))
        return false;
    for (int i = 0; i < 2; i++) {
        operands->scales[i] = tflite_network_tensor(importer, inputs[i])->scale;
        operands->zero_points[i] = tflite_network_tensor(importer, inputs[i])->zero_point;
    }
    return true;
}

bool tflite_is_constant(const struct tflite_importer *importer, int index)
{
    const struct tflite_operator *operation = importer->current;
    return index < operation->input_count && operation->inputs[index] != NO_TENSOR &&
           importer->values[operation->inputs[index]].kind == VALUE_CONSTANT;
}

bool tflite_reads_two(struct tflite_importer *importer)
{
    if (importer->current->input_count == 2 && !tflite_is_constant(importer, 0) && !tflite_is_constant(importer, 1))
        return true;
    return tflite_fault(importer, "supported: two inputs, both of which the network computes");
}

bool tflite_combine(struct tflite_importer *importer, tflite_by_number *by_number, tflite_by_tensors *by_tensors,
                    struct value *result)
{
    int inputs[2];
    for (int i = 0; i < 2; i++) {
        if (importer->current->input_count != 2 || !tflite_is_constant(importer, i))
            continue;
        if (tflite_elements(tflite_input(importer, i)) == 1)
            return by_number(importer, i, result);
        return tflite_reads_with_constant(importer, i, inputs, result) && by_tensors(importer, inputs, result);
    }
    return tflite_reads_two(importer) && tflite_reads_pair(importer, inputs, result) && by_tensors(importer, inputs, result);
}

/* ---- arithmetic ---- */

/* A stage of one number for all channels, without a clip. */
static struct stage scale_by(struct tflite_importer *importer, double factor, int64_t addend)
{
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    int *exponent = arena_array(importer->arena, int, 1);
    int32_t multiplier;
    fixed_quantise_multiplier(factor, &multiplier, exponent);
    numbers[0] = multiplier;
    numbers[1] = addend;
    return (struct stage){.count = 1,
                          .rounding = ROUND_TWICE,
                          .multiplier = &numbers[0],
                          .addend = &numbers[1],
                          .exponent = exponent,
                          .divisor = 1};
}

static void negate(struct tflite_importer *importer, struct stage *stage)
{
    int64_t *multiplier = arena_array(importer->arena, int64_t, 1);
    *multiplier = -stage->multiplier[0];
    stage->multiplier = multiplier;
}

/* The stages of a sum, a difference or its square, from both inputs' and the output's scales and zero points. */
struct pair {
    struct stage inputs[2], output;
    bool is_squared;
};

/* False after a report. */
static bool set_pair(struct tflite_importer *importer, const double *scales, const int *zero_points, int output,
                     struct pair *pair)
{
    const struct tensor *to = tflite_network_tensor(importer, output);
    int code = (int)importer->current->code;
    pair->is_squared = code == TFLITE_SQUARED_DIFFERENCE;
    int shift = pair->is_squared ? SQUARE_SHIFT : ADDITION_SHIFT;
    double unit = 2 * fmax(scales[0], scales[1]),
           factor = pair->is_squared ? unit * unit / ((1 << 2 * shift) * to->scale) : unit / ((1 << shift) * to->scale);
    if (factor >= 1)
        return tflite_fault(
            importer,
            "scales of %g and %g of the inputs and %g of the output; TensorFlow Lite Micro refuses them. The "
            "calibration saw nearly no result: give it inputs as the network gets them (" TFLITE_RECIPE ")",
            scales[0], scales[1], to->scale);
    for (int i = 0; i < 2; i++) {
        pair->inputs[i] = scale_by(importer, scales[i] / unit, -zero_points[i]);
        pair->inputs[i].left_shift = shift;
    }
    if (pair->is_squared || code == TFLITE_SUB)
        negate(importer, &pair->inputs[1]);
    pair->output = scale_by(importer, factor, 0);
    pair->output.zero_point = to->zero_point;
    pair->output.has_clip = true;
    pair->output.maximum = 255;
    return pair->is_squared || tflite_clip(importer, &pair->output, output);
}

/* Of all elements of the other input, where `at` is the constant's place; a square is the same from either side. */
static void table_of_pair(const struct pair *pair, int at, int8_t constant, uint8_t *table)
{
    wide term = stage_apply(&pair->inputs[at], 0, constant);
    for (int i = 0; i < 256; i++) {
        int64_t sum = (int64_t)(stage_apply(&pair->inputs[1 - at], 0, i) + term);
        table[i] = (uint8_t)stage_apply(&pair->output, 0, pair->is_squared ? sum * sum : sum);
    }
}

/* A constant of one element: a function of the other input's elements. */
static bool add_constant(struct tflite_importer *importer, int constant_index, struct value *result)
{
    struct value value;
    struct pair pair;
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
    int at = importer->current->code == TFLITE_SQUARED_DIFFERENCE ? 1 : constant_index, zero_points[2];
    double scales[2];
    scales[at] = quantisation.scale;
    zero_points[at] = (int)quantisation.zero_point;
    scales[1 - at] = from.scale;
    zero_points[1 - at] = from.zero_point;
    if (!set_pair(importer, scales, zero_points, output, &pair))
        return false;
    uint8_t table[256];
    table_of_pair(&pair, at, (int8_t)constant->data[0], table);
    quantised_table(&importer->builder, tflite_output(importer)->name, input, output, table);
    *result = value;
    result->tensor = output;
    return true;
}

static bool add_tensors(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    struct pair pair;
    struct tflite_operands operands;
    if (!tflite_makes_of_two(importer, inputs, result->tensor, &operands) ||
        !set_pair(importer, operands.scales, operands.zero_points, operands.output, &pair))
        return false;
    int output = operands.output;
    enum layer_kind kind = pair.is_squared ? LAYER_SQUARED_DIFFERENCE : LAYER_ADDITION;
    struct layer *layer =
        quantised_layer(&importer->builder, kind, tflite_network_tensor(importer, output)->name, inputs[0], output);
    layer->inputs[1] = inputs[1];
    memcpy(layer->input_stages, pair.inputs, sizeof pair.inputs);
    layer->stages[0] = pair.output;
    layer->stage_count = 1;
    result->tensor = output;
    return true;
}

static int no_difference(const void *zero_point, int element) { return (void)element, *(const int *)zero_point; }

/* x - x, by which Keras finds what is finite: no scale of it is too small. */
static bool is_of_itself(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    return operation->code == TFLITE_SUB && operation->input_count == 2 && operation->inputs[0] == operation->inputs[1] &&
           !tflite_is_constant(importer, 0);
}

bool tflite_add(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    if (is_of_itself(importer, operation)) {
        struct quantisation quantisation;
        if (!tflite_quantisation(importer, tflite_output(importer), &quantisation))
            return false;
        const int zero_point = (int)quantisation.zero_point;
        return tflite_lay_function(importer, no_difference, &zero_point, result);
    }
    return tflite_combine(importer, add_constant, add_tensors, result);
}
