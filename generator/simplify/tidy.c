#include "simplify/tidy.h"

#include <string.h>

#include "network/interpret.h"
#include "simplify/cancel.h"
#include "simplify/early.h"

struct tidying {
    struct network *network;
    struct arena *arena;
    int *readers;  /* of each tensor: layers, and 1 for an output of the network */
    bool *is_gone; /* layers */
};

static void count_readers(const struct tidying *t)
{
    const struct network *network = t->network;
    memset(t->readers, 0, (size_t)network->tensor_count * sizeof *t->readers);
    for (int i = 0; i < network->output_count; i++)
        t->readers[network->outputs[i]]++;
    for (int i = network->layer_count - 1; i >= 0; i--) {
        const struct layer *layer = &network->layers[i];
        t->is_gone[i] |= t->readers[layer->output] == 0;
        for (int k = 0; !t->is_gone[i] && k < layer_input_count(layer); k++)
            t->readers[layer->inputs[k]]++;
    }
}

/* ---- tables ---- */

struct clamp {
    int64_t minimum, maximum;
};

static bool is_clamp(const uint8_t *table, struct clamp *clamp)
{
    *clamp = (struct clamp){table[0], table[255]};
    if (clamp->minimum > clamp->maximum) /* 1 for 0, and 0 for all others, is Not */
        return false;
    for (int i = 0; i < 256; i++)
        if (table[i] != (i < table[0] ? table[0] : i > table[255] ? table[255] : i))
            return false;
    return true;
}

static bool same_meaning(const struct tensor *a, const struct tensor *b)
{
    return a->scale == b->scale && a->zero_point == b->zero_point && a->model_offset == b->model_offset;
}

static int64_t within(int64_t number, struct clamp clamp)
{
    return number < clamp.minimum ? clamp.minimum : number > clamp.maximum ? clamp.maximum : number;
}

/* Constants by the elements of a table, where the layer makes some: its weights are 0 (middle/constants.h). */
static bool look_up_constants(const struct tidying *t, struct layer *layer, const uint8_t *table)
{
    int count = t->network->tensors[layer->output].channels;
    int64_t *ones = arena_array(t->arena, int64_t, (size_t)count), *elements = arena_array(t->arena, int64_t, (size_t)count);
    bool is_constant = layer->kind == LAYER_CONVOLUTION && layer->stage_count == 1 &&
                       tensor_elements(&t->network->tensors[layer->inputs[0]]) == 1;
    for (int i = 0; is_constant && i < count; i++) {
        is_constant = layer->weights[i] == 0 && interpret_stage(&layer->stages[0], i, 0, &elements[i]) && elements[i] >= 0 &&
                      elements[i] <= UINT8_MAX;
        elements[i] = is_constant ? table[elements[i]] : 0;
        ones[i] = 1;
    }
    if (is_constant)
        layer->stages[0] = (struct stage){
            .count = count, .multiplier = ones, .addend = elements, .divisor = 1, .has_clip = true, .maximum = UINT8_MAX};
    return is_constant;
}

/* The layer in front of a table takes it over, if it can. */
static bool take_over(const struct tidying *t, struct layer *before, const struct layer *table)
{
    const struct tensor *tensors = t->network->tensors;
    struct stage *last = before->stage_count ? &before->stages[before->stage_count - 1] : NULL;
    struct clamp clamp;
    if (before->kind == LAYER_TABLE) {
        uint8_t *both = arena_array(t->arena, uint8_t, 256);
        for (int i = 0; i < 256; i++)
            both[i] = table->table[before->table[i]];
        before->table = both;
        return true;
    }
    if (look_up_constants(t, before, table->table))
        return true;
    if (!last || !last->has_clip || !same_meaning(&tensors[before->output], &tensors[table->output]) ||
        !is_clamp(table->table, &clamp))
        return false;
    last->minimum = within(last->minimum, clamp);
    last->maximum = within(last->maximum, clamp);
    return true;
}

static void join_table(const struct tidying *t, int index)
{
    struct layer *table = &t->network->layers[index];
    int input = table->inputs[0], producer = t->network->tensors[input].producer;
    if (table->kind != LAYER_TABLE || producer == NO_LAYER || t->readers[input] != 1)
        return;
    struct layer *before = &t->network->layers[producer];
    if (!take_over(t, before, table))
        return;
    before->output = table->output;
    t->network->tensors[table->output].producer = producer;
    t->is_gone[index] = true;
}

