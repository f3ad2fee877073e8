#include "random_builder.h"

const char *random_kind_name(enum random_kind kind)
{
    static const char *const names[] = {"convolution",   "pointwise",      "depthwise",   "linear",   "linear32",
                                        "maximum_pool",  "average_pool",   "global_pool", "addition", "grouped",
                                        "concatenation", "requantisation", "padding"};
    return names[kind];
}

static int add_kind(struct builder *builder, int input, enum random_kind kind)
{
    switch (kind) {
    case RANDOM_MAXIMUM_POOL:
    case RANDOM_AVERAGE_POOL:
    case RANDOM_GLOBAL_POOL: return add_pool(builder, input, kind);
    case RANDOM_ADDITION: return add_addition(builder, input, input);
    case RANDOM_CONCATENATION: return add_concatenation(builder, input, input);
    case RANDOM_REQUANTISATION: return add_requantisation(builder, input);
    case RANDOM_PADDING: return add_padding(builder, input);
    default: return add_convolution(builder, input, kind);
    }
}

struct network *random_layer(struct random *random, enum random_kind kind, bool mixed, struct arena *arena)
{
    struct builder builder = start(random, arena);
    builder.mixed = mixed;
    int height = size_between(random, 1, 24), width = size_between(random, 1, 24), channels = size_between(random, 1, 70);
    int input = add_input(&builder, height, width, channels);
    builder.network->inputs[0] = input;
    builder.network->outputs[0] = add_kind(&builder, input, kind);
    return builder.network;
}

struct network *random_network(struct random *random, struct arena *arena)
{
    struct builder builder = start(random, arena);
    int tensor = add_input(&builder, between(random, 4, 24), between(random, 4, 24), size_between(random, 1, 24));
    int layers = between(random, 2, 8);
    builder.network->inputs[0] = tensor;
    while (builder.network->layer_count < layers) {
        int left = layers - builder.network->layer_count;
        if (left >= 2 && random_chance(random, 45)) {
            int shortcut = tensor;
            tensor = add_same_convolution(&builder, tensor);
            if (left >= 3 && random_chance(random, 50))
                tensor = add_same_convolution(&builder, tensor);
            tensor = random_chance(random, 50) ? add_addition(&builder, shortcut, tensor)
                                               : add_addition(&builder, tensor, shortcut);
        } else if (left == 1 && random_chance(random, 60)) {
            tensor = add_kind(&builder, tensor, random_chance(random, 50) ? RANDOM_LINEAR : RANDOM_LINEAR_32);
        } else {
            static const enum random_kind kinds[] = {RANDOM_CONVOLUTION, RANDOM_CONVOLUTION,  RANDOM_POINTWISE,
                                                     RANDOM_DEPTHWISE,   RANDOM_MAXIMUM_POOL, RANDOM_AVERAGE_POOL};
            tensor = add_kind(&builder, tensor, kinds[between(random, 0, 5)]);
        }
    }
    builder.network->outputs[0] = tensor;
    return builder.network;
}

/* ---- graphs ---- */

/* 32-bit results, which nothing but a pool or a sum could read on. */
static bool is_wide(const struct network *network, int tensor)
{
    const struct tensor *view = &network->tensors[tensor];
    if (view->producer == NO_LAYER)
        return false;
    const struct layer *layer = &network->layers[view->producer];
    bool passes_on = layer->stage_count == 0 && (layer->kind == LAYER_MAXIMUM_POOL || layer->kind == LAYER_CONCATENATION);
    if (passes_on)
        return is_wide(network, layer->inputs[0]) || (layer->inputs[1] >= 0 && is_wide(network, layer->inputs[1]));
    return layer->stage_count == 0 || !layer->stages[layer->stage_count - 1].has_clip;
}

/* The last tensor most often, else any that can be read. */
static int choose_tensor(struct builder *builder)
{
    const struct network *network = builder->network;
    for (int trials = 0; trials < 20; trials++) {
        int tensor = random_chance(builder->random, 60) ? network->tensor_count - 1
                                                        : between(builder->random, 0, network->tensor_count - 1);
        if (!is_wide(network, tensor))
            return tensor;
    }
    return 0;
}

/* A tensor of the same height and width, and channels if need be; the same one where there is no other. */
static int choose_partner(struct builder *builder, int tensor, bool same_channels)
{
    const struct network *network = builder->network;
    const struct tensor *wanted = &network->tensors[tensor];
    int partner = tensor, seen = 0;
    for (int i = 0; i < network->tensor_count; i++) {
        const struct tensor *other = &network->tensors[i];
        bool fits = other->height == wanted->height && other->width == wanted->width &&
                    (!same_channels || other->channels == wanted->channels);
        if (i != tensor && fits && !is_wide(network, i) && between(builder->random, 0, seen++) == 0)
            partner = i;
    }
    return partner;
}

