/* Floating point in the middle of a network, and other nodes that no layer computes: what is said of them. */
#include "import/qdq/islands.h"
#include "import/operators.h"
#include "import/qdq/qdq.h"

#include <string.h>

const char *qdq_add_to_list(struct qdq *qdq, const char *list, const char *name)
{
    if (!list)
        return arena_format(qdq->arena, "%s", name);
    return strlen(list) > 300 ? list : arena_format(qdq->arena, "%s, %s", list, strlen(list) > 280 ? "..." : name);
}

/* The input that no integers stand for, or -1. */
static int floating_input(struct qdq *qdq, const struct qdq_value *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i].kind == QDQ_PENDING || inputs[i].kind == QDQ_STATISTIC || inputs[i].kind == QDQ_OUTSIDE ||
            inputs[i].kind == QDQ_HEAD || (inputs[i].kind == QDQ_REALS && !qdq_is_plain(qdq, &inputs[i])))
            return i;
    return -1;
}

/* How quant_pre_process names the nodes of functions that it writes out, as GroupNormalization from opset 21 on is one. */
#define INLINED "_inlfunc_GroupNormalization"

static void add_type(struct qdq *qdq, const char *type)
{
    const char *quoted = arena_format(qdq->arena, "'%s'", type);
    if (!qdq->island_types || !strstr(qdq->island_types, quoted))
        qdq->island_types = qdq_add_to_list(qdq, qdq->island_types, quoted);
}

/* The node to be covered in place of this one: quantisers leave an activation in floating point because what is in front of
 * it is. */
static const struct node *source_of(const struct qdq *qdq, const struct node *node)
{
    static const char *const activations[] = {"Relu", "Clip", NULL};
    const struct node *source = node;
    while (node_is_one_of(source, activations)) {
        const int input = source->input_count < 1 ? NO_VALUE : source->inputs[0];
        const int producer = input == NO_VALUE ? NO_NODE : qdq->graph->values[input].producer;
        if (producer == NO_NODE || !strcmp(qdq->graph->nodes[producer].type, "DequantizeLinear"))
            return node;
        source = &qdq->graph->nodes[producer];
    }
    return source;
}

/* They are reported together, once all are known. A reader whose result is not quantised is not covered either; null: there
 * is none. */
static void add_island(struct qdq *qdq, const struct node *node, const struct node *reader, const char *about)
{
    qdq->island_count++;
    qdq->islands = qdq_add_to_list(qdq, qdq->islands, arena_format(qdq->arena, "%s '%s'%s", node->type, node->name, about));
    qdq->has_inlined_islands |= !strncmp(node->name, INLINED, strlen(INLINED));
    add_type(qdq, source_of(qdq, node)->type);
    struct quantisation quantisation;
    if (reader && !qdq_reader_quantisation(qdq, reader, &quantisation))
        add_type(qdq, reader->type);
}

/* The constant of several numbers because of which an operator of two operands has no layer; null: none. */
static const struct qdq_array *long_constant(const struct node *node, const struct qdq_value *inputs, int count)
{
    static const char *const types[] = {"PRelu", "Div", "Min", "Max", "Pow"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        is_known = is_known || !strcmp(types[i], node->type);
    for (int i = 0; is_known && i < count; i++)
        if (inputs[i].kind == QDQ_CONSTANT && inputs[i].array->count > 1)
            return inputs[i].array;
    return NULL;
}

/* A constant that no DequantizeLinear gives, as a quantiser leaves those of operators that it does not cover. */
static bool has_real_constant(const struct qdq_value *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i].kind == QDQ_CONSTANT && !inputs[i].array->scale_count && inputs[i].array->count > 1)
            return true;
    return false;
}

/* Of onnxruntime's own domain, out of several nodes of the exporter's. */
static bool is_of_optimiser(const struct node *node)
{
    static const char *const types[] = {"Attention",
                                        "MultiHeadAttention",
                                        "GroupQueryAttention",
                                        "BiasGelu",
                                        "FastGelu",
                                        "QuickGelu",
                                        "BiasAdd",
                                        "EmbedLayerNormalization",
                                        "SkipLayerNormalization",
                                        "RotaryEmbedding",
                                        "GroupNorm",
                                        "SkipSimplifiedLayerNormalization",
                                        "SkipGroupNorm",
                                        "FusedMatMul",
                                        "FusedGemm",
                                        "FusedConv",
                                        "RelativePositionBias",
                                        "GemmFastGelu",
                                        NULL};
    return !strcmp(node->domain, "com.microsoft") && node_is_one_of(node, types);
}

