/* Reads an ONNX file, which may come from anywhere, into a struct graph. */
#include "model/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "model/onnx/onnx_constant.h"
#include "model/onnx/onnx_metadata.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/onnx_scan.h"

#define MAXIMUM_PARSED_BYTES   ((size_t)1 << 30)
#define MAXIMUM_EXTERNAL_BYTES ((size_t)256 << 20)
#define MAXIMUM_NODES          100000

static const char *text_of(const char *text) { return text ? text : ""; }
/* ---- nodes ---- */

static Onnx__AttributeProto__AttributeType attribute_type(const Onnx__AttributeProto *source)
{
    if (source->has_type)
        return source->type;
    /* files of IR version 1 do not say */
    return source->has_f      ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
           : source->has_i    ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
           : source->has_s    ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
           : source->t        ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR
           : source->n_ints   ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
           : source->n_floats ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
                              : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
}

static void read_attribute(struct reader *reader, const Onnx__AttributeProto *source, struct attribute *attribute,
                           const struct node *node)
{
    attribute->name = text_of(source->name);
    attribute->kind = ATTRIBUTE_OTHER;
    switch (attribute_type(source)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        attribute->kind = ATTRIBUTE_FLOAT;
        attribute->number = (double)source->f;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        attribute->kind = ATTRIBUTE_INTEGER;
        attribute->integer = source->i;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        attribute->kind = ATTRIBUTE_TEXT;
        attribute->text = arena_format(reader->arena, "%.*s", (int)(source->s.len < 1000 ? source->s.len : 1000),
                                       source->s.data ? (const char *)source->s.data : "");
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        attribute->kind = ATTRIBUTE_INTEGERS;
        attribute->integers = source->ints;
        attribute->count = source->n_ints;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        attribute->kind = ATTRIBUTE_FLOATS;
        attribute->numbers = source->floats;
        attribute->count = source->n_floats;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
        if (source->t && (attribute->constant = onnx_constant_read(reader, source->t, node->name, node->name)))
            attribute->kind = ATTRIBUTE_CONSTANT;
        break;
    default: break;
    }
}

static const int *value_indices(struct reader *reader, char *const *names, size_t count)
{
    int *indices = arena_array(reader->arena, int, count);
    for (size_t i = 0; i < count; i++)
        indices[i] = names[i][0] ? name_table_find(reader->names, names[i]) : NO_VALUE;
    return indices;
}

static void read_node(struct reader *reader, const Onnx__NodeProto *source, struct node *node)
{
    node->name = text_of(source->name);
    if (!*node->name && source->n_output)
        node->name = source->output[0];
    node->type = text_of(source->op_type);
    node->domain = text_of(source->domain);
    if (!strcmp(node->domain, "ai.onnx"))
        node->domain = "";
    node->inputs = value_indices(reader, source->input, source->n_input);
    node->input_count = (int)source->n_input;
    node->outputs = value_indices(reader, source->output, source->n_output);
    node->output_count = (int)source->n_output;
    struct attribute *attributes = arena_array(reader->arena, struct attribute, source->n_attribute);
    for (size_t i = 0; i < source->n_attribute; i++)
        read_attribute(reader, source->attribute[i], &attributes[i], node);
    node->attributes = attributes;
    node->attribute_count = (int)source->n_attribute;
}

/* ---- values ---- */

/* Initialisers, inputs and outputs of the graph, and every name that a node mentions. */
static void collect_names(struct reader *reader)
{
    const Onnx__GraphProto *source = reader->source;
    for (size_t i = 0; i < source->n_initializer; i++)
        name_table_add(reader->names, text_of(source->initializer[i]->name));
    for (size_t i = 0; i < source->n_input; i++)
        name_table_add(reader->names, text_of(source->input[i]->name));
    for (size_t i = 0; i < source->n_output; i++)
        name_table_add(reader->names, text_of(source->output[i]->name));
    for (size_t i = 0; i < source->n_node; i++) {
        const Onnx__NodeProto *node = source->node[i];
        for (size_t k = 0; k < node->n_input; k++)
            name_table_add(reader->names, node->input[k]);
        for (size_t k = 0; k < node->n_output; k++)
            name_table_add(reader->names, node->output[k]);
    }
}

