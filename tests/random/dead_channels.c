#include "dead_channels.h"

#include <string.h>

/* Of each of `count` channels: is it to die? All of them, few, or a part. */
static bool *choose(struct random *random, int count, struct arena *arena)
{
    bool *chosen = arena_array(arena, bool, (size_t)count);
    int percent = random_chance(random, 15) ? 100 : (int)random_between(random, 5, 95);
    for (int i = 0; i < count; i++)
        chosen[i] = random_chance(random, percent);
    return chosen;
}

/* A channel that is constant has no weights, and sometimes a bias that its clip makes the least element. */
static void silence_outputs(struct layer *layer, struct network *network, int8_t *weights, size_t each,
                            struct random *random, struct arena *arena)
{
    int channels = network->tensors[layer->output].channels;
    bool *chosen = choose(random, channels, arena), low = random_chance(random, 60);
    struct stage *stage = layer->stage_count ? &layer->stages[0] : NULL;
    int64_t *addends = stage && stage->count == channels ? arena_copy(arena, stage->addend, channels) : NULL;
    for (int c = 0; c < channels; c++) {
        if (!chosen[c])
            continue;
        memset(weights + (size_t)c * each, 0, each);
        if (addends && low && stage->has_clip)
            addends[c] = stage->multiplier[c] < 0 ? INT64_C(1) << 24 : -(INT64_C(1) << 24);
    }
    if (addends)
        stage->addend = addends;
}

/* A channel of the input that no weight of any channel of the output is for. */
static void ignore_inputs(const struct layer *layer, const struct network *network, int8_t *weights, struct random *random,
                          struct arena *arena)
{
    int inputs = network->tensors[layer->inputs[0]].channels, outputs = network->tensors[layer->output].channels;
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    bool *chosen = choose(random, inputs, arena);
    for (int c = 0; layer->groups == 1 && c < inputs; c++)
        for (int out = 0; chosen[c] && out < outputs; out++)
            memset(weights + ((size_t)out * (size_t)inputs + (size_t)c) * kernel, 0, kernel);
}

static void change(struct layer *layer, struct network *network, struct random *random, struct arena *arena)
{
    int inputs = network->tensors[layer->inputs[0]].channels / layer->groups;
    size_t each = (size_t)inputs * (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    size_t count = each * (size_t)network->tensors[layer->output].channels;
    int8_t *weights = arena_copy(arena, layer->weights, count);
    if (random_chance(random, 80))
        silence_outputs(layer, network, weights, each, random, arena);
    if (random_chance(random, 20))
        ignore_inputs(layer, network, weights, random, arena);
    layer->weights = weights;
}

void random_dead_channels(struct network *network, struct random *random, struct arena *arena)
{
    for (int i = 0; i < network->layer_count; i++)
        if (network->layers[i].kind == LAYER_CONVOLUTION && random_chance(random, 80))
            change(&network->layers[i], network, random, arena);
}

/* Lists `count` of `size` lines, each of which is `step` elements. */
static const int32_t *choose_lines(struct random *random, int size, int step, int *count, struct arena *arena)
{
    *count = random_chance(random, 30) ? size : (int)random_between(random, 1, (size + 1) / 2);
    int32_t *list = arena_array(arena, int32_t, (size_t)*count);
    for (int i = 0, first = (int)random_between(random, 0, size - *count); i < *count; i++)
        list[i] = (first + i) * step;
    return list;
}

static void take_part(struct network *network, int output, struct random *random, struct arena *arena)
{
    int from = network->outputs[output], to = network->tensor_count++, at = network->layer_count++;
    struct tensor part = network->tensors[from];
    struct layer *copy = &network->layers[at];
    *copy = layer_plain(arena_format(arena, "part %d", output), LAYER_COPY, from);
    copy->map.rows = choose_lines(random, part.height, part.width * part.channels, &part.height, arena);
    copy->map.columns = choose_lines(random, part.width, part.channels, &part.width, arena);
    copy->map.channels = choose_lines(random, part.channels, 1, &part.channels, arena);
    copy->output = network->outputs[output] = to;
    part.name = copy->name;
    part.producer = at;
    network->tensors[to] = part;
}

/* Only these can be copied: not sums, nor elements of fewer bits. */
static bool has_bytes(const struct layer *layer)
{
    const struct stage *last = layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL;
    return layer->kind != LAYER_ADDITION && last && last->has_clip && last->maximum - last->minimum > 15;
}

void random_parts(struct network *network, struct random *random, struct arena *arena)
{
    struct tensor *tensors = arena_array(arena, struct tensor, (size_t)(network->tensor_count + network->output_count));
    struct layer *layers = arena_array(arena, struct layer, (size_t)(network->layer_count + network->output_count));
    memcpy(tensors, network->tensors, (size_t)network->tensor_count * sizeof *tensors);
    memcpy(layers, network->layers, (size_t)network->layer_count * sizeof *layers);
    network->tensors = tensors;
    network->layers = layers;
    network->outputs = arena_copy(arena, network->outputs, network->output_count);
    for (int i = 0; i < network->output_count; i++) {
        int producer = tensors[network->outputs[i]].producer;
        if (producer != NO_LAYER && has_bytes(&layers[producer]) && random_chance(random, 60))
            take_part(network, i, random, arena);
    }
}

int dead_channel_count(const struct network *network)
{
    int count = 0;
    for (int i = 0; network->whole && i < network->tensor_count; i++)
        count += network->whole->tensors[i].channels - network->tensors[i].channels;
    return count;
}

int unread_pixel_count(const struct network *network)
{
    int count = 0;
    for (int i = 0; network->whole && i < network->tensor_count; i++)
        count += network->whole->tensors[i].height * network->whole->tensors[i].width -
                 network->tensors[i].height * network->tensors[i].width;
    return count;
}
