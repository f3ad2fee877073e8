/* Pass `place`: first fit in several orders, then a local search over the order, then a complete search. It stops as soon as
 * it meets the bound, which it nearly always does at once; what is left of a gap is reported, not hidden. */

#include <stdlib.h>
#include <string.h>

#include "place/place.h"

/* Bounds by number, never by time, so that results repeat. */
static const uint64_t local_effort[] = {/* ranges looked at */
                                        [PLACE_HASTILY] = 40000,
                                        [PLACE_CHEAPLY] = 200000,
                                        [PLACE_QUICKLY] = 1000000,
                                        [PLACE_CAREFULLY] = 20000000};
static const uint64_t exact_effort[] = {/* items looked at; none within a search */
                                        [PLACE_QUICKLY] = 4000000,
                                        [PLACE_CAREFULLY] = 8000000};
static const uint64_t parts_effort[] = {[PLACE_CAREFULLY] = 8000000};

#define MAXIMUM_FAILURES 100 /* of orders that follow from one another */

struct placer {
    struct place_item *items;
    int count;
    uint32_t alignment;
    uint32_t *bytes; /* by item, aligned */
    int *order, *best_order;
    uint64_t *keys;                    /* scratch of sort_by, as is the next one: by item */
    int *sorted;                       /* by place in the order */
    int *neighbours, *first_neighbour; /* items that live at the same time, by item */
    uint64_t *placed;                  /* by item: the range in which first_fit has it */
    uint64_t *ranges;                  /* scratch of first_fit */
    uint32_t best;
    int stuck;         /* place in the order of the item at which first_fit gave up */
    int kept;          /* items of the order, from its start, that lie as first_fit has placed them last */
    uint64_t *efforts; /* by place in the order: what the item there has taken */
    uint64_t effort;   /* so far */
};

static uint32_t round_up(uint32_t value, uint32_t multiple) { return (value + multiple - 1) / multiple * multiple; }

uint32_t place_bound(const struct place_item *items, int count, uint32_t alignment)
{
    struct arena scratch = {0};
    int last = 0;
    for (int i = 0; i < count; i++)
        last = items[i].last > last ? items[i].last : last;
    uint32_t *change = arena_array(&scratch, uint32_t, (size_t)last + 2), live = 0, most = 0;
    for (int i = 0; i < count; i++) {
        change[items[i].first] += round_up(items[i].bytes, alignment);
        change[items[i].last + 1] -= round_up(items[i].bytes, alignment);
    }
    for (int step = 0; step <= last; step++) {
        live += change[step];
        most = live > most ? live : most;
    }
    arena_free(&scratch);
    return most;
}

/* ---- first fit ---- */

/* Bytes that an item takes: they start at the upper half of the number, and end at the lower one. So ranges are in the order
 * of their starts. */
static uint64_t range_of(uint32_t start, uint32_t bytes) { return (uint64_t)start << 32 | (start + bytes); }
static uint32_t start_of(uint64_t range) { return (uint32_t)(range >> 32); }
static uint32_t end_of(uint64_t range) { return (uint32_t)range; }

#define NOT_PLACED UINT64_MAX

/* The placed neighbours of an item; how many. Which ones are placed is hard to foretell: no branch depends on it. */
static int placed_neighbours(const struct placer *placer, int item)
{
    int count = 0;
    for (int n = placer->first_neighbour[item]; n < placer->first_neighbour[item + 1]; n++) {
        uint64_t range = placer->placed[placer->neighbours[n]];
        placer->ranges[count] = range;
        count += range != NOT_PLACED;
    }
    return count;
}

/* Puts ranges in the order of their starts; returns how many pairs were in another one. */
static uint64_t sort_few(uint64_t *ranges, int count)
{
    uint64_t pairs = 0;
    for (int i = 1; i < count; i++) {
        uint64_t range = ranges[i], same_start = range | UINT32_MAX;
        for (int j = 0; j < i; j++) { /* no branch depends on ranges */
            uint64_t other = ranges[j];
            pairs += other > same_start;
            ranges[j] = other < range ? other : range;
            range = other < range ? range : other;
        }
        ranges[i] = range;
    }
    return pairs;
}

