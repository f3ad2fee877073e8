/* Items are stacked from below: the next one placed is always at the same offset as the last one or above, on top of those
 * that it meets there. Any placement can be built so. A branch ends where, at some step, what is still to come cannot end
 * below the limit: each of its items can start only on top of what it would meet, so they are like jobs with release times
 * on one machine. What falls apart into steps that no item joins any more is solved part by part.
 *
 * The scheme and its pruning rules are those of M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
 * Hardware-Accelerated Machine Learning", ASPLOS 2023; the release times are ours. What is found depends much on the order
 * in which equals are tried, so many take turns: those that were met in dead ends come first (weighted degrees: Boussemart
 * et al., "Boosting Systematic Search by Weighting Constraints", ECAI 2004), with some noise, and each turn may take a
 * little longer. What is hard often lies at steps far from each other; so at the end each part takes turns of its own. */
#include "place/place.h"

#include <stdlib.h>
#include <string.h>

#define MAXIMUM_ITEMS  2000 /* recursion is as deep */
#define MAXIMUM_LEVELS 6    /* of parts in parts that take turns */
#define SMALL_PART     8    /* items, for which one turn is enough */
#define TURNS_OF_PART  12

struct change {
    int item;
    uint32_t least;
};

enum measure { FULLEST, LENGTH, AREA, BYTES, MEASURES };
#define MEASURES_OF_ORDER 3

struct ranked {
    uint64_t keys[MEASURES_OF_ORDER];
    int item;
};

struct search {
    uint32_t limit;
    int count;
    /* by item */
    uint32_t *bytes, *least; /* `least`: on top of all placed ones that it meets; of a placed one its offset */
    uint32_t *found;         /* offsets of the parts that are solved */
    int *first, *last;       /* sections */
    int *rank;
    bool *is_placed;
    uint64_t *total;     /* bytes in its fullest section */
    uint64_t *dead_ends; /* in which it could not end below the limit */
    /* by section: a set of items that all live together and to which no other can be added */
    int section_count;
    int *start, *members; /* of section s: members[start[s] .. start[s + 1] - 1] */
    int *crossing;        /* items to be placed that live in s and s + 1 */
    struct change *changes;
    int change_count;
    int *scratch;
    int64_t nodes; /* left in this turn */
    uint64_t effort, most_effort;
    /* turns */
    const struct place_item *items;
    int turns;               /* there were so many */
    int levels, most_levels; /* of parts in parts that take turns of their own */
    int *kept;               /* ranks, by level and item */
    bool *is_in_part;        /* all false, but while ranks are made */
    struct ranked *ranked;
};

/* ---- sections ---- */

/* The steps at which sets of items are largest: one at which some item ends, if another has started since the last such.
 * section_of_step: of each step the first one at or behind it, with one step more. Returns how many. */
static int find_sections(const struct place_item *items, int count, int steps, int *section_of_step, struct arena *arena)
{
    bool *starts = arena_array(arena, bool, (size_t)steps), *ends = arena_array(arena, bool, (size_t)steps);
    int sections = 0;
    bool has_started = false;
    for (int i = 0; i < count; i++)
        starts[items[i].first] = ends[items[i].last] = true;
    for (int step = 0; step < steps; step++) {
        section_of_step[step] = sections;
        has_started = has_started || starts[step];
        if (ends[step] && has_started) {
            has_started = false;
            sections++;
        }
    }
    section_of_step[steps] = sections;
    return sections;
}

static void list_members(struct search *s, struct arena *arena)
{
    int *used = arena_array(arena, int, (size_t)s->section_count + 1);
    s->start = arena_array(arena, int, (size_t)s->section_count + 1);
    for (int i = 0; i < s->count; i++)
        for (int section = s->first[i]; section <= s->last[i]; section++)
            s->start[section + 1]++;
    for (int section = 0; section < s->section_count; section++)
        s->start[section + 1] += s->start[section];
    s->members = arena_array(arena, int, (size_t)s->start[s->section_count] + 1);
    for (int i = 0; i < s->count; i++)
        for (int section = s->first[i]; section <= s->last[i]; section++)
            s->members[s->start[section] + used[section]++] = i;
}

/* Each change raises one item over another that it meets: no more than pairs that meet. */
static size_t count_pairs(const struct search *s)
{
    size_t pairs = 0;
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < i; j++)
            pairs += s->first[i] <= s->last[j] && s->first[j] <= s->last[i];
    return pairs;
}

static void find_totals(struct search *s)
{
    for (int section = 0; section < s->section_count; section++) {
        uint64_t total = 0;
        for (int m = s->start[section]; m < s->start[section + 1]; m++)
            total += s->bytes[s->members[m]];
        for (int m = s->start[section]; m < s->start[section + 1]; m++)
            if (s->total[s->members[m]] < total)
                s->total[s->members[m]] = total;
    }
}

