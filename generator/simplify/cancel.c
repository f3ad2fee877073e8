#include "simplify/cancel.h"

#include "simplify/edit.h"

struct canceller {
    struct network *network;
    struct arena *arena;
};

/* ---- two copies in a row ---- */

/* With as many copies in front of it as it takes until the firmware has a fast way for all of them at once. */
static bool join(const struct canceller *c, struct layer *layer)
{
    struct layer joined = *layer;
    const struct layer *before;
    if (layer->kind != LAYER_COPY || layer->stage_count)
        return false;
    while ((before = edit_copy_of(c->network, joined.inputs[0])) &&
           simplify_join_copies(c->network, before, &joined, &joined, c->arena))
        if (simplify_copy_is_plain(c->network, &joined)) {
            *layer = joined;
            return true;
        }
    return false;
}

/* ---- layers that do nothing ---- */

/* Elements stay, as those of a product by a number do whose results are quantised as many times finer: the two tensors are
 * labelled with other scales, and no layer computes with these any more. */
static bool table_is_nothing(const struct network *network, const struct layer *table)
{
    const struct tensor *from = &network->tensors[table->inputs[0]], *to = &network->tensors[table->output];
    bool is = table->kind == LAYER_TABLE && from->bits == to->bits && from->is_signed == to->is_signed;
    for (int i = 0; is && i < 256; i++)
        is = table->table[i] == i;
    return is;
}

/* Readers of the layer's output read its input. An output of the network stays a tensor of its own. */
static bool leave_out(const struct canceller *c, const struct layer *layer)
{
    struct network *network = c->network;
    bool is_copy = layer->kind == LAYER_COPY && layer->stage_count == 0;
    if (network_is_output(network, layer->output) || network_count_readers(network, layer->output) == 0 ||
        !(is_copy ? simplify_copy_is_nothing(network, layer) : table_is_nothing(network, layer)))
        return false;
    edit_replace(network, layer->output, layer->inputs[0]);
    return true;
}

/* ---- copies that are another ---- */

/* The same positions, all of them further by the same number. */
static bool is_same_list(const int32_t *a, const int32_t *b, int count, int32_t *further)
{
    bool is_known = false;
    *further = 0;
    for (int i = 0; i < count; i++) {
        if ((a[i] < 0) != (b[i] < 0) || (is_known && a[i] >= 0 && b[i] - a[i] != *further))
            return false;
        if (a[i] >= 0)
            *further = b[i] - a[i];
        is_known = is_known || a[i] >= 0;
    }
    return true;
}

static bool is_same_copy(const struct network *network, const struct layer *a, const struct layer *b)
{
    const struct tensor *x = &network->tensors[a->output], *y = &network->tensors[b->output];
    int32_t rows, columns, channels;
    return a->kind == LAYER_COPY && a->stage_count == 0 && a->inputs[0] == b->inputs[0] && x->height == y->height &&
           x->width == y->width && x->channels == y->channels &&
           (a->padding_value == b->padding_value || !simplify_copy_has_border(network, a)) &&
           is_same_list(a->map.rows, b->map.rows, x->height, &rows) &&
           is_same_list(a->map.columns, b->map.columns, x->width, &columns) &&
           is_same_list(a->map.channels, b->map.channels, x->channels, &channels) && rows + columns + channels == 0;
}

/* Readers of a copy read an earlier one that is the same. */
static bool share(const struct canceller *c, const struct layer *copy)
{
    struct network *network = c->network;
    if (copy->kind != LAYER_COPY || copy->stage_count || network_is_output(network, copy->output) ||
        network_count_readers(network, copy->output) == 0)
        return false;
    for (const struct layer *other = network->layers; other < copy; other++)
        if (is_same_copy(network, other, copy)) {
            edit_replace(network, copy->output, other->output);
            return true;
        }
    return false;
}

/* ---- past tables ---- */

