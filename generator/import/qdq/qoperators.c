/* Operators that have scales and zero points as inputs: a DequantizeLinear in front of each operand, ONNX's own operator,
 * and a QuantizeLinear behind. */
#include "import/qdq/qdq.h"

#include <string.h>

#define MAXIMUM_OPERANDS 2

struct qdq_qoperator {
    const char *type, *domain;
    const char *real; /* the operator inside */
    int operand_count;
    int operands[MAXIMUM_OPERANDS]; /* each is followed by its scale and zero point */
    int bias;                       /* 32-bit integers in units of the products, or -1 */
    int output;                     /* scale, followed by the zero point */
};

#define MICROSOFT "com.microsoft"

static const struct qdq_qoperator qoperators[] = {
    {"QLinearConv", "", "Conv", 2, {0, 3}, 8, 6},
    {"QLinearMatMul", "", "MatMul", 2, {0, 3}, -1, 6},
    {"QGemm", MICROSOFT, "Gemm", 2, {0, 3}, 6, 7},
    {"QLinearAdd", MICROSOFT, "Add", 2, {0, 3}, -1, 6},
    {"QLinearMul", MICROSOFT, "Mul", 2, {0, 3}, -1, 6},
    {"QLinearSigmoid", MICROSOFT, "Sigmoid", 1, {0}, -1, 3},
    {"QLinearLeakyRelu", MICROSOFT, "LeakyRelu", 1, {0}, -1, 3},
    {"QLinearAveragePool", MICROSOFT, "AveragePool", 1, {0}, -1, 3},
    {"QLinearGlobalAveragePool", MICROSOFT, "GlobalAveragePool", 1, {0}, -1, 3},
    {"QLinearReduceMean", MICROSOFT, "ReduceMean", 1, {0}, -1, 3},
    {"QLinearSoftmax", MICROSOFT, "Softmax", 1, {0}, -1, 3},
    {"QLinearConcat", MICROSOFT, "Concat", 0, {0}, -1, 0}, /* operands from input 2 on, as many as there are */
};

const struct qdq_qoperator *qdq_find_qoperator(const struct node *node)
{
    for (size_t i = 0; i < sizeof qoperators / sizeof *qoperators; i++)
        if (!strcmp(qoperators[i].type, node->type) && !strcmp(qoperators[i].domain, node->domain))
            return &qoperators[i];
    return NULL;
}

static enum qdq_outcome take_operand(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                     int at, struct qdq_value *operand)
{
    if (at + 1 >= count)
        return qdq_fault(qdq, node, NULL, "%s without its input %d", node->type, at + 1);
    struct qdq_value missing = {.kind = QDQ_NONE};
    struct qdq_value triple[3] = {inputs[at], inputs[at + 1], at + 2 < count ? inputs[at + 2] : missing};
    /* scales of weights are those of the output channels, of which no attribute says the dimension */
    if (triple[0].kind == QDQ_CONSTANT && triple[1].kind == QDQ_CONSTANT && triple[1].array->count > 1) {
        bool is_convolution = !strcmp(node->type, "QLinearConv");
        bool is_transposed = !strcmp(node->type, "QGemm") && qdq_integer(qdq, node, "transB", 0) != 0;
        struct node with_axis = *node;
        struct attribute *axis = arena_array(qdq->arena, struct attribute, 1);
        *axis = (struct attribute){.name = "axis",
                                   .kind = ATTRIBUTE_INTEGER,
                                   .integer = is_convolution || is_transposed ? 0 : triple[0].array->rank - 1};
        with_axis.attributes = axis;
        with_axis.attribute_count = 1;
        return qdq_dequantise(qdq, &with_axis, triple, operand);
    }
    return qdq_dequantise(qdq, node, triple, operand);
}

/* The node that is inside: its attributes, and one output. */
static enum qdq_outcome run_inside(struct qdq *qdq, const struct node *node, const char *type,
                                   const struct qdq_value *operands, int count, struct qdq_value *result)
{
    struct node inside = *node;
    inside.type = type;
    inside.domain = "";
    return qdq_operator_find(&inside)->handle(qdq, &inside, operands, count, result);
}

static int operand_count(const struct qdq_qoperator *qoperator, int inputs)
{
    return qoperator->operand_count ? qoperator->operand_count : (inputs - 2) / 3;
}

enum qdq_outcome qdq_run_qoperator(struct qdq *qdq, const struct node *node, const struct qdq_qoperator *qoperator,
                                   const struct qdq_value *inputs, int count, struct qdq_value *result)
{
    int operands = operand_count(qoperator, count);
    if (operands < 1 || count <= qoperator->output)
        return qdq_fault(qdq, node, NULL, "%s with only %d inputs", node->type, count);
    struct qdq_value *real = arena_array(qdq->arena, struct qdq_value, (size_t)operands + 8), inside, missing = {0};
    struct quantisation quantisation;
    enum qdq_outcome outcome;
    if (qdq_integer(qdq, node, "channels_last", 0) != 0)
        return qdq_fault(qdq, node, "channels_last", "is set; supported: 0");
    for (int i = 0; i < operands; i++) {
        int at = qoperator->operand_count ? qoperator->operands[i] : 2 + 3 * i;
        if ((outcome = take_operand(qdq, node, inputs, count, at, &real[i])) != QDQ_DONE)
            return outcome;
    }
    if (qoperator->bias >= 0 && qoperator->bias < count && inputs[qoperator->bias].kind != QDQ_NONE)
        real[operands] = inputs[qoperator->bias];
    const struct qdq_value *zero_point = qoperator->output + 1 < count ? &inputs[qoperator->output + 1] : &missing;
    outcome = qdq_read_quantisation(qdq, node, &inputs[qoperator->output], zero_point, &quantisation);
    if (outcome != QDQ_DONE || (outcome = run_inside(qdq, node, qoperator->real, real, operands, &inside)) != QDQ_DONE)
        return outcome;
    const char *name =
        node->output_count && node->outputs[0] != NO_VALUE ? qdq->graph->values[node->outputs[0]].name : node->name;
    return qdq_quantise(qdq, node, &inside, &quantisation, name, result);
}
