#include "random_views.h"

#include "simplify/edit.h"

/* Only these can be copied: not sums, nor elements of fewer bits. */
static bool has_bytes(const struct network *network, int tensor)
{
    int producer = network->tensors[tensor].producer;
    const struct layer *layer = producer == NO_LAYER ? NULL : &network->layers[producer];
    const struct stage *last = layer && layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL;
    return last && layer->kind != LAYER_ADDITION && last->has_clip && last->maximum - last->minimum > 15;
}

/* A copy of some lines of a tensor that follow each other: rows, or where there is one row columns, or channels. */
static int add_copy(struct network *network, int at, int from, int first, int count, struct arena *arena)
{
    struct tensor part = network->tensors[from];
    int height = part.height, width = part.width, step = height > 1 ? width * part.channels : width > 1 ? part.channels : 1;
    *(height > 1 ? &part.height : width > 1 ? &part.width : &part.channels) = count;
    struct layer copy = layer_plain("a view", LAYER_COPY, from);
    copy.map = (struct layer_map){
        .rows = positions_in_steps(part.height, first * step, width * network->tensors[from].channels, arena),
        .columns = positions_in_steps(part.width, 0, network->tensors[from].channels, arena),
        .channels = positions_in_steps(part.channels, 0, 1, arena)};
    part.name = copy.name;
    part.producer = NO_LAYER;
    copy.output = edit_add_tensor(network, &part, arena);
    edit_insert_layer(network, at, &copy, arena);
    return copy.output;
}

static int lines_of(const struct tensor *tensor)
{
    return tensor->height > 1 ? tensor->height : tensor->width > 1 ? tensor->width : tensor->channels;
}

/* What a layer reads it reads from a copy. */
static void add_between(struct network *network, int reader, int input, struct arena *arena)
{
    int from = network->layers[reader].inputs[input],
        copy = add_copy(network, reader, from, 0, lines_of(&network->tensors[from]), arena);
    network->layers[reader + 1].inputs[input] = copy;
}

/* Of an output some lines are all that is left. */
static void add_behind(struct network *network, int output, struct random *random, struct arena *arena)
{
    int from = network->outputs[output], lines = lines_of(&network->tensors[from]);
    int count = (int)random_between(random, 1, lines), first = (int)random_between(random, 0, lines - count);
    int part = add_copy(network, network->layer_count, from, first, count, arena);
    struct tensor last = network->tensors[part];
    struct layer same = layer_plain("as it was", LAYER_MAXIMUM_POOL, part);
    last.name = same.name;
    network->outputs[output] = same.output = edit_add_tensor(network, &last, arena);
    edit_insert_layer(network, network->layer_count, &same, arena);
}

/* Lists that can grow. */
static void own_lists(struct network *network, struct arena *arena)
{
    struct layer *layers = NULL;
    struct tensor *tensors = NULL;
    for (int i = 0; i < network->layer_count; i++) {
        arena_grow(arena, layers, i);
        layers[i] = network->layers[i];
    }
    for (int i = 0; i < network->tensor_count; i++) {
        arena_grow(arena, tensors, i);
        tensors[i] = network->tensors[i];
    }
    network->layers = layers;
    network->tensors = tensors;
}

void random_views(struct network *network, struct random *random, struct arena *arena)
{
    network->outputs = arena_copy(arena, network->outputs, network->output_count);
    own_lists(network, arena);
    for (int i = 0; i < network->output_count; i++)
        if (has_bytes(network, network->outputs[i]) && random_chance(random, 60))
            add_behind(network, i, random, arena);
    for (int i = network->layer_count - 1; i >= 0; i--)
        for (int k = layer_input_count(&network->layers[i]) - 1; k >= 0; k--)
            if (has_bytes(network, network->layers[i].inputs[k]) && random_chance(random, 40)) {
                add_between(network, i, k, arena);
                break; /* its number is another one now */
            }
}