static bool has_only_copies(const struct network *network, int tensor)
{
    int copies = 0;
    for (int i = 0; i < network->layer_count; i++)
        copies += network->layers[i].inputs[0] == tensor && network->layers[i].kind == LAYER_COPY;
    return copies > 0 && copies == network_count_readers(network, tensor);
}

/* The table of what the copy reads, and then the copy, whose readers are others; where that is no more elements. */
static bool pass_table(const struct canceller *c, struct layer *table)
{
    struct network *network = c->network;
    struct layer *copy = edit_copy_of(network, table->inputs[0]);
    if (table->kind != LAYER_TABLE || !copy || network_count_readers(network, copy->output) != 1 ||
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
    first.output = second.inputs[0] = edit_add_tensor(network, &between, c->arena);
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
    const struct layer *copy = edit_copy_of(network, layer->inputs[0]);
    const int32_t *order = copy && reads_all(network, layer) ? simplify_copy_order(network, copy, c->arena) : NULL;
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

/* A border around elements that also move is a copy of its own: the padding of what reads it, if that is a convolution. */
static void split_border(const struct canceller *c, int index)
{
    struct network *network = c->network;
    struct layer inner, border, *copy = &network->layers[index];
    struct tensor inside;
    if (copy->kind != LAYER_COPY || copy->stage_count ||
        !simplify_split_border(network, copy, &inner, &border, &inside, c->arena))
        return;
    int between = edit_add_tensor(network, &inside, c->arena);
    inner.output = border.inputs[0] = between;
    network->layers[index] = border;
    if (simplify_copy_is_nothing(network, &inner))
        network->layers[index].inputs[0] = inner.inputs[0];
    else
        edit_insert_layer(network, index, &inner, c->arena);
}

/* The input's own order in the model's files is what memory has. */
static bool lies_as_in_model(const struct network *network, const struct tensor *tensor)
{
    return network->channels_last != tensor->is_turned;
}

/* An input whose only reader is a copy that turns or reshapes it is given as the copy's output. */
static void turn_input(const struct canceller *c, int input)
{
    struct network *network = c->network;
    struct tensor *tensor = &network->tensors[input];
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *copy = &network->layers[i];
        if (copy->inputs[0] != input || copy->kind != LAYER_COPY || copy->stage_count ||
            network_is_output(network, copy->output) || network_count_readers(network, input) != 1 ||
            !lies_as_in_model(network, tensor))
            continue;
        const bool turns = network->channels_last && simplify_copy_turns_image(network, copy);
        if (!turns && !simplify_copy_only_reshapes(network, copy))
            continue;
        tensor->height = network->tensors[copy->output].height;
        tensor->width = network->tensors[copy->output].width;
        tensor->channels = network->tensors[copy->output].channels;
        tensor->is_turned ^= turns;
        edit_replace(network, copy->output, input);
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

/* Each of these takes one copy away from between two layers, or further back: there is an end. */
static void cancel(const struct canceller *c)
{
    struct network *network = c->network;
    bool changes = true;
    while (changes) {
        changes = false;
        edit_drop_unread(network);
        for (int i = 0; i < network->layer_count; i++) {
            struct layer *layer = &network->layers[i];
            changes |=
                join(c, layer) || pass_table(c, layer) || order_weights(c, layer) || leave_out(c, layer) || share(c, layer);
        }
    }
}

void simplify_join_copies_between(struct network *network, struct arena *arena)
{
    cancel(&(struct canceller){network, arena});
}

void simplify_cancel_copies(struct network *network, struct arena *arena)
{
    struct canceller c = {network, arena};
    cancel(&c);
    for (int i = network->layer_count - 1; i >= 0; i--)
        split_border(&c, i);
    simplify_split_orders(network, arena);
    for (int i = 0; i < network->input_count; i++)
        if (!is_state(network, network->inputs[i]))
            turn_input(&c, network->inputs[i]);
    edit_drop_unread(network);
}
