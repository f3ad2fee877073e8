/* QuantizeLinear and DequantizeLinear. */
#include "import/qdq/combinations.h"
#include "import/qdq/islands.h"
#include "import/qdq/outside.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- scales and zero points ---- */

static enum qdq_outcome check_constant(struct qdq *qdq, const struct node *node, const char *what,
                                       const struct qdq_value *value)
{
    if (value->kind == QDQ_NONE)
        return qdq_fault(qdq, node, what, "is missing");
    if (value->kind != QDQ_CONSTANT)
        return qdq_fault(
            qdq, node, what,
            "is computed by the network; supported: constants, as static quantisation writes them (dynamic leaves them to "
            "be computed)");
    if (!value->array->numbers || value->array->count == 0)
        return qdq_fault(qdq, node, what, "constant '%s' is %s; supported: float32 scales, zero points of 8 bits (%s, %s)",
                         value->array->name, value->array->numbers ? "empty" : value->array->type_name,
                         qdq_advice(qdq, QDQ_WEIGHTS), qdq_advice(qdq, QDQ_ACTIVATIONS));
    return QDQ_DONE;
}

/* Of a bias that a Gemm's beta below zero was divided out of, onnxruntime writes a scale below zero. */
static enum qdq_outcome check_scales(struct qdq *qdq, const struct node *node, const struct qdq_array *array, bool is_bias)
{
    for (size_t i = 0; i < array->count; i++)
        if (!((is_bias ? fabs(array->numbers[i]) : array->numbers[i]) > 0 && isfinite(array->numbers[i])) ||
            (float)array->numbers[i] != array->numbers[i])
            return qdq_fault(qdq, node, "scale", "'%s' is %.9g; a scale is positive, finite and a float32%s", array->name,
                             array->numbers[i], isinf(array->numbers[i]) ? QDQ_OF_INFINITE_MASK : "");
    return QDQ_DONE;
}

static enum qdq_outcome check_activation_type(struct qdq *qdq, const struct node *node, enum element_type type,
                                              const char *type_name, int narrow_bits)
{
    if ((type == ELEMENT_INT8 || type == ELEMENT_UINT8) && !narrow_bits)
        return QDQ_DONE;
    return qdq_fault(qdq, node, "zero_point", "is %s, and so are the quantised activations; supported: INT8 and UINT8 (%s)",
                     type_name, qdq_advice(qdq, QDQ_ACTIVATIONS));
}

enum qdq_outcome qdq_read_quantisation(struct qdq *qdq, const struct node *node, const struct qdq_value *scale,
                                       const struct qdq_value *zero_point, struct quantisation *quantisation)
{
    enum qdq_outcome outcome = check_constant(qdq, node, "scale", scale);
    if (outcome != QDQ_DONE || (outcome = check_scales(qdq, node, scale->array, false)) != QDQ_DONE)
        return outcome;
    double number;
    if (!qdq_array_scalar(scale->array, &number))
        return qdq_fault(qdq, node, "scale",
                         "'%s' has %zu numbers; supported: one for a tensor of activations, one a channel for weights only",
                         scale->array->name, scale->array->count);
    *quantisation = (struct quantisation){.scale = number};
    if (zero_point->kind == QDQ_NONE) {
        int64_t type = qdq_integer(qdq, node, "output_dtype", 2); /* opset 21; uint8, as without it */
        quantisation->is_signed = type == 3;
        return type == 2 || type == 3 ? QDQ_DONE
                                      : check_activation_type(qdq, node, ELEMENT_UNSUPPORTED, "of another type", 0);
    }
    if ((outcome = check_constant(qdq, node, "zero_point", zero_point)) != QDQ_DONE ||
        (outcome = check_activation_type(qdq, node, zero_point->array->type, zero_point->array->type_name,
                                         zero_point->array->narrow_bits)) != QDQ_DONE)
        return outcome;
    if (!qdq_array_scalar(zero_point->array, &number))
        return qdq_fault(qdq, node, "zero_point", "'%s' differs from channel to channel; supported: one for a tensor",
                         zero_point->array->name);
    quantisation->zero_point = (int64_t)number;
    quantisation->is_signed = zero_point->array->type == ELEMENT_INT8;
    return QDQ_DONE;
}

