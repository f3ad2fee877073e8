#include "tile/tile_walk.h"

#include <string.h>

static const struct dory_bases bases = {NULL, TILE_BASE, TILE_BASE};

void tile_walk_start(struct tile_walk *walk, const struct dory_layer *layer)
{
    walk->layer = layer;
    dory_place_nothing(&walk->tile);
    memset(walk->bordered, 0, sizeof walk->bordered);
}

void tile_walk_enter(struct tile_walk *walk, const struct dory_step *step)
{
    walk->before = walk->tile;
    walk->tile.step = step;
    walk->tile.starts_step = true;
    dory_cursor_first(&walk->tile.at, step);
    dory_place_tile(&walk->tile, &walk->before, walk->layer, &bases);
}

bool tile_walk_next(struct tile_walk *walk)
{
    struct dory_cursor next = walk->tile.at;
    if (!dory_cursor_next(&next, walk->layer, walk->tile.step))
        return false;
    walk->before = walk->tile;
    walk->tile.at = next;
    walk->tile.starts_step = false;
    dory_place_tile(&walk->tile, &walk->before, walk->layer, &bases);
    return true;
}

void tile_walk_loads(const struct tile_walk *walk, unsigned inputs_stay, struct dory_copies *copies)
{
    uint8_t first = walk->tile.load_weights && walk->layer->block_bytes != 0, count = first;
    dory_describe_loads(copies, &walk->tile, walk->layer, TILE_BASE, TILE_BASE);
    if (inputs_stay == 0)
        return;
    for (uint8_t i = first; i < copies->load_count; i++) /* one an input: what stays is not a part of a ring */
        if (!(inputs_stay >> (i - first) & 1))
            copies->loads[count++] = copies->loads[i];
    copies->load_count = count;
}

bool tile_walk_store(const struct tile_walk *walk, struct dory_copies *copies)
{
    return dory_describe_store(copies, &walk->tile, walk->layer, TILE_BASE);
}
