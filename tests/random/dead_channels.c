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
