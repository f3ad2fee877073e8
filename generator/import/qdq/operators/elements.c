/* Functions of single elements, and arithmetic of two values. */
#include "import/qdq/combinations.h"
#include "import/qdq/islands.h"
#include "import/qdq/outside.h"
#include "middle/functions.h"
#include "middle/join.h"

#include <math.h>
#include <string.h>

/* ---- bounds ---- */

static void bound_constant(struct qdq *qdq, struct qdq_value *value, double minimum, double maximum)
{
    const struct qdq_array *from = value->array;
    if (minimum == -INFINITY && maximum == INFINITY)
        return;
    struct qdq_array *bounded = qdq_array_make(qdq, NULL, from->rank, from->dimensions);
    for (size_t i = 0; bounded->numbers && from->numbers && i < from->count; i++)
        ((double *)(uintptr_t)bounded->numbers)[i] = fmin(fmax(qdq_array_real(from, i), minimum), maximum);
    bounded->name = from->name;
    value->array = bounded;
}

void qdq_bound(struct qdq *qdq, struct qdq_value *value, double minimum, double maximum)
{
    if (value->kind == QDQ_REALS) {
        float *reals = arena_array(qdq->arena, float, 256);
        for (int i = 0; i < 256; i++)
            reals[i] = fminf(fmaxf(value->reals[i], (float)minimum), (float)maximum);
        value->reals = reals;
        return;
    }
    if (value->kind == QDQ_CONSTANT) {
        bound_constant(qdq, value, minimum, maximum);
        return;
    }
    struct qdq_pending *copy = arena_allocate(qdq->arena, sizeof *copy);
    *copy = *value->pending;
    copy->minimum = fmin(fmax(copy->minimum, minimum), maximum);
    copy->maximum = fmin(fmax(copy->maximum, minimum), maximum);
    value->pending = copy;
}

/* Bounds of a tensor's own integers, as Brevitas has them for less than 8 bits. */
static enum qdq_outcome bound_elements(struct qdq *qdq, const struct node *node, double minimum, double maximum,
                                       struct qdq_value *value)
{
    struct tensor from = *qdq_tensor(qdq, value->tensor);
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    bool changes = false;
    for (int i = 0; i < 256; i++) {
        double element = fmin(fmax(i, minimum - from.model_offset), maximum - from.model_offset);
        table[i] = (uint8_t)fmin(fmax(element, 0), 255);
        changes |= table[i] != i;
    }
    if (!changes)
        return QDQ_DONE;
    int output = qdq_tensor_like(qdq, node->name, value->tensor, from.height, from.width, from.channels);
    quantised_layer(&qdq->builder, LAYER_TABLE, node->name, value->tensor, output)->table = table;
    value->tensor = output;
    return QDQ_DONE;
}

static bool read_bound(struct qdq *qdq, const struct node *node, const char *name, const struct qdq_value *input,
                       double otherwise, double *bound)
{
    *bound = otherwise;
    if (node_attribute(node, name) || input->kind == QDQ_NONE) {
        *bound = qdq_number(qdq, node, name, otherwise);
        return true;
    }
    return input->kind == QDQ_CONSTANT && qdq_array_scalar(input->array, bound) && *bound == *bound;
}

enum qdq_outcome qdq_clip(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          struct qdq_value *result)
{
    double minimum, maximum;
    (void)count;
    if (!read_bound(qdq, node, "min", &inputs[1], -INFINITY, &minimum) ||
        !read_bound(qdq, node, "max", &inputs[2], INFINITY, &maximum))
        return qdq_fault(qdq, node, "bounds", "are no constants of one number; supported: those");
    *result = inputs[0];
    switch (inputs[0].kind) {
    case QDQ_PENDING:
    case QDQ_REALS: qdq_bound(qdq, result, minimum, maximum); return QDQ_DONE;
    case QDQ_ELEMENTS: return bound_elements(qdq, node, minimum, maximum, result);
    case QDQ_OUTSIDE:
        qdq_outside_step(qdq, result, REAL_CLIP, (float[]){(float)minimum, (float)maximum}, 2);
        return QDQ_DONE;
    default: return QDQ_FLOAT;
    }
}

/* ---- one operand ---- */

