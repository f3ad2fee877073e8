#include "random_layer.h"

#define MAXIMUM_ELEMENTS 400000u

static const uint32_t sizes[] = {1, 2, 4, 7, 8, 12, 14, 16, 24, 28, 32, 48, 56, 64, 96, 112, 128};
static const uint32_t channels[] = {4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512};

/* A linear congruence; its high bits are good. */
static uint32_t between(uint64_t *state, uint32_t least, uint32_t most)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return least + (uint32_t)((*state >> 33) % (most - least + 1));
}

#define ONE_OF(list) list[between(&state, 0, sizeof(list) / sizeof *(list)-1)]

static uint32_t fitting(uint32_t count, const struct dory_cost_layer *layer)
{
    uint32_t most = MAXIMUM_ELEMENTS / (layer->height * layer->width) / 4 * 4;
    return count > most ? most : count;
}

static void set_window(struct dory_cost_layer *layer, uint32_t kernel, uint32_t stride)
{
    layer->kernel_height = layer->kernel_width = kernel;
    layer->stride_height = layer->stride_width = stride;
    layer->padding_top = layer->padding_left = layer->padding_bottom = layer->padding_right = (kernel - 1) / 2;
}

struct dory_cost_layer random_cost_layer(uint64_t seed)
{
    uint64_t state = seed * 2654435761u;
    struct dory_cost_layer layer;
    dory_cost_layer_start(&layer);
    uint32_t kind = between(&state, 0, 9), stride = between(&state, 0, 3) ? 1 : 2, kernel = between(&state, 0, 4) ? 3 : 5;
    layer.height = ONE_OF(sizes);
    layer.width = between(&state, 0, 3) ? layer.height : ONE_OF(sizes);
    layer.channels = fitting(ONE_OF(channels), &layer);
    layer.outputs = fitting(ONE_OF(channels), &layer);
    layer.normalisation = between(&state, DORY_COST_NORMALISE_SHIFT_32, DORY_COST_NORMALISE_HIGH_EVEN);
    if (kind < 4) {
        set_window(&layer, between(&state, 0, 1) ? 1 : kernel, stride);
    } else if (kind < 7) {
        set_window(&layer, kernel, stride);
        layer.groups = layer.outputs = layer.channels;
    } else if (kind == 7) {
        layer.operation = DORY_COST_LINEAR;
        layer.height = layer.width = between(&state, 1, 4);
    } else {
        layer.outputs = layer.channels;
        layer.operation = kind == 9               ? DORY_COST_ADDITION
                          : between(&state, 0, 1) ? DORY_COST_MAXIMUM_POOL
                                                  : DORY_COST_AVERAGE_POOL;
        if (kind == 8 && layer.height > 1 && layer.width > 1)
            layer.kernel_height = layer.kernel_width = layer.stride_height = layer.stride_width = 2;
    }
    return layer;
}
