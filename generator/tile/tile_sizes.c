#include "tile/tile_sizes.h"

static struct extents make_extents(uint32_t most, struct arena *arena)
{
    return (struct extents){.extent = arena_array(arena, uint32_t, most), .times = arena_array(arena, uint32_t, most)};
}

static void add_extent(struct extents *extents, uint32_t extent, uint32_t times)
{
    if (extent == 0 || times == 0)
        return;
    extents->pieces += times;
    uint32_t i = 0;
    while (i < extents->count && extents->extent[i] != extent)
        i++;
    extents->extent[i] = extent;
    extents->times[i] = (i < extents->count ? extents->times[i] : 0) + times;
    extents->count += i == extents->count;
}

struct extents tile_step_rows(const struct tile_problem *problem, struct arena *arena)
{
    struct extents rows = make_extents(problem->step_count, arena);
    for (uint32_t i = 0; i < problem->step_count; i++)
        if (problem->steps[i].first_channel == problem->steps[0].first_channel)
            add_extent(&rows, problem->steps[i].rows, 1);
    return rows;
}

struct extents tile_step_channels(const struct tile_problem *problem, struct arena *arena)
{
    struct extents channels = make_extents(problem->step_count, arena);
    for (uint32_t i = 0; i < problem->step_count; i++)
        if (problem->steps[i].first_row == problem->steps[0].first_row)
            add_extent(&channels, problem->steps[i].channels, 1);
    return channels;
}

struct extents tile_whole(uint32_t size, struct arena *arena)
{
    struct extents whole = make_extents(1, arena);
    add_extent(&whole, size, 1);
    return whole;
}

uint32_t tile_largest(const struct extents *extents)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < extents->count; i++)
        largest = extents->extent[i] > largest ? extents->extent[i] : largest;
    return largest;
}

struct extents tile_extents(const struct extents *steps, uint32_t tile, struct arena *arena)
{
    struct extents tiles = make_extents(steps->count + 1, arena);
    for (uint32_t i = 0; i < steps->count; i++) {
        add_extent(&tiles, tile, steps->times[i] * (steps->extent[i] / tile));
        add_extent(&tiles, steps->extent[i] % tile, steps->times[i]);
    }
    return tiles;
}

static uint32_t next_smaller(enum tile_sizes kind, uint32_t size, uint32_t granule)
{
    if (size <= granule)
        return 0;
    return kind == ALL_SIZES ? (size - 1) / granule * granule : dory_round_up(size / 2, granule);
}

const struct tile_size *tile_sizes(enum tile_sizes kind, const struct extents *steps, uint32_t least, uint32_t granule,
                                   struct arena *arena)
{
    uint32_t largest = tile_largest(steps);
    struct tile_size *sizes = arena_array(arena, struct tile_size, (size_t)largest + 1), *end = sizes;
    for (uint32_t s = largest; s >= least && s > 0; s = next_smaller(kind, s, granule))
        *end++ = (struct tile_size){s, tile_extents(steps, s, arena)};
    return sizes;
}
