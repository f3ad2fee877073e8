/* Mul, Add, Sub, Div, Floor, Clip, Relu, Cast: arithmetic that becomes normalisation. */
#include "import/import.h"

#include <math.h>

/* Numbers that apply to a flow: one, or one for each channel. */
struct operand {
    int64_t *numbers;
    int count;
    int halvings; /* the numbers are 2^halvings times as large as what they stand for */
};

static struct shape constant_shape(const struct constant *constant)
{
    struct shape shape = {.rank = constant->rank};
    for (int i = 0; i < constant->rank; i++)
        shape.dimensions[i] = constant->dimensions[i];
    return shape;
}

/* By ONNX's rules shapes are aligned at the right; what is not 1 must lie on the axis of channels. */
static bool is_per_channel(const struct constant *constant, const struct flow *flow, int channels)
{
    int offset = flow->shape.rank - constant->rank;
    if (offset < 0 || constant->count != (size_t)channels)
        return false;
    for (int i = 0; i < constant->rank; i++)
        if (constant->dimensions[i] != 1 && (offset + i != 1 || constant->dimensions[i] != flow->shape.dimensions[1]))
            return false;
    return true;
}

/* Arithmetic on the input itself that is not whole: mean and deviation of images. */
static bool check_image(struct importer *importer, const struct node *node, const struct flow *flow,
                        const struct constant *constant)
{
    int64_t number;
    bool is_input = flow->kind == FLOW_TENSOR && importer->network->tensors[flow->index].producer == NO_LAYER;
    for (size_t i = 0; is_input && constant->type != ELEMENT_UNSUPPORTED && i < constant->count; i++)
        if (!constant_integer(constant, i, &number))
            return import_fault(
                importer, node, NULL,
                "%s of the input and %g: the network's input is integers as the sensor gives them; quantise it "
                "in NEMO (eps_in) or Quantlab, and export without this scaling",
                node->type, constant_number(constant, i));
    return true;
}

static bool check_operand_shape(struct importer *importer, const struct node *node, const struct flow *flow,
                                const struct constant *constant)
{
    int channels = flow_tensor_view(importer, flow)->channels;
    if (constant->count != 1 && !is_per_channel(constant, flow, channels)) {
        struct shape shape = constant_shape(constant);
        return import_fault(
            importer, node, NULL,
            "constant '%s' of shape %s does not fit a tensor of shape %s; supported: one number, or one a channel (%d)",
            constant->name, shape_text(importer, &shape), shape_text(importer, &flow->shape), channels);
    }
    return true;
}

static bool read_operand(struct importer *importer, const struct node *node, const struct flow *flow,
                         const struct constant *constant, const char *role, int64_t instead, struct operand *operand)
{
    if (!check_operand_shape(importer, node, flow, constant) || !check_image(importer, node, flow, constant))
        return false;
    operand->halvings = 0;
    operand->count = (int)constant->count;
    operand->numbers = import_whole_numbers(importer, node, role, constant, instead);
    return true;
}

#define MAXIMUM_HALVINGS 16
#define MAXIMUM_SCALED   9007199254740992.0 /* 2^53: beyond it doubles skip integers */

/* How often the numbers must be doubled until all are whole; -1: more often than that. */
static int count_halvings(const struct constant *constant)
{
    int halvings = 0;
    for (size_t i = 0; constant->type != ELEMENT_UNSUPPORTED && i < constant->count; i++) {
        double number = constant_number(constant, i);
        while (halvings <= MAXIMUM_HALVINGS && ldexp(number, halvings) != floor(ldexp(number, halvings)))
            halvings++;
    }
    return halvings <= MAXIMUM_HALVINGS ? halvings : -1;
}

/* An addend. Between Div and Floor it may have halves and quarters: QuantLib rounds with 0.5 there. */
static bool read_addend(struct importer *importer, const struct node *node, const struct flow *flow,
                        const struct constant *constant, const char *role, struct operand *operand)
{
    int halvings = flow->is_divided && constant->count > 0 ? count_halvings(constant) : 0;
    if (halvings <= 0)
        return read_operand(importer, node, flow, constant, role, 0, operand);
    if (!check_operand_shape(importer, node, flow, constant))
        return false;
    *operand = (struct operand){arena_array(importer->arena, int64_t, constant->count), (int)constant->count, halvings};
    for (size_t i = 0; i < constant->count; i++) {
        double scaled = ldexp(constant_number(constant, i), halvings);
        if (fabs(scaled) > MAXIMUM_SCALED)
            return import_fault(importer, node, role, "constant '%s' holds %g and fractions; supported: one or the other",
                                constant->name, constant_number(constant, i));
        operand->numbers[i] = (int64_t)scaled;
    }
    return true;
}

/* The one data input and the one constant of a node with two inputs, in any order. */
static bool split_inputs(struct importer *importer, const struct node *node, const struct flow **data,
                         const struct constant **constant)
{
    const struct flow *a, *b;
    if (!import_needs(importer, node, 0, &a) || !import_needs(importer, node, 1, &b))
        return false;
    *data = flow_is_data(a) ? a : b;
    const struct flow *other = flow_is_data(a) ? b : a;
    if (!flow_is_data(*data) || other->kind != FLOW_CONSTANT)
        return import_fault(importer, node, NULL,
                            "%s of %s is not supported; one input must be a constant, the other a tensor of a layer",
                            node->type, flow_is_data(a) && flow_is_data(b) ? "two tensors" : "these inputs");
    *constant = other->constant;
    return true;
}

bool import_multiply(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *data;
    const struct constant *constant = NULL;
    struct operand operand;
    if (!split_inputs(importer, node, &data, &constant) ||
        !read_operand(importer, node, data, constant, "multiplier", 1, &operand))
        return false;
    *result = *data;
    return flow_multiply(importer, node, result, operand.numbers, operand.count);
}

