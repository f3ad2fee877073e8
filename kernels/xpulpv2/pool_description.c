/* What the planner knows of the pools. */
#include "description.h"

static bool pool_supports(const struct dory_layer *layer)
{
    return (layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) &&
           layer->normalisation != DORY_NORMALISE_THRESHOLDS && layer->input_bits == 8 && layer->output_bits == 8;
}

/* Quads, and the channels that are left over one by one. */
static uint64_t pool_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = tile->channels / 4, rest = tile->channels % 4;
    bool high = layer->normalisation == DORY_NORMALISE_HIGH;
    bool divides = !high && (layer->stages->first.divisor & (layer->stages->first.divisor - 1)) != 0;
    uint64_t maximum = layer->kernel_height * (layer->kernel_width * 3u + 10u) + 36;
    uint64_t average = layer->kernel_height * (layer->kernel_width * 6u + 12u) + (divides ? 405 : high ? 178 : 165);
    uint64_t quad = layer->operation == DORY_MAXIMUM_POOL ? maximum : average;
    uint64_t single = layer->kernel_height * (layer->kernel_width * 14u + 8u) + (divides ? 110 : high ? 65 : 50);
    uint64_t items = ((uint64_t)tile->rows * tile->columns * (quads + rest) + cores - 1) / cores;
    return items * (quads * quad + rest * single) / (quads + rest) + 900;
}

const struct dory_kernel_description dory_xpulpv2_pool_description = {
    .name = "dory_xpulpv2_pool",
    .supports = pool_supports,
    .scratch_bytes = dory_no_scratch,
    .cycles = pool_cycles,
};
