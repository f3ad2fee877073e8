/* Which QuantizeLinear rounds a value, behind nodes that only move elements, or keep their order: rounding may then come
 * first, so that these nodes move bytes. NNCF and PT2E leave a convolution unquantised in front of a Slice or a Concat. */
#include "import/qdq/qdq.h"
#include "middle/functions.h"

#include <math.h>
#include <string.h>

/* What of a value is rounded, and how: by no node yet, by nodes that agree with this one, or otherwise. */
struct qdq_later {
    const struct node *quantiser;
    bool is_otherwise;
};

/* ---- quantisers ---- */

/* A constant of one number, also one that a Constant node gives, which the walk has not come to. */
static bool read_number(struct qdq *qdq, const struct node *node, int input, double *number, enum element_type *type)
{
    if (input >= node->input_count || node->inputs[input] == NO_VALUE)
        return false;
    const struct value *value = &qdq->graph->values[node->inputs[input]];
    const struct node *maker = value->producer == NO_NODE ? NULL : &qdq->graph->nodes[value->producer];
    const struct attribute *given = maker && !strcmp(maker->type, "Constant") ? node_attribute(maker, "value") : NULL;
    const struct constant *constant = given && given->kind == ATTRIBUTE_CONSTANT ? given->constant : value->constant;
    if (!constant || constant->count != 1)
        return false;
    const struct qdq_array *array = qdq_array_of(qdq, constant);
    *type = array->type;
    return qdq_array_scalar(array, number);
}

static bool read_quantiser(struct qdq *qdq, const struct node *node, struct quantisation *quantisation)
{
    enum element_type scale_type, type;
    double scale, zero_point;
    if (!read_number(qdq, node, 1, &scale, &scale_type) || !read_number(qdq, node, 2, &zero_point, &type) ||
        !(scale > 0 && isfinite(scale)) || (type != ELEMENT_INT8 && type != ELEMENT_UINT8))
        return false;
    *quantisation = (struct quantisation){scale, (int64_t)zero_point, type == ELEMENT_INT8};
    return true;
}

static bool agree(struct qdq *qdq, const struct node *a, const struct node *b)
{
    struct quantisation first, second;
    return a == b || (read_quantiser(qdq, a, &first) && read_quantiser(qdq, b, &second) && first.scale == second.scale &&
                      first.zero_point == second.zero_point && first.is_signed == second.is_signed);
}

static void merge(struct qdq *qdq, struct qdq_later *later, struct qdq_later other)
{
    bool is_same = !later->quantiser || !other.quantiser || agree(qdq, later->quantiser, other.quantiser);
    later->is_otherwise = later->is_otherwise || other.is_otherwise || !is_same;
    later->quantiser = later->quantiser ? later->quantiser : other.quantiser;
}

/* ---- nodes ---- */

static bool is_among(const struct node *node, const char *const *types, size_t count)
{
    for (size_t i = 0; i < count && !*node->domain; i++)
        if (!strcmp(types[i], node->type))
            return true;
    return false;
}

/* A number that is not smaller than another stays so, and so do their roundings. */
static bool keeps_order(const struct node *node)
{
    static const char *const types[] = {
        "Clip",      "Concat",        "DepthToSpace", "Expand",    "Flatten", "Gather",       "GatherElements",
        "GatherND",  "GlobalMaxPool", "Identity",     "Max",       "MaxPool", "Min",          "Pad",
        "ReduceMax", "ReduceMin",     "Relu",         "Reshape",   "Slice",   "SpaceToDepth", "Split",
        "Squeeze",   "Tile",          "Transpose",    "Unsqueeze", "Where"};
    return is_among(node, types, sizeof types / sizeof *types);
}

/* The input selects numbers, which are others'. */
static bool is_condition(const struct node *node, int input) { return input == 0 && !strcmp(node->type, "Where"); }

static struct qdq_later later_of(struct qdq *qdq, const struct node *node)
{
    struct qdq_later later = {NULL, false};
    if (!strcmp(node->type, "QuantizeLinear"))
        return (struct qdq_later){node, false};
    for (int i = 0; i < node->output_count && keeps_order(node); i++)
        if (node->outputs[i] != NO_VALUE)
            merge(qdq, &later, qdq->later[node->outputs[i]]);
    later.is_otherwise = later.is_otherwise || !keeps_order(node);
    return later;
}

void qdq_find_quantisers(struct qdq *qdq)
{
    const struct graph *graph = qdq->graph;
    qdq->later = arena_array(qdq->arena, struct qdq_later, (size_t)graph->value_count);
    for (int i = 0; i < graph->output_count; i++)
        qdq->later[graph->outputs[i]].is_otherwise = true;
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const struct node *node = &graph->nodes[n];
        if (!node->is_needed)
            continue;
        struct qdq_later later = later_of(qdq, node);
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != NO_VALUE && !graph->values[node->inputs[i]].constant)
                merge(qdq, &qdq->later[node->inputs[i]],
                      is_condition(node, i) ? (struct qdq_later){.is_otherwise = true} : later);
    }
}

/* ---- values ---- */

static bool settle(struct qdq *qdq, const struct node *node, struct qdq_later later, const char *name,
                   struct qdq_value *value)
{
    struct quantisation quantisation;
    struct qdq_value elements;
    if (!later.quantiser || later.is_otherwise || !read_quantiser(qdq, later.quantiser, &quantisation) ||
        qdq_quantise(qdq, node, value, &quantisation, name, &elements) != QDQ_DONE)
        return false;
    *value = elements;
    value->kind = QDQ_REALS;
    value->reals = qdq_plain_reals(qdq, elements.tensor);
    return true;
}

/* All readers of an input may take the rounded numbers, or only this node does; of the network's own input, which is
 * quantised once, all do. */
static bool settle_input(struct qdq *qdq, const struct node *node, int index, struct qdq_value *value)
{
    const char *name = qdq->graph->values[index].name;
    if (settle(qdq, node, qdq->later[index], name, value)) {
        qdq->values[index] = *value;
        return true;
    }
    return value->kind != QDQ_OUTSIDE && settle(qdq, node, later_of(qdq, node), name, value);
}

/* Of a function that is no number for some bytes no order is known. */
static bool is_unrounded(struct qdq *qdq, const struct qdq_value *value)
{
    return value->kind == QDQ_PENDING || value->kind == QDQ_OUTSIDE ||
           (value->kind == QDQ_REALS && !qdq_is_plain(qdq, value) && function_is_of_numbers(value->reals));
}

bool qdq_settle(struct qdq *qdq, const struct node *node, struct qdq_value *inputs, int count)
{
    bool is_settled = false;
    for (int i = 0; i < count && keeps_order(node); i++)
        if (!is_condition(node, i) && is_unrounded(qdq, &inputs[i]))
            is_settled = settle_input(qdq, node, node->inputs[i], &inputs[i]) || is_settled;
    return is_settled;
}
