/* Real numbers between DEQUANTIZE and QUANTIZE: what depends on one element of a tensor is a function of it, 256 numbers as
 * the model's own float32 gives them, and becomes a table. Operators that only move elements move those of the tensor. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/functions.h"

/* ---- functions ---- */

static double hard_swish(double x, struct function_parameters p)
{
    float in = (float)x;
    return (void)p, (double)(in * fminf(fmaxf(in + 3, 0), 6) / 6);
}
static double relu_6(double x, struct function_parameters p) { return (void)p, fmin(fmax(x, 0), 6); }
static double relu_n1_to_1(double x, struct function_parameters p) { return (void)p, fmin(fmax(x, -1), 1); }
static double relu_0_to_1(double x, struct function_parameters p) { return (void)p, fmin(fmax(x, 0), 1); }

static const struct {
    int code;
    const char *name; /* of a function of the middle; null: its own */
    real_function *own;
} functions[] = {
    {TFLITE_ABS, "Abs", NULL},
    {TFLITE_CEIL, "Ceil", NULL},
    {TFLITE_COS, "Cos", NULL},
    {TFLITE_ELU, "Elu", NULL},
    {TFLITE_EXP, "Exp", NULL},
    {TFLITE_FLOOR, "Floor", NULL},
    {TFLITE_GELU, "Gelu", NULL},
    {TFLITE_HARD_SWISH, NULL, hard_swish},
    {TFLITE_LEAKY_RELU, "LeakyRelu", NULL},
    {TFLITE_LOG, "Log", NULL},
    {TFLITE_LOGISTIC, "Sigmoid", NULL},
    {TFLITE_LOGICAL_NOT, "Not", NULL},
    {TFLITE_NEG, "Neg", NULL},
    {TFLITE_RELU, "Relu", NULL},
    {TFLITE_RELU6, NULL, relu_6},
    {TFLITE_RELU_0_TO_1, NULL, relu_0_to_1},
    {TFLITE_RELU_N1_TO_1, NULL, relu_n1_to_1},
    {TFLITE_ROUND, "Round", NULL},
    {TFLITE_RSQRT, "Rsqrt", NULL},
    {TFLITE_SIGN, "Sign", NULL},
    {TFLITE_SIN, "Sin", NULL},
    {TFLITE_SQRT, "Sqrt", NULL},
    {TFLITE_SQUARE, "Square", NULL},
    {TFLITE_TANH, "Tanh", NULL},
};

real_function *tflite_find_function(const struct tflite_operator *operation, struct function_parameters *parameters)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].code != operation->code)
            continue;
        if (!functions[i].name)
            return functions[i].own;
        bool by_tanh = operation->code == TFLITE_GELU && operation->options.is_approximate;
        real_function *function = function_find(by_tanh ? "GeluTanh" : functions[i].name, parameters);
        if (operation->code == TFLITE_LEAKY_RELU)
            parameters->alpha = (double)operation->options.alpha;
        return function;
    }
    return NULL;
}

float *tflite_new_reals(struct tflite_importer *importer) { return arena_array(importer->arena, float, 256); }

const struct value *tflite_input_value(const struct tflite_importer *importer, int index)
{
    const struct tflite_operator *operation = importer->current;
    bool is_there = index < operation->input_count && operation->inputs[index] != NO_TENSOR;
    return is_there ? &importer->values[operation->inputs[index]] : NULL;
}

bool tflite_is_real(const struct value *value) { return value && value->kind == VALUE_REALS; }

static bool apply_function(struct tflite_importer *importer, struct value *result)
{
    struct function_parameters parameters = {0, 0};
    real_function *function = tflite_find_function(importer->current, &parameters);
    const struct value *input = tflite_input_value(importer, 0);
    if (!function || !tflite_is_real(input))
        return false;
    float *reals = tflite_new_reals(importer);
    for (int i = 0; i < 256; i++)
        reals[i] = (float)function((double)input->reals[i], parameters);
    *result = *input;
    result->reals = reals;
    return true;
}

/* ---- two operands ---- */

static float calculate(int code, float a, float b)
{
    switch (code) {
    case TFLITE_ADD: return a + b;
    case TFLITE_SUB: return a - b;
    case TFLITE_MUL: return a * b;
    case TFLITE_DIV: return a / b;
    case TFLITE_POW: return (float)pow((double)a, (double)b);
    case TFLITE_MAXIMUM: return a > b ? a : b;
    case TFLITE_MINIMUM: return a < b ? a : b;
    case TFLITE_LESS: return a < b;
    case TFLITE_LESS_EQUAL: return a <= b;
    case TFLITE_GREATER: return a > b;
    case TFLITE_GREATER_EQUAL: return a >= b;
    case TFLITE_EQUAL: return a == b;
    case TFLITE_NOT_EQUAL: return a != b;
    case TFLITE_LOGICAL_AND: return a != 0 && b != 0;
    case TFLITE_LOGICAL_OR: return a != 0 || b != 0;
    default: return NAN;
    }
}

