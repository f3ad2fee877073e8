/* Comparisons, and SELECT by what they give. A truth is a byte, 0 or 1; what is not selected is multiplied by 0. Where
 * condition and operands are functions of the same element, as in Keras' SELU, all of it is one table. */
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/join.h"
#include "middle/sums.h"
#include "network/fixed_point.h"

#define COMPARISON_SHIFT 8 /* bits that TensorFlow Lite Micro adds to both operands before it scales them */

/* ---- tensors on the way ---- */

static const struct quantisation plain = {1, 0, false};

static int lay_like(struct tflite_importer *importer, int like, const char *what)
{
    const struct tensor from = *tflite_network_tensor(importer, like);
    const char *name = arena_format(importer->arena, "%s, %s", tflite_output(importer)->name, what);
    return quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, &plain);
}

static int lay_table(struct tflite_importer *importer, int input, const char *what, const uint8_t *table)
{
    int output = lay_like(importer, input, what);
    quantised_table(&importer->builder, tflite_network_tensor(importer, output)->name, input, output, table);
    return output;
}

static struct stage identity_stage(struct tflite_importer *importer)
{
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    return (struct stage){
        .count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1, .has_clip = true, .maximum = UINT8_MAX};
}

/* ---- comparisons ---- */

/* An operand in the unit of both. */
struct operand {
    int zero_point; /* of the firmware's bytes */
    int32_t multiplier;
    int exponent;
};

static bool read_operand(struct tflite_importer *importer, int index, struct operand *operand)
{
    struct quantisation quantisation;
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    if (!tensor || !tflite_quantisation(importer, tensor, &quantisation))
        return false;
    operand->zero_point = (int)quantisation.zero_point + (quantisation.is_signed ? 128 : 0);
    fixed_quantise_multiplier(quantisation.scale, &operand->multiplier, &operand->exponent);
    return operand->exponent <= 0 || tflite_fault(importer, "'%s' has the scale %g; TensorFlow Lite Micro compares below 1",
                                                  tensor->name, quantisation.scale);
}

static bool read_operands(struct tflite_importer *importer, struct operand operands[2])
{
    return read_operand(importer, 0, &operands[0]) && read_operand(importer, 1, &operands[1]);
}

static int32_t scaled(const struct operand *operand, int element)
{
    return fixed_scale((element - operand->zero_point) * (1 << COMPARISON_SHIFT), operand->multiplier, operand->exponent);
}

static bool is_true(int code, int32_t a, int32_t b)
{
    switch (code) {
    case TFLITE_LESS: return a < b;
    case TFLITE_LESS_EQUAL: return a <= b;
    case TFLITE_GREATER: return a > b;
    case TFLITE_GREATER_EQUAL: return a >= b;
    case TFLITE_EQUAL: return a == b;
    default: return a != b;
    }
}

static bool compare_number(struct tflite_importer *importer, int constant_index, struct value *result)
{
    struct operand operands[2];
    int input = tflite_reads_elements(importer, 1 - constant_index, result);
    const struct tflite_tensor *constant = tflite_constant(importer, constant_index, TFLITE_INT8, 1);
    uint8_t table[256];
    if (input < 0 || !constant || !read_operands(importer, operands))
        return false;
    int32_t number = scaled(&operands[constant_index], (int8_t)constant->data[0] + 128);
    for (int i = 0; i < 256; i++) {
        int32_t x = scaled(&operands[1 - constant_index], i);
        table[i] =
            constant_index ? is_true(importer->current->code, x, number) : is_true(importer->current->code, number, x);
    }
    result->tensor = lay_table(importer, input, "truth", table);
    return true;
}