/* The function of a node, with its attributes; null: it is none. */
static real_function *find_function(struct qdq *qdq, const struct node *node, struct function_parameters *parameters)
{
    const struct attribute *approximate = node_attribute(node, "approximate");
    bool by_tanh = approximate && approximate->kind == ATTRIBUTE_TEXT && !strcmp(approximate->text, "tanh");
    const char *name = by_tanh && !strcmp(node->type, "Gelu") ? "GeluTanh" : node->type;
    real_function *function = function_find(name, parameters);
    parameters->alpha = qdq_number(qdq, node, "alpha", parameters->alpha);
    parameters->beta = qdq_number(qdq, node, !strcmp(node->type, "Selu") ? "gamma" : "beta", parameters->beta);
    return function;
}

static enum qdq_outcome relu_of_elements(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                         struct qdq_value *result)
{
    *result = *input;
    return bound_elements(qdq, node, 0, INFINITY, result);
}

enum qdq_outcome qdq_unary(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *result)
{
    struct function_parameters parameters = {0, 0};
    real_function *compute = find_function(qdq, node, &parameters);
    (void)count;
    *result = inputs[0];
    if (inputs[0].kind == QDQ_PENDING && function_is_relu(compute)) {
        qdq_bound(qdq, result, 0, INFINITY);
        return QDQ_DONE;
    }
    if (inputs[0].kind == QDQ_PENDING && !strcmp(node->type, "Abs"))
        return qdq_distance(qdq, node, &inputs[0], result);
    if (inputs[0].kind == QDQ_PENDING && !strcmp(node->type, "LeakyRelu")) {
        double *slope = arena_array(qdq->arena, double, 1);
        *slope = parameters.alpha;
        return qdq_slope_sums(qdq, node, &inputs[0], &(struct qdq_array){.name = node->name, .count = 1, .numbers = slope},
                              result);
    }
    if (inputs[0].kind == QDQ_ELEMENTS && function_is_relu(compute))
        return relu_of_elements(qdq, node, inputs, result);
    if (inputs[0].kind == QDQ_OUTSIDE) {
        qdq_outside_step(qdq, result, REAL_CLIP, (float[]){0, INFINITY}, 2);
        result->outside.is_unknown |= !function_is_relu(compute);
        return QDQ_DONE;
    }
    if (inputs[0].kind != QDQ_REALS || !compute)
        return QDQ_FLOAT;
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = (float)compute((double)inputs[0].reals[i], parameters);
    result->reals = reals;
    return QDQ_DONE;
}

/* ---- two operands ---- */

static enum qdq_operation operation_of(const struct node *node)
{
    static const char *const types[] = {"Add",  "Sub",         "Mul",   "Div",     "Min",
                                        "Max",  "Pow",         "PRelu", "Greater", "GreaterOrEqual",
                                        "Less", "LessOrEqual", "Equal", "And",     "Or"};
    for (int i = 0; i < QDQ_NO_OPERATION; i++)
        if (!strcmp(types[i], node->type))
            return (enum qdq_operation)i;
    return QDQ_NO_OPERATION;
}

static float compute(enum qdq_operation operation, float a, float b)
{
    switch (operation) {
    case QDQ_ADD: return a + b;
    case QDQ_SUBTRACT: return a - b;
    case QDQ_MULTIPLY: return a * b;
    case QDQ_DIVIDE: return a / b;
    case QDQ_LESSER: return fminf(a, b);
    case QDQ_GREATER: return fmaxf(a, b);
    case QDQ_POWER: return (float)pow((double)a, (double)b);
    case QDQ_SLOPE: return a >= 0 ? a : a * b;
    case QDQ_IS_ABOVE: return a > b;
    case QDQ_IS_AT_LEAST: return a >= b;
    case QDQ_IS_BELOW: return a < b;
    case QDQ_IS_AT_MOST: return a <= b;
    case QDQ_IS_EQUAL: return a == b;
    case QDQ_AND: return a != 0 && b != 0;
    case QDQ_OR: return a != 0 || b != 0;
    default: return NAN;
    }
}

