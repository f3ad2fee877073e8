/* Arithmetic of constants, which broadcast as tensors do: what exporters that do not simplify a graph leave of paddings,
 * scales and shapes. */
#include "import/qdq/qdq.h"

#include <math.h>
#include <string.h>

#include "middle/functions.h"

#define MAXIMUM_OPERANDS 3
#define MAXIMUM_NUMBERS  ((size_t)1 << 24) /* that one node may make */

/* ---- what one number of the result is ---- */

static double remainder_of(const double *x) { return x[1] == 0 ? 0 : x[0] - x[1] * floor(x[0] / x[1]); }
static double sum(const double *x) { return x[0] + x[1]; }
static double difference(const double *x) { return x[0] - x[1]; }
static double product(const double *x) { return x[0] * x[1]; }
static double quotient(const double *x) { return x[0] / x[1]; }
static double power(const double *x) { return pow(x[0], x[1]); }
static double larger(const double *x) { return fmax(x[0], x[1]); }
static double smaller(const double *x) { return fmin(x[0], x[1]); }
static double equal(const double *x) { return x[0] == x[1]; }
static double chosen(const double *x) { return x[0] != 0 ? x[1] : x[2]; }
static double first(const double *x) { return x[0]; }

static const struct operation {
    const char *type;
    int operands;
    double (*calculate)(const double *x);
    int typed; /* the operand that says whether the result is integers */
} operations[] = {
    {"Add", 2, sum, 0},     {"Sub", 2, difference, 0},   {"Mul", 2, product, 0},  {"Div", 2, quotient, 0},
    {"Pow", 2, power, 0},   {"Mod", 2, remainder_of, 0}, {"Max", 2, larger, 0},   {"Min", 2, smaller, 0},
    {"Equal", 2, equal, 0}, {"Where", 3, chosen, 1},     {"Expand", 2, first, 0},
};

static const struct operation *operation_of(const struct node *node, int count)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strcmp(operations[i].type, node->type) && operations[i].operands == count)
            return &operations[i];
    return NULL;
}

/* ---- operands ---- */

struct operand {
    const struct qdq_array *array; /* null: only a shape */
    int rank;
    const int64_t *dimensions;
};

/* The index of dimension `k` of `rank`, counted from the last: 1 where the operand has none. */
static int64_t size_of(const struct operand *operand, int rank, int k)
{
    int own = k - (rank - operand->rank);
    return own < 0 ? 1 : operand->dimensions[own];
}

/* The shape that the operands have together; false where they do not go together, or make too many numbers. */
static bool shape_of(const struct operand *operands, int count, int *rank, int64_t *dimensions)
{
    size_t numbers = 1;
    *rank = 0;
    for (int i = 0; i < count; i++)
        *rank = operands[i].rank > *rank ? operands[i].rank : *rank;
    for (int k = 0; k < *rank; k++) {
        dimensions[k] = 1;
        for (int i = 0; i < count; i++) {
            int64_t size = size_of(&operands[i], *rank, k);
            if (size != 1 && dimensions[k] != 1 && size != dimensions[k])
                return false;
            dimensions[k] = size != 1 ? size : dimensions[k];
        }
        if (dimensions[k] < 0 || dimensions[k] > (int64_t)MAXIMUM_NUMBERS)
            return false;
        numbers *= (size_t)dimensions[k];
        if (numbers > MAXIMUM_NUMBERS)
            return false;
    }
    return true;
}

/* The operand's number for number `i` of the result. */
static double number_of(const struct operand *operand, int rank, const int64_t *dimensions, size_t i)
{
    size_t index = 0, step = 1;
    for (int k = rank - 1; k >= 0; k--) {
        size_t size = (size_t)size_of(operand, rank, k);
        index += size == 1 ? 0 : i % (size_t)dimensions[k] * step;
        step *= size;
        i /= (size_t)dimensions[k];
    }
    return operand->array ? qdq_array_real(operand->array, index) : 0;
}

/* The shape that an Expand asks for, as an operand without numbers. */
static bool read_shape(struct qdq *qdq, const struct node *node, const struct qdq_value *input, int64_t *dimensions,
                       struct operand *operand)
{
    int64_t listed[16];
    int rank = qdq_list(qdq, node, "shape", input, listed);
    if (rank < 0 || rank > GRAPH_MAXIMUM_RANK)
        return false;
    memcpy(dimensions, listed, (size_t)rank * sizeof *dimensions);
    *operand = (struct operand){.rank = rank, .dimensions = dimensions};
    return true;
}

