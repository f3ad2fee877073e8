/* The complete search for places: on small instances it finds the optimum of all orders of stacking, and proves that there
 * is nothing below; on larger ones of which a placement is known it finds one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "place/place.h"

#define INSTANCES     600
#define ALIGNMENT     8
#define MAXIMUM_SMALL 10         /* items of which all offsets can be tried */
#define EFFORT        UINT64_MAX /* until it is decided */

static bool meet(const struct place_item *a, const struct place_item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static void expect_placed(const struct place_item *items, int count, uint32_t bytes, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        EXPECT(items[i].offset % ALIGNMENT == 0 && items[i].offset + items[i].bytes <= bytes, "seed %" PRIu64 ", item %d",
               seed, i);
        for (int j = 0; j < i; j++)
            EXPECT(!meet(&items[i], &items[j]) || items[i].offset >= items[j].offset + items[j].bytes ||
                       items[j].offset >= items[i].offset + items[i].bytes,
                   "seed %" PRIu64 ", items %d and %d", seed, i, j);
    }
}

/* ---- the optimum, without any search rules ---- */

/* Whether the items from `next` on find offsets below `bytes`, beside those before them: tries all. */
static bool fits(struct place_item *items, int count, int next, uint32_t bytes)
{
    if (next == count)
        return true;
    struct place_item *item = &items[next];
    for (item->offset = 0; item->offset + item->bytes <= bytes; item->offset += ALIGNMENT) {
        bool free = true;
        for (int i = 0; i < next && free; i++)
            free = !meet(item, &items[i]) || item->offset >= items[i].offset + items[i].bytes ||
                   items[i].offset >= item->offset + item->bytes;
        if (free && fits(items, count, next + 1, bytes))
            return true;
    }
    return false;
}

static int by_first(const void *a, const void *b)
{
    const struct place_item *x = a, *y = b;
    return x->first - y->first;
}

/* What the search says must be what trying all offsets says. Returns whether the optimum is above the bound. */
static bool compare(struct place_item *items, int count, uint64_t seed)
{
    struct arena arena = {0};
    struct place_item others[MAXIMUM_SMALL];
    memcpy(others, items, (size_t)count * sizeof *items);
    qsort(others, (size_t)count, sizeof *others, by_first);
    uint32_t bound = place_bound(items, count, ALIGNMENT), least = bound;
    while (!fits(others, count, 0, least))
        least += ALIGNMENT;
    EXPECT(place_exactly(items, count, ALIGNMENT, least, EFFORT, 0, &arena) == PLACE_FOUND, "seed %" PRIu64 ": %u", seed,
           least);
    expect_placed(items, count, least, seed);
    EXPECT(place_exactly(items, count, ALIGNMENT, least - 1, EFFORT, 0, &arena) == PLACE_IMPOSSIBLE, "seed %" PRIu64 ": %u",
           seed, least - 1);
    arena_free(&arena);
    return least > bound;
}

static void test_small(uint64_t seed)
{
    struct arena arena = {0};
    struct network_builder random;
    builder_start(&random, &arena, seed);
    enum { STEPS = 10 };
    struct place_item items[MAXIMUM_SMALL];
    for (int i = 0; i < MAXIMUM_SMALL; i++) {
        int first = (int)builder_random(&random, STEPS), last = first + (int)builder_random(&random, 5);
        items[i] =
            (struct place_item){ALIGNMENT * (1 + builder_random(&random, 3)), first, last < STEPS ? last : STEPS - 1, 0};
    }
    compare(items, MAXIMUM_SMALL, seed);
    arena_free(&arena);
}

/* Random instances hardly ever need more than the bound. These do, and no smaller part of them: bytes, first, last. */
static const struct place_item tight[][MAXIMUM_SMALL] = {
    {{3, 5, 6, 0}, {2, 1, 2, 0}, {2, 6, 6, 0}, {1, 3, 5, 0}, {1, 2, 5, 0}, {3, 1, 1, 0}, {2, 2, 3, 0}},
    {{3, 8, 10, 0}, {3, 10, 11, 0}, {2, 11, 11, 0}, {1, 6, 10, 0}, {2, 11, 11, 0}, {1, 5, 8, 0}, {2, 3, 3, 0}, {5, 3, 6, 0}},
    {{4, 8, 9, 0},
     {2, 5, 7, 0},
     {3, 1, 4, 0},
     {4, 1, 3, 0},
     {2, 5, 10, 0},
     {1, 4, 7, 0},
     {2, 7, 10, 0},
     {1, 3, 7, 0},
     {2, 4, 6, 0}},
};
#define TIGHT (sizeof tight / sizeof *tight)

