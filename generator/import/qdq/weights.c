#include "import/qdq/weights.h"

#include <math.h>
#include <string.h>

/* ---- weights ---- */

struct weight_order qdq_weight_order(struct qdq *qdq, const struct qdq_array *array, size_t outputs, size_t each)
{
    return (struct weight_order){array, outputs, each, arena_array(qdq->arena, size_t, outputs * each)};
}

enum qdq_outcome qdq_check_weights(struct qdq *qdq, const struct node *node, const struct qdq_value *value)
{
    const struct qdq_array *array = value->array;
    if (value->kind == QDQ_NONE)
        return qdq_fault(qdq, node, "weights", "are missing");
    if (value->kind != QDQ_CONSTANT)
        return qdq_fault(qdq, node, "weights", "are computed by the network; supported: constant weights");
    if (!array->numbers)
        return qdq_fault(qdq, node, "weights", "constant '%s' is %s; supported: 8-bit integers behind a DequantizeLinear",
                         array->name, array->type_name);
    if (!array->scale_count)
        return qdq_fault(qdq, node, "weights", "'%s' are float: %s runs in floating point in the middle of the network; %s",
                         array->name, node->type, qdq_advice_to_cover(qdq, arena_format(qdq->arena, "'%s'", node->type)));
    if (array->type != ELEMENT_INT8 && array->type != ELEMENT_UINT8)
        return qdq_fault(qdq, node, "weights", "'%s' are %s; supported: INT8 (%s)", array->name, array->type_name,
                         qdq_advice(qdq, QDQ_WEIGHTS));
    return QDQ_DONE;
}

static double weight_at(const struct weight_order *order, size_t index)
{
    const struct qdq_array *array = order->array;
    return array->numbers[order->from[index]] - (double)array->zero_points[qdq_array_channel(array, order->from[index])];
}

static enum qdq_outcome take_weights(struct qdq *qdq, const struct node *node, const struct weight_order *order,
                                     struct qdq_pending *pending)
{
    struct layer *layer = &pending->layer;
    size_t count = order->outputs * order->each, area = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int16_t *weights = arena_array(qdq->arena, int16_t, count);
    struct wide_weights wide = {.weights = weights,
                                .outputs = (int)order->outputs,
                                .inputs = (int)(order->each / area),
                                .height = layer->kernel_height,
                                .width = layer->kernel_width,
                                .groups = layer->groups,
                                .dilation_width = layer->dilation_width};
    struct narrow_weights narrow;
    for (size_t i = 0; i < count; i++) {
        double weight = weight_at(order, i);
        if (fabs(weight) > UINT8_MAX)
            return qdq_fault(qdq, node, "weights", "'%s' minus their zero point are no numbers of 9 bits",
                             order->array->name);
        weights[i] = (int16_t)weight;
    }
    if (!quantised_narrow_weights(&qdq->builder, node->name, &wide, layer->inputs[0], &narrow))
        return qdq_fault(qdq, node, "weights",
                         "minus their zero point need more than 8 bits, and the input's %d channels as many times: too "
                         "many; quantise with %s",
                         qdq_tensor(qdq, layer->inputs[0])->channels, qdq_advice(qdq, QDQ_WEIGHTS));
    layer->weights = narrow.weights;
    layer->inputs[0] = narrow.input;
    quantised_widen_window(layer, narrow.times);
    return QDQ_DONE;
}

/* Scales per output channel: what reads the same output must have the same. */
static enum qdq_outcome take_scales(struct qdq *qdq, const struct node *node, const struct weight_order *order,
                                    const struct qdq_array *of_input, double *scales)
{
    for (size_t output = 0; output < order->outputs; output++)
        for (size_t i = 0; i < order->each; i++) {
            size_t channel = qdq_array_channel(order->array, order->from[output * order->each + i]);
            if (i && scales[output] != order->array->scales[channel])
                return qdq_fault(qdq, node, "weights",
                                 "'%s' have scales along a dimension that is not that of the output channels; quantise "
                                 "them per output channel (axis 0 of Conv, the last one of MatMul) or per tensor",
                                 order->array->name);
            scales[output] = order->array->scales[channel];
        }
    for (size_t output = 0; of_input && output < order->outputs; output++) /* depth-wise: of one channel each */
        scales[output] *= of_input->numbers[output / (order->outputs / of_input->count)];
    return QDQ_DONE;
}