static struct stage scale_stage(struct tflite_importer *importer, const struct operand *operand, int sign)
{
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    int *exponent = arena_array(importer->arena, int, 1);
    numbers[0] = sign * operand->multiplier;
    numbers[1] = -operand->zero_point;
    *exponent = operand->exponent;
    return (struct stage){.count = 1,
                          .rounding = ROUND_TWICE,
                          .multiplier = &numbers[0],
                          .addend = &numbers[1],
                          .exponent = exponent,
                          .left_shift = COMPARISON_SHIFT,
                          .divisor = 1};
}

/* A difference of whole numbers, kept between 0 and 1. */
static int lay_order(struct tflite_importer *importer, const struct operand operands[2], const int *inputs, int like,
                     int code)
{
    bool is_greater = code == TFLITE_GREATER || code == TFLITE_GREATER_EQUAL;
    int output = lay_like(importer, like, is_greater ? "truth" : "other truth");
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = code == TFLITE_GREATER_EQUAL || code == TFLITE_LESS_EQUAL;
    struct layer *layer = quantised_layer(&importer->builder, LAYER_ADDITION, tflite_network_tensor(importer, output)->name,
                                          inputs[0], output);
    layer->inputs[1] = inputs[1];
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = scale_stage(importer, &operands[i], (i == 0) == is_greater ? 1 : -1);
    layer->stages[0] = (struct stage){
        .count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1, .has_clip = true, .maximum = 1};
    layer->stage_count = 1;
    return output;
}

/* What is one for both. */
static int lay_both(struct tflite_importer *importer, int a, int b, int like)
{
    int output = lay_like(importer, like, "both");
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_MULTIPLICATION, tflite_network_tensor(importer, output)->name, a, output);
    layer->inputs[1] = b;
    layer->stages[0] = identity_stage(importer);
    layer->stage_count = 1;
    return output;
}

static int lay_inverse(struct tflite_importer *importer, int truth)
{
    static const uint8_t table[256] = {1};
    return lay_table(importer, truth, "not", table);
}

static bool compare_tensors(struct tflite_importer *importer, const int *inputs, struct value *result)
{
    struct operand operands[2];
    int code = importer->current->code;
    bool is_equality = code == TFLITE_EQUAL || code == TFLITE_NOT_EQUAL;
    if (!read_operands(importer, operands))
        return false;
    int truth = lay_order(importer, operands, inputs, result->tensor, is_equality ? TFLITE_GREATER_EQUAL : code);
    if (is_equality)
        truth = lay_both(importer, truth, lay_order(importer, operands, inputs, result->tensor, TFLITE_LESS_EQUAL), truth);
    if (!tflite_go_together(importer, inputs, truth))
        return false;
    result->tensor = code == TFLITE_NOT_EQUAL ? lay_inverse(importer, truth) : truth;
    return true;
}

bool tflite_logic(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int inputs[2], code = operation->code;
    if (code == TFLITE_LOGICAL_NOT) {
        int truth = tflite_reads_elements(importer, 0, result);
        result->tensor = truth < 0 ? -1 : lay_inverse(importer, truth);
        return truth >= 0;
    }
    if (operation->input_count != 2)
        return tflite_fault(importer, "%d inputs; supported: two", operation->input_count);
    if (!tflite_reads_pair(importer, inputs, result))
        return false;
    if (code == TFLITE_LOGICAL_OR) {
        result->tensor = lay_like(importer, result->tensor, "either");
        middle_sum_bytes(&importer->builder, inputs[0], 1, inputs[1], 0, result->tensor);
    } else {
        result->tensor = lay_both(importer, inputs[0], inputs[1], result->tensor);
    }
    return tflite_go_together(importer, inputs, result->tensor);
}

bool tflite_compare(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return tflite_combine(importer, compare_number, compare_tensors, result);
}

/* ---- SELECT: one table ---- */

/* What a tensor's elements are by those of the tensor that a chain of tables begins with. */
struct chain {
    int root; /* NO_TENSOR: a constant */
    uint8_t table[256];
};

