/* Activations with a scale a channel, as NNCF quantises what a depth-wise convolution reads: the layer in front rounds each
 * channel to its own scale, and the convolution multiplies with it. The tensor itself has the scale 1. */
#include "import/qdq/combinations.h"

#include <math.h>
#include <string.h>

const struct qdq_array *qdq_channel_scales(const struct qdq *qdq, int tensor)
{
    for (int i = qdq->scaled_count - 1; i >= 0; i--)
        if (qdq->scaled[i].tensor == tensor)
            return qdq->scaled[i].scales;
    return NULL;
}

static void add_scaled(struct qdq *qdq, int tensor, const struct qdq_array *scales)
{
    struct qdq_scaled *scaled = arena_array(qdq->arena, struct qdq_scaled, (size_t)qdq->scaled_count + 1);
    if (qdq->scaled_count)
        memcpy(scaled, qdq->scaled, (size_t)qdq->scaled_count * sizeof *scaled);
    scaled[qdq->scaled_count++] = (struct qdq_scaled){tensor, scales};
    qdq->scaled = scaled;
}

/* Scales along the channels of the value, positive float32 numbers, and one zero point for all. */
static bool read_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int64_t channels,
                          struct quantisation *quantisation)
{
    const struct qdq_array *scales = inputs[1].kind == QDQ_CONSTANT ? inputs[1].array : NULL;
    const struct qdq_array *zero_points = inputs[2].kind == QDQ_CONSTANT ? inputs[2].array : NULL;
    int64_t axis = qdq_integer(qdq, node, "axis", 1);
    double zero_point;
    if (!scales || !scales->numbers || (int64_t)scales->count != channels || !zero_points || zero_points->narrow_bits ||
        (axis != 1 && axis != 1 - inputs[0].view.rank) || !qdq_array_scalar(zero_points, &zero_point) ||
        (zero_points->type != ELEMENT_INT8 && zero_points->type != ELEMENT_UINT8))
        return false;
    for (size_t i = 0; i < scales->count; i++)
        if (!(scales->numbers[i] > 0 && isfinite(scales->numbers[i])) || (float)scales->numbers[i] != scales->numbers[i])
            return false;
    *quantisation = (struct quantisation){1, (int64_t)zero_point, zero_points->type == ELEMENT_INT8};
    return true;
}

/* A bound, by which all channels must be bounded alike: 0 is, and what lies beyond all their elements. */
static bool is_of_all(double bound, double limit, double scale) { return bound == 0 || fabs(bound) / scale >= fabs(limit); }

static bool take_bounds(struct qdq_pending *pending, const struct qdq_array *scales, const struct quantisation *quantisation)
{
    double least = (quantisation->is_signed ? -128 : 0) - (double)quantisation->zero_point, most = least + 255;
    for (size_t i = 0; i < scales->count; i++)
        if (!is_of_all(pending->minimum, least, scales->numbers[i]) ||
            !is_of_all(pending->maximum, most, scales->numbers[i]) || pending->maximum < 0 || pending->minimum > 0)
            return false;
    pending->minimum = pending->minimum == 0 ? 0 : -INFINITY;
    pending->maximum = pending->maximum == 0 ? 0 : INFINITY;
    return true;
}

/* A tensor's own numbers as a layer that awaits its rounding. */
static bool take_numbers(struct qdq *qdq, const struct node *node, const struct qdq_value *value, struct qdq_value *taken)
{
    *taken = *value;
    if (value->kind != QDQ_REALS || qdq_make_plain(qdq, node, taken) != QDQ_DONE)
        return false;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_AVERAGE_POOL, node, taken->tensor, 1);
    pending->addends[0] = -qdq_tensor(qdq, taken->tensor)->zero_point;
    qdq_pending_value(pending, taken->view.rank, taken);
    return true;
}

/* Kinds whose channels have constants of their own on the chip. An average pool becomes a convolution. */
static bool has_scales(enum layer_kind kind)
{
    return kind == LAYER_CONVOLUTION || kind == LAYER_AVERAGE_POOL || kind == LAYER_ADDITION || kind == LAYER_MULTIPLICATION;
}

/* The layer with each channel rounded to its own scale; -1 where it is none that can be. */
static int finish_channels(struct qdq *qdq, const struct qdq_value *value, const struct qdq_pending *bounds,
                           const struct qdq_array *scales, const struct quantisation *quantisation, const char *name)
{
    struct qdq_pending pending = *value->pending;
    struct tensor image = tensor_plain("", pending.height, pending.width, pending.channels);
    pending.minimum = bounds->minimum;
    pending.maximum = bounds->maximum;
    if (pending.part_count || pending.norm || !has_scales(pending.layer.kind) || !view_is_image(&value->view, &image) ||
        !take_bounds(&pending, scales, quantisation))
        return -1;
    return qdq_pending_finish(qdq, &pending, quantisation, scales->numbers, name);
}