static void make_values(struct reader *reader)
{
    struct graph *graph = reader->graph;
    graph->value_count = name_table_finish(reader->names);
    graph->values = arena_array(reader->arena, struct value, (size_t)graph->value_count);
    for (int i = 0; i < graph->value_count; i++) {
        graph->values[i].name = name_table_name(reader->names, i);
        graph->values[i].producer = NO_NODE;
    }
}

static struct value *value_of(struct reader *reader, const char *name)
{
    return &reader->graph->values[name_table_find(reader->names, text_of(name))];
}

/* In place of an initialiser with a fault, so that its readers are not reported, too: the graph is given up anyway. */
static const struct constant unreadable = {.name = "", .type = ELEMENT_UNSUPPORTED, .type_name = "unreadable"};

static void read_initialisers(struct reader *reader)
{
    for (size_t i = 0; i < reader->source->n_initializer; i++) {
        const Onnx__TensorProto *source = reader->source->initializer[i];
        struct value *value = value_of(reader, source->name);
        if (value->constant)
            report(reader, NULL, NULL, "there are two initialisers named '%s'", value->name);
        value->constant = onnx_constant_read(reader, source, value->name, NULL);
        if (!value->constant)
            value->constant = &unreadable;
    }
    if (reader->source->n_sparse_initializer)
        report(reader, NULL, NULL, "sparse initialisers (%zu) are not supported; store the weights as plain tensors",
               reader->source->n_sparse_initializer);
}

static void read_shape(struct value *value, const Onnx__ValueInfoProto *source)
{
    struct constant type;
    const Onnx__TypeProto *description = source->type;
    if (!description || description->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !description->tensor_type)
        return;
    onnx_constant_set_type(&type, description->tensor_type->has_elem_type ? description->tensor_type->elem_type : 0);
    value->type = type.narrow_bits ? ELEMENT_UNSUPPORTED : type.type;
    const Onnx__TensorShapeProto *shape = description->tensor_type->shape;
    if (!shape || shape->n_dim > GRAPH_MAXIMUM_RANK)
        return;
    value->has_shape = true;
    value->rank = (int)shape->n_dim;
    for (int i = 0; i < value->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dimension = shape->dim[i];
        bool is_fixed =
            dimension->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dimension->dim_value > 0;
        value->dimensions[i] = is_fixed ? dimension->dim_value : -1;
    }
}

static void read_inputs_and_outputs(struct reader *reader)
{
    struct graph *graph = reader->graph;
    const Onnx__GraphProto *source = reader->source;
    int *inputs = arena_array(reader->arena, int, source->n_input);
    int *outputs = arena_array(reader->arena, int, source->n_output);
    for (size_t i = 0; i < source->n_input; i++) {
        struct value *value = value_of(reader, source->input[i]->name);
        if (value->constant || value->is_input) /* old exporters list initialisers as inputs too */
            continue;
        value->is_input = true;
        read_shape(value, source->input[i]);
        inputs[graph->input_count++] = (int)(value - graph->values);
    }
    for (size_t i = 0; i < source->n_output; i++) {
        struct value *value = value_of(reader, source->output[i]->name);
        value->is_output = true; /* a name may stand there twice */
        outputs[graph->output_count++] = (int)(value - graph->values);
    }
    graph->inputs = inputs;
    graph->outputs = outputs;
}

/* ---- edges ---- */

/* Every value has one producer, before its readers. */
static void connect(struct reader *reader)
{
    struct graph *graph = reader->graph;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->output_count; k++) {
            if (node->outputs[k] == NO_VALUE)
                continue;
            struct value *value = &graph->values[node->outputs[k]];
            if (value->producer != NO_NODE || value->is_input || value->constant)
                report(reader, node->name, NULL, "its output '%s' is already the name of another tensor", value->name);
            else
                value->producer = i;
        }
    }
}

static bool is_dangling(const struct value *value)
{
    return value->producer == NO_NODE && !value->is_input && !value->constant;
}

