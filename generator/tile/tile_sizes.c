#include "tile/tile_sizes.h"

#include "dory/layer.h"

static void add_extent(struct extents *extents, uint32_t extent, uint32_t times)
{
    if (extent == 0 || times == 0)
        return;
    extents->tiles += times;
    uint32_t i = 0;
    while (i < extents->count && extents->extent[i] != extent)
        i++;
    extents->extent[i] = extent;
    extents->times[i] = (i < extents->count ? extents->times[i] : 0) + times;
    extents->count += i == extents->count;
}

struct extents tile_extents(uint32_t size, uint32_t part, uint32_t tile)
{
    struct extents extents = {0};
    uint32_t parts = size / part, last = size % part;
    add_extent(&extents, tile, parts * (part / tile) + last / tile);
    add_extent(&extents, part % tile, parts);
    add_extent(&extents, last % tile, 1);
    return extents;
}

static uint32_t next_smaller(enum tile_sizes kind, uint32_t size)
{
    switch (kind) {
    case ALL_SIZES: return size - 1;
    case ALL_FOURS: return size <= 4 ? 0 : (size - 1) / 4 * 4;
    case HALVED_SIZES: return size / 2;
    default: return size <= 4 ? 0 : dory_round_up(size / 2, 4);
    }
}

const struct tile_size *tile_sizes(enum tile_sizes kind, uint32_t size, uint32_t part, uint32_t least, struct arena *arena)
{
    struct tile_size *sizes = arena_array(arena, struct tile_size, (size_t)part + 1), *end = sizes;
    for (uint32_t s = part; s >= least && s > 0; s = next_smaller(kind, s))
        *end++ = (struct tile_size){s, tile_extents(size, part, s)};
    return sizes;
}
