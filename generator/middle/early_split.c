/* Some channels of a convolution. */
#include <string.h>

#include "middle/early.h"

static struct stage pick_stage(const struct stage *stage, const int *channels, int count, struct arena *arena)
{
    struct stage picked = *stage;
    if (stage->count <= 1)
        return picked;
    int64_t *multiplier = arena_array(arena, int64_t, (size_t)count), *addend = arena_array(arena, int64_t, (size_t)count);
    int *exponent = stage->exponent ? arena_array(arena, int, (size_t)count) : NULL;
    for (int i = 0; i < count; i++) {
        multiplier[i] = stage->multiplier[channels[i]];
        addend[i] = stage->addend[channels[i]];
        if (exponent)
            exponent[i] = stage->exponent[channels[i]];
    }
    picked.count = count;
    picked.multiplier = multiplier;
    picked.addend = addend;
    picked.exponent = exponent;
    return picked;
}

struct layer middle_some_channels(const struct network *network, const struct layer *layer, const int *channels, int count,
                                  struct arena *arena)
{
    struct layer picked = *layer;
    size_t each =
        (size_t)network->tensors[layer->inputs[0]].channels * (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int8_t *weights = arena_allocate_array(arena, (size_t)count, each);
    for (int i = 0; i < count; i++)
        memcpy(weights + (size_t)i * each, layer->weights + (size_t)channels[i] * each, each);
    picked.weights = weights;
    for (int i = 0; i < layer->stage_count; i++)
        picked.stages[i] = pick_stage(&layer->stages[i], channels, count, arena);
    return picked;
}
