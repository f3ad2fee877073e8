/* The walk over the nodes, and what comes in and goes out. */
#include "import/operators.h"
#include "import/qdq/islands.h"
#include "import/qdq/outside.h"
#include "simplify/tidy.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum qdq_outcome qdq_fault(struct qdq *qdq, const struct node *node, const char *attribute, const char *format, ...)
{
    char text[1000]; /* names in it may be of any length; what does not fit is cut */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diagnose(qdq->diagnostics, SEVERITY_ERROR, node->name, attribute, "%s", text);
    return QDQ_FAULT;
}

/* ---- what is quantised later ---- */

static bool quantises(const struct qdq *qdq, const struct node *node)
{
    return !strcmp(node->type, "QuantizeLinear") || qdq_find_qoperator(node) || qdq->is_of_integers;
}

static bool leads_to_integers(const struct qdq *qdq, const struct node *node)
{
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != NO_VALUE && qdq->is_quantised_later[node->outputs[i]])
            return true;
    return false;
}

static void mark_quantised_later(struct qdq *qdq)
{
    qdq->is_quantised_later = arena_array(qdq->arena, bool, (size_t)qdq->graph->value_count);
    for (int n = qdq->graph->node_count - 1; n >= 0; n--) {
        const struct node *node = &qdq->graph->nodes[n];
        if (!node->is_needed || (!quantises(qdq, node) && !leads_to_integers(qdq, node)))
            continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] != NO_VALUE)
                qdq->is_quantised_later[node->inputs[i]] = true;
    }
}

/* ---- floating point that is left to the application ---- */

#define MAXIMUM_LISTED_DEPTH 64

static void list_node(struct qdq *qdq, const struct node *node)
{
    bool *is_listed = &qdq->is_listed[node - qdq->graph->nodes];
    if (!*is_listed)
        qdq->head = qdq_add_to_list(qdq, qdq->head, arena_format(qdq->arena, "%s '%s'", node->type, node->name));
    *is_listed = true;
}

/* A move or a pool of a function of elements, which the firmware does with the elements themselves. */
static bool is_laid(const struct qdq *qdq, const struct node *node, const struct qdq_value *made)
{
    const int first = node->input_count < 1 ? NO_VALUE : node->inputs[0];
    const struct qdq_value *input = first == NO_VALUE ? NULL : &qdq->values[first];
    return made->kind == QDQ_REALS && input && input->kind == QDQ_REALS && input->tensor != made->tensor;
}

static void list_makers(struct qdq *qdq, int index, int depth)
{
    const struct qdq_value *known = index == NO_VALUE ? NULL : &qdq->values[index];
    if (!known || qdq->graph->values[index].producer == NO_NODE || depth > MAXIMUM_LISTED_DEPTH ||
        !(known->kind == QDQ_STATISTIC ||
          (known->kind == QDQ_PENDING && qdq_pending_give_sums(qdq, known->pending, known->pending->layer.name) < 0) ||
          (known->kind == QDQ_REALS && !qdq_is_plain(qdq, known))))
        return;
    const struct node *node = &qdq->graph->nodes[qdq->graph->values[index].producer];
    for (int i = 0; i < node->input_count && !qdq->is_listed[node - qdq->graph->nodes]; i++)
        list_makers(qdq, node->inputs[i], depth + 1);
    if (!is_laid(qdq, node, known))
        list_node(qdq, node);
}

void qdq_list_makers(struct qdq *qdq, int index) { list_makers(qdq, index, 0); }

static void leave_to_application(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                 struct qdq_value *results)
{
    struct qdq_value head = {.kind = QDQ_HEAD};
    for (int i = 0; i < count; i++) {
        struct qdq_value input = inputs[i];
        if (qdq_are_truths(&input)) {
            qdq_lay_truths(qdq, &input);
            qdq->values[node->inputs[i]] = input;
        }
        list_makers(qdq, node->inputs[i], 0);
        qdq_add_sources(qdq, &head, &input);
    }
    for (int i = 0; i < node->output_count; i++)
        results[i] = head;
    list_node(qdq, node);
}

/* ---- nodes ---- */

static void load_constant(struct qdq *qdq, int index)
{
    struct qdq_value *value = &qdq->values[index];
    if (value->kind == QDQ_CONSTANT && !value->array) {
        value->array = qdq_array_of(qdq, qdq->graph->values[index].constant);
        if (qdq->is_of_integers)
            qdq_take_integers(qdq, value);
    }
}

