#include "simplify/edit.h"

#include <string.h>

struct layer *edit_copy_of(const struct network *network, int tensor)
{
    int producer = network->tensors[tensor].producer;
    struct layer *layer = producer == NO_LAYER ? NULL : &network->layers[producer];
    return layer && layer->kind == LAYER_COPY && layer->stage_count == 0 ? layer : NULL;
}

void edit_replace(const struct network *network, int old, int tensor)
{
    for (int i = 0; i < network->layer_count; i++)
        for (int k = 0; k < layer_input_count(&network->layers[i]); k++)
            if (network->layers[i].inputs[k] == old)
                network->layers[i].inputs[k] = tensor;
}

int edit_add_tensor(struct network *network, const struct tensor *tensor, struct arena *arena)
{
    arena_grow(arena, network->tensors, network->tensor_count);
    struct tensor *added = &network->tensors[network->tensor_count];
    *added = *tensor;
    added->steps = NULL;
    added->log_softmax = NULL;
    added->step_count = added->model_rank = 0;
    added->is_turned = false;
    return network->tensor_count++;
}

static void find_producers(struct network *network)
{
    for (int i = 0; i < network->layer_count; i++)
        network->tensors[network->layers[i].output].producer = i;
}

void edit_set_layer(struct network *network, int at, const struct layer *layer)
{
    network->layers[at] = *layer;
    network->tensors[layer->output].producer = at;
}

void edit_insert_layer(struct network *network, int at, const struct layer *layer, struct arena *arena)
{
    arena_grow(arena, network->layers, network->layer_count);
    memmove(&network->layers[at + 1], &network->layers[at], (size_t)(network->layer_count - at) * sizeof *layer);
    network->layers[at] = *layer;
    network->layer_count++;
    find_producers(network);
}

void edit_remove_layer(struct network *network, int at)
{
    network->layer_count--;
    memmove(&network->layers[at], &network->layers[at + 1], (size_t)(network->layer_count - at) * sizeof *network->layers);
    find_producers(network);
}

void edit_drop_unread(struct network *network)
{
    for (int i = network->layer_count - 1; i >= 0; i--) {
        if (network_count_readers(network, network->layers[i].output) > 0)
            continue;
        network->tensors[network->layers[i].output].producer = NO_LAYER;
        edit_remove_layer(network, i);
    }
    find_producers(network);
}
