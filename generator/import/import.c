#include "import/import.h"
#include "import/qdq/qdq.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "import/operators.h"
#include "simplify/tidy.h"

/* ---- messages ---- */

static void report_list(struct importer *importer, enum severity severity, const struct node *node, const char *attribute,
                        const char *format, va_list arguments)
{
    char text[1000]; /* names in it may be of any length; what does not fit is cut */
    vsnprintf(text, sizeof text, format, arguments);
    diagnose(importer->diagnostics, severity, node->name, attribute, "%s", text);
}

bool import_fault(struct importer *importer, const struct node *node, const char *attribute, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_list(importer, SEVERITY_ERROR, node, attribute, format, arguments);
    va_end(arguments);
    return false;
}

void import_warning(struct importer *importer, const struct node *node, const char *attribute, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_list(importer, SEVERITY_WARNING, node, attribute, format, arguments);
    va_end(arguments);
}

/* ---- inputs and attributes of nodes ---- */

const struct flow *import_input(struct importer *importer, const struct node *node, int index)
{
    if (index >= node->input_count || node->inputs[index] == NO_VALUE)
        return NULL;
    return &importer->flows[node->inputs[index]];
}

bool import_needs(struct importer *importer, const struct node *node, int index, const struct flow **input)
{
    *input = import_input(importer, node, index);
    if (!*input)
        return import_fault(importer, node, NULL, "%s without its input %d", node->type, index);
    return (*input)->kind != FLOW_UNKNOWN;
}

const struct constant *import_constant_input(struct importer *importer, const struct node *node, int index)
{
    const struct flow *input = import_input(importer, node, index);
    return input && input->kind == FLOW_CONSTANT ? input->constant : NULL;
}

int64_t import_integer(struct importer *importer, const struct node *node, const char *name, int64_t otherwise)
{
    const struct attribute *attribute = node_attribute(node, name);
    int64_t number;
    if (!attribute)
        return otherwise;
    if (attribute->kind == ATTRIBUTE_INTEGER)
        return attribute->integer;
    if (attribute->kind == ATTRIBUTE_CONSTANT && constant_same_integer(attribute->constant, &number))
        return number;
    if (attribute->kind == ATTRIBUTE_FLOAT && attribute->number == floor(attribute->number) &&
        fabs(attribute->number) < 1e15)
        return (int64_t)attribute->number;
    import_fault(importer, node, name, "expected an integer");
    return otherwise;
}

bool import_integers(struct importer *importer, const struct node *node, const char *name, int count, int64_t otherwise,
                     int64_t *numbers)
{
    const struct attribute *attribute = node_attribute(node, name);
    for (int i = 0; i < count; i++)
        numbers[i] = otherwise;
    if (!attribute)
        return true;
    if (attribute->kind != ATTRIBUTE_INTEGERS || attribute->count != (size_t)count)
        return import_fault(importer, node, name, "expected a list of %d integers, found %zu", count, attribute->count);
    if (count)
        memcpy(numbers, attribute->integers, (size_t)count * sizeof *numbers);
    return true;
}

bool import_reads_type(struct importer *importer, const struct node *node, const char *role, const struct constant *constant)
{
    if (constant->type != ELEMENT_UNSUPPORTED)
        return true;
    return import_fault(
        importer, node, role,
        "constant '%s' is %s; supported: float, double and integer types of up to 64 bits; export the model in "
        "float32, as NEMO does",
        constant->name, constant->type_name);
}

/* What to do about them: a half that is added is another matter than a scale. */
static const char *advice_on_fractions(const char *role, double number)
{
    bool is_added = !strcmp(role, "addend") || !strcmp(role, "subtrahend");
    if (is_added && number * 2 == floor(number * 2))
        return "halves are read where they round, as an Add between Div and Floor";
    return "the network is not integer: export it as the quantiser's last step leaves it, in NEMO after net.id_stage(), in "
           "QuantLib after the integerise passes, in PLiNIO after integerize_arch";
}

void import_report_fractions(struct importer *importer, const struct node *node, const char *role,
                             const struct constant *constant, size_t fractions, size_t first)
{
    double number = fractions ? constant_number(constant, first) : 0;
    if (fractions)
        import_fault(importer, node, role, "constant '%s' holds %g, which is no integer (%zu of %zu numbers are none): %s",
                     constant->name, number, fractions, constant->count, advice_on_fractions(role, number));
}

int64_t *import_whole_numbers(struct importer *importer, const struct node *node, const char *role,
                              const struct constant *constant, int64_t instead)
{
    int64_t *numbers = arena_array(importer->arena, int64_t, constant->count);
    size_t first = 0;
    if (!import_reads_type(importer, node, role, constant))
        return numbers;
    size_t fractions = constant_integers(constant, 0, constant->count, instead, numbers, &first);
    import_report_fractions(importer, node, role, constant, fractions, first);
    return numbers;
}