const struct qdq_array *qdq_constant(struct qdq *qdq, int index)
{
    if (index == NO_VALUE || qdq->values[index].kind != QDQ_CONSTANT)
        return NULL;
    load_constant(qdq, index);
    return qdq->values[index].array;
}

static struct qdq_value *gather_inputs(struct qdq *qdq, const struct node *node, bool *is_known)
{
    struct qdq_value *inputs = arena_array(qdq->arena, struct qdq_value, (size_t)node->input_count + 8);
    *is_known = true;
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] == NO_VALUE)
            continue;
        load_constant(qdq, node->inputs[i]);
        inputs[i] = qdq->values[node->inputs[i]];
        *is_known &= inputs[i].kind != QDQ_UNKNOWN;
    }
    return inputs;
}

static bool is_one_of(const struct qdq_value *inputs, int count, enum qdq_kind kind)
{
    for (int i = 0; i < count; i++)
        if (inputs[i].kind == kind)
            return true;
    return false;
}

/* A Gather looks up by them; they may have another shape first. */
static bool takes_indices(const struct node *node, const struct qdq_value *inputs)
{
    static const char *const views[] = {"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze", NULL};
    return inputs[0].kind == QDQ_INDICES ? node_is_one_of(node, views) : !strcmp(node->type, "Gather");
}

static enum qdq_outcome run_node(struct qdq *qdq, const struct node *node, struct qdq_value *inputs,
                                 struct qdq_value *results)
{
    enum qdq_outcome outcome;
    const struct qdq_qoperator *qoperator = qdq_find_qoperator(node);
    if (qdq_fold(qdq, node, inputs, node->input_count, results, &outcome))
        return outcome;
    if (is_one_of(inputs, node->input_count, QDQ_INDICES) && !takes_indices(node, inputs))
        return qdq_fault(qdq, node, NULL,
                         "computes with indices; supported: Gather, which looks up rows of a constant by them");
    if (is_one_of(inputs, node->input_count, QDQ_HEAD) ||
        (is_one_of(inputs, node->input_count, QDQ_SCALED) && !qdq_takes_channels(node)))
        return QDQ_FLOAT;
    if (qoperator)
        return qdq_run_qoperator(qdq, node, qoperator, inputs, node->input_count, results);
    if (qdq_norm_arithmetic(qdq, node, inputs, results, &outcome)) {
        const bool is_part = outcome == QDQ_DONE && results[0].kind == QDQ_STATISTIC;
        return is_part && !leads_to_integers(qdq, node) ? QDQ_FLOAT : outcome; /* a part of a norm is nothing by itself */
    }
    const struct qdq_operator *known = qdq_operator_find(node);
    qdq_handler *handle = qdq_find_integer_handler(qdq, node);
    handle = handle ? handle : known ? known->handle : NULL;
    if (!handle)
        return QDQ_FLOAT;
    if (node->input_count < 1 || inputs[0].kind == QDQ_NONE)
        return qdq_fault(qdq, node, NULL, "%s without its input 0", node->type);
    outcome = handle(qdq, node, inputs, node->input_count, results);
    if (outcome == QDQ_FLOAT && qdq_settle(qdq, node, inputs, node->input_count))
        outcome = handle(qdq, node, inputs, node->input_count, results);
    return outcome == QDQ_FLOAT && leads_to_integers(qdq, node)
               ? qdq_distribute(qdq, node, handle, inputs, node->input_count, results)
               : outcome;
}

static void walk_node(struct qdq *qdq, const struct node *node)
{
    bool is_known;
    struct qdq_value *inputs = gather_inputs(qdq, node, &is_known);
    struct qdq_value *results = arena_array(qdq->arena, struct qdq_value, (size_t)node->output_count);
    enum qdq_outcome outcome = is_known ? run_node(qdq, node, inputs, results) : QDQ_FAULT;
    if (outcome == QDQ_FLOAT && !leads_to_integers(qdq, node) && !is_one_of(inputs, node->input_count, QDQ_SCALED)) {
        leave_to_application(qdq, node, inputs, node->input_count, results);
        outcome = QDQ_DONE;
    } else if (outcome == QDQ_FLOAT)
        qdq_report_island(qdq, node, inputs, node->input_count);
    for (int i = 0; i < node->output_count; i++) {
        if (outcome != QDQ_DONE || results[i].kind == QDQ_NONE)
            results[i].kind = QDQ_UNKNOWN;
        if (node->outputs[i] == NO_VALUE)
            continue;
        if (outcome == QDQ_DONE && results[i].kind == QDQ_UNKNOWN && qdq->graph->values[node->outputs[i]].use_count > 0)
            qdq_fault(qdq, node, NULL, "output %d of %s is used; supported: only the first output", i, node->type);
        qdq->values[node->outputs[i]] = results[i];
    }
}