static bool read_operands(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          int64_t *expanded, struct operand *operands)
{
    for (int i = 0; i < count; i++) {
        const struct qdq_array *array = inputs[i].kind == QDQ_CONSTANT ? inputs[i].array : NULL;
        bool is_shape = i == 1 && !strcmp(node->type, "Expand");
        if (!array || !array->numbers || (is_shape && !read_shape(qdq, node, &inputs[i], expanded, &operands[i])))
            return false;
        if (!is_shape)
            operands[i] = (struct operand){array, array->rank, array->dimensions};
    }
    return true;
}

/* ---- nodes ---- */

/* Integers are divided as in C; other results are float32, as the model's own. */
static struct qdq_array *make(struct qdq *qdq, const struct operand *typed, int rank, const int64_t *dimensions)
{
    struct qdq_array *array = qdq_array_make(qdq, typed->array, rank, dimensions);
    bool is_integer = element_type_is_integer(typed->array->type) && !typed->array->scale_count;
    array->scale_count = 0;
    array->type = is_integer ? typed->array->type : ELEMENT_FLOAT;
    return array;
}

static enum qdq_outcome of_operands(struct qdq *qdq, const struct node *node, const struct operation *operation,
                                    const struct qdq_value *inputs, struct qdq_value *result)
{
    struct operand operands[MAXIMUM_OPERANDS];
    int64_t expanded[GRAPH_MAXIMUM_RANK], dimensions[GRAPH_MAXIMUM_RANK];
    double x[MAXIMUM_OPERANDS];
    int rank;
    if (!read_operands(qdq, node, inputs, operation->operands, expanded, operands) ||
        !shape_of(operands, operation->operands, &rank, dimensions))
        return qdq_fault(qdq, node, NULL, "%s of constants that do not go together, or too many numbers", node->type);
    struct qdq_array *array = make(qdq, &operands[operation->typed], rank, dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    bool is_integer = element_type_is_integer(array->type);
    for (size_t i = 0; to && i < array->count; i++) {
        for (int k = 0; k < operation->operands; k++)
            x[k] = number_of(&operands[k], rank, dimensions, i);
        double number = operation->calculate(x);
        to[i] = !is_integer ? (double)(float)number : isfinite(number) ? trunc(number) : 0;
    }
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = array};
    return QDQ_DONE;
}

static enum qdq_outcome of_one(struct qdq *qdq, real_function *function, struct function_parameters parameters,
                               const struct qdq_array *from, struct qdq_value *result)
{
    const struct operand operand = {from, from->rank, from->dimensions};
    struct qdq_array *array = make(qdq, &operand, from->rank, from->dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    for (size_t i = 0; to && i < array->count; i++)
        to[i] = function((double)(float)qdq_array_real(from, i), parameters);
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = array};
    return QDQ_DONE;
}

/* ConstantOfShape: one number everywhere. */
static enum qdq_outcome of_shape(struct qdq *qdq, const struct node *node, const struct qdq_value *shape,
                                 struct qdq_value *result)
{
    const struct attribute *value = node_attribute(node, "value");
    const struct qdq_array *given = value && value->kind == ATTRIBUTE_CONSTANT ? qdq_array_of(qdq, value->constant) : NULL;
    int64_t expanded[GRAPH_MAXIMUM_RANK], dimensions[GRAPH_MAXIMUM_RANK];
    struct operand operand;
    double number = 0;
    int rank;
    if (!read_shape(qdq, node, shape, expanded, &operand) || !shape_of(&operand, 1, &rank, dimensions) ||
        (given && !qdq_array_scalar(given, &number)))
        return qdq_fault(qdq, node, NULL, "is no shape of up to %d dimensions, or has no one number", GRAPH_MAXIMUM_RANK);
    const struct qdq_array zero = {.name = node->name, .type = ELEMENT_FLOAT, .type_name = "FLOAT"};
    struct qdq_array *array = qdq_array_make(qdq, given ? given : &zero, rank, dimensions);
    double *to = (double *)(uintptr_t)array->numbers;
    for (size_t i = 0; to && i < array->count; i++)
        to[i] = number;
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = array};
    return QDQ_DONE;
}

bool qdq_compute(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                 struct qdq_value *result, enum qdq_outcome *outcome)
{
    struct function_parameters parameters = {0, 0};
    const struct operation *operation = operation_of(node, count);
    real_function *function = count == 1 ? function_find(node->type, &parameters) : NULL;
    bool is_of_shape = count == 1 && !strcmp(node->type, "ConstantOfShape");
    if (is_of_shape)
        *outcome = of_shape(qdq, node, &inputs[0], result);
    else if (operation)
        *outcome = of_operands(qdq, node, operation, inputs, result);
    else if (function)
        *outcome = of_one(qdq, function, parameters, inputs[0].array, result);
    return is_of_shape || operation || function;
}