static bool is_rising(const uint8_t *table)
{
    for (int i = 0; i < 255; i++)
        if (table[i] > table[i + 1])
            return false;
    return true;
}

static bool are_bytes(const struct tensor *tensor) { return tensor->bits == 8 && !tensor->is_signed; }

/* The largest of what a rising table makes is what it makes of the largest. The pool comes first, so that the table has only
 * its results to go through. */
static void pool_first(const struct tidying *t, int index)
{
    struct tensor *tensors = t->network->tensors;
    struct layer *second = &t->network->layers[index], pool = *second;
    int between = pool.inputs[0], producer = tensors[between].producer;
    struct layer *first = producer == NO_LAYER ? NULL : &t->network->layers[producer], table;
    if (pool.kind != LAYER_MAXIMUM_POOL || pool.stage_count || !first || first->kind != LAYER_TABLE ||
        !is_rising(first->table) || t->readers[between] != 1 || !are_bytes(&tensors[first->inputs[0]]) ||
        !are_bytes(&tensors[between]) || tensor_elements(&tensors[pool.output]) >= tensor_elements(&tensors[between]))
        return;
    table = *first;
    struct tensor pooled = tensors[table.inputs[0]];
    pooled.name = arena_format(t->arena, "%s, its largest", pooled.name);
    pooled.height = tensors[pool.output].height;
    pooled.width = tensors[pool.output].width;
    pooled.producer = producer;
    pool.inputs[0] = table.inputs[0];
    table.inputs[0] = between;
    table.output = pool.output;
    pool.output = between;
    tensors[between] = pooled;
    *first = pool;
    *second = table;
}

/* ---- borders ---- */

/* Positions of a dimension that are a border in front, all of the input, and a border behind. */
static bool is_border(const int32_t *positions, int count, int size, int32_t step, int *before)
{
    for (*before = 0; *before < count && positions[*before] < 0; ++*before)
        ;
    if (*before + size > count)
        return false;
    for (int i = *before; i < count; i++)
        if (i < *before + size ? positions[i] != (i - *before) * step : positions[i] >= 0)
            return false;
    return true;
}

/* Padding behind the last window is never read. */
static int used_after(int outputs, int stride, int kernel, int dilation, int before, int input)
{
    int64_t used = (int64_t)(outputs - 1) * stride + (int64_t)(kernel - 1) * dilation + 1 - before - input;
    return used > 0 ? (int)used : 0;
}

static void join_border(const struct tidying *t, struct layer *layer)
{
    struct tensor *tensors = t->network->tensors;
    int producer = tensors[layer->inputs[0]].producer, top, left, none;
    const struct layer *copy = producer == NO_LAYER ? NULL : &t->network->layers[producer];
    if (layer->kind != LAYER_CONVOLUTION || !copy || copy->kind != LAYER_COPY ||
        copy->padding_value != layer->padding_value || copy->stage_count || layer_reads_whole_input(t->network, layer))
        return;
    const struct tensor *from = &tensors[copy->inputs[0]], *to = &tensors[copy->output], *output = &tensors[layer->output];
    if (!is_border(copy->map.rows, to->height, from->height, from->width * from->channels, &top) ||
        !is_border(copy->map.columns, to->width, from->width, from->channels, &left) ||
        !is_border(copy->map.channels, to->channels, from->channels, 1, &none) || to->channels != from->channels ||
        layer->padding_top + top > MAXIMUM_DIMENSION || layer->padding_left + left > MAXIMUM_DIMENSION)
        return;
    layer->inputs[0] = copy->inputs[0];
    layer->padding_top += top;
    layer->padding_left += left;
    layer->padding_bottom = used_after(output->height, layer->stride_height, layer->kernel_height, layer->dilation_height,
                                       layer->padding_top, from->height);
    layer->padding_right = used_after(output->width, layer->stride_width, layer->kernel_width, layer->dilation_width,
                                      layer->padding_left, from->width);
}

/* ---- operands ---- */

/* Which of them is repeated comes second. */
static void order_operands(const struct network *network, struct layer *layer)
{
    const struct tensor *tensors = network->tensors;
    bool is_symmetric =
        layer->kind == LAYER_ADDITION || layer->kind == LAYER_MULTIPLICATION || layer->kind == LAYER_SQUARED_DIFFERENCE;
    if (!is_symmetric || tensor_elements(&tensors[layer->inputs[0]]) == tensor_elements(&tensors[layer->output]))
        return;
    int first = layer->inputs[0];
    struct stage stage = layer->input_stages[0];
    layer->inputs[0] = layer->inputs[1];
    layer->inputs[1] = first;
    layer->input_stages[0] = layer->input_stages[1];
    layer->input_stages[1] = stage;
    const int32_t *factors = layer->factors[0];
    layer->factors[0] = layer->factors[1];
    layer->factors[1] = factors;
}

