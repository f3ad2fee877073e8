/* Static placement: offsets for things that live from step to step. Internal to the planner. */
#ifndef DORYGEN_PLACE_H
#define DORYGEN_PLACE_H

#include "base/support.h"

/* Lives from step `first` to step `last`, both included. */
struct place_item {
    uint32_t bytes;
    int first, last;
    uint32_t offset; /* the result */
};

/* The most bytes that live at one step: no placement needs less. */
uint32_t place_bound(const struct place_item *items, int count, uint32_t alignment);

enum place_care {
    PLACE_HASTILY,  /* within a search, each time */
    PLACE_CHEAPLY,  /* within a search, now and then */
    PLACE_QUICKLY,  /* to compare: not more than `enough` */
    PLACE_CAREFULLY /* to keep: as few as possible, and the search may take ten times as long */
};

/* Gives every item an offset that is a multiple of `alignment`, so that no two that live at the same step overlap. Returns
 * the bytes used; they are the least possible where they equal place_bound, or `enough`, which is what there is anyway.
 * Several greedy orders and a local search with a fixed seed try to reach that, then place_exactly. */
uint32_t place(struct place_item *items, int count, uint32_t alignment, uint32_t enough, enum place_care care,
               struct arena *arena);

/* ---- place_memory.c: placements are remembered ---- */

struct place_memory *place_memory_make(struct arena *arena);

/* The same as place, in next to no time for what was asked for not long ago. */
uint32_t place_again(struct place_memory *memory, struct place_item *items, int count, uint32_t alignment, uint32_t enough,
                     enum place_care care, struct arena *arena);

/* ---- place_exact.c: is there a placement in so many bytes? ---- */

enum place_answer { PLACE_FOUND, PLACE_IMPOSSIBLE, PLACE_UNDECIDED };

/* Looks for offsets, multiples of `alignment`, with which all items end below `bytes` and no two that live at the same step
 * overlap; a search that is complete, so that it can also prove that there are none. It gives up after `effort` items looked
 * at and, if parts of the items take turns of their own, which other instances yield to, after `parts_effort` more; with
 * more than 2000 items it gives up at once. Offsets are written only where they are found. */
enum place_answer place_exactly(struct place_item *items, int count, uint32_t alignment, uint32_t bytes, uint64_t effort,
                                uint64_t parts_effort, struct arena *arena);

#endif