/* The larger or smaller of sums that nobody has rounded, as a PRelu of them is. */
static int finish_choice(struct qdq *qdq, const struct node *node, const struct qdq_pending *choice,
                         const struct qdq_array *scales, const struct quantisation *quantisation, const char *name)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)choice->part_count);
    struct middle_value chosen;
    for (int i = 0; i < choice->part_count; i++) {
        parts[i] = choice->parts[i];
        if (parts[i].kind != QDQ_PENDING)
            return -1;
        parts[i].tensor =
            finish_channels(qdq, &parts[i], choice, scales, quantisation, arena_format(qdq->arena, "%s_%d", name, i));
        if (parts[i].tensor < 0)
            return -1;
    }
    return qdq_finish_choice(qdq, node, choice, quantisation, parts, &chosen) == QDQ_DONE ? chosen.tensor : -1;
}

enum qdq_outcome qdq_quantise_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                       const char *name, struct qdq_value *result)
{
    struct quantisation quantisation;
    struct qdq_value value = inputs[0];
    const struct qdq_array *scales = inputs[1].array;
    bool has_channels = inputs[1].kind == QDQ_CONSTANT && scales->numbers && scales->count > 1 &&
                        (value.kind == QDQ_PENDING || value.kind == QDQ_REALS) && value.view.rank >= 3;
    if (!has_channels || !read_channels(qdq, node, inputs, value.view.dimensions[1], &quantisation) ||
        (value.kind == QDQ_REALS && !take_numbers(qdq, node, &inputs[0], &value)))
        return QDQ_FLOAT;
    const struct qdq_pending *pending = value.pending;
    bool is_choice = pending->part_count && view_equal(&value.view, &pending->view) &&
                     (pending->whole == QDQ_LARGEST || pending->whole == QDQ_SMALLEST);
    int tensor = is_choice ? finish_choice(qdq, node, pending, scales, &quantisation, name)
                           : finish_channels(qdq, &value, pending, scales, &quantisation, name);
    if (tensor < 0)
        return QDQ_FLOAT;
    add_scaled(qdq, tensor, scales);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = value.view, .tensor = tensor};
    return QDQ_DONE;
}

enum qdq_outcome qdq_dequantise_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                         struct qdq_value *result)
{
    const struct qdq_array *scales = qdq_channel_scales(qdq, inputs[0].tensor);
    const struct tensor *tensor = qdq_tensor(qdq, inputs[0].tensor);
    struct quantisation quantisation;
    if (!read_channels(qdq, node, inputs, tensor->channels, &quantisation) ||
        memcmp(scales->numbers, inputs[1].array->numbers, scales->count * sizeof *scales->numbers) != 0 ||
        quantisation.zero_point - tensor->model_offset != tensor->zero_point || !view_is_image(&inputs[0].view, tensor))
        return qdq_fault(qdq, node, "scale",
                         "'%s' has %zu numbers, others than its QuantizeLinear; supported: one for a tensor of activations, "
                         "one a channel for weights and for what a depth-wise convolution reads",
                         inputs[1].array->name, inputs[1].array->count);
    *result = inputs[0];
    result->kind = QDQ_SCALED;
    return QDQ_DONE;
}

/* The scale of each channel of the value, wherever it lies in the tensor; null: elements of a channel have several. */
static const struct qdq_array *scales_of_view(struct qdq *qdq, const struct qdq_value *value)
{
    const struct qdq_array *scales = qdq_channel_scales(qdq, value->tensor);
    const struct view *view = &value->view;
    if (!scales || view->rank < 3 || view->dimensions[0] != 1 ||
        view_elements(view) != (int64_t)tensor_elements(qdq_tensor(qdq, value->tensor)))
        return NULL;
    size_t elements = (size_t)view_elements(view), each = elements / (size_t)view->dimensions[1];
    int64_t *positions = arena_array(qdq->arena, int64_t, elements);
    struct qdq_array *own = qdq_array_make(qdq, scales, 1, &view->dimensions[1]);
    double *numbers = (double *)(uintptr_t)own->numbers;
    view_positions(view, positions);
    for (size_t i = 0; numbers && i < elements; i++) {
        double scale = scales->numbers[(size_t)positions[i] % scales->count];
        if (i % each && numbers[i / each] != scale)
            return NULL;
        numbers[i / each] = scale;
    }
    return numbers ? own : NULL;
}

enum qdq_outcome qdq_take_channels(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    if (view_is_image(&value->view, qdq_tensor(qdq, value->tensor)))
        return qdq_channel_scales(qdq, value->tensor) ? QDQ_DONE : QDQ_FLOAT;
    const struct qdq_array *scales = scales_of_view(qdq, value);
    enum qdq_outcome outcome = scales ? qdq_make_image(qdq, node, value) : QDQ_FLOAT;
    if (outcome == QDQ_DONE)
        add_scaled(qdq, value->tensor, scales);
    return outcome;
}

bool qdq_takes_channels(const struct node *node)
{
    static const char *const types[] = {"Conv", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i], node->type))
            return true;
    return false;
}

void qdq_refuse_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *value)
{
    const struct qdq_array *scales = qdq_channel_scales(qdq, value->tensor);
    qdq_fault(qdq, node, "scale",
              "'%s' has %zu numbers; supported: one for a tensor of activations, one a channel for weights and for what a "
              "depth-wise convolution reads",
              scales ? scales->name : "of the tensor", scales ? scales->count : 0);
}
