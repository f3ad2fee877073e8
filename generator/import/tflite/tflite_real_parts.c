/* Real numbers between DEQUANTIZE and QUANTIZE, of several tensors or elements: what QUANTIZE makes of them. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/norms.h"
#include "middle/sums.h"

/* ---- QUANTIZE ---- */

/* Real numbers as a quantisation rounds them: a table, or nothing where that changes no element. */
static struct value quantise(struct tflite_importer *importer, const struct value *value,
                             const struct quantisation *quantisation, const char *name)
{
    const struct tensor from = *tflite_network_tensor(importer, value->tensor);
    int zero = (int)quantisation->zero_point + (quantisation->is_signed ? 128 : 0);
    bool is_same = from.scale == quantisation->scale && from.zero_point == zero;
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        float steps = roundf(value->reals[i] / (float)quantisation->scale) + (float)zero;
        table[i] = (uint8_t)(steps >= 255 ? 255 : steps > 0 ? (int)steps : 0); /* no number at all: 0 */
        is_same = is_same && table[i] == i;
    }
    struct value result = *value;
    result.kind = VALUE_TENSOR;
    if (is_same)
        return result;
    result.tensor = quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, quantisation);
    quantised_table(&importer->builder, name, value->tensor, result.tensor, table);
    return result;
}

/* The quantisation that all readers of a tensor, which are QUANTIZEs, give it. */
static bool find_quantisation(struct tflite_importer *importer, int tensor, struct quantisation *quantisation)
{
    const struct tflite_tensor *found = NULL;
    for (int i = 0; i < importer->model->operator_count; i++) {
        const struct tflite_operator *reader = &importer->model->operators[i];
        for (int k = 0; k < reader->input_count; k++) {
            if (reader->inputs[k] != tensor)
                continue;
            if (reader->code != TFLITE_QUANTIZE || reader->output_count < 1)
                return false;
            const struct tflite_tensor *output = &importer->model->tensors[reader->outputs[0]];
            if (output->scale_count != 1 ||
                (found && (output->scales[0] != found->scales[0] || output->zero_points[0] != found->zero_points[0])))
                return false;
            found = output;
        }
    }
    return found && tflite_quantisation(importer, found, quantisation);
}

void tflite_fill_plain(const struct tensor *from, float *reals)
{
    for (int i = 0; i < 256; i++)
        reals[i] = (float)(from->scale * (i - from->zero_point));
}

static bool are_numbers(const struct value *value) { return tflite_is_real(value) && function_is_of_numbers(value->reals); }

/* The first of the inputs whose elements the operator gives, the largest, smallest or selected ones or all of them; -1: it
 * gives others. */
static int first_part(const struct tflite_operator *operation)
{
    switch (operation->code) {
    case TFLITE_CONCATENATION:
    case TFLITE_MAXIMUM:
    case TFLITE_MINIMUM: return 0;
    case TFLITE_SELECT:
    case TFLITE_SELECT_V2: return operation->input_count == 3 ? 1 : -1;
    default: return -1;
    }
}

/* Each part is quantised as the whole is behind, before the operator takes them. */
bool tflite_join_reals(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const int count = operation->input_count, first = first_part(operation);
    struct value *saved = arena_array(importer->arena, struct value, (size_t)count + 1);
    const bool compares = operation->code == TFLITE_MAXIMUM || operation->code == TFLITE_MINIMUM;
    struct quantisation quantisation;
    for (int i = first; i >= 0 && i < count; i++) {
        const struct value *part = tflite_input_value(importer, i);
        if (compares ? !are_numbers(part) : !tflite_is_real(part))
            return false;
        saved[i] = *tflite_input_value(importer, i);
    }
    if (first < 0 || !find_quantisation(importer, operation->outputs[0], &quantisation))
        return false;
    if (first > 0)
        saved[0] = *tflite_input_value(importer, 0);
    if (first > 0 && tflite_is_real(&saved[0]))
        tflite_lay_truths(importer, operation->inputs[0]);
    for (int i = first; i < count; i++) {
        const char *name = arena_format(importer->arena, "%s, part %d", tflite_output(importer)->name, i);
        struct value *part = &importer->values[operation->inputs[i]];
        *part = quantise(importer, &saved[i], &quantisation, name);
        tflite_lend_quantisation(importer, operation->inputs[i], part->tensor);
        tflite_lend_quantisation(importer, operation->outputs[0], part->tensor);
    }
    const bool is_done = tflite_find_handler(operation->code)(importer, operation, result);
    for (int i = 0; i < count; i++)
        importer->values[operation->inputs[i]] = saved[i];
    float *reals = tflite_new_reals(importer);
    result->kind = is_done ? VALUE_REALS : VALUE_UNKNOWN;
    if (is_done)
        tflite_fill_plain(tflite_network_tensor(importer, result->tensor), reals);
    result->reals = reals;
    return true;
}

/* ---- comparisons ---- */

/* Which operand is to be above the other one, or not to be; false: the operator compares nothing. */
static bool read_comparison(int code, int *upper, bool *is_negated)
{
    *upper = code == TFLITE_LESS || code == TFLITE_GREATER_EQUAL;
    *is_negated = code == TFLITE_LESS_EQUAL || code == TFLITE_GREATER_EQUAL;
    return code == TFLITE_GREATER || code == TFLITE_LESS || *is_negated;
}