/* One of them, in another order, larger, and later. */
static void test_tight(uint64_t seed)
{
    struct arena arena = {0};
    struct network_builder random;
    builder_start(&random, &arena, seed);
    struct place_item items[MAXIMUM_SMALL];
    int count = 0, later = (int)builder_random(&random, 5);
    uint32_t scale = ALIGNMENT * (1 + builder_random(&random, 2));
    for (; count < MAXIMUM_SMALL && tight[seed % TIGHT][count].bytes > 0; count++) {
        int at = (int)builder_random(&random, (uint32_t)count + 1);
        items[count] = items[at];
        items[at] = tight[seed % TIGHT][count];
        items[at].bytes *= scale;
        items[at].first += later;
        items[at].last += later;
    }
    EXPECT(compare(items, count, seed), "seed %" PRIu64 ": the bound is met", seed);
    arena_free(&arena);
}

/* ---- full memory ---- */

struct rectangles {
    struct network_builder random;
    struct place_item *items;
    int count;
};

/* Cuts a rectangle of steps and bytes into items that fill it. */
static void cut(struct rectangles *r, int first, int last, uint32_t bytes, int depth)
{
    if (depth == 0 || (first == last && bytes < 2 * ALIGNMENT)) {
        r->items[r->count++] = (struct place_item){bytes, first, last, 0};
    } else if (first < last && (bytes < 2 * ALIGNMENT || builder_random(&r->random, 2))) {
        int middle = first + (int)builder_random(&r->random, (uint32_t)(last - first));
        cut(r, first, middle, bytes, depth - 1);
        cut(r, middle + 1, last, bytes, depth - 1);
    } else {
        uint32_t below = ALIGNMENT * (1 + builder_random(&r->random, bytes / ALIGNMENT - 1));
        cut(r, first, last, below, depth - 1);
        cut(r, first, last, bytes - below, depth - 1);
    }
}

/* A placement without any gap exists; whether the search finds one. */
static bool test_full(uint64_t seed)
{
    struct arena arena = {0};
    struct place_item items[64];
    struct rectangles rectangles = {.items = items};
    builder_start(&rectangles.random, &arena, seed);
    enum { BYTES = 4096, STEPS = 40 };
    cut(&rectangles, 0, STEPS - 1, BYTES, 5);
    int count = rectangles.count;
    enum place_answer answer = place_exactly(items, count, ALIGNMENT, BYTES, 1000000, 10000000, &arena);
    EXPECT(answer != PLACE_IMPOSSIBLE, "seed %" PRIu64, seed);
    if (answer == PLACE_FOUND)
        expect_placed(items, count, BYTES, seed);
    arena_free(&arena);
    return answer == PLACE_FOUND;
}

static void test_limits(void)
{
    struct arena arena = {0};
    enum { MANY = 2001 };
    struct place_item *items = arena_array(&arena, struct place_item, MANY);
    for (int i = 0; i < MANY; i++)
        items[i].bytes = ALIGNMENT;
    EXPECT(place_exactly(items, 0, ALIGNMENT, 0, 0, 0, &arena) == PLACE_FOUND, "nothing takes no room");
    EXPECT(place_exactly(items, MANY, ALIGNMENT, MANY * ALIGNMENT, EFFORT, 0, &arena) == PLACE_UNDECIDED, "too many");
    EXPECT(place_exactly(items, MANY - 1, ALIGNMENT, (MANY - 1) * ALIGNMENT, EFFORT, 0, &arena) == PLACE_FOUND,
           "as many as may");
    items[0].bytes = 1;
    EXPECT(place_exactly(items, 2, ALIGNMENT, 2 * ALIGNMENT - 1, EFFORT, 0, &arena) == PLACE_IMPOSSIBLE,
           "bytes are rounded up");
    items[0] = items[1] = (struct place_item){UINT32_MAX / 2, 0, 0, 0};
    EXPECT(place_exactly(items, 2, ALIGNMENT, UINT32_MAX - 1, EFFORT, 0, &arena) == PLACE_IMPOSSIBLE, "no wrap of 32 bits");
    arena_free(&arena);
}

int main(void)
{
    int full = 0;
    for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
        test_small(seed);
        test_tight(seed);
        full += test_full(seed);
    }
    printf("of %d full ones %d were solved\n", INSTANCES, full);
    EXPECT(full >= INSTANCES * 9 / 10, "%d", full);
    test_limits();
    return expect_result("exact placement");
}
