/* Layers that await their rounding. */
#include "import/qdq/qdq.h"

#include <math.h>
#include <string.h>

struct qdq_pending *qdq_pending_make(struct qdq *qdq, enum layer_kind kind, const struct node *node, int input, int count)
{
    const struct tensor *tensor = qdq_tensor(qdq, input);
    struct qdq_pending *pending = arena_allocate(qdq->arena, sizeof *pending);
    *pending = (struct qdq_pending){
        .layer = layer_plain(node->name, kind, input),
        .height = tensor->height,
        .width = tensor->width,
        .channels = tensor->channels,
        .count = count,
        .addends = arena_array(qdq->arena, int64_t, (size_t)count),
        .scale = tensor->scale,
        .factors = arena_array(qdq->arena, double, (size_t)count),
        .divisor = 1,
        .minimum = -INFINITY,
        .maximum = INFINITY,
    };
    for (int i = 0; i < count; i++)
        pending->factors[i] = 1;
    return pending;
}

void qdq_pending_value(const struct qdq_pending *pending, int rank, struct qdq_value *result)
{
    struct tensor output = tensor_plain("", pending->height, pending->width, pending->channels);
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = view_of_image(&output, rank), .pending = pending};
}

/* Bounds of real numbers become bounds of elements: rounding is monotone, so it may come first. */
void qdq_clip_stage(struct stage *stage, const struct tensor *output, double minimum, double maximum)
{
    if (minimum > -INFINITY)
        stage->minimum = qdq_round(minimum, output->scale, output->zero_point, 0, 255);
    if (maximum < INFINITY)
        stage->maximum = qdq_round(maximum, output->scale, output->zero_point, 0, 255);
    if (stage->maximum < stage->minimum) /* ONNX: the maximum wins */
        stage->minimum = stage->maximum;
}

/* A constant in units of the accumulator, of which it need not be a whole number. */
static int64_t in_units(const struct qdq_pending *pending, int channel, int left_shift)
{
    if (!pending->constants)
        return 0;
    double unit = pending->scale * pending->factors[channel] / (double)pending->divisor;
    double units = ldexp(pending->constants[channel] / unit, left_shift);
    return units >= 4e18 ? INT64_C(4000000000000000000) : units > -4e18 ? llrint(units) : INT64_C(-4000000000000000000);
}

/* Where a constant is no whole number of units, it is held to 2^-16 of one, or as finely as its roundings need. */
#define FRACTION_BITS 16
#define MORE_BITS     6
#define MOST_BITS     28

static int fraction_bits(const struct qdq_pending *pending)
{
    for (int i = 0; pending->constants && i < pending->count; i++) {
        double unit = pending->scale * pending->factors[i] / (double)pending->divisor, units = pending->constants[i] / unit;
        if (units != rint(units))
            return FRACTION_BITS;
    }
    return 0;
}

static int append(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                  const char *name, struct layer **layer)
{
    int output = quantised_tensor(&qdq->builder, name, pending->height, pending->width, pending->channels, quantisation);
    *layer = quantised_layer(&qdq->builder, pending->layer.kind, pending->layer.name, pending->layer.inputs[0], output);
    **layer = pending->layer;
    (*layer)->output = output;
    return output;
}

int qdq_pending_append(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                       const char *name, const struct stage *stage)
{
    struct layer *layer;
    int output = append(qdq, pending, quantisation, name, &layer);
    layer->stages[0] = *stage;
    layer->stage_count = 1;
    return output;
}

/* Channels share the divisor of a stage: a quotient by the channel's own scale is held to 53 bits. */
static struct real_factor factor_of(const struct qdq_pending *pending, int channel, double scale, bool is_own)
{
    double factor = pending->factors[channel];
    return is_own ? (struct real_factor){{pending->scale * factor / scale, 1}, 1, pending->divisor}
                  : (struct real_factor){{pending->scale, factor}, scale, pending->divisor};
}

/* The constant as a whole number of the stage's units: the nearest, or one beside it where an exact half is rounded so. A
 * channel's own scale is no exact one. */
static bool set_channel(struct qdq *qdq, const struct qdq_pending *pending, struct stage *stage, int channel, double scale,
                        bool is_own)
{
    static const int64_t beside[] = {0, 1, -1};
    int own = pending->count == 1 ? 0 : channel, left_shift = stage->left_shift;
    struct real_factor factor = factor_of(pending, own, scale, is_own);
    int64_t addend = pending->addends[own] * ((int64_t)1 << left_shift) + in_units(pending, own, left_shift);
    factor.numerators[1] = ldexp(factor.numerators[1], -left_shift);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        quantised_set_channel(&qdq->builder, stage, channel, addend + beside[i], factor);
        if (!pending->constants || is_own || qdq_rounds_exactly(pending, stage, channel, scale))
            return true;
    }
    return false;
}

/* False where another left shift is needed. */
static bool set_stage(struct qdq *qdq, const struct qdq_pending *pending, const double *scales, const struct tensor *output,
                      int left_shift, struct stage *stage)
{
    int count = scales ? pending->channels : pending->count;
    *stage = quantised_stage(&qdq->builder, count, output);
    stage->left_shift = left_shift;
    qdq_clip_stage(stage, output, pending->minimum, pending->maximum);
    for (int i = 0; i < count; i++)
        if (!set_channel(qdq, pending, stage, i, scales ? scales[i] : output->scale, scales != NULL))
            return false;
    return true;
}