/* The operands' bytes by tables of their ranks, whose sum is above 0 where the upper one is above the other. */
static int lay_order(struct tflite_importer *importer, const int *inputs, const struct value *values, int upper, int like)
{
    const char *name = tflite_output(importer)->name;
    uint8_t tables[2][256];
    int ranks[2];
    const int addend = function_order(values[upper].reals, values[1 - upper].reals, tables[upper], tables[1 - upper]);
    for (int i = 0; i < 2; i++) {
        const struct tensor from = *tflite_network_tensor(importer, inputs[i]);
        const char *own = arena_format(importer->arena, "%s, operand %d", name, i);
        ranks[i] = quantised_tensor(&importer->builder, own, from.height, from.width, from.channels,
                                    &(struct quantisation){.scale = 1});
        quantised_table(&importer->builder, own, inputs[i], ranks[i], tables[i]);
    }
    const struct tensor to = *tflite_network_tensor(importer, like);
    const int truth =
        quantised_tensor(&importer->builder, name, to.height, to.width, to.channels, &(struct quantisation){.scale = 1});
    middle_sum_bytes(&importer->builder, ranks[0], 1, ranks[1], addend, truth);
    return truth;
}

bool tflite_compare_reals(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    struct value values[2];
    int upper, inputs[2];
    bool is_negated, is_done;
    if (!read_comparison(operation->code, &upper, &is_negated) || operation->input_count != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!are_numbers(tflite_input_value(importer, i)))
            return false;
        values[i] = *tflite_input_value(importer, i);
    }
    for (int i = 0; i < 2; i++) {
        importer->values[operation->inputs[i]].kind = VALUE_TENSOR;
        tflite_lend_quantisation(importer, operation->inputs[i], values[i].tensor);
    }
    is_done = tflite_reads_pair(importer, inputs, result);
    const int truth = is_done ? lay_order(importer, inputs, values, upper, result->tensor) : -1;
    is_done = is_done && tflite_go_together(importer, inputs, truth);
    for (int i = 0; i < 2; i++)
        importer->values[operation->inputs[i]] = values[i];
    float *reals = tflite_new_reals(importer);
    for (int i = 0; i < 256; i++)
        reals[i] = (i != 0) != is_negated;
    result->tensor = truth;
    result->kind = is_done ? VALUE_REALS : VALUE_UNKNOWN;
    result->reals = reals;
    return true;
}

/* ---- L2_NORMALIZATION ---- */

static bool is_plain(const struct tflite_importer *importer, const struct value *value)
{
    float reals[256];
    tflite_fill_plain(&importer->builder.network->tensors[value->tensor], reals);
    return !memcmp(reals, value->reals, sizeof reals);
}

/* The layer that norms of ONNX become; false where its output's scale is too small for it. */
static bool lay_norm(struct tflite_importer *importer, const char *name, int input, int output)
{
    static const double one = 1, zero = 0;
    const struct real_norm norm = {.kind = NORM_OF_SUM,
                                   .run = tflite_network_tensor(importer, input)->channels,
                                   .count = 1,
                                   .factors = &one,
                                   .terms = &zero,
                                   .minimum = -INFINITY,
                                   .maximum = INFINITY};
    return middle_norm(&importer->builder, name, input, output, &norm);
}

/* Channels by the root of their squares' sum, rounded as the QUANTIZE behind asks. */
bool tflite_normalise_reals(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const struct value *input = tflite_input_value(importer, 0);
    const char *name = tflite_output(importer)->name;
    struct quantisation quantisation;
    struct middle_value placed;
    if (operation->code != TFLITE_L2_NORMALIZATION || !tflite_is_real(input) || !is_plain(importer, input) ||
        operation->options.activation != TFLITE_NO_ACTIVATION ||
        !find_quantisation(importer, operation->outputs[0], &quantisation))
        return false;
    const struct value saved = *input;
    importer->values[operation->inputs[0]].kind = VALUE_TENSOR;
    const bool is_placed = tflite_takes_channels(importer, -1, &placed);
    importer->values[operation->inputs[0]] = saved;
    if (!is_placed)
        return true;
    const struct tensor from = *tflite_network_tensor(importer, placed.tensor);
    const int output = quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, &quantisation);
    if (!lay_norm(importer, name, placed.tensor, output))
        return tflite_fault(importer, "is quantised with the scale %g behind, which is too small", quantisation.scale), true;
    float *reals = tflite_new_reals(importer);
    tflite_fill_plain(tflite_network_tensor(importer, output), reals);
    placed.tensor = output;
    *result = tflite_value_of(output);
    result->is_moved = !view_is_memory(&placed.view) || !middle_is_whole(&importer->builder, &placed);
    result->view = placed.view;
    result->kind = VALUE_REALS;
    result->reals = reals;
    return true;
}

bool tflite_quantise_reals(struct tflite_importer *importer, const struct value *value, struct value *result)
{
    const struct tflite_tensor *output = tflite_output(importer);
    struct quantisation quantisation;
    if (!tflite_quantisation(importer, output, &quantisation))
        return false;
    *result = quantise(importer, value, &quantisation, output->name);
    return true;
}
