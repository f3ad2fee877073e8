/* Placement: never overlaps, never below the bound, on the bound for nearly all of many random instances. */
#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "place/place.h"

#define INSTANCES 200

static uint32_t bound_by_steps(const struct place_item *items, int count, int steps)
{
    uint32_t most = 0;
    for (int step = 0; step < steps; step++) {
        uint32_t sum = 0;
        for (int i = 0; i < count; i++)
            if (items[i].first <= step && step <= items[i].last)
                sum += (items[i].bytes + 7) / 8 * 8;
        most = sum > most ? sum : most;
    }
    return most;
}

static void expect_apart(const struct place_item *items, int count, uint32_t peak, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        EXPECT(items[i].offset % 8 == 0 && items[i].offset + items[i].bytes <= peak, "seed %" PRIu64 ", item %d", seed, i);
        for (int j = 0; j < i; j++) {
            bool together = items[i].first <= items[j].last && items[j].first <= items[i].last;
            bool overlap =
                items[i].offset < items[j].offset + items[j].bytes && items[j].offset < items[i].offset + items[i].bytes;
            EXPECT(!(together && overlap), "seed %" PRIu64 ", items %d and %d", seed, i, j);
        }
    }
}

/* Items of up to so many bytes, that live for up to 8 of so many steps. */
static void make_items(struct network_builder *random, struct place_item *items, int count, int steps, uint32_t most_bytes)
{
    for (int i = 0; i < count; i++) {
        int first = (int)builder_random(random, (uint32_t)steps), last = first + (int)builder_random(random, 8);
        items[i] = (struct place_item){1 + builder_random(random, most_bytes), first, last < steps ? last : steps - 1, 0};
    }
}

/* Returns whether the bound was met. */
static bool test_instance(uint64_t seed)
{
    struct arena arena = {0};
    struct network_builder random;
    builder_start(&random, &arena, seed);
    enum { STEPS = 60, MOST = 100 };
    struct place_item items[MOST], again[MOST];
    int count = 30 + (int)builder_random(&random, MOST - 30);
    make_items(&random, items, count, STEPS, 20000);
    memcpy(again, items, sizeof items);
    uint32_t peak = place(items, count, 8, 0, PLACE_CAREFULLY, &arena), bound = bound_by_steps(items, count, STEPS);
    EXPECT(bound == place_bound(items, count, 8), "seed %" PRIu64 ": bound %u", seed, bound);
    EXPECT(peak >= bound && peak <= bound + bound / 10, "seed %" PRIu64 ": %u bytes, bound %u", seed, peak, bound);
    expect_apart(items, count, peak, seed);
    place(again, count, 8, 0, PLACE_CAREFULLY, &arena);
    EXPECT(!memcmp(items, again, (size_t)count * sizeof *items), "seed %" PRIu64 ": a second run differs", seed);
    arena_free(&arena);
    return peak == bound;
}

/* Some of many sets of items, which are asked for again and again, with other limits or less care, too, are placed as ever.
 */
static void test_memory(void)
{
    enum { SETS = 40, ASKED = 400, MOST = 60, STEPS = 20 };
    struct arena arena = {0};
    struct network_builder random, of_set;
    struct place_memory *memory = place_memory_make(&arena);
    builder_start(&random, &arena, 1);
    for (int i = 0; i < ASKED; i++) {
        struct place_item items[MOST], as_ever[MOST];
        uint32_t set = builder_random(&random, SETS), enough = 40000 * builder_random(&random, 3);
        enum place_care care = builder_random(&random, 2) ? PLACE_HASTILY : PLACE_QUICKLY;
        int count = (int)set % MOST + MOST - SETS;
        builder_start(&of_set, &arena, set + 1);
        make_items(&of_set, items, count, STEPS, 2000);
        memcpy(as_ever, items, (size_t)count * sizeof *items);
        uint32_t peak = place_again(memory, items, count, 8, enough, care, &arena);
        EXPECT(peak == place(as_ever, count, 8, enough, care, &arena), "set %u: %u bytes", set, peak);
        EXPECT(!memcmp(items, as_ever, (size_t)count * sizeof *items), "set %u is placed in another way", set);
    }
    arena_free(&arena);
}

int main(void)
{
    int met = 0;
    for (uint64_t seed = 1; seed <= INSTANCES; seed++)
        met += test_instance(seed);
    printf("the bound was met in %d of %d instances\n", met, INSTANCES);
    EXPECT(met >= INSTANCES * 98 / 100, "%d", met);
    test_memory();
    struct arena arena = {0};
    EXPECT(place(NULL, 0, 8, 0, PLACE_CAREFULLY, &arena) == 0, "nothing takes no room");
    arena_free(&arena);
    return expect_result("placement");
}
