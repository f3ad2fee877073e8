/* Concatenation along any axis by the layer there is, which joins channels: where the axis is another, copies lay it there,
 * and back. */
#include "middle/quantised.h"
#include "middle/sums.h"

/* Positions of a copy in its input, in HWC order: each of the output's rows, columns and channels is so far from the one
 * before. */
struct steps {
    int row, column, channel;
    int inner, outer; /* every `inner` channels are `outer` apart, where that is not 0 */
};

static void lay_copy(struct quantised_builder *builder, const char *name, int input, int output, struct steps steps)
{
    const struct tensor to = builder->network->tensors[output];
    struct layer *layer = quantised_layer(builder, LAYER_COPY, name, input, output);
    int32_t *channels = positions_in_steps(to.channels, 0, steps.channel, builder->arena);
    for (int i = 0; steps.outer && i < to.channels; i++)
        channels[i] = i / steps.inner * steps.outer + i % steps.inner * steps.channel;
    layer->map = (struct layer_map){positions_in_steps(to.height, 0, steps.row, builder->arena),
                                    positions_in_steps(to.width, 0, steps.column, builder->arena), channels};
}

/* A tensor whose pixels lie along the other axis, each with all elements along this one as channels. */
static int lay_axis(struct quantised_builder *builder, const char *name, int tensor, enum image_axis axis)
{
    const struct tensor from = builder->network->tensors[tensor];
    int row = from.width * from.channels, output;
    struct steps steps = {row, 0, 1, 0, 0};
    name = arena_format(builder->arena, "%s, %s", name, from.name);
    if (axis == AXIS_CHANNELS)
        return tensor;
    if (axis == AXIS_HEIGHT) {
        steps = (struct steps){from.channels, 0, 1, from.channels, row};
        output = quantised_tensor_like(builder, name, tensor, from.width, 1, from.height * from.channels);
    } else {
        output = quantised_tensor_like(builder, name, tensor, from.height, 1, row);
    }
    lay_copy(builder, name, tensor, output, steps);
    return output;
}

/* Back from pixels of all elements along the axis to an image of `channels`. */
static int lay_back(struct quantised_builder *builder, const char *name, int tensor, enum image_axis axis, int channels)
{
    const struct tensor from = builder->network->tensors[tensor];
    int size = from.channels / channels, output;
    struct steps steps = {from.channels, channels, 1, 0, 0};
    if (axis == AXIS_HEIGHT)
        steps = (struct steps){channels, from.channels, 1, 0, 0};
    output = axis == AXIS_HEIGHT ? quantised_tensor_like(builder, name, tensor, size, from.height, channels)
                                 : quantised_tensor_like(builder, name, tensor, from.height, size, channels);
    lay_copy(builder, name, tensor, output, steps);
    return output;
}

/* ---- more elements than a pixel can have ---- */

/* Positions of `size` elements in `all`, behind `first` of them. */
static int32_t *behind(struct quantised_builder *builder, int all, int first, int size, int step)
{
    int32_t *positions = arena_array(builder->arena, int32_t, (size_t)all);
    for (int i = 0; i < all; i++)
        positions[i] = i < first || i >= first + size ? -1 : (i - first) * step;
    return positions;
}

/* In its place in the result, which is zero elsewhere. */
static int lay_place(struct quantised_builder *builder, const char *name, int tensor, const struct tensor *whole, int row,
                     int column)
{
    const struct tensor from = builder->network->tensors[tensor];
    int output = quantised_tensor_like(builder, arena_format(builder->arena, "%s, place of %s", name, from.name), tensor,
                                       whole->height, whole->width, whole->channels);
    struct layer *layer = quantised_layer(builder, LAYER_COPY, builder->network->tensors[output].name, tensor, output);
    layer->map = (struct layer_map){behind(builder, whole->height, row, from.height, from.width * from.channels),
                                    behind(builder, whole->width, column, from.width, from.channels),
                                    positions_in_steps(whole->channels, 0, 1, builder->arena)};
    return output;
}

/* The sum of all parts, each in its place. */
static int add_up(struct quantised_builder *builder, const char *name, const int *tensors, int count, enum image_axis axis)
{
    struct tensor whole = builder->network->tensors[tensors[0]];
    int sum = -1, at = 0;
    for (int i = 1; i < count; i++)
        *(axis == AXIS_HEIGHT ? &whole.height : &whole.width) +=
            axis == AXIS_HEIGHT ? builder->network->tensors[tensors[i]].height : builder->network->tensors[tensors[i]].width;
    for (int i = 0; i < count; i++) {
        const struct tensor part = builder->network->tensors[tensors[i]];
        int place = axis == AXIS_HEIGHT ? lay_place(builder, name, tensors[i], &whole, at, 0)
                                        : lay_place(builder, name, tensors[i], &whole, 0, at);
        at += axis == AXIS_HEIGHT ? part.height : part.width;
        if (i == 0) {
            sum = place;
            continue;
        }
        const char *own = i == count - 1 ? name : arena_format(builder->arena, "%s, first %d parts", name, i + 1);
        int output = quantised_tensor_like(builder, own, place, whole.height, whole.width, whole.channels);
        middle_sum_bytes(builder, sum, 1, place, 0, output);
        sum = output;
    }
    return sum;
}

static bool is_too_long(const struct quantised_builder *builder, const int *tensors, int count, enum image_axis axis)
{
    int64_t elements = 0;
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = &builder->network->tensors[tensors[i]];
        elements += (int64_t)(axis == AXIS_HEIGHT ? tensor->height : tensor->width) * tensor->channels;
    }
    return axis != AXIS_CHANNELS && count > 1 && elements > UINT16_MAX;
}

int quantised_concatenate(struct quantised_builder *builder, const char *name, const int *tensors, int count,
                          enum image_axis axis)
{
    int channels = builder->network->tensors[tensors[0]].channels;
    if (is_too_long(builder, tensors, count, axis))
        return add_up(builder, name, tensors, count, axis);
    int joined = count == 1 ? tensors[0] : lay_axis(builder, name, tensors[0], axis);
    for (int i = 1; i < count; i++) {
        int next = lay_axis(builder, name, tensors[i], axis);
        const struct tensor a = builder->network->tensors[joined], b = builder->network->tensors[next];
        bool is_last = i == count - 1 && axis == AXIS_CHANNELS;
        const char *own =
            is_last ? name : arena_format(builder->arena, "%s, first %d channels", name, a.channels + b.channels);
        int output = quantised_tensor_like(builder, own, joined, a.height, a.width, a.channels + b.channels);
        quantised_layer(builder, LAYER_CONCATENATION, own, joined, output)->inputs[1] = next;
        joined = output;
    }
    return count == 1 || axis == AXIS_CHANNELS ? joined : lay_back(builder, name, joined, axis, channels);
}