/* Both are functions of the same element, or one is a number. */
static enum qdq_outcome combine(struct qdq *qdq, enum qdq_operation operation, const struct qdq_value *a,
                                const struct qdq_value *b, double number, struct qdq_value *result)
{
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = compute(operation, a->kind == QDQ_REALS ? a->reals[i] : (float)number,
                           b->kind == QDQ_REALS ? b->reals[i] : (float)number);
    *result = a->kind == QDQ_REALS ? *a : *b;
    result->reals = reals;
    return QDQ_DONE;
}

/* ---- two tensors ---- */

/* Both in one order, the first one with all elements: *swaps where that was the second. */
static enum qdq_outcome align(struct qdq *qdq, const struct node *node, struct qdq_value *a, struct qdq_value *b,
                              bool *swaps)
{
    int rank = a->view.rank > b->view.rank ? a->view.rank : b->view.rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    for (int i = 0; i < rank; i++) {
        int ia = i - (rank - a->view.rank), ib = i - (rank - b->view.rank);
        int64_t da = ia < 0 ? 1 : a->view.dimensions[ia], db = ib < 0 ? 1 : b->view.dimensions[ib];
        dimensions[i] = da > db ? da : db;
    }
    struct middle_value pair[2] = {qdq_placed(a), qdq_placed(b)};
    int lead = middle_align(&qdq->builder, node->name, pair, rank, dimensions);
    if (lead < 0)
        return qdq_fault(qdq, node, NULL, "shapes %s and %s do not go together", view_text(&a->view, qdq->arena),
                         view_text(&b->view, qdq->arena));
    *swaps = lead == 1;
    if (*swaps) {
        const struct qdq_value second = *b;
        *b = *a;
        *a = second;
    }
    a->tensor = pair[lead].tensor;
    b->tensor = pair[1 - lead].tensor;
    a->view = pair[lead].view;
    b->view = pair[1 - lead].view;
    return QDQ_DONE;
}

static struct stage input_stage(struct qdq *qdq, int64_t multiplier, int zero_point)
{
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = -multiplier * zero_point;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
}

/* A float32's value as an odd number of up to 24 bits times a power of two. */
static int64_t whole_significand(double number, int *exponent)
{
    int64_t whole = (int64_t)ldexp(frexp(number, exponent), 24);
    for (*exponent -= 24; whole && whole % 2 == 0; whole /= 2)
        ++*exponent;
    return whole;
}

#define FAR_APART          0x1p30 /* scales, whose sums may need more than 64 bits */
#define MAXIMUM_MULTIPLIER 0x1p54 /* of an element, in units of the smaller scale's significand */

#define SATURATING_STEPS 4096 /* of the result, and more than the smaller operand can take away */

/* Scales that give the same result where they differ by far, as those of scores and of a mask of -3.4e38. Multiples of the
 * larger one saturate, and a smaller one does so, too. Or they decide the result but for ties; then of the smaller operand
 * the sign is enough: 255 of its steps are less than a multiple of the larger scale can be off half a step of the result. */
static void bring_scales_closer(struct qdq *qdq, const struct node *node, double scales[2])
{
    struct quantisation reader;
    const int larger = scales[1] > scales[0];
    double *small = &scales[1 - larger], *large = &scales[larger];
    int exponent;
    if (!qdq_reader_quantisation(qdq, node, &reader))
        return;
    *large = fmin(*large, SATURATING_STEPS * fmax(reader.scale, *small));
    frexp(*large, &exponent);
    const double least = ldexp(1, exponent - 48); /* 2^-24 of the unit of its significand */
    *small = *small < least ? least : *small;
}

static bool fits(int64_t significand, int shift)
{
    return shift < 63 && ldexp((double)significand, shift) <= MAXIMUM_MULTIPLIER;
}

