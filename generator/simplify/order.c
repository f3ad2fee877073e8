/* The order of layers around a map of scores: what does not depend on the scores comes in front of them, so that nothing but
 * their own way, product, mask, softmax, product, lies between. Layers that take turns follow each other. */
#include "simplify/tidy.h"

static int producer_of(const struct network *network, int layer)
{
    return network->tensors[network->layers[layer].inputs[0]].producer;
}

/* The product whose results become the first factor of this one, element by element or pixel by pixel; NO_LAYER: none. */
static int product_of_scores(const struct network *network, int product)
{
    const uint32_t between = 1u << LAYER_ADDITION | 1u << LAYER_MULTIPLICATION | 1u << LAYER_TABLE | 1u << LAYER_SOFTMAX;
    int layer = producer_of(network, product);
    while (layer != NO_LAYER && (between >> network->layers[layer].kind & 1))
        layer = producer_of(network, layer);
    return layer != NO_LAYER && network->layers[layer].kind == LAYER_MATRIX_PRODUCT ? layer : NO_LAYER;
}

static bool depends(const struct network *network, const struct layer *layer, int first, const bool *dependent)
{
    bool depends = false;
    for (int i = 0; i < layer_input_count(layer); i++) {
        int producer = network->tensors[layer->inputs[i]].producer;
        depends = depends || (producer >= first && dependent[producer - first]);
    }
    return depends;
}

/* Layers `first` to `last`: those that depend on the first one behind the others. */
static void put_behind(struct network *network, int first, int last, struct arena *arena)
{
    size_t count = (size_t)last - (size_t)first + 1;
    struct layer *before = arena_array(arena, struct layer, count), *layers = &network->layers[first];
    bool *dependent = arena_array(arena, bool, count);
    int next = 0;
    for (size_t i = 0; i < count; i++) {
        before[i] = layers[i];
        dependent[i] = i == 0 || depends(network, &before[i], first, dependent);
    }
    for (int behind = 0; behind < 2; behind++)
        for (size_t i = 0; i < count; i++)
            if (dependent[i] == (behind == 1))
                layers[next++] = before[i];
    for (int i = first; i <= last; i++)
        network->tensors[network->layers[i].output].producer = i;
}

void network_order(struct network *network, struct arena *arena)
{
    for (int i = 0; i < network->layer_count; i++) {
        bool is_product = network->layers[i].kind == LAYER_MATRIX_PRODUCT;
        int scores = is_product ? product_of_scores(network, i) : NO_LAYER;
        if (scores != NO_LAYER)
            put_behind(network, scores, i, arena);
    }
}
