/* L2 as a schedule fills it: places for things one after the other, each for the steps of its life, beside all that were
 * placed before. Where place.h finds offsets for lives that are fixed, here lives depend on what is free. */
#ifndef DORYGEN_SHELF_H
#define DORYGEN_SHELF_H

#include "place.h"

/* Which of the gaps that are large enough. */
enum shelf_rule { SHELF_HIGHEST, SHELF_LOWEST, SHELF_TIGHTEST };
#define SHELF_RULES 3

struct shelf_range {
    uint32_t start, end;
};

struct shelf {
    uint32_t bytes, alignment;
    enum shelf_rule rule;
    /* places known before: by first step, those that are over left out */
    struct place_item *known;
    int known_count, known_start;
    /* and those given since */
    struct place_item *taken;
    int taken_count;
    struct shelf_range *ranges; /* scratch */
};

/* An empty shelf for at most so many items. */
void shelf_start(struct shelf *shelf, uint32_t bytes, uint32_t alignment, enum shelf_rule rule, int most_items,
                 struct arena *arena);

/* Keeps places that are known; once, before all others. */
void shelf_put(struct shelf *shelf, const struct place_item *items, int count);

/* Sets the item's offset and keeps its place. False where there is none. */
bool shelf_take(struct shelf *shelf, struct place_item *item);

/* No item to come lives before this step. */
void shelf_forget(struct shelf *shelf, int step);

#endif