static const struct node *only_reader(const struct qdq *qdq, const struct node *node)
{
    int output = node->output_count ? node->outputs[0] : NO_VALUE;
    if (output == NO_VALUE || qdq->graph->values[output].use_count != 1)
        return NULL;
    for (int i = 0; i < qdq->graph->node_count; i++)
        for (int k = 0; k < qdq->graph->nodes[i].input_count; k++)
            if (qdq->graph->nodes[i].inputs[k] == output)
                return &qdq->graph->nodes[i];
    return NULL;
}

bool qdq_reader_quantisation(struct qdq *qdq, const struct node *node, struct quantisation *quantisation)
{
    const struct node *reader = only_reader(qdq, node);
    double scale, zero_point;
    if (!reader || strcmp(reader->type, "QuantizeLinear") != 0 || reader->input_count < 3)
        return false;
    const struct qdq_array *scales = qdq_constant(qdq, reader->inputs[1]),
                           *zero_points = qdq_constant(qdq, reader->inputs[2]);
    if (!scales || !qdq_array_scalar(scales, &scale) || !(scale > 0 && isfinite(scale)) || !zero_points ||
        !qdq_array_scalar(zero_points, &zero_point))
        return false;
    *quantisation = (struct quantisation){scale, (int64_t)zero_point, zero_points->type == ELEMENT_INT8};
    return quantisation->is_signed || zero_points->type == ELEMENT_UINT8;
}

/* ---- quantise ---- */

int qdq_round(double number, double scale, int64_t zero_point, int minimum, int maximum)
{
    double rounded = (double)rintf((float)number / (float)scale) + (double)zero_point;
    return rounded >= maximum ? maximum : rounded > minimum ? (int)rounded : minimum; /* no number at all: the minimum */
}

enum qdq_outcome qdq_quantise_reals(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                    const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    struct tensor from = *qdq_tensor(qdq, value->tensor);
    int offset = quantisation->is_signed ? 128 : 0, changed = 0;
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    for (int i = 0; i < 256; i++) {
        table[i] =
            (uint8_t)qdq_round((double)value->reals[i], quantisation->scale, quantisation->zero_point + offset, 0, 255);
        changed += table[i] != i;
    }
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = value->view, .tensor = value->tensor};
    if (!changed && from.scale == quantisation->scale && from.zero_point == quantisation->zero_point + offset &&
        (from.model_offset != 0) == quantisation->is_signed)
        return QDQ_DONE;
    result->tensor = quantised_tensor(&qdq->builder, name, from.height, from.width, from.channels, quantisation);
    quantised_layer(&qdq->builder, LAYER_TABLE, node->name, value->tensor, result->tensor)->table = table;
    return QDQ_DONE;
}

/* The input of the network, as the integers that its first QuantizeLinear makes of it; and copies of it. */
static enum qdq_outcome quantise_input(struct qdq *qdq, const struct node *node, int index,
                                       const struct quantisation *quantisation)
{
    struct tensor *input = qdq_tensor(qdq, qdq_origin(qdq, index)), *tensor = qdq_tensor(qdq, index);
    if (qdq_claim_input(qdq, node, index, quantisation) != QDQ_DONE)
        return QDQ_FAULT;
    tensor->scale = quantisation->scale;
    tensor->model_offset = quantisation->is_signed ? -128 : 0;
    tensor->zero_point = (int)quantisation->zero_point - tensor->model_offset;
    if (input->scale == 0) {
        input->scale = tensor->scale;
        input->model_offset = tensor->model_offset;
        input->zero_point = tensor->zero_point;
    }
    return QDQ_DONE;
}

static enum qdq_outcome quantise_outside(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                         const struct quantisation *quantisation, struct qdq_value *result)
{
    enum qdq_outcome outcome = quantise_input(qdq, node, value->tensor, quantisation);
    const int input = qdq_origin(qdq, value->tensor);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = value->view, .tensor = value->tensor};
    if (outcome == QDQ_DONE && !qdq_outside_agrees(qdq, &value->outside, input))
        return qdq_fault(qdq, node, NULL,
                         "input '%s' is quantised twice, behind different arithmetic; supported: one way an input",
                         qdq_tensor(qdq, input)->name);
    if (outcome != QDQ_DONE || !value->outside.is_touched)
        return outcome;
    return input == value->tensor
               ? qdq_fold_outside(qdq, node, &value->outside, input)
               : qdq_fault(qdq, node, NULL, "quantises arithmetic and moves of input '%s'; supported: one of both",
                           qdq_tensor(qdq, input)->name);
}