/* ---- shapes ---- */

const char *shape_text(struct importer *importer, const struct shape *shape)
{
    const char *text = "";
    for (int i = 0; i < shape->rank; i++)
        text = arena_format(importer->arena, "%s%s%" PRId64, text, i ? "x" : "", shape->dimensions[i]);
    return text;
}

int64_t shape_elements(const struct shape *shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dimensions[i];
    return count;
}

/* ---- building the network ---- */

static int new_tensor(struct importer *importer, const char *name, int height, int width, int channels)
{
    struct network *network = importer->network;
    arena_grow(importer->arena, network->tensors, network->tensor_count);
    network->tensors[network->tensor_count] = tensor_plain(name, height, width, channels);
    return network->tensor_count++;
}

static struct layer *append_layer(struct importer *importer)
{
    struct network *network = importer->network;
    arena_grow(importer->arena, network->layers, network->layer_count);
    return &network->layers[network->layer_count++];
}

int import_new_layer(struct importer *importer, enum layer_kind kind, const char *name, int input, int height, int width,
                     int channels)
{
    int output = new_tensor(importer, name, height, width, channels);
    struct layer *layer = append_layer(importer);
    *layer = layer_plain(name, kind, input);
    layer->output = output;
    int index = importer->network->layer_count - 1;
    importer->network->tensors[output].producer = index;
    return index;
}

/* ---- operators that there are not ---- */

static void report_unsupported(struct importer *importer, const struct node *node)
{
    const struct operator_advice *advice = *node->domain ? NULL : operator_find_advice(node->type);
    if (*node->domain)
        import_fault(importer, node, NULL,
                     "operator %s of domain '%s' is not supported: only ONNX's own are; use the ONNX export of NEMO or "
                     "Quantlab, which leaves no others",
                     node->type, node->domain);
    else
        import_fault(importer, node, NULL, "operator %s is not supported%s%s", node->type,
                     advice || qdq_operator_find(node) ? ": " : "",
                     advice                    ? advice->text
                     : qdq_operator_find(node) ? "integer networks have no such layer; as onnxruntime's quantize_static "
                                                 "writes it, in QDQ format, it goes in"
                                               : "");
}

static node_handler *find_handler(const struct node *node)
{
    const struct operator* known = operator_is_in_domain(node) ? operator_find(node->type) : NULL;
    return known ? known->import : NULL;
}

static const char *list_operators(struct importer *importer)
{
    const char *list = operators[0].type;
    for (int i = 1; i < operator_count; i++)
        list = arena_format(importer->arena, "%s %s", list, operators[i].type);
    return list;
}

/* ---- the walk ---- */

/* One image at a time, so the batch is 1 whatever the model says; 1-D tensors have height 1. */
static bool input_shape(struct importer *importer, const struct value *value, struct shape *shape)
{
    if (!value->has_shape || value->rank < 2 || value->rank > 4) {
        diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "input '%s' %s; supported: batch x channels [x height] [x width]", value->name,
                 value->has_shape ? arena_format(importer->arena, "has %d dimensions", value->rank) : "has no shape");
        return false;
    }
    shape->rank = value->rank;
    shape->dimensions[0] = 1;
    if (value->dimensions[0] > 1)
        diagnose(importer->diagnostics, SEVERITY_WARNING, NULL, NULL, "input '%s' has a batch of %" PRId64 "; taken as 1",
                 value->name, value->dimensions[0]);
    if (value->dimensions[0] < 1)
        diagnose(importer->diagnostics, SEVERITY_NOTE, NULL, NULL, "the batch of input '%s' is not fixed; taken as 1",
                 value->name);
    for (int i = 1; i < value->rank; i++) {
        shape->dimensions[i] = value->dimensions[i];
        if (value->dimensions[i] >= 1 && value->dimensions[i] <= MAXIMUM_DIMENSION)
            continue;
        if (value->dimensions[i] < 1)
            diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "dimension %d of input '%s' is not fixed; export the model without dynamic axes", i, value->name);
        else
            diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "dimension %d of input '%s' is %" PRId64 "; supported: up to %d", i, value->name, value->dimensions[i],
                     MAXIMUM_DIMENSION);
        return false;
    }
    return true;
}

