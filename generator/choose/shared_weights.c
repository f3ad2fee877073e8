/* Layers with equal weights, as the time steps of a recurrent network that was written out step by step: each has its own
 * constants of requantisation, for its tensors have scales of their own. Their weights can come from the flash once: they
 * stay in L2 from the first of these layers to the last, and each brings its constants alone (realise/share.c). */
#include "choose/problem.h"

#include <string.h>

enum { LEAST_BYTES = 1024, LEAST_RATIO = 4 }; /* of weights; of a block's bytes to those of its constants */

static size_t model_bytes(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    return (size_t)output->channels * (size_t)(input->channels / layer->groups) * (size_t)layer->kernel_height *
           (size_t)layer->kernel_width;
}

static bool have_equal_weights(const struct network *network, int a, int b)
{
    const struct layer *one = &network->layers[a], *other = &network->layers[b];
    if (!one->weights || !other->weights || one->kind != other->kind || one->groups != other->groups ||
        one->kernel_height != other->kernel_height || one->kernel_width != other->kernel_width)
        return false;
    size_t bytes = model_bytes(network, one);
    return bytes >= LEAST_BYTES && bytes == model_bytes(network, other) &&
           network->tensors[one->inputs[0]].channels == network->tensors[other->inputs[0]].channels &&
           memcmp(one->weights, other->weights, bytes) == 0;
}

bool network_repeats_weights(const struct network *network)
{
    for (int i = 0; i < network->layer_count; i++)
        for (int j = 0; j < i; j++)
            if (have_equal_weights(network, j, i))
                return true;
    return false;
}

/* Blocks of the same sizes; that their bytes are the same is seen when they are written (plan/blob.c). */
static bool have_equal_blocks(const struct formed_layer *a, const struct formed_layer *b)
{
    const struct dory_weights_format *format = a->engine->weights;
    const struct dory_layer *one = &a->record, *other = &b->record;
    uint32_t bytes = dory_block_bytes(format, one, one->input_channels), constants = format->constants_bytes(one);
    return a->engine == b->engine && one->operation == other->operation && one->block_shift == other->block_shift &&
           one->input_channels == other->input_channels && one->output_channels == other->output_channels &&
           one->weight_bits == other->weight_bits && constants == format->constants_bytes(other) &&
           bytes == dory_block_bytes(format, other, other->input_channels) && bytes >= LEAST_RATIO * constants;
}

/* The first layer in front of it that it can share weights with. */
static int owner_of(const struct problem *p, int layer)
{
    for (int i = 0; i < layer; i++)
        if (dory_has_weights(&p->layers[i].record) && (p->owners[i] == NO_LAYER || p->owners[i] == i) &&
            have_equal_weights(p->network, i, layer) && have_equal_blocks(&p->layers[i], &p->layers[layer]))
            return i;
    return NO_LAYER;
}

void find_owners(struct problem *p)
{
    int layers = p->network->layer_count, shared = 0;
    if (!p->options->shares_weights)
        return;
    p->owners = arena_array(p->arena, int, (size_t)layers);
    for (int l = 0; l < layers; l++) {
        p->owners[l] = NO_LAYER;
        int owner = dory_has_weights(&p->layers[l].record) ? owner_of(p, l) : NO_LAYER;
        if (owner == NO_LAYER)
            continue;
        p->owners[owner] = p->owners[l] = owner;
        shared++;
    }
    p->owners = shared > 0 ? p->owners : NULL;
}

bool layer_shares_weights(const struct problem *p, int layer) { return p->owners && p->owners[layer] != NO_LAYER; }