static bool is_small(const struct tensor *tensor)
{
    return tensor_elements(tensor) <= 20000 && tensor->channels <= 160 && tensor->height <= 60 && tensor->width <= 60;
}

static void add_any(struct builder *builder, bool last)
{
    static const enum random_kind kinds[] = {
        RANDOM_CONVOLUTION,   RANDOM_POINTWISE,      RANDOM_DEPTHWISE,   RANDOM_GROUPED, RANDOM_GROUPED,
        RANDOM_MAXIMUM_POOL,  RANDOM_AVERAGE_POOL,   RANDOM_GLOBAL_POOL, RANDOM_PADDING, RANDOM_ADDITION,
        RANDOM_CONCATENATION, RANDOM_REQUANTISATION, RANDOM_CONVOLUTION, RANDOM_KINDS,   RANDOM_KINDS,
    };
    int tensor = choose_tensor(builder);
    enum random_kind kind = kinds[between(builder->random, 0, 14)];
    if (kind == RANDOM_GLOBAL_POOL && random_chance(builder->random, 70))
        kind = RANDOM_KINDS; /* behind it, all is one pixel */
    if (last && random_chance(builder->random, 50))
        kind = random_chance(builder->random, 50) ? RANDOM_LINEAR : RANDOM_LINEAR_32;
    if (kind == RANDOM_KINDS)
        add_same_convolution(builder, tensor);
    else if (kind == RANDOM_ADDITION)
        add_addition(builder, tensor, choose_partner(builder, tensor, true));
    else if (kind == RANDOM_CONCATENATION && is_small(&builder->network->tensors[tensor]))
        add_concatenation(builder, tensor, choose_partner(builder, tensor, false));
    else
        add_kind(builder, tensor, kind == RANDOM_CONCATENATION ? RANDOM_POINTWISE : kind);
}

static bool is_read(const struct network *network, int tensor)
{
    for (int i = 0; i < network->layer_count; i++)
        if (network->layers[i].inputs[0] == tensor || network->layers[i].inputs[1] == tensor)
            return true;
    return false;
}

/* What nobody reads, and now and then something that somebody does. Inputs that nobody reads are read at last. */
static void choose_outputs(struct builder *builder)
{
    struct network *network = builder->network;
    network->output_count = 0;
    for (int i = 0; i < network->input_count && network->layer_count < MAXIMUM_LAYERS; i++)
        if (!is_read(network, network->inputs[i]))
            add_kind(builder, network->inputs[i], RANDOM_POINTWISE);
    for (int i = 0; i < network->tensor_count; i++)
        if (network->tensors[i].producer != NO_LAYER &&
            (!is_read(network, i) || (!is_wide(network, i) && random_chance(builder->random, 5))))
            network->outputs[network->output_count++] = i;
}

struct network *random_graph(struct random *random, struct arena *arena)
{
    struct builder builder = start(random, arena);
    struct network *network = builder.network;
    int height = random_chance(random, 20) ? 1 : between(random, 2, 20), width = between(random, 2, 20);
    int layers = between(random, 2, MAXIMUM_LAYERS - MAXIMUM_INPUTS);
    builder.mixed = random_chance(random, 60);
    network->input_count = random_chance(random, 70) ? 1 : between(random, 2, MAXIMUM_INPUTS);
    for (int i = 0; i < network->input_count; i++)
        network->inputs[i] = add_input(&builder, height, width, size_between(random, 1, 24));
    while (network->layer_count < layers)
        add_any(&builder, network->layer_count == layers - 1);
    choose_outputs(&builder);
    return network;
}

/* ---- inputs ---- */

static int64_t *random_input(struct random *random, const struct tensor *tensor, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    int extreme = between(random, 0, 20); /* percent: values that reach the bounds of sums */
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        values[i] = random_between(random, tensor->minimum, tensor->maximum);
        if (random_chance(random, extreme))
            values[i] = random_chance(random, 50) ? tensor->minimum : tensor->maximum;
    }
    return values;
}

const int64_t *const *random_inputs(struct random *random, const struct network *network, struct arena *arena)
{
    const int64_t **inputs = arena_array(arena, const int64_t *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++)
        inputs[i] = random_input(random, &network->tensors[network->inputs[i]], arena);
    return inputs;
}

const char *random_network_text(const struct network *network, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        const struct tensor *x = &network->tensors[layer->inputs[0]], *y = &network->tensors[layer->output];
        text = arena_format(arena, "%s%s%s(%d,%d) %dx%d/%d,%d*%d,%d+%d,%d,%d,%d %dx%dx%d->%dx%dx%d", text, i ? "; " : "",
                            layer->name, layer->inputs[0], layer->inputs[1], layer->kernel_height, layer->kernel_width,
                            layer->stride_height, layer->stride_width, layer->dilation_height, layer->dilation_width,
                            layer->padding_top, layer->padding_left, layer->padding_bottom, layer->padding_right, x->height,
                            x->width, x->channels, y->height, y->width, y->channels);
    }
    return text;
}