static enum qdq_outcome add_tensors(struct qdq *qdq, const struct node *node, const int signs[2],
                                    struct qdq_pending *pending, const struct tensor *a, const struct tensor *b)
{
    int first, second;
    double scales[2] = {a->scale, b->scale};
    if (fmax(a->scale, b->scale) > FAR_APART * fmin(a->scale, b->scale))
        bring_scales_closer(qdq, node, scales);
    int64_t m0 = whole_significand(scales[0], &first), m1 = whole_significand(scales[1], &second);
    int common = first < second ? first : second;
    if (!fits(m0, first - common) || !fits(m1, second - common))
        return qdq_fault(qdq, node, "scale", "the scales %.9g and %.9g of its inputs differ by too much for 64-bit sums%s",
                         a->scale, b->scale, fmax(a->scale, b->scale) > 1e30 ? QDQ_OF_INFINITE_MASK : "");
    m0 *= (int64_t)1 << (first - common);
    m1 *= (int64_t)1 << (second - common);
    if (qdq->is_of_integers) { /* all have scale 1 */
        m0 = m1 = 1;
        common = 0;
    }
    pending->layer.input_stages[0] = input_stage(qdq, signs[0] * m0, a->zero_point);
    pending->layer.input_stages[1] = input_stage(qdq, signs[1] * m1, b->zero_point);
    pending->scale = ldexp(1, common);
    return QDQ_DONE;
}

/* What a sum of sums is made of. */
static void remember_terms(struct qdq *qdq, struct qdq_pending *pending, const struct qdq_value *a,
                           const struct qdq_value *b, const int *signs)
{
    struct qdq_value *terms = arena_array(qdq->arena, struct qdq_value, 2);
    int *own = arena_array(qdq->arena, int, 2);
    terms[0] = *a;
    terms[1] = *b;
    memcpy(own, signs, 2 * sizeof *own);
    pending->terms = terms;
    pending->signs = own;
    pending->term_count = 2;
    pending->view = a->view;
}

static enum qdq_outcome join(struct qdq *qdq, const struct node *node, enum qdq_operation operation, struct qdq_value a,
                             struct qdq_value b, struct qdq_value *result)
{
    bool multiplies = operation == QDQ_MULTIPLY, swaps = false;
    struct tensor ta = *qdq_tensor(qdq, a.tensor), tb = *qdq_tensor(qdq, b.tensor);
    bool is_same = view_equal(&a.view, &b.view) && ta.height == tb.height && ta.width == tb.width &&
                   view_elements(&a.view) == (int64_t)tensor_elements(&ta);
    enum qdq_outcome outcome = is_same ? QDQ_DONE : align(qdq, node, &a, &b, &swaps);
    if (outcome != QDQ_DONE)
        return outcome;
    ta = *qdq_tensor(qdq, a.tensor);
    tb = *qdq_tensor(qdq, b.tensor);
    struct qdq_pending *pending =
        qdq_pending_make(qdq, multiplies ? LAYER_MULTIPLICATION : LAYER_ADDITION, node, a.tensor, 1);
    pending->layer.inputs[1] = b.tensor;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = a.view, .pending = pending};
    const int signs[2] = {operation == QDQ_SUBTRACT && swaps ? -1 : 1, operation == QDQ_SUBTRACT && !swaps ? -1 : 1};
    if (!multiplies)
        remember_terms(qdq, pending, &a, &b, signs);
    if (!multiplies)
        return add_tensors(qdq, node, signs, pending, &ta, &tb);
    pending->layer.input_stages[0] = input_stage(qdq, 1, ta.zero_point);
    pending->layer.input_stages[1] = input_stage(qdq, 1, tb.zero_point);
    pending->factors[0] = tb.scale;
    return QDQ_DONE;
}

/* ---- the operators ---- */

/* In front of the first QuantizeLinear. */
static enum qdq_outcome outside(struct qdq *qdq, enum qdq_operation operation, const struct qdq_value *value,
                                const struct qdq_array *array, bool is_swapped, struct qdq_value *result)
{
    *result = *value;
    switch (operation) {
    case QDQ_ADD: qdq_outside_constant(qdq, result, REAL_ADD, array); break;
    case QDQ_SUBTRACT: qdq_outside_constant(qdq, result, is_swapped ? REAL_SUBTRACT_FROM : REAL_SUBTRACT, array); break;
    case QDQ_MULTIPLY: qdq_outside_constant(qdq, result, REAL_MULTIPLY, array); break;
    case QDQ_DIVIDE: qdq_outside_constant(qdq, result, is_swapped ? REAL_DIVIDE_INTO : REAL_DIVIDE, array); break;
    default: result->outside = (struct qdq_outside){.is_touched = true, .is_unknown = true};
    }
    return QDQ_DONE;
}