/* The only value that nodes read and nobody gives; null where there is none, or another one. */
static struct value *find_dangling(const struct graph *graph, bool *is_read)
{
    struct value *found = NULL;
    bool is_only = true;
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i].input_count; k++) {
            if (graph->nodes[i].inputs[k] == NO_VALUE)
                continue;
            struct value *value = &graph->values[graph->nodes[i].inputs[k]];
            is_read[value - graph->values] = true;
            if (!is_dangling(value))
                continue;
            is_only = is_only && (!found || found == value);
            found = value;
        }
    return is_only ? found : NULL;
}

/* PLiNIO numbers the tensors anew and leaves out what is called like a weight: then the graph's input has a new name that
 * nobody reads, and its reader the old one. Where there is one of each, they can only mean each other. */
static void mend_dangling_input(struct reader *reader)
{
    struct graph *graph = reader->graph;
    bool *is_read = arena_array(reader->arena, bool, (size_t)graph->value_count);
    struct value *dangling = find_dangling(graph, is_read);
    int place = -1, unread = 0;
    for (int i = 0; i < graph->input_count; i++)
        if (!is_read[graph->inputs[i]] && !graph->values[graph->inputs[i]].is_output) {
            unread++;
            place = i;
        }
    if (!dangling || dangling->is_output || unread != 1)
        return;
    const struct value *input = &graph->values[graph->inputs[place]];
    diagnose(
        reader->diagnostics, SEVERITY_WARNING, NULL, NULL,
        "no node reads the input '%s' of the graph, and '%s', which nodes read, is not in it: taken for the same tensor",
        input->name, dangling->name);
    *dangling = *input;
    int *inputs = arena_array(reader->arena, int, (size_t)graph->input_count);
    memcpy(inputs, graph->inputs, (size_t)graph->input_count * sizeof *inputs);
    inputs[place] = (int)(dangling - graph->values);
    graph->inputs = inputs;
}

static void check_order(struct reader *reader)
{
    const struct graph *graph = reader->graph;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->input_count; k++) {
            if (node->inputs[k] == NO_VALUE)
                continue;
            const struct value *value = &graph->values[node->inputs[k]];
            if (value->producer >= i)
                report(reader, node->name, NULL,
                       "its input '%s' is computed by a node that needs its output ('%s'): the graph has a cycle",
                       value->name, graph->nodes[value->producer].name);
            else if (is_dangling(value))
                report(reader, node->name, NULL, "its input '%s' is neither computed by a node nor an input or initialiser",
                       value->name);
        }
    }
}

/* Marks what the outputs depend on, and counts readers. Nodes are in order, so one walk backwards suffices. */
static void mark_needed(struct reader *reader)
{
    struct graph *graph = reader->graph;
    for (int i = 0; i < graph->output_count; i++)
        graph->values[graph->outputs[i]].use_count++;
    for (int i = graph->node_count - 1; i >= 0; i--) {
        struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->output_count; k++)
            node->is_needed |= node->outputs[k] != NO_VALUE && graph->values[node->outputs[k]].use_count > 0;
        for (int k = 0; node->is_needed && k < node->input_count; k++)
            if (node->inputs[k] != NO_VALUE)
                graph->values[node->inputs[k]].use_count++;
    }
}

static int first_constant_output(const struct graph *graph)
{
    int i = 0;
    while (!graph->values[graph->outputs[i]].constant)
        i++;
    return graph->outputs[i];
}

/* Outputs that are constants are no network's, as scales and zero points, which Brevitas gives out beside its tensors. */
static void drop_constant_outputs(struct reader *reader)
{
    struct graph *graph = reader->graph;
    int *outputs = arena_array(reader->arena, int, (size_t)graph->output_count + 1), count = 0;
    for (int i = 0; i < graph->output_count; i++)
        if (!graph->values[graph->outputs[i]].constant)
            outputs[count++] = graph->outputs[i];
    if (count > 0 && count < graph->output_count)
        diagnose(reader->diagnostics, SEVERITY_NOTE, NULL, NULL,
                 "%d outputs of the graph are constants, '%s' the first: they are left out", graph->output_count - count,
                 graph->values[first_constant_output(graph)].name);
    graph->outputs = count > 0 ? outputs : graph->outputs;
    graph->output_count = count > 0 ? count : graph->output_count;
}

