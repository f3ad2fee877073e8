/* What the planner knows of the kernels for tables. */
#include "description.h"

static uint64_t elements_of_slowest_core(const struct dory_tile_shape *tile, unsigned cores)
{
    return ((uint64_t)tile->rows * tile->columns * tile->channels + cores - 1) / cores;
}

/* One table, and all elements. */
static bool is_plain(const struct dory_layer *layer)
{
    return layer->stride_height == 1 && layer->stride_width == 1 && layer->input_channels == layer->output_channels;
}

static bool table_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_TABLE && layer->input_bits == 8 && layer->output_bits == 8 && is_plain(layer);
}

static uint64_t table_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return elements_of_slowest_core(tile, cores) * 32 / 10 + 170;
}

DORY_DESCRIBE(xpulpv2_table, table_supports, NULL, table_cycles)

static bool tables_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_TABLE && layer->input_bits == 8 && layer->output_bits == 8 && !is_plain(layer);
}

/* Of the core that has most pixels, in one more row than they fill. Of an element 3.3 cycles where bytes are spread evenly,
 * but cores wait for each other where they look up the same entries, as of pixels that are black or white. */
static uint64_t tables_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    uint32_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores), rows = pixels / tile->columns + 1;
    return (uint64_t)pixels * tile->channels * 38 / 10 + rows * (tile->channels * 25u + 30) + 170;
}

DORY_DESCRIBE(xpulpv2_tables, tables_supports, NULL, tables_cycles, .contention_percent = 200)