/* What a layer computes, or a constant. */
static enum qdq_outcome quantise_part(struct qdq *qdq, const struct node *node, const struct qdq_value *part,
                                      const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    *result = *part;
    if (part->kind != QDQ_CONSTANT)
        return qdq_quantise(qdq, node, part, quantisation, name, result);
    enum qdq_outcome outcome = qdq_make_rounded(qdq, node, quantisation, result);
    result->kind = QDQ_ELEMENTS;
    return outcome;
}

/* Tensors side by side: each is quantised as the whole, then they are put together. */
static enum qdq_outcome quantise_parts(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                       const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    const struct qdq_pending *pending = value->pending;
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)pending->part_count);
    for (int i = 0; i < pending->part_count; i++) {
        struct qdq_value part = pending->parts[i];
        if (pending->whole == QDQ_SELECTED && i == 2) { /* the condition */
            parts[i] = part;
            continue;
        }
        const char *part_name = arena_format(qdq->arena, "%s_%d", name, i);
        qdq_bound(qdq, &part, pending->minimum, pending->maximum);
        if (part.kind != QDQ_REALS) {
            enum qdq_outcome outcome = quantise_part(qdq, node, &part, quantisation, part_name, &parts[i]);
            if (outcome != QDQ_DONE)
                return outcome;
            continue;
        }
        if (pending->whole == QDQ_SLOPED)
            parts[i] = part;
        else
            qdq_quantise_reals(qdq, node, &part, quantisation, part_name, &parts[i]);
    }
    struct middle_value whole;
    enum qdq_outcome outcome = qdq_finish_parts(qdq, node, pending, quantisation, parts, &whole);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = whole.view, .tensor = whole.tensor};
    if (outcome == QDQ_DONE)
        qdq_tensor(qdq, result->tensor)->name = name;
    return outcome;
}

static enum qdq_outcome quantise_sum(struct qdq *qdq, const struct qdq_value *value, const struct quantisation *quantisation,
                                     const char *name, struct qdq_value *result)
{
    struct middle_value sum;
    qdq_finish_sum(qdq, value->pending, quantisation, name, &sum);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = sum.view, .tensor = sum.tensor};
    return QDQ_DONE;
}

/* What nodes between the whole's operator and its quantiser have made of its view. */
static enum qdq_outcome take_view(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                  struct qdq_value *result)
{
    const struct view *made = &value->pending->view;
    struct layout layout = layout_of_image(made->rank);
    if (view_equal(&value->view, made))
        return QDQ_DONE;
    enum qdq_outcome outcome = view_equal(&result->view, made) ? QDQ_DONE : qdq_lay(qdq, node, NULL, &layout, 0, result);
    if (outcome == QDQ_DONE && !view_equal(&result->view, made))
        outcome = qdq_fault(qdq, node, NULL, "rounds a tensor of shape %s that was turned before it was rounded",
                            view_text(&value->view, qdq->arena));
    result->view = value->view;
    return outcome;
}

static enum qdq_outcome quantise_pending(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                         const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    if (value->pending->part_count) {
        enum qdq_outcome outcome = value->pending->whole == QDQ_SUMMED
                                       ? quantise_sum(qdq, value, quantisation, name, result)
                                       : quantise_parts(qdq, node, value, quantisation, name, result);
        return outcome == QDQ_DONE ? take_view(qdq, node, value, result) : outcome;
    }
    if (value->pending->norm)
        return qdq_finish_norm(qdq, node, value, quantisation, name, result);
    int tensor = qdq_pending_finish(qdq, value->pending, quantisation, NULL, name);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = value->view, .tensor = tensor};
    return tensor < 0 ? QDQ_FAULT : QDQ_DONE;
}

enum qdq_outcome qdq_quantise(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                              const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    switch (value->kind) {
    case QDQ_REALS: return qdq_quantise_reals(qdq, node, value, quantisation, name, result);
    case QDQ_PENDING: return quantise_pending(qdq, node, value, quantisation, name, result);
    case QDQ_STATISTIC: return qdq_quantise_statistic(qdq, node, value->statistic, quantisation, name, result);
    case QDQ_OUTSIDE: return quantise_outside(qdq, node, value, quantisation, result);
    default: return qdq_fault(qdq, node, NULL, "what it quantises is no tensor of real numbers");
    }
}

/* ---- constants ---- */

struct integer_type {
    enum element_type type;
    const char *name;
    int minimum, maximum;
};