static bool is_arithmetic(int code)
{
    static const int codes[] = {TFLITE_ADD,        TFLITE_SUB,         TFLITE_MUL,           TFLITE_DIV,
                                TFLITE_POW,        TFLITE_MAXIMUM,     TFLITE_MINIMUM,       TFLITE_LESS,
                                TFLITE_LESS_EQUAL, TFLITE_GREATER,     TFLITE_GREATER_EQUAL, TFLITE_EQUAL,
                                TFLITE_NOT_EQUAL,  TFLITE_LOGICAL_AND, TFLITE_LOGICAL_OR};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* A constant of one FLOAT32. */
static bool read_number(const struct tflite_importer *importer, int index, float *number)
{
    int tensor = importer->current->inputs[index];
    const struct tflite_tensor *constant = &importer->model->tensors[tensor];
    if (!constant->data || constant->type != TFLITE_FLOAT32 || tflite_elements(constant) != 1)
        return false;
    *number = tflite_real(constant, 0);
    return true;
}

static bool is_same_element(const struct value *a, const struct value *b)
{
    return a->tensor == b->tensor && a->is_moved == b->is_moved && (!a->is_moved || view_equal(&a->view, &b->view));
}

static float activate(int activation, float x)
{
    switch (activation) {
    case TFLITE_FUSED_RELU: return fmaxf(x, 0);
    case TFLITE_FUSED_RELU6: return fminf(fmaxf(x, 0), 6);
    case TFLITE_FUSED_RELU_N1_TO_1: return fminf(fmaxf(x, -1), 1);
    default: return x;
    }
}

/* Of numbers and functions of the same element. */
static bool combine(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const struct value *operands[2] = {tflite_input_value(importer, 0), tflite_input_value(importer, 1)};
    float numbers[2] = {0, 0};
    if (!is_arithmetic(operation->code) || operation->input_count != 2 ||
        operation->options.activation > TFLITE_FUSED_RELU6 || operation->options.activation < 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (!operands[i] || (!tflite_is_real(operands[i]) && !read_number(importer, i, &numbers[i])))
            return false;
    if (tflite_is_real(operands[0]) && tflite_is_real(operands[1]) &&
        !(is_same_element(operands[0], operands[1]) && tflite_is_as_large(importer, 0) && tflite_is_as_large(importer, 1)))
        return false;
    float *reals = tflite_new_reals(importer);
    *result = tflite_is_real(operands[0]) ? *operands[0] : *operands[1];
    for (int i = 0; i < 256; i++) {
        float a = tflite_is_real(operands[0]) ? operands[0]->reals[i] : numbers[0];
        float b = tflite_is_real(operands[1]) ? operands[1]->reals[i] : numbers[1];
        reals[i] = activate(operation->options.activation, calculate(operation->code, a, b));
    }
    result->reals = reals;
    return true;
}

/* By a truth, all of them of the same element, or numbers. */
static bool select(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const struct value *condition = tflite_input_value(importer, 0);
    float numbers[3] = {0, 0, 0};
    if ((operation->code != TFLITE_SELECT && operation->code != TFLITE_SELECT_V2) || operation->input_count != 3 ||
        !tflite_is_real(condition))
        return false;
    for (int i = 1; i < 3; i++) {
        const struct value *value = tflite_input_value(importer, i);
        if (!value || !tflite_is_as_large(importer, 0) ||
            (tflite_is_real(value) ? !is_same_element(value, condition) || !tflite_is_as_large(importer, i)
                                   : !read_number(importer, i, &numbers[i])))
            return false;
    }
    float *reals = tflite_new_reals(importer);
    for (int i = 0; i < 256; i++) {
        const int chosen = condition->reals[i] != 0 ? 1 : 2;
        const struct value *value = tflite_input_value(importer, chosen);
        reals[i] = tflite_is_real(value) ? value->reals[i] : numbers[chosen];
    }
    *result = *condition;
    result->reals = reals;
    return true;
}

/* ---- moves ---- */

static bool rises(const float *reals, bool is_strict)
{
    for (int i = 1; i < 256; i++)
        if (!(is_strict ? reals[i] > reals[i - 1] : reals[i] >= reals[i - 1]))
            return false;
    return true;
}

static bool gives_index(int code) { return code == TFLITE_ARG_MAX || code == TFLITE_ARG_MIN; }

/* The operator's results are some of its input's elements, or where they are. */
static bool only_moves(int code, const float *reals)
{
    static const int codes[] = {TFLITE_RESHAPE,      TFLITE_SQUEEZE,        TFLITE_EXPAND_DIMS,    TFLITE_TRANSPOSE,
                                TFLITE_SLICE,        TFLITE_STRIDED_SLICE,  TFLITE_SPLIT,          TFLITE_SPLIT_V,
                                TFLITE_UNPACK,       TFLITE_GATHER,         TFLITE_REVERSE_V2,     TFLITE_TILE,
                                TFLITE_BROADCAST_TO, TFLITE_DEPTH_TO_SPACE, TFLITE_SPACE_TO_DEPTH, TFLITE_MIRROR_PAD,
                                TFLITE_GATHER_ND};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    bool is_index = gives_index(code);
    return (is_index || code == TFLITE_REDUCE_MAX || code == TFLITE_MAX_POOL_2D) && rises(reals, is_index);
}

void tflite_lend_quantisation(struct tflite_importer *importer, int tensor, int elements)
{
    const struct tensor *like = tflite_network_tensor(importer, elements);
    float *scale = arena_array(importer->arena, float, 1);
    int64_t *zero_point = arena_array(importer->arena, int64_t, 1);
    *scale = (float)like->scale;
    *zero_point = like->zero_point - 128;
    importer->tensors[tensor].type = TFLITE_INT8;
    importer->tensors[tensor].scale_count = 1;
    importer->tensors[tensor].scales = scale;
    importer->tensors[tensor].zero_points = zero_point;
}

/* What is moved are truths, which stay so. */
static void keep_truths(struct tflite_importer *importer, int from)
{
    const struct tflite_operator *operation = importer->current;
    importer->tensors[operation->inputs[from]].type = TFLITE_BOOL;
    for (int i = 0; i < operation->output_count; i++)
        importer->tensors[operation->outputs[i]].type = TFLITE_BOOL;
}

static bool move(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    int from = operation->code == TFLITE_SPLIT ? 1 : 0;
    const struct value *input = tflite_input_value(importer, from);
    tflite_handler *handler = tflite_find_handler(operation->code);
    if (!tflite_is_real(input) || !handler || !only_moves(operation->code, input->reals))
        return false;
    struct value *value = &importer->values[operation->inputs[from]];
    const float *reals = value->reals;
    const bool are_truths = importer->tensors[operation->inputs[from]].type == TFLITE_BOOL;
    value->kind = VALUE_TENSOR;
    tflite_lend_quantisation(importer, operation->inputs[from], value->tensor);
    for (int i = 0; i < operation->output_count && !gives_index(operation->code); i++)
        tflite_lend_quantisation(importer, operation->outputs[i], value->tensor);
    bool is_done = handler(importer, operation, result);
    value->kind = VALUE_REALS;
    value->reals = reals;
    for (int i = 0; i < operation->output_count && !gives_index(operation->code); i++) {
        struct value *output = i ? &importer->values[operation->outputs[i]] : result;
        output->kind = is_done ? VALUE_REALS : VALUE_UNKNOWN;
        output->reals = reals;
    }
    if (are_truths && !gives_index(operation->code))
        keep_truths(importer, from);
    return true;
}

/* CAST: truths as the numbers 0 and 1, and real numbers as they are. */
static bool cast(struct tflite_importer *importer, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const struct value *input = tflite_input_value(importer, 0);
    if (operation->code != TFLITE_CAST || operation->input_count != 1 || !input ||
        importer->model->tensors[operation->outputs[0]].type != TFLITE_FLOAT32)
        return false;
    if (tflite_is_real(input)) {
        *result = *input;
        return true;
    }
    if (input->kind != VALUE_TENSOR || importer->model->tensors[operation->inputs[0]].type != TFLITE_BOOL)
        return false;
    if (tflite_reads_elements(importer, 0, result) < 0)
        return true;
    float *reals = tflite_new_reals(importer);
    for (int i = 0; i < 256; i++)
        reals[i] = i != 0;
    result->kind = VALUE_REALS;
    result->reals = reals;
    return true;
}

bool tflite_keeps_reals(struct tflite_importer *importer, struct value *result)
{
    return cast(importer, result) || apply_function(importer, result) || combine(importer, result) ||
           select(importer, result) || move(importer, result) || tflite_join_reals(importer, result) ||
           tflite_compare_reals(importer, result) || tflite_normalise_reals(importer, result);
}

/* ---- edges ---- */

bool tflite_dequantise(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    int tensor = tflite_reads_elements(importer, 0, result);
    (void)operation;
    if (tensor < 0)
        return false;
    const struct tensor *from = tflite_network_tensor(importer, tensor);
    float *reals = tflite_new_reals(importer);
    tflite_fill_plain(from, reals);
    result->kind = VALUE_REALS;
    result->reals = reals;
    return true;
}

void tflite_lay_truths(struct tflite_importer *importer, int tensor)
{
    struct value *value = &importer->values[tensor];
    const char *name = importer->model->tensors[tensor].name;
    const struct tensor from = *tflite_network_tensor(importer, value->tensor);
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = value->reals[i] != 0;
    int truths = quantised_tensor(&importer->builder, name, from.height, from.width, from.channels,
                                  &(struct quantisation){.scale = 1});
    quantised_table(&importer->builder, name, value->tensor, truths, table);
    value->kind = VALUE_TENSOR;
    value->tensor = truths;
}