/* ---- what is left ---- */

static void drop_layers(const struct tidying *t)
{
    struct network *network = t->network;
    int kept = 0;
    for (int i = 0; i < network->layer_count; i++) {
        if (t->is_gone[i])
            continue;
        network->layers[kept] = network->layers[i];
        network->tensors[network->layers[kept].output].producer = kept;
        kept++;
    }
    network->layer_count = kept;
}

static void drop_tensors(struct network *network, struct arena *arena)
{
    int *places = arena_array(arena, int, (size_t)network->tensor_count), kept = 0;
    for (int i = 0; i < network->tensor_count; i++)
        places[i] = -1;
    for (int i = 0; i < network->input_count; i++)
        places[network->inputs[i]] = 0;
    for (int i = 0; i < network->layer_count; i++)
        places[network->layers[i].output] = 0;
    for (int i = 0; i < network->tensor_count; i++) {
        if (places[i] < 0)
            continue;
        network->tensors[kept] = network->tensors[i];
        places[i] = kept++;
    }
    network->tensor_count = kept;
    for (int i = 0; i < network->input_count; i++)
        network->inputs[i] = places[network->inputs[i]];
    for (int i = 0; i < network->output_count; i++)
        network->outputs[i] = places[network->outputs[i]];
    for (int i = 0; i < network->layer_count; i++) {
        struct layer *layer = &network->layers[i];
        layer->output = places[layer->output];
        for (int k = 0; k < layer_input_count(layer); k++)
            layer->inputs[k] = places[layer->inputs[k]];
    }
}

void network_tidy(struct network *network, struct arena *arena)
{
    simplify_cancel_copies(network, arena);
    network_join_functions(network, arena);
    struct tidying t = {network, arena, arena_array(arena, int, (size_t)network->tensor_count),
                        arena_array(arena, bool, (size_t)network->layer_count)};
    count_readers(&t);
    for (int i = 0; i < network->layer_count; i++) {
        order_operands(network, &network->layers[i]);
        if (!t.is_gone[i])
            join_table(&t, i);
        if (!t.is_gone[i])
            join_border(&t, &network->layers[i]);
        if (!t.is_gone[i])
            pool_first(&t, i);
    }
    count_readers(&t);
    drop_layers(&t);
    drop_tensors(network, arena);
}

/* ---- parts ---- */

static double work_of(const struct network *network)
{
    double work = 0;
    for (int i = 0; i < network->layer_count; i++)
        work += EARLY_WORK_OF_LAYER + (double)layer_macs(network, &network->layers[i]) / EARLY_MACS_OF_ELEMENT +
                (double)tensor_elements(&network->tensors[network->layers[i].output]);
    return work;
}

static struct network *copy_of(struct network *network, struct arena *arena)
{
    struct network *copy = arena_copy(arena, network, 1);
    /* lists of this length, with the room that arena_grow takes them to have */
    copy->tensors = NULL;
    copy->layers = NULL;
    for (copy->tensor_count = 0; copy->tensor_count < network->tensor_count; copy->tensor_count++) {
        arena_grow(arena, copy->tensors, copy->tensor_count);
        copy->tensors[copy->tensor_count] = network->tensors[copy->tensor_count];
    }
    for (copy->layer_count = 0; copy->layer_count < network->layer_count; copy->layer_count++) {
        arena_grow(arena, copy->layers, copy->layer_count);
        copy->layers[copy->layer_count] = network->layers[copy->layer_count];
    }
    copy->inputs = arena_copy(arena, network->inputs, network->input_count);
    copy->outputs = arena_copy(arena, network->outputs, network->output_count);
    copy->imported = network;
    return copy;
}

struct network *network_take_early(struct network *network, bool computes_unread, struct arena *arena)
{
    struct network *moved = copy_of(network, arena);
    bool is_less = simplify_take_early(moved, computes_unread, arena) && work_of(moved) < work_of(network);
    if (!is_less)
        moved = copy_of(network, arena);
    bool joins = !computes_unread && simplify_join_siblings(moved, arena);
    joins |= network_join_taps(moved, arena);
    if (!is_less && !joins)
        return network;
    drop_tensors(moved, arena);
    return moved;
}