/* That of a zero point; where there is none the node says it. */
static struct integer_type type_of(struct qdq *qdq, const struct node *node, const struct qdq_value *zero_point)
{
    static const struct integer_type types[] = {{ELEMENT_UINT8, "UINT8", 0, 255}, {ELEMENT_INT8, "INT8", -128, 127}};
    const struct qdq_array *array = zero_point->kind == QDQ_CONSTANT ? zero_point->array : NULL;
    const bool is_signed = array ? array->type == ELEMENT_INT8 : qdq_integer(qdq, node, "output_dtype", 2) == 3;
    const int bits = array ? array->narrow_bits : 0;
    struct integer_type type = types[is_signed];
    if (bits) {
        type.minimum = is_signed ? -(1 << (bits - 1)) : 0;
        type.maximum = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    }
    return type;
}

/* The scales are those of a DequantizeLinear behind: they are taken the same way. */
static enum qdq_outcome read_scales(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                    enum element_type type, const struct qdq_array **scales)
{
    struct qdq_value dequantised = {0};
    struct qdq_array integers = *inputs[0].array;
    integers.scale_count = 0;
    integers.type = type;
    struct qdq_value with_integers[3] = {{.kind = QDQ_CONSTANT, .array = &integers}, inputs[1], inputs[2]};
    enum qdq_outcome outcome = qdq_dequantise(qdq, node, with_integers, &dequantised);
    *scales = dequantised.array;
    return outcome;
}

/* Weights that the model holds as float, with their quantisation behind. */
static enum qdq_outcome quantise_array(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                       struct qdq_value *result)
{
    const struct qdq_array *from = inputs[0].array, *scales;
    const struct integer_type type = type_of(qdq, node, &inputs[2]);
    if (inputs[2].kind == QDQ_CONSTANT && inputs[2].array->type != type.type)
        return qdq_fault(qdq, node, "zero_point", "is %s; supported: INT8 and UINT8", inputs[2].array->type_name);
    enum qdq_outcome outcome = read_scales(qdq, node, inputs, type.type, &scales);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_array *made = qdq_array_make(qdq, from, from->rank, from->dimensions);
    made->scale_count = 0;
    made->type = type.type;
    made->type_name = type.name;
    double *numbers = (double *)(uintptr_t)made->numbers;
    for (size_t i = 0; numbers && i < from->count; i++) {
        size_t channel = qdq_array_channel(scales, i);
        numbers[i] = qdq_round(qdq_array_real(from, i), scales->scales[channel], scales->zero_points[channel], type.minimum,
                               type.maximum);
    }
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = made};
    return QDQ_DONE;
}

/* Which dimension the scales are for. */
static enum qdq_outcome check_axis(struct qdq *qdq, const struct node *node, const struct qdq_array *array, size_t scales,
                                   int *axis)
{
    int64_t number = qdq_integer(qdq, node, "axis", 1);
    if (qdq_integer(qdq, node, "block_size", 0) != 0)
        return qdq_fault(qdq, node, "block_size", "is set: scales of blocks are not supported; quantise per channel");
    if (number < 0)
        number += array->rank;
    if (number < 0 || number >= array->rank || (size_t)array->dimensions[number] != scales)
        return qdq_fault(qdq, node, "axis", "is %" PRId64 ", for %zu scales of '%s', which has %d dimensions%s", number,
                         scales, array->name, array->rank, number >= 0 && number < array->rank ? " of other sizes" : "");
    *axis = (int)number;
    return QDQ_DONE;
}

static enum qdq_outcome dequantise_array(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                         struct qdq_value *result)
{
    const struct qdq_array *scale = inputs[1].array, *zero = inputs[2].kind == QDQ_CONSTANT ? inputs[2].array : NULL;
    struct qdq_array *array = arena_allocate(qdq->arena, sizeof *array);
    *array = *inputs[0].array;
    if (!element_type_is_integer(array->type) || array->scale_count)
        return qdq_fault(qdq, node, NULL, "constant '%s' is %s; supported: integers", array->name, array->type_name);
    if (zero && zero->count != scale->count)
        return qdq_fault(qdq, node, "zero_point", "'%s' has %zu numbers, the scale %zu", zero->name, zero->count,
                         scale->count);
    array->axis = 0;
    enum qdq_outcome outcome = scale->count == 1 ? QDQ_DONE : check_axis(qdq, node, array, scale->count, &array->axis);
    if (outcome != QDQ_DONE)
        return outcome;
    int64_t *zero_points = arena_array(qdq->arena, int64_t, scale->count);
    for (size_t i = 0; zero && i < zero->count; i++)
        zero_points[i] = (int64_t)zero->numbers[i];
    array->scale_count = scale->count;
    array->scales = scale->numbers;
    array->zero_points = zero_points;
    *result = (struct qdq_value){.kind = QDQ_CONSTANT, .array = array};
    return QDQ_DONE;
}

