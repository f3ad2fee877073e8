#include "middle/cancel.h"

#include <string.h>

struct canceller {
    struct network *network;
    struct arena *arena;
};

/* ---- who reads what ---- */

static bool is_output(const struct network *network, int tensor)
{
    for (int i = 0; i < network->output_count; i++)
        if (network->outputs[i] == tensor)
            return true;
    return false;
}

static int count_readers(const struct network *network, int tensor)
{
    int readers = is_output(network, tensor);
    for (int i = 0; i < network->layer_count; i++)
        readers += layer_reads(&network->layers[i], tensor);
    return readers;
}

/* The copy that computes a tensor; null: it is none, or one with stages. */
static struct layer *copy_of(const struct network *network, int tensor)
{
    int producer = network->tensors[tensor].producer;
    struct layer *layer = producer == NO_LAYER ? NULL : &network->layers[producer];
    return layer && layer->kind == LAYER_COPY && layer->stage_count == 0 ? layer : NULL;
}

/* ---- two copies in a row ---- */

/* With as many copies in front of it as it takes until the firmware has a fast way for all of them at once. */
static bool join(const struct canceller *c, struct layer *layer)
{
    struct layer joined = *layer;
    const struct layer *before;
    if (layer->kind != LAYER_COPY || layer->stage_count)
        return false;
    while ((before = copy_of(c->network, joined.inputs[0])) &&
           middle_join_copies(c->network, before, &joined, &joined, c->arena))
        if (middle_copy_is_plain(c->network, &joined)) {
            *layer = joined;
            return true;
        }
    return false;
}

/* ---- copies that do nothing ---- */

/* Layers that read `old` read the other one. */
static void replace(const struct network *network, int old, int tensor)
{
    for (int i = 0; i < network->layer_count; i++)
        for (int k = 0; k < layer_input_count(&network->layers[i]); k++)
            if (network->layers[i].inputs[k] == old)
                network->layers[i].inputs[k] = tensor;
}

/* Readers of the copy's output read its input. An output of the network stays a tensor of its own. */
static bool leave_out(const struct canceller *c, const struct layer *copy)
{
    struct network *network = c->network;
    if (copy->kind != LAYER_COPY || copy->stage_count || is_output(network, copy->output) ||
        count_readers(network, copy->output) == 0 || !middle_copy_is_nothing(network, copy))
        return false;
    replace(network, copy->output, copy->inputs[0]);
    return true;
}

/* ---- past tables ---- */

static bool has_only_copies(const struct network *network, int tensor)
{
    int copies = 0;
    for (int i = 0; i < network->layer_count; i++)
        copies += network->layers[i].inputs[0] == tensor && network->layers[i].kind == LAYER_COPY;
    return copies > 0 && copies == count_readers(network, tensor);
}

static int add_tensor(const struct canceller *c, const struct tensor *tensor)
{
    arena_grow(c->arena, c->network->tensors, c->network->tensor_count);
    c->network->tensors[c->network->tensor_count] = *tensor;
    return c->network->tensor_count++;
}

/* The table of what the copy reads, and then the copy, whose readers are others; where that is no more elements. */
static bool pass_table(const struct canceller *c, struct layer *table)
{
    struct network *network = c->network;
    struct layer *copy = copy_of(network, table->inputs[0]);
    if (table->kind != LAYER_TABLE || !copy || count_readers(network, copy->output) != 1 ||
        !has_only_copies(network, table->output) ||
        tensor_elements(&network->tensors[copy->inputs[0]]) > tensor_elements(&network->tensors[copy->output]))
        return false;
    const struct tensor from = network->tensors[copy->inputs[0]];
    struct tensor between = network->tensors[table->output];
    between.height = from.height;
    between.width = from.width;
    between.channels = from.channels;
    struct layer first = *table, second = *copy;
    first.inputs[0] = copy->inputs[0];
    first.output = second.inputs[0] = add_tensor(c, &between);
    second.output = table->output;
    second.padding_value = table->table[(uint8_t)copy->padding_value];
    network->tensors[first.output].producer = (int)(copy - network->layers);
    network->tensors[second.output].producer = (int)(table - network->layers);
    *copy = first;
    *table = second;
    return true;
}

/* ---- in front of layers that read all of their input ---- */

static bool reads_all(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    return layer->kind == LAYER_CONVOLUTION && layer->groups == 1 && output->height == 1 && output->width == 1 &&
           layer->kernel_height == input->height && layer->kernel_width == input->width && layer->dilation_height == 1 &&
           layer->dilation_width == 1 && !layer->padding_top && !layer->padding_left && !layer->padding_bottom &&
           !layer->padding_right;
}

