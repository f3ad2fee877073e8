#include "shrink/rewrite.h"

#include <string.h>

#include "base/arithmetic.h"
#include "network/channels.h"

struct rewriting {
    struct network *network;
    bool *const *dead;
    bool **const *unread;
    struct arena *arena;
};

static const struct tensor *whole_tensor(const struct rewriting *r, int index) { return &r->network->whole->tensors[index]; }

static const struct tensor *tensor_of(const struct rewriting *r, int index) { return &r->network->tensors[index]; }

/* ---- tensors ---- */

/* The numbers of those that stay; null: all. */
static const int *pick(struct rewriting *r, const bool *goes, int *count)
{
    int *kept = arena_array(r->arena, int, (size_t)*count), left = 0;
    for (int i = 0; i < *count; i++)
        if (!goes[i])
            kept[left++] = i;
    bool is_part = left < *count;
    *count = left;
    return is_part ? kept : NULL;
}

static void rewrite_tensor(struct rewriting *r, int index)
{
    struct tensor *tensor = &r->network->tensors[index];
    if (r->dead)
        tensor->kept = pick(r, r->dead[index], &tensor->channels);
    if (r->unread) {
        tensor->kept_rows = pick(r, r->unread[AXIS_ROW][index], &tensor->height);
        tensor->kept_columns = pick(r, r->unread[AXIS_COLUMN][index], &tensor->width);
    }
}

/* ---- stages ---- */

/* The numbers of a stage for the channels that a tensor keeps. */
static void pick_stage(struct rewriting *r, struct stage *stage, const struct tensor *tensor)
{
    if (stage->count <= 1 || !tensor->kept)
        return;
    int64_t *multiplier = arena_array(r->arena, int64_t, (size_t)tensor->channels);
    int64_t *addend = arena_array(r->arena, int64_t, (size_t)tensor->channels);
    int *exponent = stage->exponent ? arena_array(r->arena, int, (size_t)tensor->channels) : NULL;
    for (int c = 0; c < tensor->channels; c++) {
        multiplier[c] = stage->multiplier[tensor->kept[c]];
        addend[c] = stage->addend[tensor->kept[c]];
        if (exponent)
            exponent[c] = stage->exponent[tensor->kept[c]];
    }
    *stage = (struct stage){
        .count = tensor->channels,
        .rounding = stage->rounding,
        .multiplier = multiplier,
        .addend = addend,
        .exponent = exponent,
        .left_shift = stage->left_shift,
        .divisor = stage->divisor,
        .zero_point = stage->zero_point,
        .has_clip = stage->has_clip,
        .minimum = stage->minimum,
        .maximum = stage->maximum,
    };
}

static void pick_stages(struct rewriting *r, struct layer *layer)
{
    for (int i = 0; i < layer->stage_count; i++)
        pick_stage(r, &layer->stages[i], tensor_of(r, layer->output));
    for (int i = 0; layer_has_two_inputs(layer) && i < 2; i++)
        pick_stage(r, &layer->input_stages[i], tensor_of(r, layer->inputs[i]));
}

/* ---- constants in biases ---- */

/* A stage that changes nothing, to carry a bias. */
static struct stage identity_stage(struct arena *arena)
{
    int64_t *multiplier = arena_array(arena, int64_t, 1);
    *multiplier = 1;
    return (struct stage){.count = 1, .multiplier = multiplier, .addend = arena_array(arena, int64_t, 1), .divisor = 1};
}

/* One set of numbers for each channel, to be changed. */
static void widen_stage(struct stage *stage, int channels, struct arena *arena)
{
    int64_t *multiplier = arena_array(arena, int64_t, (size_t)channels);
    int64_t *addend = arena_array(arena, int64_t, (size_t)channels);
    int *exponent = stage->exponent ? arena_array(arena, int, (size_t)channels) : NULL;
    for (int c = 0; c < channels; c++) {
        int from = stage->count == 1 ? 0 : c;
        multiplier[c] = stage->multiplier[from];
        addend[c] = stage->addend[from];
        if (exponent)
            exponent[c] = stage->exponent[from];
    }
    stage->count = channels;
    stage->multiplier = multiplier;
    stage->addend = addend;
    stage->exponent = exponent;
}