/* A condition that the network's input decides in floating point. */
static bool is_outside_truth(const struct node *node, const struct node *reader, const struct qdq_value *input)
{
    static const char *const types[] = {"And", "Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual", "Not",
                                        "Or",  "Xor",   NULL};
    return input->kind == QDQ_OUTSIDE && (node_is_one_of(reader, types) || (node && node_is_one_of(node, types)));
}

/* What stands in the way of a node that no handler takes, from the most particular on: each of these reports it, or has
 * nothing to say. */

static bool refuse_scales(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i].kind == QDQ_SCALED) {
            qdq_refuse_channels(qdq, node, &inputs[i]);
            return true;
        }
    return false;
}

static bool refuse_long_constant(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count)
{
    const struct qdq_array *constant = long_constant(node, inputs, count);
    if (constant)
        qdq_fault(qdq, node, NULL, "%s with the constant '%s' of %zu numbers; supported: one number%s", node->type,
                  constant->name, constant->count,
                  strcmp(node->type, "PRelu") != 0 ? "" : ", a slope for all channels (of PyTorch: PReLU(1))");
    return constant;
}

static bool refuse_fused(struct qdq *qdq, const struct node *node)
{
    if (!is_of_optimiser(node) || qdq_operator_find(node))
        return false;
    qdq_fault(qdq, node, NULL,
              "operator %s of domain com.microsoft is not supported here: onnxruntime's optimiser fused it; quantise what "
              "the exporter wrote, without optimize_model and with no more than ORT_ENABLE_BASIC",
              node->type);
    return true;
}

static bool refuse_operands(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count)
{
    const struct qdq_operator *known = qdq_operator_find(node);
    if (!known)
        return false;
    const char *advice =
        has_real_constant(inputs, count) ? qdq_advice_to_cover(qdq, arena_format(qdq->arena, "'%s'", node->type)) : "";
    qdq_fault(qdq, node, NULL, "%s of these operands has no layer; it becomes %s%s%s%s%s", node->type, known->becomes,
              *known->limits ? ", supported: " : "", known->limits, *advice ? "; " : "", advice);
    return true;
}

/* `is_floating`: an input of it is; then it may be what reads that. */
static bool refuse_operator(struct qdq *qdq, const struct node *node, bool is_floating)
{
    const struct operator_advice *advice =
        *node->domain || qdq_operator_find(node) ? NULL : operator_find_advice(node->type);
    if (is_floating && !advice)
        return false;
    const bool is_causal = advice && qdq_integer(qdq, node, "is_causal", 0) != 0;
    qdq_fault(qdq, node, NULL, "operator %s%s%s is not supported here: %s%s", node->type, *node->domain ? " of domain " : "",
              node->domain, advice ? advice->text : "there is no layer that computes it; 'dory ops' lists what there is",
              is_causal ? QDQ_OF_INFINITE_MASK : "");
    return true;
}

void qdq_report_island(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count)
{
    const int floating = floating_input(qdq, inputs, count);
    const bool is_floating = floating >= 0;
    if (refuse_scales(qdq, node, inputs, count) || (!is_floating && refuse_long_constant(qdq, node, inputs, count)) ||
        refuse_fused(qdq, node) || (!is_floating && refuse_operands(qdq, node, inputs, count)) ||
        refuse_operator(qdq, node, is_floating))
        return;
    const struct value *value = &qdq->graph->values[node->inputs[floating]];
    const struct node *producer = value->producer == NO_NODE ? NULL : &qdq->graph->nodes[value->producer];
    if (is_outside_truth(producer, node, &inputs[floating]))
        qdq_fault(qdq, node, NULL, QDQ_OF_OUTSIDE_TRUTH);
    else if (producer)
        add_island(qdq, producer, node, arena_format(qdq->arena, ", which %s '%s' reads", node->type, node->name));
    else
        add_island(qdq, node, NULL, arena_format(qdq->arena, ", whose input '%s' is not quantised", value->name));
}

void qdq_report_islands(const struct qdq *qdq, struct diagnostics *diagnostics)
{
    if (!qdq->island_count)
        return;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "floating point in the middle of the network: %s%s; %s", qdq->islands,
             qdq->island_count == 1 ? "" : arena_format(qdq->arena, " (%d nodes)", qdq->island_count),
             qdq->has_inlined_islands
                 ? "export with opset_version=20: GroupNormalization of later ones quant_pre_process writes out"
                 : qdq_advice_to_cover(qdq, qdq->island_types));
}
