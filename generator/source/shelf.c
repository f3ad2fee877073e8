#include "shelf.h"

#include <stdlib.h>
#include <string.h>

void shelf_start(struct shelf *shelf, uint32_t bytes, uint32_t alignment, enum shelf_rule rule, int most_items,
                 struct arena *arena)
{
    *shelf = (struct shelf){
        .bytes = bytes,
        .alignment = alignment,
        .rule = rule,
        .known = arena_array(arena, struct place_item, (size_t)most_items),
        .taken = arena_array(arena, struct place_item, (size_t)most_items),
        .ranges = arena_array(arena, struct shelf_range, (size_t)most_items),
    };
}

static uint32_t round_up(uint32_t value, uint32_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static int by_first(const void *a, const void *b)
{
    const struct place_item *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void shelf_put(struct shelf *shelf, const struct place_item *items, int count)
{
    if (count > 0)
        memcpy(shelf->known, items, (size_t)count * sizeof *items);
    shelf->known_count = count;
    qsort(shelf->known, (size_t)count, sizeof *items, by_first);
    for (int i = 0; i < count; i++)
        shelf->known[i].bytes = round_up(shelf->known[i].bytes, shelf->alignment);
}

void shelf_forget(struct shelf *shelf, int step)
{
    int kept = 0;
    while (shelf->known_start < shelf->known_count && shelf->known[shelf->known_start].last < step)
        shelf->known_start++;
    for (int i = 0; i < shelf->taken_count; i++)
        if (shelf->taken[i].last >= step)
            shelf->taken[kept++] = shelf->taken[i];
    shelf->taken_count = kept;
}

/* Adds an item's range to those taken during a life, sorted by insertion. */
static int add_range(struct shelf *shelf, int count, const struct place_item *item, const struct place_item *other)
{
    if (other->last < item->first || item->last < other->first)
        return count;
    int at = count;
    for (; at > 0 && shelf->ranges[at - 1].start > other->offset; at--)
        shelf->ranges[at] = shelf->ranges[at - 1];
    shelf->ranges[at] = (struct shelf_range){other->offset, other->offset + other->bytes};
    return count + 1;
}

static int collect(struct shelf *shelf, const struct place_item *item)
{
    int count = 0;
    for (int i = 0; i < shelf->taken_count; i++)
        count = add_range(shelf, count, item, &shelf->taken[i]);
    for (int i = shelf->known_start; i < shelf->known_count && shelf->known[i].first <= item->last; i++)
        count = add_range(shelf, count, item, &shelf->known[i]);
    return count;
}

/* By offset, so that the ranges above are as good as sorted. */
static void keep(struct shelf *shelf, const struct place_item *item, uint32_t bytes)
{
    int at = shelf->taken_count++;
    for (; at > 0 && shelf->taken[at - 1].offset > item->offset; at--)
        shelf->taken[at] = shelf->taken[at - 1];
    shelf->taken[at] = *item;
    shelf->taken[at].bytes = bytes;
}

bool shelf_take(struct shelf *shelf, struct place_item *item)
{
    uint32_t bytes = round_up(item->bytes, shelf->alignment), end = 0, best_gap = UINT32_MAX;
    int count = collect(shelf, item);
    bool found = false;
    for (int i = 0; i <= count; i++) {
        uint32_t start = i < count ? shelf->ranges[i].start : shelf->bytes, gap = start > end ? start - end : 0;
        bool better = !found || shelf->rule == SHELF_HIGHEST || (shelf->rule == SHELF_TIGHTEST && gap < best_gap);
        if (gap >= bytes && better) {
            item->offset = shelf->rule == SHELF_HIGHEST ? start - bytes : end;
            best_gap = gap;
            found = true;
        }
        if (i < count && shelf->ranges[i].end > end)
            end = shelf->ranges[i].end;
    }
    if (found)
        keep(shelf, item, bytes);
    return found;
}