/* Element `at` in memory, among the weights of an output. */
static size_t place_of(const struct tensor *tensor, size_t at)
{
    size_t channels = (size_t)tensor->channels, pixels = (size_t)tensor->height * (size_t)tensor->width;
    return at % channels * pixels + at / channels;
}

static bool order_weights(const struct canceller *c, struct layer *layer)
{
    const struct network *network = c->network;
    const struct layer *copy = copy_of(network, layer->inputs[0]);
    const int32_t *order = copy && reads_all(network, layer) ? middle_copy_order(network, copy, c->arena) : NULL;
    if (!order)
        return false;
    const struct tensor *from = &network->tensors[copy->inputs[0]], *input = &network->tensors[copy->output];
    size_t count = tensor_elements(input), outputs = (size_t)network->tensors[layer->output].channels;
    int8_t *weights = arena_array(c->arena, int8_t, count * outputs);
    for (size_t at = 0; at < count; at++)
        for (size_t output = 0; output < outputs; output++)
            weights[output * count + place_of(from, (size_t)order[at])] =
                layer->weights[output * count + place_of(input, at)];
    layer->weights = weights;
    layer->kernel_height = from->height;
    layer->kernel_width = from->width;
    layer->inputs[0] = copy->inputs[0];
    return true;
}

/* ---- borders and inputs ---- */

static void insert_layer(const struct canceller *c, int at, const struct layer *layer)
{
    struct network *network = c->network;
    arena_grow(c->arena, network->layers, network->layer_count);
    memmove(&network->layers[at + 1], &network->layers[at], (size_t)(network->layer_count - at) * sizeof *layer);
    network->layers[at] = *layer;
    network->layer_count++;
    for (int i = at; i < network->layer_count; i++)
        network->tensors[network->layers[i].output].producer = i;
}

/* A border around elements that also move is a copy of its own: the padding of what reads it, if that is a convolution. */
static void split_border(const struct canceller *c, int index)
{
    struct network *network = c->network;
    struct layer inner, border, *copy = &network->layers[index];
    struct tensor inside;
    if (copy->kind != LAYER_COPY || copy->stage_count ||
        !middle_split_border(network, copy, &inner, &border, &inside, c->arena))
        return;
    int between = add_tensor(c, &inside);
    inner.output = border.inputs[0] = between;
    network->layers[index] = border;
    if (middle_copy_is_nothing(network, &inner))
        network->layers[index].inputs[0] = inner.inputs[0];
    else
        insert_layer(c, index, &inner);
}

static void turn_input(const struct canceller *c, int input)
{
    struct network *network = c->network;
    struct tensor *tensor = &network->tensors[input];
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *copy = &network->layers[i];
        if (copy->inputs[0] != input || copy->kind != LAYER_COPY || copy->stage_count || is_output(network, copy->output) ||
            count_readers(network, input) != 1 || !middle_copy_turns_image(network, copy))
            continue;
        tensor->height = network->tensors[copy->output].height;
        tensor->width = network->tensors[copy->output].width;
        tensor->channels = network->tensors[copy->output].channels;
        tensor->is_channels_first = true;
        replace(network, copy->output, input);
        return;
    }
}

/* What is no input of the application's own is a state, which is an output's elements. */
static bool is_state(const struct network *network, int input)
{
    for (int i = 0; i < network->state_count; i++)
        if (network->inputs[network->states[i].input] == input)
            return true;
    return false;
}

/* ---- all of it ---- */

static void drop_unread(struct network *network)
{
    for (int i = network->layer_count - 1; i >= 0; i--) {
        if (count_readers(network, network->layers[i].output) > 0)
            continue;
        network->tensors[network->layers[i].output].producer = NO_LAYER;
        network->layer_count--;
        memmove(&network->layers[i], &network->layers[i + 1], (size_t)(network->layer_count - i) * sizeof *network->layers);
    }
    for (int i = 0; i < network->layer_count; i++)
        network->tensors[network->layers[i].output].producer = i;
}

/* Each of these takes one copy away from between two layers, or further back: there is an end. */
static void cancel(const struct canceller *c)
{
    struct network *network = c->network;
    bool changes = true;
    while (changes) {
        changes = false;
        drop_unread(network);
        for (int i = 0; i < network->layer_count; i++) {
            struct layer *layer = &network->layers[i];
            changes |= join(c, layer) || pass_table(c, layer) || order_weights(c, layer) || leave_out(c, layer);
        }
    }
}

void middle_cancel_copies(struct network *network, struct arena *arena)
{
    struct canceller c = {network, arena};
    cancel(&c);
    for (int i = network->layer_count - 1; i >= 0; i--)
        split_border(&c, i);
    for (int i = 0; network->channels_last && i < network->input_count; i++)
        if (!is_state(network, network->inputs[i]))
            turn_input(&c, network->inputs[i]);
    drop_unread(network);
}