static void check_outputs(struct reader *reader)
{
    const struct graph *graph = reader->graph;
    if (graph->output_count == 0)
        report(reader, NULL, NULL, "the graph has no outputs");
    for (int i = 0; i < graph->output_count; i++) {
        const struct value *value = &graph->values[graph->outputs[i]];
        if (value->producer == NO_NODE)
            report(reader, NULL, NULL, "output '%s' of the graph is computed by no node", value->name);
    }
}

/* ---- the whole ---- */

static int64_t opset_of(const Onnx__ModelProto *model)
{
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const char *domain = text_of(model->opset_import[i]->domain);
        if (!*domain || !strcmp(domain, "ai.onnx"))
            return model->opset_import[i]->version;
    }
    return 1; /* as ONNX says of models that do not say */
}

static bool check_size(struct reader *reader)
{
    if (reader->source->n_node == 0)
        report(reader, NULL, NULL, "the graph is empty: it has no nodes");
    else if (reader->source->n_node > MAXIMUM_NODES)
        report(reader, NULL, NULL, "the graph has %zu nodes; supported: up to %d", reader->source->n_node, MAXIMUM_NODES);
    else
        return true;
    return false;
}

static void build_graph(struct reader *reader, const Onnx__ModelProto *model)
{
    struct graph *graph = reader->graph;
    graph->name = text_of(reader->source->name);
    graph->opset = opset_of(model);
    graph->producer = text_of(model->producer_name);
    collect_names(reader);
    make_values(reader);
    read_initialisers(reader);
    read_inputs_and_outputs(reader);
    graph->node_count = (int)reader->source->n_node;
    graph->nodes = arena_array(reader->arena, struct node, (size_t)graph->node_count);
    for (int i = 0; i < graph->node_count; i++)
        read_node(reader, reader->source->node[i], &graph->nodes[i]);
    connect(reader);
    onnx_metadata_read(reader, model);
    mend_dangling_input(reader);
    onnx_sort_nodes(graph, reader->arena);
    check_order(reader);
    drop_constant_outputs(reader);
    check_outputs(reader);
    mark_needed(reader);
}

/* protobuf-c allocates in the arena, up to a limit: a byte of a hostile file can cost a hundred in memory. */
struct bounded_arena {
    struct arena *arena;
    size_t left;
};

static void *allocate_bounded(void *data, size_t bytes)
{
    struct bounded_arena *bounded = data;
    if (bytes > bounded->left)
        return NULL;
    bounded->left -= bytes;
    return arena_allocate(bounded->arena, bytes);
}

static void free_nothing(void *data, void *memory)
{
    (void)data;
    (void)memory;
}

struct graph *graph_read_memory(const void *bytes, size_t length, struct arena *arena, struct diagnostics *diagnostics)
{
    return graph_read_beside(bytes, length, NULL, arena, diagnostics);
}

struct graph *graph_read_beside(const void *bytes, size_t length, const char *folder, struct arena *arena,
                                struct diagnostics *diagnostics)
{
    if (!onnx_scan(bytes, length, diagnostics))
        return NULL;
    struct bounded_arena bounded = {arena, MAXIMUM_PARSED_BYTES};
    ProtobufCAllocator allocator = {allocate_bounded, free_nothing, &bounded};
    const Onnx__ModelProto *model = onnx__model_proto__unpack(&allocator, length, bytes);
    if (!model) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "not an ONNX model: its fields are not those of onnx.ModelProto, or they need more than %zu MiB",
                 MAXIMUM_PARSED_BYTES >> 20);
        return NULL;
    }
    if (!model->graph) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "not an ONNX model: it has no graph");
        return NULL;
    }
    int errors_before = diagnostics->error_count;
    struct graph *graph = arena_allocate(arena, sizeof *graph);
    struct reader reader = {
        arena, diagnostics, model->graph, graph, name_table_make(arena), {folder, MAXIMUM_EXTERNAL_BYTES},
    };
    if (check_size(&reader))
        build_graph(&reader, model);
    return diagnostics->error_count == errors_before ? graph : NULL;
}
