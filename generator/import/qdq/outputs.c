/* What the network gives: tensors, 32-bit sums, or what the application needs of a head in floating point. */
#include "import/qdq/operators/handlers.h"

#include <string.h>

/* ---- what a head is computed from ---- */

/* Another list, one longer: values that share the first one keep it. */
static int *add_to(struct qdq *qdq, const int *list, int count, int number)
{
    int *longer = arena_array(qdq->arena, int, (size_t)count + 1);
    if (count)
        memcpy(longer, list, (size_t)count * sizeof *longer);
    longer[count] = number;
    return longer;
}

static void add_source(struct qdq *qdq, struct qdq_value *head, int tensor)
{
    for (int i = 0; i < head->source_count; i++)
        if (head->sources[i] == tensor)
            return;
    head->sources = add_to(qdq, head->sources, head->source_count++, tensor);
}

/* The sums of a layer that nobody rounds; -1: there are none. */
static int sums_of(struct qdq *qdq, const struct qdq_value *value)
{
    return value->kind == QDQ_PENDING ? qdq_pending_give_sums(qdq, value->pending, value->pending->layer.name) : -1;
}

/* As a Where selects it: the application has it from the model. */
static bool is_one_number(const struct qdq_value *value)
{
    bool is_same = value->kind == QDQ_REALS;
    for (int i = 1; is_same && i < 256; i++)
        is_same = value->reals[i] == value->reals[0];
    return is_same;
}

void qdq_add_sources(struct qdq *qdq, struct qdq_value *head, const struct qdq_value *input)
{
    int sums = sums_of(qdq, input);
    if (sums >= 0) {
        add_source(qdq, head, sums);
        return;
    }
    struct qdq_value own = *input;
    if (qdq_are_truths(&own))
        qdq_lay_truths(qdq, &own);
    if (own.kind == QDQ_ELEMENTS || own.kind == QDQ_REALS || own.kind == QDQ_STATISTIC)
        add_source(qdq, head, own.tensor);
    for (int i = 0; input->kind == QDQ_PENDING && i < input->pending->part_count; i++)
        if (!is_one_number(&input->pending->parts[i]))
            qdq_add_sources(qdq, head, &input->pending->parts[i]);
    for (int i = 0; input->kind == QDQ_PENDING && !input->pending->part_count && i < 2; i++)
        if (input->pending->layer.inputs[i] >= 0)
            add_source(qdq, head, input->pending->layer.inputs[i]);
    for (int i = 0; input->kind == QDQ_HEAD && i < input->source_count; i++)
        add_source(qdq, head, input->sources[i]);
}

/* ---- outputs ---- */

static void add_output(struct qdq *qdq, int tensor)
{
    struct network *network = qdq->builder.network;
    if (network_is_output(network, tensor))
        return;
    network->outputs = add_to(qdq, network->outputs, network->output_count++, tensor);
}

/* Files of the tensor in ONNX's order, channels first, are then in that of the model's own tensor. What is in neither order
 * but lies in memory as in the model has its channels last (is_turned). */
static bool is_in_order(const struct qdq *qdq, const struct qdq_value *value)
{
    struct view image = view_of_image(qdq_tensor(qdq, value->tensor), 4), flat;
    return view_reshape(&image, value->view.rank, value->view.dimensions, &flat) && view_equal(&flat, &value->view);
}

static bool is_memory(const struct qdq *qdq, const struct qdq_value *value)
{
    return view_is_memory(&value->view) &&
           view_elements(&value->view) == (int64_t)tensor_elements(qdq_tensor(qdq, value->tensor));
}

/* Outputs have places of their own. */
static int lay_copy(struct qdq *qdq, const char *name, int tensor)
{
    struct tensor from = *qdq_tensor(qdq, tensor);
    int copy = qdq_tensor_like(qdq, name, tensor, from.height, from.width, from.channels);
    quantised_layer(&qdq->builder, LAYER_MAXIMUM_POOL, name, tensor, copy);
    return copy;
}

static void give_tensor(struct qdq *qdq, const struct node *node, struct qdq_value value)
{
    struct layout layout = layout_of_image(value.view.rank);
    struct tensor *tensor = qdq_tensor(qdq, value.tensor);
    const bool is_image = is_in_order(qdq, &value);
    if (!is_image && is_memory(qdq, &value) && tensor->producer != NO_LAYER)
        tensor->is_turned = true;
    else if (!is_image && qdq_lay(qdq, node, NULL, &layout, 0, &value) != QDQ_DONE)
        return;
    if (qdq_tensor(qdq, value.tensor)->producer == NO_LAYER)
        value.tensor =
            lay_copy(qdq, arena_format(qdq->arena, "%s, given", qdq_tensor(qdq, value.tensor)->name), value.tensor);
    add_output(qdq, value.tensor);
}