static struct chain chain_of(struct tflite_importer *importer, int tensor)
{
    struct chain chain = {.root = tensor};
    for (int i = 0; i < 256; i++)
        chain.table[i] = (uint8_t)i;
    for (int producer; (producer = tflite_network_tensor(importer, chain.root)->producer) != NO_LAYER;) {
        const struct layer *layer = &importer->builder.network->layers[producer];
        if (layer->kind != LAYER_TABLE)
            break;
        uint8_t before[256];
        for (int i = 0; i < 256; i++)
            before[i] = chain.table[layer->table[i]];
        memcpy(chain.table, before, sizeof before);
        chain.root = layer->inputs[0];
    }
    return chain;
}

/* Condition and operands, as the network has them. */
struct selection {
    struct value values[3];
    bool is_constant[3];
    uint8_t constants[3];
};

static bool select_by_table(struct tflite_importer *importer, const struct selection *selection, struct value *result)
{
    struct chain chains[3];
    uint8_t table[256];
    for (int i = 0; i < 3; i++) {
        const struct value *value = &selection->values[i], *condition = &selection->values[0];
        if (selection->is_constant[i]) {
            memset(chains[i].table, selection->constants[i], sizeof chains[i].table);
            continue;
        }
        chains[i] = chain_of(importer, value->tensor);
        if (chains[i].root != chains[0].root || value->is_moved != condition->is_moved ||
            (value->is_moved && !view_equal(&value->view, &condition->view)))
            return false;
    }
    for (int i = 0; i < 256; i++)
        table[i] = chains[0].table[i] ? chains[1].table[i] : chains[2].table[i];
    int output = tflite_makes(importer, chains[0].root);
    if (output < 0)
        return false;
    quantised_table(&importer->builder, tflite_output(importer)->name, chains[0].root, output, table);
    *result = selection->values[0];
    result->tensor = output;
    return true;
}

/* ---- SELECT: sums of products ---- */

static int lay_truth(struct tflite_importer *importer, int condition, bool is_inverse, uint8_t element)
{
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (i != 0) != is_inverse ? element : 0;
    return lay_table(importer, condition, is_inverse ? "else" : "then", table);
}

static bool align(struct tflite_importer *importer, struct middle_value values[2], int *lead)
{
    const struct tflite_tensor *output = tflite_output(importer);
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    for (int i = 0; i < output->rank; i++)
        dimensions[i] = output->dimensions[i];
    *lead = middle_align(&importer->builder, output->name, values, output->rank, dimensions);
    return *lead >= 0 ||
           tflite_fault(importer, "%s and %s do not go together, or make more elements than the firmware can have",
                        view_text(&values[0].view, importer->arena), view_text(&values[1].view, importer->arena));
}

/* What is selected of one operand, and zeros. */
static bool lay_selected(struct tflite_importer *importer, const struct selection *selection, int index,
                         struct middle_value *result)
{
    struct middle_value pair[2];
    int lead;
    uint8_t element = selection->is_constant[index] ? selection->constants[index] : 1;
    if (!tflite_takes(importer, 0, &pair[0]))
        return false;
    pair[0].tensor = lay_truth(importer, pair[0].tensor, index == 2, element);
    if (selection->is_constant[index]) {
        *result = pair[0];
        return true;
    }
    if (!tflite_takes(importer, index, &pair[1]) || !align(importer, pair, &lead))
        return false;
    int output = lay_like(importer, pair[lead].tensor, index == 2 ? "selected else" : "selected");
    struct layer *layer = quantised_layer(&importer->builder, LAYER_MULTIPLICATION,
                                          tflite_network_tensor(importer, output)->name, pair[lead].tensor, output);
    layer->inputs[1] = pair[1 - lead].tensor;
    layer->stages[0] = identity_stage(importer);
    layer->stage_count = 1;
    *result = (struct middle_value){output, pair[lead].view};
    return true;
}

