/* Which models are QDQ or QOperator ones, and which are none that dory can have. */
#include "import/operators.h"
#include "import/qdq/qdq.h"

#include <inttypes.h>
#include <string.h>

/* ConvInteger and MatMulInteger are none of them: without a DynamicQuantizeLinear in front they compute integers. */
static const char *const dynamic_types[] = {"DynamicQuantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul",
                                            "MatMulIntegerToFloat", NULL};

bool qdq_detect(const struct graph *graph)
{
    static const char *const types[] = {"QuantizeLinear", "DequantizeLinear", NULL};
    for (int i = 0; i < graph->node_count; i++)
        if (qdq_find_qoperator(&graph->nodes[i]) || node_is_one_of(&graph->nodes[i], types) ||
            node_is_one_of(&graph->nodes[i], dynamic_types))
            return true;
    return false;
}

bool qdq_refuse(const struct graph *graph, struct diagnostics *diagnostics)
{
    int dynamic = 0;
    const struct node *first = NULL;
    for (int i = graph->node_count - 1; i >= 0; i--)
        if (node_is_one_of(&graph->nodes[i], dynamic_types)) {
            dynamic++;
            first = &graph->nodes[i];
        }
    if (first)
        diagnose(
            diagnostics, SEVERITY_ERROR, NULL, NULL,
            "the model is quantised dynamically: %d nodes, the first is %s '%s', compute scales while the network runs; "
            "quantise it with quantize_static and calibration data instead of quantize_dynamic (docs/from-pytorch.md)",
            dynamic, first->type, first->name);
    else if (graph->opset < 10 || graph->opset > 25)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "the model is of opset %" PRId64 "; supported for quantised models: 10 to 25; convert it with "
                 "onnx.version_converter, or export it again",
                 graph->opset);
    else
        return false;
    return true;
}

/* Weights in floating point, which NEMO's integers are in, too; null: the node has none. */
static const struct constant *float_weights(const struct graph *graph, const struct node *node)
{
    static const char *const types[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};
    bool has_weights = node->input_count >= 2 && node->inputs[1] != NO_VALUE && node_is_one_of(node, types);
    const struct constant *weights = has_weights ? graph->values[node->inputs[1]].constant : NULL;
    return weights && (weights->type == ELEMENT_FLOAT || weights->type == ELEMENT_DOUBLE) ? weights : NULL;
}

struct counted {
    size_t numbers, integers, fractions;
};

#define PIECE 512 /* numbers that are read at once */

/* Until half of all numbers are found to be integers. */
static void count_fractions(const struct constant *constant, struct counted *counted)
{
    int64_t numbers[PIECE];
    size_t first;
    for (size_t i = 0; i < constant->count && counted->integers * 2 < counted->numbers; i += PIECE) {
        size_t count = constant->count - i < PIECE ? constant->count - i : PIECE;
        size_t fractions = constant_integers(constant, i, count, 0, numbers, &first);
        counted->fractions += fractions;
        counted->integers += count - fractions;
    }
}

/* A network without weights says by an operator that integer networks do not have that it is none. NULL: it has none. */
static const struct node *other_operator(const struct graph *graph)
{
    static const char *const integers[] = {"ConvInteger", "MatMulInteger", NULL};
    const struct node *other = NULL;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        if (node_is_one_of(node, integers))
            return NULL;
        if (!other && node->is_needed && !operator_find(node->type) && !operator_find_advice(node->type))
            other = node;
    }
    return other;
}

#define HOW_TO_QUANTISE                                                                                                     \
    "quantise it to 8 bits, e.g. with onnxruntime's quantize_static as docs/from-pytorch.md shows, or with NEMO or "        \
    "Quantlab"

bool qdq_refuse_float(const struct graph *graph, struct diagnostics *diagnostics)
{
    struct counted counted = {0, 0, 0};
    for (int i = 0; i < graph->node_count; i++) {
        const struct constant *weights = float_weights(graph, &graph->nodes[i]);
        counted.numbers += weights ? weights->count : 0;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const struct constant *weights = float_weights(graph, &graph->nodes[i]);
        if (weights)
            count_fractions(weights, &counted);
    }
    const struct node *other = counted.numbers == 0 ? other_operator(graph) : NULL;
    if (other) {
        diagnose(
            diagnostics, SEVERITY_ERROR, other->name, NULL,
            "operator %s is not among those of integer networks ('dory ops' lists them), and nothing says that the model is "
            "quantised: there is no QuantizeLinear, and there are no integer weights; if it is in floating "
            "point, " HOW_TO_QUANTISE,
            other->type);
        return true;
    }
    if (counted.integers * 2 >= counted.numbers)
        return false;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the model is in floating point: %zu of the %zu numbers of its weights are fractions, and nothing in it is "
             "quantised; " HOW_TO_QUANTISE,
             counted.fractions, counted.numbers);
    return true;
}
