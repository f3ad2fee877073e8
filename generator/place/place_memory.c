/* Placements that have been found: a search often comes back to a decision, or looks at one in more than one way. */
#include <string.h>

#include "place/place.h"

#define REMEMBERED 64 /* placements: nearly all that are asked for again were among the last so many */

struct placement {
    uint64_t hash;
    struct place_item *items; /* with their offsets */
    int count, room;          /* room: items that there is memory for */
    uint32_t alignment, enough, peak;
    enum place_care care;
};

struct place_memory {
    struct placement placements[REMEMBERED];
    int next; /* to be forgotten */
    struct arena *arena;
};

struct place_memory *place_memory_make(struct arena *arena)
{
    struct place_memory *memory = arena_allocate(arena, sizeof *memory);
    memory->arena = arena;
    return memory;
}

static uint64_t hash_of(const struct place_item *items, int count)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++)
        hash = (hash ^ items[i].bytes ^ (uint64_t)items[i].first << 32 ^ (uint64_t)items[i].last << 48) *
               0x9e3779b97f4a7c15u; /* odd, and its bits look random */
    return hash;
}

static bool are_same(const struct place_item *a, const struct place_item *b, int count)
{
    int i = 0;
    while (i < count && a[i].bytes == b[i].bytes && a[i].first == b[i].first && a[i].last == b[i].last)
        i++;
    return i == count;
}

/* With these items and limits; null: it is not remembered. */
static const struct placement *find(const struct place_memory *memory, const struct placement *like)
{
    for (int i = 0; i < REMEMBERED; i++) {
        const struct placement *known = &memory->placements[i];
        if (known->hash == like->hash && known->count == like->count && known->alignment == like->alignment &&
            known->enough == like->enough && known->care == like->care && are_same(known->items, like->items, like->count))
            return known;
    }
    return NULL;
}

/* In place of the one that was kept first. */
static void keep(struct place_memory *memory, const struct placement *placement)
{
    struct placement *known = &memory->placements[memory->next], before = *known;
    bool has_room = placement->count <= before.room;
    memory->next = (memory->next + 1) % REMEMBERED;
    *known = *placement;
    known->room = has_room ? before.room : placement->count;
    known->items = has_room ? before.items : arena_array(memory->arena, struct place_item, (size_t)known->room);
    memcpy(known->items, placement->items, (size_t)placement->count * sizeof *known->items);
}

uint32_t place_again(struct place_memory *memory, struct place_item *items, int count, uint32_t alignment, uint32_t enough,
                     enum place_care care, struct arena *arena)
{
    struct placement placement = {.hash = hash_of(items, count),
                                  .items = items,
                                  .count = count,
                                  .alignment = alignment,
                                  .enough = enough,
                                  .care = care};
    const struct placement *known = count ? find(memory, &placement) : NULL;
    if (known) {
        memcpy(items, known->items, (size_t)count * sizeof *items);
        return known->peak;
    }
    placement.peak = place(items, count, alignment, enough, care, arena);
    if (count)
        keep(memory, &placement);
    return placement.peak;
}