/* ---- edges ---- */

static const char *scale_text(struct qdq *qdq, const struct tensor *tensor)
{
    return tensor->channel_scales ? "with a scale a channel"
                                  : arena_format(qdq->arena, "scale %.9g, zero point %d", tensor->scale, tensor->zero_point);
}

static void report_edges(struct qdq *qdq)
{
    const struct network *network = qdq->builder.network;
    for (int i = 0; i < network->output_count && qdq->head; i++)
        diagnose(qdq->diagnostics, SEVERITY_NOTE, NULL, NULL,
                 "output %d of the firmware is '%s', %s: what comes behind it in the model (%s) is floating point and left "
                 "to the application",
                 i, network->tensors[network->outputs[i]].name, scale_text(qdq, &network->tensors[network->outputs[i]]),
                 qdq->head);
    for (int i = 0; i < network->input_count; i++) {
        const struct tensor *input = &network->tensors[network->inputs[i]];
        if (input->scale == 0 && qdq->diagnostics->error_count == 0 && !qdq->island_count)
            diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "input '%s' is nowhere quantised: the layers that read it run in floating point", input->name);
    }
    if (network->output_count == 0 && qdq->diagnostics->error_count == 0 && !qdq->island_count)
        diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "the graph has no output that a quantised layer computes");
}

/* ---- the whole ---- */

/* What the walk found, a summary first. */
static void hand_over(struct qdq *qdq, struct diagnostics *diagnostics)
{
    const struct diagnostics *own = qdq->diagnostics;
    qdq_report_islands(qdq, diagnostics);
    for (int i = 0; i < own->count; i++)
        diagnose(diagnostics, own->list[i].severity, own->list[i].node, own->list[i].attribute, "%s", own->list[i].text);
}

#define MAXIMUM_LAYERS 20000

static void check_counts(struct qdq *qdq)
{
    if (qdq->builder.network->layer_count >= MAXIMUM_LAYERS)
        diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d layers or more; supported: fewer",
                 MAXIMUM_LAYERS);
    if (qdq->graph->output_count > NETWORK_MAXIMUM_OUTPUTS)
        diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d outputs; supported: up to %d",
                 qdq->graph->output_count, NETWORK_MAXIMUM_OUTPUTS);
}

struct network *qdq_import(const struct graph *graph, const char *name, bool inputs_are_signed, struct arena *arena,
                           struct diagnostics *diagnostics)
{
    if (qdq_refuse(graph, diagnostics))
        return NULL;
    struct diagnostics own = {.arena = arena, .file = diagnostics->file};
    struct qdq qdq = {.arena = arena,
                      .diagnostics = &own,
                      .graph = graph,
                      .is_of_integers = !qdq_detect(graph) && qdq_detect_integers(graph)};
    quantised_begin(&qdq.builder, name, ROUND_HALF_EVEN, arena);
    qdq.values = arena_array(arena, struct qdq_value, (size_t)graph->value_count);
    qdq.is_listed = arena_array(arena, bool, (size_t)graph->node_count);
    mark_quantised_later(&qdq);
    qdq_find_quantisers(&qdq);
    qdq_open_inputs(&qdq, inputs_are_signed);
    for (int i = 0; i < graph->node_count && qdq.builder.network->layer_count < MAXIMUM_LAYERS; i++)
        if (graph->nodes[i].is_needed)
            walk_node(&qdq, &graph->nodes[i]);
    for (int i = 0; i < graph->output_count && i < NETWORK_MAXIMUM_OUTPUTS; i++)
        qdq_give_output(&qdq, graph->outputs[i]);
    check_counts(&qdq);
    network_check_sizes(qdq.builder.network, qdq.diagnostics);
    report_edges(&qdq);
    qdq_apply_folds(&qdq);
    qdq_set_parts(&qdq);
    hand_over(&qdq, diagnostics);
    if (own.error_count || qdq.island_count)
        return NULL;
    network_tidy(qdq.builder.network, arena);
    return qdq.builder.network;
}
