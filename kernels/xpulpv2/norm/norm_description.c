/* What the planner knows of the kernel for norms. */
#include "../description.h"

static bool norm_supports(const struct dory_layer *layer) { return layer->operation == DORY_NORM; }

/* Of a row, or a part of it: the sums of all its elements, one root; and each element. */
static uint64_t norm_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t rows = (uint32_t)tile->rows * tile->columns, parts = rows < cores ? cores / rows : 1;
    uint32_t length = (tile->channels + parts - 1) / parts;
    uint64_t row = 278 + layer->input_channels + length * 14u;
    return (rows * parts + cores - 1) / cores * row + 250;
}

DORY_DESCRIBE(xpulpv2_norm, norm_supports, NULL, norm_cycles)