/* The same; looks at no other pairs. */
static uint64_t sort_many(uint64_t *ranges, int count)
{
    uint64_t pairs = 0;
    for (int i = 1; i < count; i++) {
        uint64_t range = ranges[i], same_start = range | UINT32_MAX;
        int at = i;
        for (; at > 0 && ranges[at - 1] > same_start; at--)
            ranges[at] = ranges[at - 1];
        ranges[at] = range;
        pairs += (uint64_t)(i - at);
    }
    return pairs;
}

#define FEW_RANGES 16

/* The lowest gap between the placed neighbours of `item` that holds so many bytes. Where neighbours are many, to sort them
 * is most of the work, and counts. */
static uint32_t find_gap(const struct placer *placer, int item, uint32_t bytes, uint64_t *effort)
{
    const uint64_t *ranges = placer->ranges;
    int count = placed_neighbours(placer, item);
    uint64_t pairs = count <= FEW_RANGES ? sort_few(placer->ranges, count) : sort_many(placer->ranges, count);
    uint32_t end = 0;
    *effort = (uint64_t)count + pairs;
    for (int i = 0; i < count; i++) {
        if (start_of(ranges[i]) >= end && start_of(ranges[i]) - end >= bytes)
            return end;
        end = end_of(ranges[i]) > end ? end_of(ranges[i]) : end;
    }
    return end;
}

/* Places all items in the current order; the bytes used. Gives up above `limit`, which those that are kept have met. An item
 * that is kept counts the effort that it took, so that the same orders are tried. */
static uint32_t first_fit(struct placer *placer, uint32_t limit)
{
    uint32_t peak = 0;
    for (int i = placer->kept; i < placer->count; i++)
        placer->placed[placer->order[i]] = NOT_PLACED;
    for (int i = 0; i < placer->count; i++) {
        int item = placer->order[i];
        uint32_t bytes = placer->bytes[item];
        if (i >= placer->kept)
            placer->placed[item] = range_of(find_gap(placer, item, bytes, &placer->efforts[i]), bytes);
        uint32_t end = end_of(placer->placed[item]);
        placer->effort += placer->efforts[i];
        peak = end > peak ? end : peak;
        if (peak > limit) {
            placer->stuck = i;
            return UINT32_MAX;
        }
    }
    return peak;
}

static void try_order(struct placer *placer)
{
    uint32_t peak = first_fit(placer, placer->best);
    if (peak < placer->best) {
        placer->best = peak;
        memcpy(placer->best_order, placer->order, (size_t)placer->count * sizeof *placer->order);
    }
}

/* ---- greedy orders ---- */

/* What comes first has the larger key. */
typedef uint64_t item_key(const struct place_item *item);

static uint64_t by_size(const struct place_item *item) { return item->bytes; }
static uint64_t by_first(const struct place_item *item) { return UINT32_MAX - (uint32_t)item->first; }
static uint64_t by_last(const struct place_item *item) { return (uint64_t)item->last; }
static uint64_t by_length(const struct place_item *item) { return (uint64_t)(item->last - item->first); }
static uint64_t by_area(const struct place_item *item)
{
    return (uint64_t)item->bytes * (uint64_t)(item->last - item->first + 1);
}

static item_key *const greedy_orders[][2] = {
    {by_size, by_length}, {by_size, by_first}, {by_length, by_size},
    {by_first, by_size},  {by_area, by_first}, {by_last, by_size},
};

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)