/* A constant that is no number, and none for each channel. */
static enum qdq_outcome with_constant_tensor(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                             const struct qdq_value *inputs, struct qdq_value *result)
{
    struct qdq_value operands[2] = {inputs[0], inputs[1]};
    for (int i = 0; i < 2; i++) {
        enum qdq_outcome outcome = operands[i].kind == QDQ_CONSTANT  ? qdq_make_tensor(qdq, node, &operands[i])
                                   : qdq_is_plain(qdq, &operands[i]) ? QDQ_DONE
                                                                     : QDQ_FLOAT;
        if (outcome != QDQ_DONE)
            return outcome;
    }
    return join(qdq, node, operation, operands[0], operands[1], result);
}

/* A constant of several numbers as one of the tensors that are compared. */
static enum qdq_outcome compare_constant(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                         const struct qdq_value *inputs, struct qdq_value *result)
{
    struct qdq_value operands[2] = {inputs[0], inputs[1]};
    for (int i = 0; i < 2; i++) {
        enum qdq_outcome outcome = operands[i].kind == QDQ_CONSTANT ? qdq_make_numbers(qdq, node, &operands[i]) : QDQ_DONE;
        if (outcome != QDQ_DONE)
            return outcome;
    }
    return operation >= QDQ_IS_ABOVE ? qdq_compare(qdq, node, operation, operands, result)
                                     : qdq_choose(qdq, node, operands, 2, operation == QDQ_GREATER, result);
}

static enum qdq_outcome divide_constant(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                        struct qdq_value *result)
{
    struct qdq_value numerator = inputs[0];
    enum qdq_outcome outcome = qdq_make_tensor(qdq, node, &numerator);
    return outcome == QDQ_DONE ? qdq_multiply_by_function(qdq, node, &numerator, &inputs[1], true, result) : outcome;
}

/* A constant of more dimensions gives its result as many: those in front, of size 1. */
static void widen_to(const struct qdq_value *constant, struct qdq_value *value)
{
    const struct view from = value->view;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    const int rank = constant->array->rank, more = rank - from.rank;
    if (more <= 0 || rank > GRAPH_MAXIMUM_RANK)
        return;
    for (int i = 0; i < rank; i++)
        dimensions[i] = i < more ? 1 : from.dimensions[i - more];
    view_broadcast(&from, rank, dimensions, &value->view);
}

static enum qdq_outcome with_constant(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                      const struct qdq_value *operands, struct qdq_value *result)
{
    struct qdq_value inputs[2] = {operands[0], operands[1]};
    bool is_swapped = inputs[0].kind == QDQ_CONSTANT;
    const struct qdq_value *value = &inputs[is_swapped], *constant = &inputs[!is_swapped];
    widen_to(constant, &inputs[is_swapped]);
    double number = 0;
    if (!constant->array->numbers)
        return qdq_fault(qdq, node, NULL, "constant '%s' is %s; supported: FLOAT", constant->array->name,
                         constant->array->type_name);
    bool is_scalar = qdq_array_scalar(constant->array, &number) && constant->array->rank <= value->view.rank;
    switch (value->kind) {
    case QDQ_OUTSIDE: return outside(qdq, operation, value, constant->array, is_swapped, result);
    case QDQ_PENDING:
        return operation == QDQ_SLOPE && !is_swapped
                   ? qdq_slope_sums(qdq, node, value, constant->array, result)
                   : qdq_change_sums(qdq, operation, value, constant->array, is_swapped, result);
    case QDQ_REALS: break;
    default: return QDQ_FLOAT;
    }
    if (is_scalar && (constant->array->count == 1 || (int64_t)constant->array->count <= view_elements(&value->view)))
        return combine(qdq, operation, &inputs[0], &inputs[1], number, result);
    if (operation == QDQ_SLOPE && !is_swapped)
        return qdq_slope(qdq, node, value, constant->array, result);
    if (operation == QDQ_LESSER || operation == QDQ_GREATER || operation >= QDQ_IS_ABOVE)
        return compare_constant(qdq, node, operation, inputs, result);
    if (operation == QDQ_DIVIDE && is_swapped)
        return divide_constant(qdq, node, inputs, result);
    bool is_tensor = operation <= QDQ_MULTIPLY && qdq_constant_dimension(&value->view, constant->array) < 0;
    enum qdq_outcome outcome = is_tensor ? with_constant_tensor(qdq, node, operation, inputs, result) : QDQ_FLOAT;
    if (outcome != QDQ_FLOAT)
        return outcome;
    return qdq_scale_channels(qdq, node, operation, value, constant->array, is_swapped, result);
}