static bool select_by_sum(struct tflite_importer *importer, const struct selection *selection, struct value *result)
{
    struct middle_value pair[2];
    int lead;
    if (!lay_selected(importer, selection, 1, &pair[0]) || !lay_selected(importer, selection, 2, &pair[1]) ||
        !align(importer, pair, &lead))
        return false;
    int output = tflite_makes(importer, pair[lead].tensor);
    if (output < 0)
        return false;
    middle_sum_bytes(&importer->builder, pair[lead].tensor, 1, pair[1 - lead].tensor, 0, output);
    return tflite_gives(importer, 0, &(struct middle_value){output, pair[lead].view}, result);
}

/* Both operands have the output's scale, or the model would select other real numbers than it says. */
static bool read_choice(struct tflite_importer *importer, int index, struct selection *selection)
{
    struct quantisation own, output;
    const struct tflite_tensor *tensor = tflite_input(importer, index);
    if (!tensor || !tflite_quantisation(importer, tensor, &own) ||
        !tflite_quantisation(importer, tflite_output(importer), &output))
        return false;
    if (own.scale != output.scale || own.zero_point != output.zero_point || own.is_signed != output.is_signed)
        return tflite_fault(importer, "'%s' has scale %g and zero point %d, and the output %g and %d; supported: the same",
                            tensor->name, own.scale, (int)own.zero_point, output.scale, (int)output.zero_point);
    selection->is_constant[index] = tflite_is_constant(importer, index);
    const struct tflite_tensor *constant =
        selection->is_constant[index] ? tflite_constant(importer, index, TFLITE_INT8, 1) : NULL;
    if (constant)
        selection->constants[index] = (uint8_t)((int8_t)constant->data[0] + 128);
    return constant ||
           (!selection->is_constant[index] && tflite_reads_elements(importer, index, &selection->values[index]) >= 0);
}

/* A condition, or an operand of several elements, becomes a tensor. */
static bool lay_constant(struct tflite_importer *importer, int index)
{
    const struct tflite_tensor *constant = tflite_input(importer, index);
    struct quantisation quantisation = plain;
    size_t count = tflite_elements(constant);
    if (index > 0 && count == 1)
        return true;
    constant = tflite_constant(importer, index, index > 0 ? TFLITE_INT8 : TFLITE_BOOL, 0);
    int source = tflite_first_input(importer);
    if (!constant || source < 0 || (index > 0 && !tflite_quantisation(importer, constant, &quantisation)))
        return false;
    uint8_t *elements = arena_array(importer->arena, uint8_t, count);
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    for (size_t i = 0; i < count; i++)
        elements[i] = index > 0 ? (uint8_t)((int8_t)constant->data[i] + 128) : constant->data[i] != 0;
    for (int i = 0; i < constant->rank; i++)
        dimensions[i] = constant->dimensions[i];
    int tensor = middle_lay_elements(&importer->builder, constant->name, source, elements, (int64_t)count, &quantisation);
    if (tensor < 0)
        return tflite_fault(importer, "'%s' has %zu elements; supported: up to %d", constant->name, count,
                            MAXIMUM_DIMENSION);
    struct value *value = &importer->values[importer->current->inputs[index]];
    *value = tflite_value_of(tensor);
    value->view = view_of_memory(constant->rank, dimensions);
    return true;
}

bool tflite_select(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct selection selection = {0};
    if (operation->input_count != 3)
        return tflite_fault(importer, "%d inputs; supported: three", operation->input_count);
    for (int i = 0; i < 3; i++)
        if (tflite_is_constant(importer, i) && !lay_constant(importer, i))
            return false;
    if (tflite_reads_elements(importer, 0, &selection.values[0]) < 0 || !read_choice(importer, 1, &selection) ||
        !read_choice(importer, 2, &selection))
        return false;
    bool is_whole = tflite_elements(tflite_input(importer, 0)) == tflite_elements(tflite_output(importer));
    return (is_whole && select_by_table(importer, &selection, result)) ||
           (importer->diagnostics->error_count == 0 && select_by_sum(importer, &selection, result));
}