static bool add_operand(struct importer *importer, const struct node *node, struct flow *result,
                        const struct operand *operand)
{
    return operand->halvings
               ? flow_add_fractions(importer, node, result, operand->numbers, operand->count, operand->halvings)
               : flow_add(importer, node, result, operand->numbers, operand->count);
}

bool import_add(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *a, *b, *data;
    const struct constant *constant = NULL;
    struct operand operand;
    if (!import_needs(importer, node, 0, &a) || !import_needs(importer, node, 1, &b))
        return false;
    if (flow_is_data(a) && flow_is_data(b))
        return import_residual_addition(importer, node, a, b, result);
    if (!split_inputs(importer, node, &data, &constant) || !read_addend(importer, node, data, constant, "addend", &operand))
        return false;
    *result = *data;
    return add_operand(importer, node, result, &operand);
}

bool import_subtract(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *data;
    const struct constant *constant = NULL;
    struct operand operand;
    if (!split_inputs(importer, node, &data, &constant) ||
        !read_addend(importer, node, data, constant, "subtrahend", &operand))
        return false;
    if (data != import_input(importer, node, 0))
        return import_fault(importer, node, NULL, "a constant minus a tensor is not supported");
    *result = *data;
    for (int i = 0; i < operand.count; i++)
        operand.numbers[i] = operand.numbers[i] == INT64_MIN ? INT64_MAX : -operand.numbers[i];
    return add_operand(importer, node, result, &operand);
}

bool import_divide(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *data;
    const struct constant *constant = NULL;
    struct operand operand;
    if (!split_inputs(importer, node, &data, &constant) ||
        !read_operand(importer, node, data, constant, "divisor", 1, &operand))
        return false;
    if (data != import_input(importer, node, 0))
        return import_fault(importer, node, NULL, "a constant divided by a tensor is not supported");
    int64_t divisor = operand.numbers[0];
    for (int i = 1; i < operand.count; i++)
        if (operand.numbers[i] != divisor)
            return import_fault(importer, node, "divisor",
                                "differs from channel to channel; supported: one divisor for the layer");
    if (divisor < 1)
        return import_fault(importer, node, "divisor", "is %lld; supported: 1 and more", (long long)divisor);
    *result = *data;
    if (!flow_divide(importer, node, result, divisor))
        return false;
    /* NEMO goes through int64, where Div is already whole. ONNX says that it truncates; NEMO means, and its golden files
     * have, the floor. Both agree on what is not negative, and negative numbers are clipped. */
    if (data->is_integer_type || element_type_is_integer(constant->type))
        flow_floor(importer, node, result);
    return true;
}

static bool one_data_input(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct flow *data;
    if (!import_needs(importer, node, 0, &data))
        return false;
    *result = *data;
    return true;
}

bool import_floor(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!one_data_input(importer, node, result))
        return false;
    if (flow_is_data(result))
        flow_floor(importer, node, result);
    return true;
}

/* A bound of Clip: attribute up to opset 10, later an input. */
static bool clip_bound(struct importer *importer, const struct node *node, const char *name, int input, int64_t *bound)
{
    const struct attribute *attribute = node_attribute(node, name);
    const struct flow *flow = import_input(importer, node, input);
    double number = (double)*bound;
    if (attribute && attribute->kind == ATTRIBUTE_FLOAT)
        number = attribute->number;
    else if (attribute && attribute->kind == ATTRIBUTE_INTEGER)
        number = (double)attribute->integer;
    else if (flow && flow->kind == FLOW_CONSTANT && flow->constant->count == 1)
        number = constant_number(flow->constant, 0);
    else if (attribute || flow)
        return import_fault(importer, node, name, "is not a constant number");
    else
        return true;
    if (fabs(number) > 2147483648.0) /* exporters write the limits of float where there is no bound */
        return true;
    if (isnan(number) || number != floor(number))
        return import_fault(importer, node, name,
                            "is %g, which is no integer: the network is not integer; in NEMO export after net.id_stage()",
                            number);
    *bound = (int64_t)number;
    return true;
}

bool import_clip(struct importer *importer, const struct node *node, struct flow *result)
{
    int64_t minimum = INT64_MIN, maximum = INT64_MAX;
    if (!one_data_input(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return import_fault(importer, node, NULL, "Clip is supported behind a layer only");
    if (clip_bound(importer, node, "min", 1, &minimum) && clip_bound(importer, node, "max", 2, &maximum)) {
        if (minimum > maximum)
            return import_fault(importer, node, "min", "is %lld, more than max, %lld", (long long)minimum,
                                (long long)maximum);
        flow_clip(importer, node, result, minimum, maximum, import_output_bits(importer, node));
    }
    return true;
}

bool import_relu(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!one_data_input(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return import_fault(importer, node, NULL, "Relu is supported behind a layer only");
    flow_clip(importer, node, result, 0, INT64_MAX, 0);
    return true;
}

#define ONNX_FLOAT  1
#define ONNX_INT32  6
#define ONNX_INT64  7
#define ONNX_DOUBLE 11

bool import_cast(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!one_data_input(importer, node, result))
        return false;
    if (!flow_is_data(result))
        return true;
    int64_t type = import_integer(importer, node, "to", ONNX_FLOAT);
    bool is_float = type == ONNX_FLOAT || type == ONNX_DOUBLE;
    if (!is_float && type != ONNX_INT32 && type != ONNX_INT64)
        return import_fault(importer, node, "to", "is type %lld; supported: 1 (float), 6 (int32), 7 (int64), 11 (double)",
                            (long long)type);
    if (!is_float && !flow_has_padding(result))
        flow_floor(importer, node, result);
    result->is_integer_type = !is_float;
    return true;
}
