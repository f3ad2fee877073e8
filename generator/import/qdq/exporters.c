/* What to do about a fault, with the tool that made the file: by its producer and by how it names nodes. */
#include "import/qdq/qdq.h"

#include <string.h>

enum exporter { ONNXRUNTIME, QOPERATOR, PT2E, BREVITAS, NNCF, EXPORTER_COUNT };

static bool has_node(const struct graph *graph, const char *part, bool at_begin)
{
    for (int i = 0; i < graph->node_count; i++) {
        const char *found = strstr(graph->nodes[i].name, part);
        if (found && (!at_begin || found == graph->nodes[i].name))
            return true;
    }
    return false;
}

/* NNCF names a quantiser by the tensor that it quantises. */
static bool is_named_as_nncf(const struct graph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        const char *begin = "QuantizeLinear_", *input;
        if (strcmp(node->type, "QuantizeLinear") != 0 || node->input_count < 1 || node->inputs[0] == NO_VALUE)
            continue;
        input = graph->values[node->inputs[0]].name;
        size_t length = strlen(begin), size = strlen(input);
        if (!strncmp(node->name, begin, length) && !strncmp(node->name + length, input, size) &&
            !strcmp(node->name + length + size, "_1"))
            return true;
    }
    return false;
}

static bool has_qoperators(const struct graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (qdq_find_qoperator(&graph->nodes[i]))
            return true;
    return false;
}

/* Others are told what onnxruntime's option is, as an example. */
static enum exporter exporter_of(const struct graph *graph)
{
    bool is_torch = !strncmp(graph->producer, "pytorch", 7);
    if (is_torch && has_node(graph, "export_handler", false))
        return BREVITAS;
    if (is_torch && (has_node(graph, "node_dequantize_per_", true) || has_node(graph, "node_quantize_per_", true)))
        return PT2E;
    if (strncmp(graph->producer, "onnx.quantize", 13) != 0 && (has_node(graph, "nncf", false) || is_named_as_nncf(graph)))
        return NNCF;
    return has_qoperators(graph) ? QOPERATOR : ONNXRUNTIME;
}

const char *qdq_advice(const struct qdq *qdq, enum qdq_topic topic)
{
    static const char *const texts[QDQ_TOPIC_COUNT][EXPORTER_COUNT] = {
        [QDQ_COVER] =
            {"have the quantiser cover them, e.g. quantize_static(..., op_types_to_quantize=[..., %s]), and leave them "
             "out of nodes_to_exclude",
             "QuantFormat.QOperator leaves some operators in floating point: quantise with quantize_static(..., "
             "quant_format=QuantFormat.QDQ, op_types_to_quantize=[..., %s])",
             "have PT2E's quantizer annotate them, in front of prepare_pt2e, by set_global, or set_module_type of the "
             "modules of %s; or quantise a float export with onnxruntime's quantize_static, which covers more operators, "
             "as Conv1d",
             "have Brevitas quantise their results: a QuantIdentity, or an output_quant, behind %s",
             "NNCF puts no quantiser between an operator and the activation or norm behind it: ReLU, LeakyReLU and PReLU go "
             "in, others as onnxruntime's quantize_static quantises them. If ignored_scope of nncf.quantize is what leaves "
             "them unquantised, take out of it: %s"},
        [QDQ_ACTIVATIONS] = {"quantize_static(..., activation_type=QuantType.QUInt8)",
                             "quantize_static(..., activation_type=QuantType.QUInt8)",
                             "a QuantizationSpec of torch.int8 or torch.uint8 for activations in PT2E's quantizer",
                             "bit_width=8 for Brevitas' activations", "8-bit activations, as nncf.quantize makes them"},
        [QDQ_WEIGHTS] = {"weight_type=QuantType.QInt8", "weight_type=QuantType.QInt8",
                         "a QuantizationSpec of torch.int8 for weights in PT2E's quantizer",
                         "weight_bit_width=8 or less, signed, in Brevitas", "symmetric 8-bit weights of nncf.quantize"},
    };
    return texts[topic][exporter_of(qdq->graph)];
}

/* onnxruntime quantises these by default, but only behind what is quantised, unless it is told not to look. */
static bool names_moves(const char *types)
{
    static const char *const moves[] = {"'MaxPool'",   "'AveragePool'", "'Reshape'", "'Transpose'", "'Squeeze'",
                                        "'Unsqueeze'", "'Flatten'",     "'Slice'",   "'Gather'",    "'Resize'"};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (strstr(types, moves[i]))
            return true;
    return false;
}

const char *qdq_advice_to_cover(const struct qdq *qdq, const char *types)
{
    static const char *const of_moves =
        "have the quantiser cover them also where their input is not quantised, e.g. quantize_static(..., "
        "op_types_to_quantize=[..., %s], extra_options={'ForceQuantizeNoInputCheck': True}), and leave them out of "
        "nodes_to_exclude";
    const bool moves = exporter_of(qdq->graph) == ONNXRUNTIME && names_moves(types);
    const char *advice = moves ? of_moves : qdq_advice(qdq, QDQ_COVER), *place = strstr(advice, "%s");
    return arena_format(qdq->arena, "%.*s%s%s", (int)(place - advice), advice, types, place + 2);
}