static void set_shape(struct qdq *qdq, int tensor, const struct view *view)
{
    struct tensor *output = qdq_tensor(qdq, tensor);
    if (view_elements(view) != (int64_t)tensor_elements(output))
        return;
    output->model_rank = view->rank;
    for (int i = 0; i < view->rank; i++)
        output->model_dimensions[i] = (int)view->dimensions[i];
}

/* A tensor that is the model's output as it is: once more where it is one already. */
static void give_own(struct qdq *qdq, const struct node *node, struct qdq_value value)
{
    if (network_is_output(qdq->builder.network, value.tensor))
        value.tensor = lay_copy(qdq, node->name, value.tensor);
    int before = qdq->builder.network->output_count;
    give_tensor(qdq, node, value);
    if (qdq->builder.network->output_count > before)
        set_shape(qdq, qdq->builder.network->outputs[before], &value.view);
}

/* 32-bit sums, which no layer copies: files have them in the model's order and shape where they lie in one that files
 * know, else as an image. */
static void give_sums(struct qdq *qdq, int tensor, const struct view *view)
{
    const struct qdq_value value = {.kind = QDQ_ELEMENTS, .view = *view, .tensor = tensor};
    const bool is_image = is_in_order(qdq, &value), is_turned = !is_image && is_memory(qdq, &value);
    add_output(qdq, tensor);
    qdq_tensor(qdq, tensor)->is_turned = is_turned;
    if (is_image || is_turned)
        set_shape(qdq, tensor, view);
}

/* The layer makes no rows beside the value's, as one of several images does between them. */
static bool makes_no_more(const struct qdq_value *value)
{
    const struct qdq_pending *layer = value->pending;
    return view_elements(&value->view) >= (int64_t)layer->height * layer->width * layer->channels;
}

/* A tensor that a head is computed from: as the model's tensor of that name, or else as an image. */
static void give_source(struct qdq *qdq, const struct node *node, int tensor)
{
    const char *name = qdq_tensor(qdq, tensor)->name;
    for (int i = 0; i < qdq->graph->value_count; i++)
        if (qdq->values[i].kind == QDQ_ELEMENTS && qdq->values[i].tensor == tensor &&
            !strcmp(qdq->graph->values[i].name, name)) {
            if (!network_is_output(qdq->builder.network, tensor))
                give_own(qdq, node, qdq->values[i]);
            return;
        }
    give_tensor(
        qdq, node,
        (struct qdq_value){.kind = QDQ_ELEMENTS, .view = view_of_image(qdq_tensor(qdq, tensor), 4), .tensor = tensor});
}

/* Sums that nothing rounds. False: they have no 32 bits of their own. */
static bool give_unrounded(struct qdq *qdq, const struct node *node, const struct qdq_value *value, const char *name)
{
    if (!makes_no_more(value)) {
        qdq_fault(qdq, node, NULL, "gives unrounded sums of several images; supported: a QuantizeLinear behind it");
        return true;
    }
    const int sums = qdq_pending_give_sums(qdq, value->pending, name);
    if (sums >= 0)
        give_sums(qdq, sums, &value->view);
    return sums >= 0;
}

/* What a layer computes becomes an output, or is refused. False: the application computes it of other outputs. */
static bool give_value(struct qdq *qdq, const struct node *node, const struct qdq_value *value, const char *name)
{
    switch (value->kind) {
    case QDQ_UNKNOWN: return true;
    case QDQ_PENDING: return give_unrounded(qdq, node, value, name);
    case QDQ_HEAD: return false;
    case QDQ_SCALED: qdq_refuse_channels(qdq, node, value); return true;
    case QDQ_REALS:
        if (!qdq_is_plain(qdq, value))
            return false;
        give_own(qdq, node, *value);
        return true;
    case QDQ_ELEMENTS: give_own(qdq, node, *value); return true;
    default:
        diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "output '%s' of the graph is not the output of a layer",
                 name);
        return true;
    }
}

void qdq_give_output(struct qdq *qdq, int index)
{
    const struct qdq_value value = qdq->values[index];
    const struct value *output = &qdq->graph->values[index];
    const struct node *node = &qdq->graph->nodes[output->producer];
    struct qdq_value head = {.kind = QDQ_HEAD};
    if (give_value(qdq, node, &value, output->name))
        return;
    qdq_list_makers(qdq, index);
    qdq_add_sources(qdq, &head, &value);
    for (int i = 0; i < head.source_count; i++)
        give_source(qdq, node, head.sources[i]);
}