/* ---- bounds ---- */

/* Where items end, each as soon as it may, one on top of the other. Sorts them. */
static uint64_t end_in_order(const struct search *s, int *items, int count, uint64_t offset)
{
    for (int i = 1; i < count; i++) {
        int item = items[i], at = i;
        for (; at > 0 && s->least[items[at - 1]] > s->least[item]; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
    for (int i = 0; i < count; i++)
        offset = (offset > s->least[items[i]] ? offset : s->least[items[i]]) + s->bytes[items[i]];
    return offset;
}

/* True where the section's items to come could end below the limit; none starts below `offset`, at which the last one was
 * placed. Mostly they could, were all of them to wait for the one that may start last. */
static bool can_end(struct search *s, int section, uint64_t offset)
{
    int count = 0;
    uint64_t last = offset, sum = 0;
    for (int m = s->start[section]; m < s->start[section + 1]; m++) {
        int item = s->members[m];
        if (s->is_placed[item])
            continue;
        last = s->least[item] > last ? s->least[item] : last;
        sum += s->bytes[item];
        s->scratch[count++] = item;
    }
    s->effort += (uint64_t)(s->start[section + 1] - s->start[section]);
    if (count == 0 || last + sum <= s->limit || end_in_order(s, s->scratch, count, offset) <= s->limit)
        return true;
    for (int i = 0; i < count; i++)
        s->dead_ends[s->scratch[i]]++;
    return false;
}

/* ---- one step of the search ---- */

/* Puts an item on top of those that it meets, and lifts those to come. Returns whether there are such. `from`, `to`: the
 * sections of all items whose least offset is another now. */
static bool put(struct search *s, int item, int *from, int *to)
{
    uint32_t top = s->least[item] + s->bytes[item];
    int before = s->change_count;
    s->is_placed[item] = true;
    *from = s->first[item];
    *to = s->last[item];
    for (int m = s->start[s->first[item]]; m < s->start[s->last[item] + 1]; m++) {
        int other = s->members[m];
        if (s->is_placed[other] || s->least[other] >= top)
            continue;
        s->changes[s->change_count++] = (struct change){other, s->least[other]};
        s->least[other] = top;
        *from = s->first[other] < *from ? s->first[other] : *from;
        *to = s->last[other] > *to ? s->last[other] : *to;
    }
    s->effort += (uint64_t)(s->start[s->last[item] + 1] - s->start[s->first[item]]);
    return s->change_count > before;
}

static void take_back(struct search *s, int item, int changes)
{
    while (s->change_count > changes) {
        struct change change = s->changes[--s->change_count];
        s->least[change.item] = change.least;
    }
    s->is_placed[item] = false;
}

/* Items are placed in the order of their keys: by offset, then by rank. */
static uint64_t key_of(const struct search *s, int item) { return (uint64_t)s->least[item] << 32 | (uint32_t)s->rank[item]; }

/* The item with the first key that is not before `from`; -1: none is worth a try. An item above the end of another one
 * would leave a hole in which that one fits. */
static int next_item(struct search *s, const int *list, int count, uint64_t from)
{
    uint64_t least_end = UINT64_MAX, least_key = UINT64_MAX;
    int next = -1;
    for (int i = 0; i < count; i++) {
        int item = list[i];
        uint64_t key = key_of(s, item), end = (uint64_t)s->least[item] + s->bytes[item];
        least_end = end < least_end ? end : least_end;
        if (key >= from && key < least_key) {
            least_key = key;
            next = item;
        }
    }
    s->effort += (uint64_t)count;
    return next >= 0 && s->least[next] < least_end ? next : -1;
}

/* ---- orders ---- */

static const enum measure orders[][MEASURES_OF_ORDER] = {
    {FULLEST, LENGTH, AREA},  {LENGTH, AREA, FULLEST}, {FULLEST, AREA, LENGTH},
    {FULLEST, BYTES, LENGTH}, {AREA, LENGTH, FULLEST}, {BYTES, LENGTH, FULLEST},
};
#define ORDERS (sizeof orders / sizeof *orders)

/* How much what was learnt, and noise, weigh in the order: found by trying. */
#define DEAD_ENDS_OF_FIRST 30
#define LEAST_NOISE        900
#define NOISE              200

static int by_keys(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    for (int i = 0; i < MEASURES_OF_ORDER; i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] > y->keys[i] ? -1 : 1;
    return x->item - y->item;
}

static uint64_t next_noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return LEAST_NOISE + (*state >> 40) % NOISE;
}

/* Among equals those come first that are hard to place: in the first turns by their measures, then by what was learnt. */
static void rank_items(struct search *s, const int *list, int count, int turn)
{
    const enum measure *order = orders[(size_t)turn % ORDERS];
    uint64_t state = (uint64_t)s->turns;
    int ranked = 0;
    for (int i = 0; i < count; i++)
        s->is_in_part[list[i]] = true;
    for (int i = 0; i < s->count; i++) {
        uint64_t length = (uint64_t)s->items[i].last - (uint64_t)s->items[i].first + 1;
        const uint64_t measures[MEASURES] = {
            [FULLEST] = s->total[i], [LENGTH] = length, [AREA] = length * s->bytes[i], [BYTES] = s->bytes[i]};
        if (!s->is_in_part[i])
            continue;
        struct ranked *item = &s->ranked[ranked++];
        for (int k = 0; k < MEASURES_OF_ORDER; k++)
            item->keys[k] = measures[order[k]];
        if (turn >= (int)ORDERS) {
            item->keys[0] *= next_noise(&state) * (DEAD_ENDS_OF_FIRST + s->dead_ends[i]);
            item->keys[1] *= next_noise(&state);
        }
        item->item = i;
        s->is_in_part[i] = false;
    }
    qsort(s->ranked, (size_t)count, sizeof *s->ranked, by_keys);
    for (int i = 0; i < count; i++)
        s->rank[s->ranked[i].item] = i;
    s->turns++;
}

/* ---- the search ---- */

static enum place_answer solve(struct search *s, int *list, int count, uint64_t from);

/* A part of the items, between which and the others nothing is shared any more. With levels left it takes turns of its own,
 * at the first level until it is solved: what it has found then stays, whatever becomes of other parts. */
static enum place_answer solve_part(struct search *s, int *list, int count)
{
    enum place_answer answer = PLACE_UNDECIDED;
    if (count < SMALL_PART || s->levels >= s->most_levels)
        return solve(s, list, count, 0);
    int64_t left = s->nodes, nodes = 2 * count;
    int *kept = s->kept + (size_t)s->levels++ * (size_t)s->count;
    for (int i = 0; i < count; i++)
        kept[list[i]] = s->rank[list[i]];
    for (int turn = 0; (s->levels == 1 || turn < TURNS_OF_PART) && answer == PLACE_UNDECIDED && s->effort < s->most_effort;
         turn++) {
        rank_items(s, list, count, s->turns);
        s->nodes = nodes;
        answer = solve(s, list, count, 0);
        nodes += turn % (int)ORDERS == 0 ? nodes / 8 : 0;
    }
    s->levels--;
    for (int i = 0; i < count; i++)
        s->rank[list[i]] = kept[list[i]];
    s->nodes = left;
    return answer;
}

static void swap(int *a, int *b)
{
    int keep = *a;
    *a = *b;
    *b = keep;
}

/* Moves those that end in a section up to `last` to the front; returns how many. */
static int split_off(const struct search *s, int *list, int count, int last)
{
    int part = 0;
    for (int i = 0; i < count; i++)
        if (s->last[list[i]] <= last)
            swap(&list[i], &list[part++]);
    return part;
}

/* Solves what is left behind a placed item: where nothing joins two sections of its life any more, in parts. */
static enum place_answer solve_rest(struct search *s, int placed, int *list, int count, uint64_t key)
{
    enum place_answer answer = PLACE_FOUND;
    int done = 0;
    for (int section = s->first[placed]; section < s->last[placed]; section++)
        s->crossing[section]--;
    for (int section = s->first[placed]; section < s->last[placed] && answer == PLACE_FOUND; section++) {
        if (s->crossing[section] > 0)
            continue;
        int part = split_off(s, list + done, count - done, section);
        answer = solve_part(s, list + done, part);
        done += part;
    }
    if (answer == PLACE_FOUND)
        answer = done > 0 ? solve_part(s, list + done, count - done) : solve(s, list, count, key);
    for (int section = s->first[placed]; section < s->last[placed]; section++)
        s->crossing[section]++;
    return answer;
}

static enum place_answer try_item(struct search *s, int *list, int count, int item, bool *is_free)
{
    enum place_answer answer = PLACE_IMPOSSIBLE;
    uint64_t key = key_of(s, item);
    int changes = s->change_count, from, to, at = 0;
    *is_free = !put(s, item, &from, &to);
    bool good = true;
    for (int section = from; section <= to && good; section++)
        good = can_end(s, section, s->least[item]);
    while (list[at] != item)
        at++;
    swap(&list[at], &list[count - 1]);
    if (good)
        answer = solve_rest(s, item, list, count - 1, key);
    if (answer == PLACE_FOUND)
        s->found[item] = s->least[item];
    take_back(s, item, changes);
    return answer;
}

/* Places all of the list, none before `from`. The order of the list may change. */
static enum place_answer solve(struct search *s, int *list, int count, uint64_t from)
{
    enum place_answer answer = PLACE_IMPOSSIBLE;
    bool is_free = false; /* nothing comes on top of the item: if it is not there, none of the others helps */
    if (count == 0)
        return PLACE_FOUND;
    if (s->nodes-- <= 0 || s->effort >= s->most_effort)
        return PLACE_UNDECIDED;
    while (answer == PLACE_IMPOSSIBLE && !is_free) {
        int item = next_item(s, list, count, from);
        if (item < 0)
            break;
        from = key_of(s, item) + 1;
        answer = try_item(s, list, count, item, &is_free);
    }
    return answer;
}

/* ---- all together ---- */

static void start(struct search *s, const struct place_item *items, uint32_t alignment, struct arena *arena)
{
    size_t count = (size_t)s->count;
    int steps = 0;
    for (int i = 0; i < s->count; i++)
        steps = items[i].last >= steps ? items[i].last + 1 : steps;
    int *section = arena_array(arena, int, (size_t)steps + 1);
    s->section_count = find_sections(items, s->count, steps, section, arena);
    s->bytes = arena_array(arena, uint32_t, count);
    s->least = arena_array(arena, uint32_t, count);
    s->found = arena_array(arena, uint32_t, count);
    s->first = arena_array(arena, int, count);
    s->last = arena_array(arena, int, count);
    s->rank = arena_array(arena, int, count);
    s->scratch = arena_array(arena, int, count);
    s->is_placed = arena_array(arena, bool, count);
    s->total = arena_array(arena, uint64_t, count);
    s->dead_ends = arena_array(arena, uint64_t, count);
    s->crossing = arena_array(arena, int, (size_t)s->section_count);
    s->kept = arena_array(arena, int, count *MAXIMUM_LEVELS);
    s->is_in_part = arena_array(arena, bool, count);
    s->ranked = arena_array(arena, struct ranked, count);
    for (int i = 0; i < s->count; i++) {
        s->bytes[i] = (items[i].bytes + alignment - 1) / alignment * alignment;
        s->first[i] = section[items[i].first];
        s->last[i] = section[items[i].last + 1] - 1;
    }
    list_members(s, arena);
    find_totals(s);
    s->changes = arena_array(arena, struct change, count_pairs(s) + 1);
}

/* All parts between which nothing is shared from the start. */
static enum place_answer solve_all(struct search *s, int *list, int64_t nodes)
{
    enum place_answer answer = PLACE_FOUND;
    int done = 0;
    memset(s->crossing, 0, (size_t)s->section_count * sizeof *s->crossing);
    for (int i = 0; i < s->count; i++)
        for (int section = s->first[i]; section < s->last[i]; section++)
            s->crossing[section]++;
    s->nodes = nodes;
    for (int section = 0; section < s->section_count && answer == PLACE_FOUND; section++) {
        if (s->crossing[section] > 0)
            continue;
        int part = split_off(s, list + done, s->count - done, section);
        answer = solve_part(s, list + done, part);
        done += part;
    }
    return answer;
}

/* Turns until it is decided, or so much effort is used up. */
static enum place_answer take_turns(struct search *s, int *list, uint64_t effort)
{
    enum place_answer answer = PLACE_UNDECIDED;
    int64_t nodes = 2 * s->count;
    for (int turn = 0; answer == PLACE_UNDECIDED && s->effort < effort; turn++) {
        rank_items(s, list, s->count, turn);
        answer = solve_all(s, list, nodes);
        nodes += turn % (int)ORDERS == 0 ? nodes / 8 : 0;
    }
    return answer;
}

enum place_answer place_exactly(struct place_item *items, int count, uint32_t alignment, uint32_t bytes, uint64_t effort,
                                uint64_t parts_effort, struct arena *arena)
{
    struct search s = {.items = items, .count = count, .limit = bytes, .most_effort = effort};
    if (count == 0 || count > MAXIMUM_ITEMS)
        return count == 0 ? PLACE_FOUND : PLACE_UNDECIDED;
    start(&s, items, alignment, arena);
    for (int section = 0; section < s.section_count; section++)
        if (!can_end(&s, section, 0))
            return PLACE_IMPOSSIBLE;
    int *list = arena_array(arena, int, (size_t)count);
    for (int i = 0; i < count; i++)
        list[i] = i;
    enum place_answer answer = take_turns(&s, list, effort);
    s.turns = 0;
    s.most_levels = MAXIMUM_LEVELS;
    s.most_effort = s.effort + parts_effort;
    if (answer == PLACE_UNDECIDED)
        answer = solve_all(&s, list, INT64_MAX);
    for (int i = 0; i < count && answer == PLACE_FOUND; i++)
        items[i].offset = s.found[i];
    return answer;
}