/* ---- dequantise ---- */

static enum qdq_outcome dequantise_tensor(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                          struct qdq_value *result)
{
    struct quantisation quantisation;
    enum qdq_outcome outcome = qdq_read_quantisation(qdq, node, &inputs[1], &inputs[2], &quantisation);
    if (outcome != QDQ_DONE)
        return outcome;
    struct tensor *tensor = qdq_tensor(qdq, inputs[0].tensor);
    int zero_point = (int)quantisation.zero_point - tensor->model_offset;
    if ((tensor->model_offset != 0) != quantisation.is_signed && inputs[2].kind != QDQ_NONE)
        return qdq_fault(qdq, node, "zero_point", "is %s, the tensor in front of it is not",
                         quantisation.is_signed ? "INT8" : "UINT8");
    if (tensor->scale == 0) { /* an integer input of the network, of which nothing was known yet */
        tensor->scale = quantisation.scale;
        tensor->zero_point = zero_point;
    }
    *result = inputs[0];
    result->kind = QDQ_REALS;
    if (tensor->scale == quantisation.scale && tensor->zero_point == zero_point) {
        result->reals = qdq_plain_reals(qdq, result->tensor);
        return QDQ_DONE;
    }
    float *reals = arena_array(qdq->arena, float, 256); /* taken for other numbers than the ones that were quantised */
    for (int i = 0; i < 256; i++)
        reals[i] = (float)(i - zero_point) * (float)quantisation.scale;
    result->reals = reals;
    return QDQ_DONE;
}

enum qdq_outcome qdq_dequantise(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                struct qdq_value *result)
{
    enum qdq_outcome outcome = check_constant(qdq, node, "scale", &inputs[1]);
    bool is_bias = inputs[0].kind == QDQ_CONSTANT && inputs[0].array->type == ELEMENT_INT32;
    if (outcome == QDQ_DONE)
        outcome = check_scales(qdq, node, inputs[1].array, is_bias);
    if (outcome == QDQ_DONE && inputs[2].kind != QDQ_NONE)
        outcome = check_constant(qdq, node, "zero_point", &inputs[2]);
    if (outcome != QDQ_DONE)
        return outcome;
    if (inputs[0].kind == QDQ_CONSTANT && !inputs[0].array->numbers)
        return qdq_fault(qdq, node, NULL, "constant '%s' is %s; supported: 8-bit weights, 32-bit biases",
                         inputs[0].array->name, inputs[0].array->type_name);
    if (inputs[0].kind == QDQ_CONSTANT)
        return dequantise_array(qdq, node, inputs, result);
    if (inputs[0].kind != QDQ_ELEMENTS)
        return qdq_fault(qdq, node, NULL, "what it dequantises is no tensor of 8-bit integers");
    return qdq_channel_scales(qdq, inputs[0].tensor) ? qdq_dequantise_channels(qdq, node, inputs, result)
                                                     : dequantise_tensor(qdq, node, inputs, result);
}

/* ---- nodes ---- */

enum qdq_outcome qdq_quantize_linear(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                     struct qdq_value *result)
{
    struct quantisation quantisation;
    (void)count;
    enum qdq_outcome outcome;
    if (inputs[0].kind == QDQ_CONSTANT) {
        if ((outcome = check_constant(qdq, node, "scale", &inputs[1])) != QDQ_DONE || !inputs[0].array->numbers)
            return outcome == QDQ_DONE ? qdq_fault(qdq, node, NULL, "constant '%s' is %s; supported: FLOAT",
                                                   inputs[0].array->name, inputs[0].array->type_name)
                                       : outcome;
        return quantise_array(qdq, node, inputs, result);
    }
    const char *name =
        node->output_count && node->outputs[0] != NO_VALUE ? qdq->graph->values[node->outputs[0]].name : node->name;
    if ((outcome = qdq_quantise_channels(qdq, node, inputs, name, result)) != QDQ_FLOAT)
        return outcome;
    if ((outcome = qdq_read_quantisation(qdq, node, &inputs[1], &inputs[2], &quantisation)) != QDQ_DONE)
        return outcome;
    return qdq_quantise(qdq, node, &inputs[0], &quantisation, name, result);
}

enum qdq_outcome qdq_dequantize_linear(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                       struct qdq_value *result)
{
    (void)count;
    return qdq_dequantise(qdq, node, inputs, result);
}