/* ---- bias ---- */

/* The scale of a bias is that of the products; some tools round it otherwise than others. */
#define SCALE_TOLERANCE 1e-6

static bool scales_agree(double a, double b) { return fabs(a - b) <= SCALE_TOLERANCE * fabs(b); }

static void set_bias(struct qdq *qdq, const struct node *node, struct qdq_pending *pending, const struct qdq_array *array,
                     int channel)
{
    size_t index = array->count == 1 ? 0 : (size_t)channel;
    bool is_integer = element_type_is_integer(array->type);
    double unit = pending->scale * pending->factors[channel], number = array->numbers[index];
    if (is_integer && !array->scale_count) { /* as QLinearConv has it: in units of the products */
        pending->addends[channel] += (int64_t)number;
        return;
    }
    if (is_integer) {
        size_t scale = qdq_array_channel(array, index);
        if (scales_agree(array->scales[scale], unit)) {
            pending->addends[channel] += (int64_t)(number - (double)array->zero_points[scale]);
            return;
        }
        if (channel == 0)
            diagnose(qdq->diagnostics, SEVERITY_WARNING, node->name, "bias",
                     "'%s' has scale %.9g, the products have %.9g; computed as the model says", array->name,
                     array->scales[scale], unit);
    }
    if (!pending->constants)
        pending->constants = arena_array(qdq->arena, double, (size_t)pending->count);
    pending->constants[channel] += qdq_array_real(array, index);
}

static enum qdq_outcome add_bias(struct qdq *qdq, const struct node *node, struct qdq_pending *pending,
                                 const struct qdq_value *bias)
{
    if (bias->kind == QDQ_NONE)
        return QDQ_DONE;
    if (bias->kind != QDQ_CONSTANT || !bias->array->numbers)
        return qdq_fault(qdq, node, "bias", "is %s; supported: a constant",
                         bias->kind == QDQ_CONSTANT ? bias->array->type_name : "computed by the network");
    if (bias->array->count != 1 && bias->array->count != (size_t)pending->count)
        return qdq_fault(qdq, node, "bias", "has %zu numbers; supported: one for each of the %d output channels",
                         bias->array->count, pending->count);
    for (int channel = 0; channel < pending->count; channel++)
        set_bias(qdq, node, pending, bias->array, channel);
    return QDQ_DONE;
}

enum qdq_outcome qdq_scale_sums(struct qdq *qdq, const struct node *node, struct qdq_pending *pending, double alpha,
                                double beta, const struct qdq_value *bias)
{
    bool has_bias = bias->kind != QDQ_NONE;
    if (has_bias && (bias->kind != QDQ_CONSTANT || !bias->array->numbers ||
                     (bias->array->count != 1 && bias->array->count != (size_t)pending->count)))
        return qdq_fault(qdq, node, "bias", "is no constant of one number for each of the %d outputs", pending->count);
    for (int i = 0; i < pending->count; i++)
        pending->factors[i] = (double)(float)(pending->factors[i] * alpha);
    if (has_bias)
        pending->constants = arena_array(qdq->arena, double, (size_t)pending->count);
    for (int i = 0; has_bias && i < pending->count; i++)
        pending->constants[i] = beta * qdq_array_real(bias->array, bias->array->count == 1 ? 0 : (size_t)i);
    return QDQ_DONE;
}

enum qdq_outcome qdq_finish_products(struct qdq *qdq, const struct node *node, struct qdq_pending *pending,
                                     const struct weight_order *order, const struct qdq_value *bias)
{
    const struct tensor *input = qdq_tensor(qdq, pending->layer.inputs[0]);
    const struct qdq_array *of_input = qdq_channel_scales(qdq, pending->layer.inputs[0]);
    enum qdq_outcome outcome = take_weights(qdq, node, order, pending);
    if (outcome != QDQ_DONE || (outcome = take_scales(qdq, node, order, of_input, pending->factors)) != QDQ_DONE)
        return outcome;
    pending->layer.padding_value = input->zero_point;
    for (size_t output = 0; output < order->outputs; output++) {
        int64_t sum = 0;
        for (size_t i = 0; i < order->each; i++)
            sum += (int64_t)weight_at(order, output * order->each + i);
        pending->addends[output] = -sum * input->zero_point;
    }
    return add_bias(qdq, node, pending, bias);
}
