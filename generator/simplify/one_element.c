/* Functions of one element that the model writes as several nodes: GELU by Erf, SiLU by Sigmoid, and their like. Where both
 * operands of an addition or a product are made of one tensor by tables, so is the result. */
#include "simplify/tidy.h"

#include "network/interpret.h"

#define MOST_TABLES 8 /* between a tensor and what is made of it */

static const struct layer *table_of(const struct network *network, int tensor)
{
    int producer = network->tensors[tensor].producer;
    return producer != NO_LAYER && network->layers[producer].kind == LAYER_TABLE ? &network->layers[producer] : NULL;
}

/* Bytes without a sign, whatever the range pass finds out about it. */
static bool is_byte(const struct network *network, int index)
{
    const struct tensor *tensor = &network->tensors[index];
    if (tensor->producer == NO_LAYER)
        return tensor->bits == 8 && !tensor->is_signed;
    const struct layer *layer = &network->layers[tensor->producer];
    const struct stage *last = layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL;
    return layer->kind == LAYER_TABLE || (last && last->has_clip && last->minimum >= 0 && last->maximum <= UINT8_MAX);
}

/* What `tensor` is for each byte of `root`. False: it is not made of that by tables. */
static bool trace(const struct network *network, int tensor, int root, int64_t values[256])
{
    const struct layer *tables[MOST_TABLES];
    int count = 0;
    for (const struct layer *table; tensor != root; tensor = table->inputs[0]) {
        table = table_of(network, tensor);
        if (!table || count == MOST_TABLES)
            return false;
        tables[count++] = table;
    }
    for (int i = 0; i < 256; i++) {
        values[i] = i;
        for (int k = count - 1; k >= 0; k--)
            values[i] = tables[k]->table[values[i]];
    }
    return true;
}

/* The nearest tensor that both operands are made of; -1: none. */
static int find_root(const struct network *network, const struct layer *layer, int64_t operands[2][256])
{
    int root = layer->inputs[0];
    for (int i = 0; i <= MOST_TABLES; i++) {
        if (is_byte(network, root) && trace(network, layer->inputs[1], root, operands[1]) &&
            trace(network, layer->inputs[0], root, operands[0]))
            return root;
        const struct layer *table = table_of(network, root);
        if (!table)
            return -1;
        root = table->inputs[0];
    }
    return -1;
}

/* Of operands of 256 pixels, one for each byte. */
static bool find_results(struct layer layer, int64_t operands[2][256], int64_t results[256], struct arena *arena)
{
    struct tensor tensors[3] = {tensor_plain("", 1, 256, 1), tensor_plain("", 1, 256, 1), tensor_plain("", 1, 256, 1)};
    const struct network network = {.tensors = tensors, .tensor_count = 3, .layers = &layer, .layer_count = 1};
    int64_t *const values[3] = {operands[0], operands[1], results};
    struct diagnostics nobody = {.arena = arena};
    layer.inputs[0] = 0;
    layer.inputs[1] = 1;
    layer.output = 2;
    return interpret_layer(&network, 0, values, &nobody);
}

/* Stages whose result the model fixes for each element alone: a floor is NEMO's, which an option makes another. */
static bool is_plain(const struct layer *layer)
{
    bool is_one = true;
    for (int i = 0; i < 2; i++)
        is_one &= layer->input_stages[i].count <= 1;
    for (int i = 0; i < layer->stage_count; i++)
        is_one &= layer->stages[i].count <= 1 && layer->stages[i].rounding != ROUND_FLOOR;
    return is_one && layer->stage_count > 0;
}

static void join_operands(struct network *network, struct layer *layer, struct arena *arena)
{
    const struct tensor *tensors = network->tensors;
    bool has_operands =
        layer->kind == LAYER_ADDITION || layer->kind == LAYER_MULTIPLICATION || layer->kind == LAYER_SQUARED_DIFFERENCE;
    int64_t operands[2][256], results[256];
    if (!has_operands || !is_plain(layer) ||
        tensor_elements(&tensors[layer->inputs[0]]) != tensor_elements(&tensors[layer->inputs[1]]))
        return;
    int root = find_root(network, layer, operands);
    if (root < 0 || !find_results(*layer, operands, results, arena))
        return;
    uint8_t *table = arena_array(arena, uint8_t, 256);
    for (int i = 0; i < 256; i++) {
        if (results[i] < 0 || results[i] > UINT8_MAX)
            return;
        table[i] = (uint8_t)results[i];
    }
    int output = layer->output;
    *layer = layer_plain(layer->name, LAYER_TABLE, root);
    layer->output = output;
    layer->table = table;
}

void network_join_functions(struct network *network, struct arena *arena)
{
    for (int i = 0; i < network->layer_count; i++)
        join_operands(network, &network->layers[i], arena);
}
