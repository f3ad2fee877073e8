/* What a kernel takes for each shape of a tile, asked for once. */
#include "tile/tile.h"

#define MAXIMUM_ENTRIES ((size_t)1 << 22)

struct cycle_table {
    const struct dory_layer *layer;
    const struct dory_kernel_description *kernel;
    const struct target *target;
    unsigned cores;
    uint32_t columns, channel_entries;
    uint32_t *entries; /* by rows, columns, channels, for all input channels; 0: not known yet. Null: too large a layer */
};

struct cycle_table *cycle_table_make(const struct dory_layer *layer, const struct dory_kernel_description *kernel,
                                     const struct target *target, unsigned cores, struct arena *arena)
{
    struct cycle_table *table = arena_allocate(arena, sizeof *table);
    *table = (struct cycle_table){.layer = layer, .kernel = kernel, .target = target, .cores = cores};
    table->columns = layer->output_width;
    /* one a quad, and where the last quad has fewer channels, one more for tiles that end with it */
    table->channel_entries = dory_divide_up(layer->output_channels, 4) * (layer->output_channels % 4 ? 2 : 1);
    size_t entries = (size_t)layer->output_height * table->columns * table->channel_entries;
    if (entries <= MAXIMUM_ENTRIES)
        table->entries = arena_array(arena, uint32_t, entries);
    return table;
}

static uint64_t kernel_cycles(const struct cycle_table *table, const struct dory_tile_shape *shape)
{
    return target_kernel_cycles(table->target, table->layer, table->kernel->cycles(table->layer, shape, table->cores));
}

/* Null: not remembered. */
static uint32_t *entry_of(const struct cycle_table *table, const struct dory_tile_shape *shape)
{
    const struct dory_layer *layer = table->layer;
    uint32_t quads = dory_divide_up(layer->output_channels, 4), quad = dory_divide_up(shape->channels, 4) - 1;
    bool whole = shape->channels % 4 == 0, last = shape->channels % 4 == layer->output_channels % 4;
    bool all = !dory_reads_all_channels(layer) || shape->input_channels == layer->input_channels;
    if (!table->entries || !all || (!whole && !last))
        return NULL;
    size_t row = ((size_t)(shape->rows - 1) * table->columns + shape->columns - 1) * table->channel_entries;
    return &table->entries[row + quad + (whole ? 0 : quads)];
}

uint64_t cycle_table_get(struct cycle_table *table, uint32_t rows, uint32_t columns, uint32_t channels,
                         uint32_t input_channels)
{
    struct dory_tile_shape shape = {rows, columns, channels,
                                    dory_reads_all_channels(table->layer) ? input_channels : channels};
    uint32_t *entry = entry_of(table, &shape);
    if (entry && *entry)
        return *entry;
    uint64_t cycles = kernel_cycles(table, &shape);
    if (entry && cycles <= UINT32_MAX)
        *entry = (uint32_t)cycles;
    return cycles;
}