/* A layer of quotients where there is one, else a product with a function of the denominator. */
static enum qdq_outcome divide(struct qdq *qdq, const struct node *node, const struct qdq_value *a,
                               const struct qdq_value *b, struct qdq_value *result)
{
    enum qdq_outcome outcome = qdq_divide(qdq, node, (struct qdq_value[]){*a, *b}, result);
    return outcome == QDQ_FLOAT ? qdq_multiply_by_function(qdq, node, a, b, true, result) : outcome;
}

/* Functions of the elements of two tensors; one that is plain is these elements themselves. */
static enum qdq_outcome with_functions(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                       const struct qdq_value *inputs, struct qdq_value *result)
{
    struct qdq_value a = inputs[0], b = inputs[1];
    const bool plain[2] = {qdq_is_plain(qdq, &a), qdq_is_plain(qdq, &b)};
    switch (operation) {
    case QDQ_ADD:
    case QDQ_SUBTRACT:
        if (plain[0] && plain[1])
            return join(qdq, node, operation, a, b, result);
        return qdq_sum(qdq, node, inputs, 2, &(struct qdq_sum){(int[]){1, operation == QDQ_SUBTRACT ? -1 : 1}, 1}, result);
    case QDQ_MULTIPLY:
        if (plain[0] && plain[1])
            return join(qdq, node, operation, a, b, result);
        return plain[0]   ? qdq_multiply_by_function(qdq, node, &a, &b, false, result)
               : plain[1] ? qdq_multiply_by_function(qdq, node, &b, &a, false, result)
                          : QDQ_FLOAT;
    case QDQ_DIVIDE: return plain[0] ? divide(qdq, node, &a, &b, result) : QDQ_FLOAT;
    default: return QDQ_FLOAT;
    }
}

enum qdq_outcome qdq_binary(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    enum qdq_operation operation = operation_of(node);
    bool is_choice = operation == QDQ_LESSER || operation == QDQ_GREATER;
    if (is_choice && count > 2)
        return qdq_choose(qdq, node, inputs, count, operation == QDQ_GREATER, result);
    if (count != 2 || inputs[1].kind == QDQ_NONE)
        return qdq_fault(qdq, node, NULL, "%s of %d inputs; supported: 2", node->type, count);
    if (inputs[0].kind == QDQ_CONSTANT || inputs[1].kind == QDQ_CONSTANT)
        return with_constant(qdq, node, operation, inputs, result);
    if ((inputs[0].kind != QDQ_REALS || inputs[1].kind != QDQ_REALS) && operation <= QDQ_SUBTRACT)
        return qdq_sum(qdq, node, inputs, 2, &(struct qdq_sum){(int[]){1, operation == QDQ_SUBTRACT ? -1 : 1}, 1}, result);
    for (int i = 0; i < 2 && (operation == QDQ_MULTIPLY || (operation == QDQ_DIVIDE && i == 0)); i++)
        if (inputs[i].kind == QDQ_PENDING && inputs[1 - i].kind == QDQ_REALS)
            return qdq_multiply_sum(qdq, node, &inputs[i], &inputs[1 - i], operation == QDQ_DIVIDE, result);
    if (inputs[0].kind != QDQ_REALS || inputs[1].kind != QDQ_REALS)
        return QDQ_FLOAT;
    if (inputs[0].tensor == inputs[1].tensor && view_equal(&inputs[0].view, &inputs[1].view))
        return combine(qdq, operation, &inputs[0], &inputs[1], 0, result);
    if (is_choice)
        return qdq_choose(qdq, node, inputs, count, operation == QDQ_GREATER, result);
    if (operation >= QDQ_IS_ABOVE)
        return qdq_compare(qdq, node, operation, inputs, result);
    return with_functions(qdq, node, operation, inputs, result);
}