/* What an accumulator that is less by `constant` needs more in its addend, for the stage to give the same. */
static wide addend_for(const struct stage *stage, int channel, int64_t constant)
{
    switch (stage->rounding) {
    case ROUND_FLOOR: return (wide)stage->multiplier[channel] * constant;
    case ROUND_TWICE: return constant;
    default: return stage->left_shift < 63 ? (wide)constant * ((int64_t)1 << stage->left_shift) : (wide)1 << 126;
    }
}

static bool add_to_biases(struct rewriting *r, struct layer *layer, const int64_t *constants, int channels)
{
    int different = 0;
    for (int c = 0; c < channels; c++)
        different += constants[c] != 0;
    if (different == 0)
        return true;
    if (layer->stage_count == 0)
        layer->stages[layer->stage_count++] = identity_stage(r->arena);
    struct stage *stage = &layer->stages[0];
    widen_stage(stage, channels, r->arena);
    int64_t *addends = (int64_t *)stage->addend; /* widen_stage's own */
    for (int c = 0; c < channels; c++) {
        wide addend = stage->addend[c] + addend_for(stage, c, constants[c]);
        if (addend < INT64_MIN || addend > INT64_MAX)
            return false;
        addends[c] = (int64_t)addend;
    }
    return true;
}

/* ---- convolutions ---- */

static int64_t sum_of(const int8_t *weights, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    return sum;
}

/* What the dead channels of the input add to each sum that stays. A channel that is not constant is not read: all its
 * weights are 0. */
static bool fold_constants(struct rewriting *r, struct layer *layer)
{
    const struct tensor *input = whole_tensor(r, layer->inputs[0]), *output = tensor_of(r, layer->output);
    const struct sum_range *ranges = tensor_of(r, layer->inputs[0])->channel_ranges;
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int64_t *constants = arena_array(r->arena, int64_t, (size_t)output->channels);
    for (int out = 0; out < output->channels; out++) {
        const int8_t *weights = layer->weights + (size_t)channel_in_whole(output, out) * (size_t)input->channels * kernel;
        wide constant = 0;
        for (int c = 0; c < input->channels; c++)
            if (r->dead[layer->inputs[0]][c])
                constant += (wide)sum_of(weights + (size_t)c * kernel, kernel) * ranges[c].minimum;
        if (constant < INT64_MIN || constant > INT64_MAX)
            return false;
        constants[out] = (int64_t)constant;
    }
    return add_to_biases(r, layer, constants, output->channels);
}

static void pick_weights(struct rewriting *r, struct layer *layer, const bool *dead_inputs)
{
    const struct tensor *output = tensor_of(r, layer->output);
    size_t inputs = (size_t)(whole_tensor(r, layer->inputs[0])->channels / layer->groups);
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int8_t *weights = arena_array(r->arena, int8_t, (size_t)output->channels * inputs * kernel), *next = weights;
    for (int out = 0; out < output->channels; out++) {
        const int8_t *of = layer->weights + (size_t)channel_in_whole(output, out) * inputs * kernel;
        for (size_t c = 0; c < inputs; c++)
            if (!dead_inputs || !dead_inputs[c]) {
                memcpy(next, of + c * kernel, kernel);
                next += kernel;
            }
    }
    layer->weights = weights;
}

