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
    PLACE_QUICKLY,  /* to compare: not more than `enough` */
    PLACE_CAREFULLY /* to keep: as few as possible, and the search may take ten times as long */
};

/* Gives every item an offset that is a multiple of `alignment`, so that no two that live at the same step overlap. Returns
 * the bytes used; they are the least possible where they equal place_bound, or `enough`, which is what there is anyway.
 * Several greedy orders and a local search with a fixed seed try to reach that, then place_exactly. */
uint32_t place(struct place_item *items, int count, uint32_t alignment, uint32_t enough, enum place_care care,
               struct arena *arena);

#endif
