/* Static placement: offsets for things that live from step to step. Internal to the planner. */
#ifndef DORYGEN_PLACE_H
#define DORYGEN_PLACE_H

#include "support.h"

/* Lives from step `first` to step `last`, both included. */
struct place_item {
    uint32_t bytes;
    int first, last;
    uint32_t offset; /* the result */
};

/* The most bytes that live at one step: no placement needs less. */
uint32_t place_bound(const struct place_item *items, int count, uint32_t alignment);

/* Gives every item an offset that is a multiple of `alignment`, so that no two that live at the same step overlap. Returns
 * the bytes used; they are the least possible where they equal place_bound, which several greedy orders and then a local
 * search with a fixed seed try to reach. `enough` bytes are as good as the least: there are so many anyway. 0: the
 * search takes its time. */
uint32_t place(struct place_item *items, int count, uint32_t alignment, uint32_t enough, struct arena *arena);

#endif