/* What the options say of an element, else what the model says. Whole bytes have all their values. */
static bool declare_range(struct importer *importer, const struct value *value, struct tensor *tensor)
{
    const struct load_options *options = importer->options;
    int bits = options->input_bits ? options->input_bits : value->precision ? value->precision : 8;
    if (bits > 8) {
        diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "input '%s' has elements of %d bits, as the metadata of the model say; supported: up to 8", value->name,
                 bits);
        return false;
    }
    tensor->bits = bits <= 2 ? 2 : bits <= 4 ? 4 : 8;
    tensor->is_signed = options->input_is_signed || value->type == ELEMENT_INT8 || (value->precision && value->is_signed);
    int64_t levels = (int64_t)1 << bits;
    tensor->minimum = tensor->is_signed ? -levels / 2 : 0;
    tensor->maximum = tensor->minimum + levels - 1;
    return true;
}

static void import_inputs(struct importer *importer)
{
    struct network *network = importer->network;
    network->inputs = arena_array(importer->arena, int, (size_t)importer->graph->input_count);
    for (int i = 0; i < importer->graph->input_count; i++) {
        const struct value *value = &importer->graph->values[importer->graph->inputs[i]];
        struct shape shape = {0};
        if (value->use_count == 0 || !input_shape(importer, value, &shape))
            continue;
        int height = shape.rank == 4 ? (int)shape.dimensions[2] : 1;
        int width = shape.rank >= 3 ? (int)shape.dimensions[shape.rank - 1] : 1;
        int tensor = new_tensor(importer, value->name, height, width, (int)shape.dimensions[1]);
        if (!declare_range(importer, value, &network->tensors[tensor]))
            continue;
        network->inputs[network->input_count++] = tensor;
        struct flow *flow = &importer->flows[importer->graph->inputs[i]];
        *flow = flow_of_tensor(importer, tensor, &shape);
        flow->is_integer_type = element_type_is_integer(value->type);
    }
}

static void import_initialisers(struct importer *importer)
{
    for (int i = 0; i < importer->graph->value_count; i++)
        if (importer->graph->values[i].constant)
            importer->flows[i] = (struct flow){.kind = FLOW_CONSTANT, .constant = importer->graph->values[i].constant};
}

/* Gives the value its flow. What more than one node reads is finished here, so that each reader finds a tensor. */
static void bind(struct importer *importer, const struct node *node, int value_index, struct flow *flow)
{
    const struct value *value = &importer->graph->values[value_index];
    if (flow->kind == FLOW_LAYER)
        importer->network->tensors[importer->network->layers[flow->index].output].name = value->name;
    if (flow_is_data(flow) && value->is_output)
        flow_lay_padding(importer, node, flow);
    if (flow_is_data(flow) && !flow_has_padding(flow) && value->is_output)
        flow_finish(importer, node, flow);
    else if (flow_is_data(flow) && !flow_has_padding(flow) && value->use_count > 1)
        flow_settle(importer, node, flow);
    importer->flows[value_index] = *flow;
}

/* Does the node pad by itself, with zeros? */
static bool has_own_padding(const struct node *node)
{
    const struct attribute *pads = node_attribute(node, "pads");
    for (size_t i = 0; pads && pads->kind == ATTRIBUTE_INTEGERS && i < pads->count; i++)
        if (pads->integers[i] != 0)
            return true;
    return false;
}

/* Convolutions and pools take padding in front of them as their own, with exceptions; some pass it on. */
static bool takes_padding(struct importer *importer, const struct node *node, const struct flow *flow)
{
    static const char *const passes[] = {"Pad", "Identity", "Dropout", "Cast", "Floor", NULL};
    static const char *const convolutions[] = {"Conv", "ConvInteger", NULL};
    const struct attribute *automatic = node_attribute(node, "auto_pad");
    if (automatic && automatic->kind == ATTRIBUTE_TEXT && !strncmp(automatic->text, "SAME", 4))
        return false;
    if (!strcmp(node->type, "MaxPool")) /* whose own padding is less than all elements */
        return flow->kind == FLOW_TENSOR && flow_is_at_least(importer, flow->index, flow->padding.value);
    if (node_is_one_of(node, convolutions))
        return flow->padding.value == 0 || !has_own_padding(node);
    if (!strcmp(node->type, "AveragePool"))
        return flow->padding.value == 0;
    return node_is_one_of(node, passes);
}

static bool lay_paddings(struct importer *importer, const struct node *node)
{
    for (int i = 0; i < node->input_count; i++) {
        struct flow *flow = node->inputs[i] == NO_VALUE ? NULL : &importer->flows[node->inputs[i]];
        if (!flow || !flow_is_data(flow) || !flow_has_padding(flow) || takes_padding(importer, node, flow))
            continue;
        if (!flow_lay_padding(importer, node, flow))
            return false;
        if (importer->graph->values[node->inputs[i]].use_count > 1)
            flow_finish(importer, node, flow);
    }
    return true;
}

