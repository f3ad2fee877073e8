/* What a kernel takes for each shape of a tile, asked for once. */
#include "tile/tile.h"

#include <string.h>

#define MAXIMUM_ENTRIES ((size_t)1 << 22)

/* Shapes that have no entry of their own, most of them with a slice of the input channels: the one that was last asked for
 * of those that have the same place. */
#define OTHER_SHAPES 4096

struct other_shape {
    struct dory_tile_shape shape;
    uint64_t cycles; /* 0: there is none */
};

struct cycle_table {
    const struct dory_layer *layer;
    const struct dory_kernel_description *kernel;
    const struct target *target;
    unsigned cores;
    uint32_t input_channels; /* that a tile with an entry has; 0: what it has need not be asked */
    uint32_t columns, blocks, last_channels, channel_entries;
    uint32_t *entries; /* by rows, columns, channels, for all input channels; 0: not known yet. Null: too large a layer */
    struct other_shape *others; /* by the hash of their shapes; null: none was asked for */
    struct arena *arena;
};

struct cycle_table *cycle_table_make(const struct dory_layer *layer, const struct dory_kernel_description *kernel,
                                     const struct target *target, unsigned cores, struct arena *arena)
{
    struct cycle_table *table = arena_allocate(arena, sizeof *table);
    *table = (struct cycle_table){.layer = layer, .kernel = kernel, .target = target, .cores = cores, .arena = arena};
    table->input_channels = dory_reads_all_channels(layer) ? layer->input_channels : 0;
    table->columns = layer->output_width;
    table->blocks = dory_blocks(layer, layer->output_channels);
    table->last_channels = layer->output_channels % dory_block_channels(layer);
    /* one a block, and where the last block has fewer channels, one more for tiles that end with it */
    table->channel_entries = table->blocks * (table->last_channels ? 2 : 1);
    size_t entries = (size_t)layer->output_height * table->columns * table->channel_entries;
    if (entries <= MAXIMUM_ENTRIES)
        table->entries = arena_array(arena, uint32_t, entries);
    return table;
}

static uint64_t kernel_cycles(const struct cycle_table *table, const struct dory_tile_shape *shape)
{
    return target_kernel_cycles(table->target, table->layer, table->kernel->cycles(table->layer, shape, table->cores));
}

/* Null: the shape has none. */
static uint32_t *entry_of(const struct cycle_table *table, uint32_t rows, uint32_t columns, uint32_t channels,
                          uint32_t input_channels)
{
    uint32_t block = dory_block_channels(table->layer);
    bool whole = channels % block == 0, all = table->input_channels == 0 || table->input_channels == input_channels;
    if (!table->entries || !all || (!whole && channels % block != table->last_channels))
        return NULL;
    size_t row = ((size_t)(rows - 1) * table->columns + columns - 1) * table->channel_entries;
    return &table->entries[row + (channels - 1) / block + (whole ? 0 : table->blocks)];
}

static struct other_shape *other_of(struct cycle_table *table, const struct dory_tile_shape *shape)
{
    uint32_t hash = (((uint32_t)shape->rows * 31 + shape->columns) * 31 + shape->channels) * 31 + shape->input_channels;
    if (!table->others)
        table->others = arena_array(table->arena, struct other_shape, OTHER_SHAPES);
    return &table->others[hash * 2654435769u >> 20]; /* 12 bits */
}

static uint64_t other_cycles(struct cycle_table *table, const struct dory_tile_shape *shape)
{
    struct other_shape *other = other_of(table, shape);
    if (other->cycles == 0 || memcmp(&other->shape, shape, sizeof *shape) != 0)
        *other = (struct other_shape){*shape, kernel_cycles(table, shape)};
    return other->cycles;
}

uint64_t cycle_table_get(struct cycle_table *table, uint32_t rows, uint32_t columns, uint32_t channels,
                         uint32_t input_channels)
{
    uint32_t *entry = entry_of(table, rows, columns, channels, input_channels);
    if (entry && *entry)
        return *entry;
    struct dory_tile_shape shape = {(uint16_t)rows, (uint16_t)columns, (uint16_t)channels,
                                    (uint16_t)(table->input_channels ? input_channels : channels)};
    if (!entry)
        return other_cycles(table, &shape);
    uint64_t cycles = kernel_cycles(table, &shape);
    *entry = cycles <= UINT32_MAX ? (uint32_t)cycles : 0;
    return cycles;
}
