#include "network/lower.h"

#include <string.h>

#include "network/stage.h"

static bool needs_a_convolution(const struct layer *layer)
{
    const struct stage *stage = &layer->stages[0];
    int64_t low = layer->accumulator_minimum, high = layer->accumulator_maximum;
    if (layer->kind != LAYER_AVERAGE_POOL || layer->stage_count != 1)
        return false;
    return stage->rounding == ROUND_TWICE ||
           (stage->rounding == ROUND_HALF_EVEN && stage_has_halves(stage, 0, -low > high ? -low : high));
}

void lower_average_pools(struct network *network, struct arena *arena)
{
    for (int i = 0; i < network->layer_count; i++) {
        struct layer *layer = &network->layers[i];
        if (!needs_a_convolution(layer))
            continue;
        int channels = network->tensors[layer->inputs[0]].channels;
        size_t count = (size_t)channels * (size_t)layer->kernel_height * (size_t)layer->kernel_width;
        int8_t *weights = arena_array(arena, int8_t, count);
        memset(weights, 1, count);
        layer->kind = LAYER_CONVOLUTION;
        layer->weights = weights;
        layer->weight_bits = 8;
        layer->groups = channels;
    }
}