static void import_node(struct importer *importer, const struct node *node)
{
    struct flow flow = {.kind = FLOW_UNKNOWN};
    node_handler *handler = find_handler(node);
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] != NO_VALUE && importer->graph->values[node->outputs[i]].use_count > 0)
            import_fault(importer, node, NULL, "output %d of %s is used; supported: only the first output", i, node->type);
    if (!handler) {
        report_unsupported(importer, node);
        const struct operator_advice *advice = operator_find_advice(node->type);
        const struct flow *input = import_input(importer, node, 0);
        if (advice && advice->keeps_shape && input)
            flow = *input;
    } else if (!lay_paddings(importer, node) || !handler(importer, node, &flow))
        flow.kind = FLOW_UNKNOWN;
    if (node->output_count > 0 && node->outputs[0] != NO_VALUE)
        bind(importer, node, node->outputs[0], &flow);
}

static bool is_listed(const int *list, int count, int entry)
{
    for (int i = 0; i < count; i++)
        if (list[i] == entry)
            return true;
    return false;
}

/* An output that is an input, beside others: a copy of it, for outputs have places of their own. */
static int copy_of_input(struct importer *importer, const struct value *value, int input)
{
    struct tensor from = importer->network->tensors[input];
    int layer = import_new_layer(importer, LAYER_MAXIMUM_POOL, value->name, input, from.height, from.width, from.channels);
    return importer->network->layers[layer].output;
}

static void import_output(struct importer *importer, const struct value *value, struct flow *flow)
{
    struct network *network = importer->network;
    bool is_known = (flow->kind == FLOW_TENSOR || flow->kind == FLOW_HEAD) && !flow_has_padding(flow);
    if (is_known && network->tensors[flow->index].producer == NO_LAYER && network->layer_count > 0)
        flow->index = copy_of_input(importer, value, flow->index);
    if (!is_known || network->tensors[flow->index].producer == NO_LAYER) {
        if (flow->kind != FLOW_UNKNOWN && importer->diagnostics->error_count == 0)
            diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "output '%s' of the graph is not the output of a layer", value->name);
        return;
    }
    if (!is_listed(network->outputs, network->output_count, flow->index))
        network->outputs[network->output_count++] = flow->index;
}

static void import_outputs(struct importer *importer)
{
    const struct graph *graph = importer->graph;
    importer->network->outputs = arena_array(importer->arena, int, (size_t)graph->output_count);
    int count = graph->output_count < NETWORK_MAXIMUM_OUTPUTS ? graph->output_count : NETWORK_MAXIMUM_OUTPUTS;
    for (int i = 0; i < count; i++)
        import_output(importer, &graph->values[graph->outputs[i]], &importer->flows[graph->outputs[i]]);
    if (importer->diagnostics->error_count == 0 && (count < graph->output_count || importer->network->output_count == 0))
        diagnose(importer->diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d outputs; supported: 1 to %d",
                 graph->output_count, NETWORK_MAXIMUM_OUTPUTS);
}

/* Constants of normalisations, counted once for each node that they pass: a thousand times what a network on GAP8 has. */
#define MAXIMUM_PENDING_NUMBERS ((size_t)1 << 24)

static void import_nodes(struct importer *importer)
{
    bool some_unsupported = false;
    for (int i = 0; i < importer->graph->node_count; i++) {
        const struct node *node = &importer->graph->nodes[i];
        if (!node->is_needed)
            continue;
        some_unsupported |= !find_handler(node);
        import_node(importer, node);
        if (importer->pending_numbers > MAXIMUM_PENDING_NUMBERS) {
            import_fault(importer, node, NULL,
                         "the arithmetic up to here has more than %zu constants; supported: up to that",
                         MAXIMUM_PENDING_NUMBERS);
            break;
        }
    }
    if (some_unsupported)
        diagnose(importer->diagnostics, SEVERITY_NOTE, NULL, NULL, "operators of integer networks: %s; 'dory ops' says more",
                 list_operators(importer));
}

struct network *import_graph(const struct graph *graph, const char *name, const struct load_options *options,
                             struct arena *arena, struct diagnostics *diagnostics)
{
    int errors_before = diagnostics->error_count;
    struct network *network = arena_allocate(arena, sizeof *network);
    network->name = arena_format(arena, "%s", name);
    struct importer importer = {.arena = arena,
                                .diagnostics = diagnostics,
                                .graph = graph,
                                .options = options,
                                .network = network,
                                .head_noted_for = -1};
    importer.flows = arena_array(arena, struct flow, (size_t)graph->value_count);
    import_initialisers(&importer);
    import_inputs(&importer);
    import_nodes(&importer);
    import_outputs(&importer);
    network_check_sizes(importer.network, importer.diagnostics);
    if (diagnostics->error_count != errors_before)
        return NULL;
    network_join_siblings(network, arena);
    network_tidy(network, arena);
    return network;
}