/* Of groups, some remain as they are: the rest is gone. */
static bool rewrite_convolution(struct rewriting *r, struct layer *layer)
{
    bool is_grouped = layer->groups > 1;
    if (!is_grouped && tensor_of(r, layer->inputs[0])->kept && !fold_constants(r, layer))
        return false;
    pick_weights(r, layer, is_grouped || !r->dead ? NULL : r->dead[layer->inputs[0]]);
    if (is_grouped)
        layer->groups =
            tensor_of(r, layer->inputs[0])->channels / (whole_tensor(r, layer->inputs[0])->channels / layer->groups);
    return true;
}

/* ---- copies ---- */

/* Where each of `count` things that stay, of `all`, has its place now. */
static const int *places_of(struct rewriting *r, const int *kept, int count, int all)
{
    int *places = arena_array(r->arena, int, (size_t)all);
    for (int i = 0; i < count; i++)
        places[kept ? kept[i] : i] = i;
    return places;
}

/* Rows or columns of the output: positions of rows or columns of an input that lacks some, or some channels of each. */
static const int32_t *move_lines(struct rewriting *r, const struct layer *layer, enum pixel_axis axis)
{
    const struct tensor *input = tensor_of(r, layer->inputs[0]), *output = tensor_of(r, layer->output);
    const struct tensor *all = whole_tensor(r, layer->inputs[0]);
    const int32_t *map = axis == AXIS_ROW ? layer->map.rows : layer->map.columns;
    bool moves = input->kept_rows || input->kept_columns, narrows = input->kept != NULL;
    const int *places = places_of(r, axis == AXIS_ROW ? input->kept_rows : input->kept_columns, tensor_extent(input, axis),
                                  tensor_extent(all, axis));
    int count = tensor_extent(output, axis);
    int32_t *positions = arena_array(r->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++) {
        int line = line_in_whole(output, axis, i), from = moves ? copy_source_line(r->network->whole, layer, axis, line) : 0;
        positions[i] = map[line];
        if (positions[i] >= 0 && moves)
            positions[i] = places[from] * input->channels * (axis == AXIS_ROW ? input->width : 1);
        else if (positions[i] >= 0 && narrows)
            positions[i] = positions[i] / all->channels * input->channels;
    }
    return positions;
}

static const int32_t *move_channels(struct rewriting *r, const struct layer *layer)
{
    const struct tensor *input = tensor_of(r, layer->inputs[0]), *output = tensor_of(r, layer->output);
    const int *places = places_of(r, input->kept, input->channels, whole_tensor(r, layer->inputs[0])->channels);
    int32_t *channels = arena_array(r->arena, int32_t, (size_t)output->channels);
    for (int c = 0; c < output->channels; c++) {
        int from = layer->map.channels[channel_in_whole(output, c)];
        channels[c] = from < 0 || !input->kept ? from : places[from];
    }
    return channels;
}

static void rewrite_copy(struct rewriting *r, struct layer *layer)
{
    const struct layer whole = *layer;
    layer->map.rows = move_lines(r, &whole, AXIS_ROW);
    layer->map.columns = move_lines(r, &whole, AXIS_COLUMN);
    layer->map.channels = move_channels(r, &whole);
}

static bool has_parts(const struct tensor *tensor) { return tensor->kept || tensor->kept_rows || tensor->kept_columns; }

/* ---- all of it ---- */

static bool rewrite_layer(struct rewriting *r, struct layer *layer)
{
    pick_stages(r, layer);
    if (layer->kind == LAYER_COPY && (has_parts(tensor_of(r, layer->inputs[0])) || has_parts(tensor_of(r, layer->output))))
        rewrite_copy(r, layer);
    return layer->kind != LAYER_CONVOLUTION || rewrite_convolution(r, layer);
}

bool rewrite_network(struct network *network, bool *const *dead, bool **const *unread, struct arena *arena)
{
    struct rewriting rewriting = {network, dead, unread, arena};
    for (int i = 0; i < network->tensor_count; i++)
        rewrite_tensor(&rewriting, i);
    for (int i = 0; i < network->layer_count; i++)
        if (!rewrite_layer(&rewriting, &network->layers[i]))
            return false;
    return true;
}