/* Sorts the order by one digit of the keys, the largest first; equal ones stay as they are. */
static void sort_by_digit(struct placer *placer, unsigned shift)
{
    int next[DIGITS] = {0}, sum = 0; /* places in the order by digit */
    for (int i = 0; i < placer->count; i++)
        next[placer->keys[i] >> shift & (DIGITS - 1)]++;
    for (int digit = DIGITS - 1; digit >= 0; digit--) {
        int count = next[digit];
        next[digit] = sum;
        sum += count;
    }
    for (int i = 0; i < placer->count; i++) {
        int item = placer->order[i];
        placer->sorted[next[placer->keys[item] >> shift & (DIGITS - 1)]++] = item;
    }
    int *order = placer->order;
    placer->order = placer->sorted;
    placer->sorted = order;
}

static void sort_by(struct placer *placer, item_key *key)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < placer->count; i++) {
        placer->keys[i] = key(&placer->items[i]);
        least = placer->keys[i] < least ? placer->keys[i] : least;
        most = placer->keys[i] > most ? placer->keys[i] : most;
    }
    for (int i = 0; i < placer->count; i++)
        placer->keys[i] -= least;
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift != 0; shift += DIGIT_BITS)
        sort_by_digit(placer, shift);
}

static void sort_order(struct placer *placer, item_key *const keys[2])
{
    for (int i = 0; i < placer->count; i++)
        placer->order[i] = i;
    sort_by(placer, keys[1]);
    sort_by(placer, keys[0]);
}

/* ---- local search ---- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Moves one item to another place in the order. */
static void move_item(int *order, int from, int to)
{
    int item = order[from];
    for (; from < to; from++)
        order[from] = order[from + 1];
    for (; from > to; from--)
        order[from] = order[from - 1];
    order[to] = item;
}

/* An item that found no room below the limit comes earlier in the next order: what is hard to place ends up in front. After
 * many failures the search starts again near the best order. */
static void improve(struct placer *placer, uint32_t goal, uint64_t effort)
{
    uint64_t state = 1;
    int failures = 0, count = placer->count;
    size_t bytes = (size_t)count * sizeof *placer->order;
    memcpy(placer->order, placer->best_order, bytes);
    placer->kept = 0;
    for (placer->effort = 0; placer->best > goal; placer->effort += (uint64_t)count) {
        if (placer->effort > effort)
            return;
        uint32_t peak = first_fit(placer, placer->best - placer->alignment);
        if (peak < placer->best) {
            placer->best = peak;
            memcpy(placer->best_order, placer->order, bytes);
            failures = 0;
            placer->kept = 0;
        } else if (failures++ < MAXIMUM_FAILURES) {
            placer->kept = (int)(next_random(&state) % (uint32_t)(placer->stuck + 1));
            move_item(placer->order, placer->stuck, placer->kept);
        } else {
            placer->kept = 0;
            memcpy(placer->order, placer->best_order, bytes);
            for (unsigned moves = 1 + next_random(&state) % 3; moves > 0; moves--)
                move_item(placer->order, (int)(next_random(&state) % (uint32_t)count),
                          (int)(next_random(&state) % (uint32_t)count));
            failures = 0;
        }
    }
}

/* ---- all together ---- */

/* Starts are few numbers: items are counted by them. */
static void sort_by_start(struct placer *placer, struct arena *arena)
{
    int last = 0;
    for (int i = 0; i < placer->count; i++)
        last = placer->items[i].first > last ? placer->items[i].first : last;
    int *next = arena_array(arena, int, (size_t)last + 2); /* by start: place in the order */
    for (int i = 0; i < placer->count; i++)
        next[placer->items[i].first + 1]++;
    for (int start = 0; start < last; start++)
        next[start + 1] += next[start];
    for (int i = 0; i < placer->count; i++)
        placer->order[next[placer->items[i].first]++] = i;
}