/* The sums of a pool that nobody rounds, or that each channel rounds to its own scale, are those of a depth-wise convolution
 * whose weights are 1. */
static void take_pool(struct qdq *qdq, struct qdq_pending *pending)
{
    if (pending->layer.kind != LAYER_AVERAGE_POOL)
        return;
    const struct tensor *input = qdq_tensor(qdq, pending->layer.inputs[0]);
    size_t taps = (size_t)pending->layer.kernel_height * (size_t)pending->layer.kernel_width;
    int8_t *weights = arena_array(qdq->arena, int8_t, taps * (size_t)input->channels);
    memset(weights, 1, taps * (size_t)input->channels);
    pending->layer.kind = LAYER_CONVOLUTION;
    pending->layer.groups = input->channels;
    pending->layer.weights = weights;
    pending->layer.padding_value = input->zero_point;
}

int qdq_pending_finish(struct qdq *qdq, const struct qdq_pending *given, const struct quantisation *quantisation,
                       const double *scales, const char *name)
{
    struct qdq_pending sums = *given, *pending = &sums;
    struct layer *layer;
    struct stage stage;
    if (scales)
        take_pool(qdq, pending);
    int output = append(qdq, pending, quantisation, name, &layer), left_shift = fraction_bits(pending);
    const struct tensor tensor = *qdq_tensor(qdq, output);
    while (!set_stage(qdq, pending, scales, &tensor, left_shift, &stage)) {
        left_shift += MORE_BITS;
        if (left_shift > MOST_BITS) {
            diagnose(
                qdq->diagnostics, SEVERITY_ERROR, pending->layer.name, NULL,
                "adds a constant to sums that it makes exact halves of the output, of which some round up and some down; "
                "quantise the result with another scale");
            return -1;
        }
    }
    layer->stages[0] = stage;
    layer->stage_count = 1;
    return output;
}

/* All channels have one scale: else each its own. */
static const double *scales_of(struct qdq *qdq, const struct qdq_pending *pending)
{
    bool differs = false;
    double *scales = arena_array(qdq->arena, double, (size_t)pending->count);
    for (int i = 0; i < pending->count; i++) {
        scales[i] = pending->scale * pending->factors[i] / (double)pending->divisor;
        differs |= scales[i] != scales[0];
    }
    return differs ? scales : NULL;
}

static bool is_relu(const struct qdq_pending *pending) { return pending->minimum == 0 && pending->maximum == INFINITY; }

static int finish_sums(struct qdq *qdq, const struct qdq_pending *given, const char *name)
{
    struct qdq_pending sums = *given, *pending = &sums;
    struct layer *layer;
    take_pool(qdq, pending);
    const double *scales = scales_of(qdq, pending);
    int64_t *addends = arena_array(qdq->arena, int64_t, (size_t)pending->count);
    int64_t *multipliers = arena_array(qdq->arena, int64_t, (size_t)pending->count);
    for (int i = 0; i < pending->count; i++) {
        multipliers[i] = 1;
        addends[i] = pending->addends[i] + in_units(pending, i, 0); /* a float bias to the nearest unit of the sums */
    }
    double scale = scales ? 0 : pending->scale * pending->factors[0] / (double)pending->divisor;
    int tensor = append(qdq, pending, &(struct quantisation){.scale = scale}, name, &layer);
    qdq_tensor(qdq, tensor)->channel_scales = scales;
    layer->stages[0] = (struct stage){.count = pending->count, .multiplier = multipliers, .addend = addends, .divisor = 1};
    layer->stages[0].has_clip = is_relu(pending);
    layer->stages[0].maximum = is_relu(pending) ? INT32_MAX : 0;
    /* sums that cannot be below zero, too */
    layer->output_bits = is_relu(pending) || layer->kind == LAYER_MATRIX_PRODUCT ? 32 : 0;
    layer->stage_count = 1;
    return tensor;
}

int qdq_pending_give_sums(struct qdq *qdq, const struct qdq_pending *pending, const char *name)
{
    for (int i = 0; i < qdq->given_count; i++)
        if (qdq->given[i].pending == pending)
            return qdq->given[i].tensor;
    const enum layer_kind kind = pending->layer.kind;
    if (pending->part_count || (kind != LAYER_CONVOLUTION && kind != LAYER_AVERAGE_POOL && kind != LAYER_MATRIX_PRODUCT) ||
        (!is_relu(pending) && (pending->minimum > -INFINITY || pending->maximum < INFINITY)))
        return -1;
    struct qdq_given *given = arena_array(qdq->arena, struct qdq_given, (size_t)qdq->given_count + 1);
    if (qdq->given_count)
        memcpy(given, qdq->given, (size_t)qdq->given_count * sizeof *given);
    int tensor = finish_sums(qdq, pending, name);
    given[qdq->given_count++] = (struct qdq_given){pending, tensor};
    qdq->given = given;
    return tensor;
}
