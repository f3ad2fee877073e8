/* The search behind `place`: is there a placement in so many bytes? Internal to the planner. */
#ifndef DORYGEN_PLACE_EXACT_H
#define DORYGEN_PLACE_EXACT_H

#include "plan/place.h"

enum place_answer { PLACE_FOUND, PLACE_IMPOSSIBLE, PLACE_UNDECIDED };

/* Looks for offsets, multiples of `alignment`, with which all items end below `bytes` and no two that live at the same step
 * overlap; a search that is complete, so that it can also prove that there are none. It gives up after `effort` items looked
 * at and, if parts of the items take turns of their own, which other instances yield to, after `parts_effort` more; with
 * more than 2000 items it gives up at once. Offsets are written only where they are found. */
enum place_answer place_exactly(struct place_item *items, int count, uint32_t alignment, uint32_t bytes, uint64_t effort,
                                uint64_t parts_effort, struct arena *arena);

#endif
