/* Weights minus their zero point, where these are more than the firmware's have: 8 bits. Such a weight is the sum of two
 * parts or three, of which each is a weight of the same element, which the input then has as often. */
#include "middle/moves.h"
#include "middle/quantised.h"

#define MOST_PARTS   3    /* of 9 bits */
#define MOST_COLUMNS 4096 /* of an input whose pixels are there several times */
#define MOST_KERNEL  64
#define WORD         4 /* channels of a convolution that kernels read at once */

static int within_a_byte(int weight) { return weight < INT8_MIN ? INT8_MIN : weight > INT8_MAX ? INT8_MAX : weight; }

static int8_t part_of(int weight, int part)
{
    for (; part > 0; part--)
        weight -= within_a_byte(weight);
    return (int8_t)within_a_byte(weight);
}

static bool has_part(const int16_t *weights, size_t count, int part)
{
    for (size_t i = 0; i < count; i++)
        if (part_of(weights[i], part) != 0)
            return true;
    return false;
}

/* ---- columns: of depth-wise layers, whose channels stay what they are ---- */

static const int8_t *split_columns(struct quantised_builder *builder, const struct wide_weights *wide, int times)
{
    size_t count = (size_t)wide->outputs * (size_t)wide->inputs * (size_t)wide->height * (size_t)wide->width;
    int8_t *to = arena_array(builder->arena, int8_t, count * (size_t)times);
    for (size_t i = 0; i < count * (size_t)times; i++)
        to[i] = part_of(wide->weights[i / (size_t)times], (int)(i % (size_t)times));
    return to;
}

/* ---- channels: those of a group, and behind them the wide ones once more ---- */

struct slot {
    int channel, part;
};

static bool is_wide(const struct wide_weights *wide, int channel, int part)
{
    size_t area = (size_t)wide->height * (size_t)wide->width, inputs = (size_t)wide->inputs;
    for (size_t output = 0; output < (size_t)wide->outputs; output++)
        if (has_part(wide->weights + (output * inputs + (size_t)channel) * area, area, part))
            return true;
    return false;
}

/* Of one group they fill words; weights have no such part as fills them. */
static int list_slots(const struct wide_weights *wide, int times, struct slot *slots)
{
    int count = 0;
    for (int part = 0; part < times; part++)
        for (int channel = 0; channel < wide->inputs; channel++)
            if (part == 0 || is_wide(wide, channel, part))
                slots[count++] = (struct slot){channel, part};
    while (wide->groups == 1 && count % WORD != 0)
        slots[count++] = (struct slot){0, MOST_PARTS};
    return count;
}

static const int8_t *split_channels(struct quantised_builder *builder, const struct wide_weights *wide,
                                    const struct slot *slots, int count)
{
    size_t area = (size_t)wide->height * (size_t)wide->width, inputs = (size_t)wide->inputs;
    int8_t *weights = arena_array(builder->arena, int8_t, (size_t)wide->outputs * (size_t)count * area), *to = weights;
    for (size_t output = 0; output < (size_t)wide->outputs; output++)
        for (int slot = 0; slot < count; slot++)
            for (size_t i = 0; i < area; i++)
                *to++ = part_of(wide->weights[(output * inputs + (size_t)slots[slot].channel) * area + i], slots[slot].part);
    return weights;
}

/* ---- the input ---- */

static bool gather(struct quantised_builder *builder, const char *name, int dimension, const int64_t *indices, int count,
                   int *input)
{
    const struct tensor from = builder->network->tensors[*input];
    const int64_t dimensions[3] = {from.height, from.width, from.channels};
    struct middle_value value = {*input, view_of_memory(3, dimensions)}, repeated;
    struct middle_move move = middle_move_none(&value.view);
    struct layout layout = layout_of_model(3);
    name = arena_format(builder->arena, "%s, repeated", name);
    if (!middle_move_gather(builder, &move, dimension, indices, count) ||
        !middle_lay(builder, name, &value, &move, &layout, 0, &repeated))
        return false;
    *input = repeated.tensor;
    return true;
}

static bool repeat_columns(struct quantised_builder *builder, const char *name, int times, int *input)
{
    int columns = builder->network->tensors[*input].width;
    int64_t *indices = arena_array(builder->arena, int64_t, (size_t)columns * (size_t)times);
    for (int i = 0; i < columns * times; i++)
        indices[i] = i / times;
    return gather(builder, name, 1, indices, columns * times, input);
}

static bool repeat_channels(struct quantised_builder *builder, const char *name, const struct wide_weights *wide,
                            const struct slot *slots, int count, int *input)
{
    int64_t *indices = arena_array(builder->arena, int64_t, (size_t)wide->groups * (size_t)count);
    for (int i = 0; i < wide->groups * count; i++)
        indices[i] = i / count * wide->inputs + slots[i % count].channel;
    return gather(builder, name, 2, indices, wide->groups * count, input);
}

bool quantised_narrow_weights(struct quantised_builder *builder, const char *name, const struct wide_weights *wide,
                              int input, struct narrow_weights *result)
{
    size_t count = (size_t)wide->outputs * (size_t)wide->inputs * (size_t)wide->height * (size_t)wide->width;
    int times = 1;
    while (times <= MOST_PARTS && has_part(wide->weights, count, times))
        times++;
    *result = (struct narrow_weights){.input = input, .times = 1};
    if (times == 1 || (wide->inputs == 1 && wide->dilation_width == 1 && wide->width * times <= MOST_KERNEL &&
                       builder->network->tensors[input].width * times <= MOST_COLUMNS)) {
        result->times = times;
        result->weights = split_columns(builder, wide, times);
        return times == 1 || repeat_columns(builder, name, times, &result->input);
    }
    struct slot *slots = arena_array(builder->arena, struct slot, (size_t)(wide->inputs * times + WORD));
    int channels = list_slots(wide, times, slots);
    result->weights = split_channels(builder, wide, slots, channels);
    return repeat_channels(builder, name, wide, slots, channels, &result->input);
}

void quantised_widen_window(struct layer *layer, int times)
{
    layer->kernel_width *= times;
    layer->stride_width *= times;
    layer->padding_left *= times;
    layer->padding_right *= times;
}