/* Pairs that live together: items in the order of their start, each with those that start while it lives. */
static void find_neighbours(struct placer *placer, struct arena *arena)
{
    int count = placer->count, *used = arena_array(arena, int, (size_t)count + 1);
    sort_by_start(placer, arena);
    for (int pass = 0; pass < 2; pass++) { /* first count, then fill */
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count && placer->items[placer->order[j]].first <= placer->items[placer->order[i]].last;
                 j++) {
                int a = placer->order[i], b = placer->order[j];
                if (pass) {
                    placer->neighbours[placer->first_neighbour[a] + used[a]] = b;
                    placer->neighbours[placer->first_neighbour[b] + used[b]] = a;
                }
                used[a]++;
                used[b]++;
            }
        for (int i = 0; !pass && i < count; i++) {
            placer->first_neighbour[i + 1] = placer->first_neighbour[i] + used[i];
            used[i] = 0;
        }
        if (!pass)
            placer->neighbours = arena_array(arena, int, (size_t)placer->first_neighbour[count] + 1);
    }
}

static uint32_t end_of_all(const struct place_item *items, int count, uint32_t alignment)
{
    uint32_t end = 0;
    for (int i = 0; i < count; i++) {
        uint32_t own = items[i].offset + round_up(items[i].bytes, alignment);
        end = own > end ? own : end;
    }
    return end;
}

/* By orders alone. */
static uint32_t place_by_order(struct placer *placer, uint32_t goal, uint64_t effort)
{
    for (size_t i = 0; i < sizeof greedy_orders / sizeof *greedy_orders && placer->best > goal; i++) {
        sort_order(placer, greedy_orders[i]);
        try_order(placer);
    }
    if (placer->best > goal && effort > 0)
        improve(placer, goal, effort);
    memcpy(placer->order, placer->best_order, (size_t)placer->count * sizeof *placer->order);
    placer->kept = 0;
    uint32_t peak = first_fit(placer, UINT32_MAX);
    for (int i = 0; i < placer->count; i++)
        placer->items[i].offset = start_of(placer->placed[i]);
    return peak;
}

/* The bytes used, with offsets so: `goal` at most, or as few as the orders find. */
static uint32_t reach(struct placer *placer, uint32_t goal, enum place_care care, struct arena *arena)
{
    uint32_t peak = place_by_order(placer, goal, local_effort[care]);
    if (peak > goal && exact_effort[care] > 0 &&
        place_exactly(placer->items, placer->count, placer->alignment, goal, exact_effort[care], parts_effort[care],
                      arena) == PLACE_FOUND)
        peak = end_of_all(placer->items, placer->count, placer->alignment);
    return peak;
}

static struct placer make_placer(struct place_item *items, int count, uint32_t alignment, struct arena *arena)
{
    size_t entries = (size_t)count + 1;
    struct placer placer = {
        .items = items,
        .count = count,
        .alignment = alignment,
        .order = arena_array(arena, int, entries),
        .best_order = arena_array(arena, int, entries),
        .efforts = arena_array(arena, uint64_t, entries),
        .keys = arena_array(arena, uint64_t, entries),
        .sorted = arena_array(arena, int, entries),
        .first_neighbour = arena_array(arena, int, entries),
        .bytes = arena_array(arena, uint32_t, entries),
        .placed = arena_array(arena, uint64_t, entries),
        .ranges = arena_array(arena, uint64_t, entries),
        .best = UINT32_MAX,
    };
    for (int i = 0; i < count; i++)
        placer.bytes[i] = round_up(items[i].bytes, alignment);
    return placer;
}

uint32_t place(struct place_item *items, int count, uint32_t alignment, uint32_t enough, enum place_care care,
               struct arena *arena)
{
    size_t entries = (size_t)count + 1;
    struct placer placer = make_placer(items, count, alignment, arena);
    if (count == 0)
        return 0;
    uint32_t bound = place_bound(items, count, alignment), goal = enough > bound ? enough : bound;
    find_neighbours(&placer, arena);
    uint32_t peak = reach(&placer, goal, care, arena);
    if (care != PLACE_CAREFULLY || peak > goal || peak == bound)
        return peak;
    struct place_item *found = arena_array(arena, struct place_item, entries);
    memcpy(found, items, (size_t)count * sizeof *items);
    uint32_t smaller = reach(&placer, bound, care, arena);
    if (smaller > peak)
        memcpy(items, found, (size_t)count * sizeof *items);
    return smaller < peak ? smaller : peak;
}
